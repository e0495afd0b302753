//! The trials of each test of the standard.

use fathom_model::snia::{SniaSettings, SniaTarget, SniaTest};
use fathom_model::target::Target;
use fathom_model::unit;
use fathom_model::workload::{
    BlockSizes, Bounds, Distribution, FileLayout, OnError, OpMix, Pattern, Workload,
};
use fathom_rules::method::snia::{
    DISCARD_BYTES, TRACKED_BLOCK, WIPC_BLOCK, WIPC_DEPTH, WSAT_CAPACITIES,
};

/// Shares of reads of the IOPS test, in the standard's order.
const IOPS_READS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
/// Shares of reads of the latency test.
const LATENCY_READS: [u8; 3] = [100, 65, 0];
/// Shares of reads of the throughput test.
const THROUGHPUT_READS: [u8; 2] = [100, 0];

/// Only discards.
pub(super) const TRIM: OpMix = OpMix {
    read_percent: 0,
    write_percent: 0,
    trim_percent: 100,
};

/// What a test is told.
#[derive(Debug, Clone, PartialEq)]
pub struct SniaOptions {
    /// Which test.
    pub test: SniaTest,
    /// What is measured.
    pub target: Target,
    /// A complete workload for the target: engine, size, payload.
    pub base: Workload,
    /// Seed of all trials.
    pub seed: u64,
    /// What was decided.
    pub settings: SniaSettings,
}

/// Block sizes that a test of the standard uses, largest first.
pub(super) fn blocks(test: SniaTest) -> &'static [u64] {
    match test {
        SniaTest::Iops => &[
            1 << 20,
            128 << 10,
            64 << 10,
            32 << 10,
            16 << 10,
            8 << 10,
            4 << 10,
            512,
        ],
        SniaTest::Throughput => &[1 << 20, 128 << 10],
        SniaTest::Latency => &[8 << 10, 4 << 10, 512],
        SniaTest::Wsat => &[4 << 10],
    }
}

/// Cells of a round: of one part, where there are several.
pub(super) fn cells_of_round(test: SniaTest, settings: &SniaSettings) -> usize {
    let skipped = |block: &&u64| !settings.skipped_blocks.contains(block);
    let sizes = blocks(test).iter().filter(skipped).count();
    match test {
        SniaTest::Iops => IOPS_READS.len() * sizes,
        SniaTest::Latency => LATENCY_READS.len() * sizes,
        SniaTest::Throughput => THROUGHPUT_READS.len(),
        SniaTest::Wsat => 1,
    }
}

/// One trial to be run: the same label is the same row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SniaCell {
    pub(super) label: String,
    pub(super) workload: Workload,
}

/// What belongs together: what comes first, and the cells of a round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SniaPart {
    pub(super) before: Vec<SniaCell>,
    pub(super) cells: Vec<SniaCell>,
    /// Which of them is tracked.
    pub(super) tracked: usize,
}

/// The parts of a test in order.
pub(super) fn parts(options: &SniaOptions) -> Vec<SniaPart> {
    let cell = |reads, block| cell(options, reads, block);
    let sizes = || {
        let skipped = &options.settings.skipped_blocks;
        blocks(options.test)
            .iter()
            .copied()
            .filter(|block| !skipped.contains(block))
    };
    let matrix = |reads: &[u8]| -> Vec<SniaCell> {
        let all = reads.iter().flat_map(|r| sizes().map(|b| cell(*r, b)));
        all.collect()
    };
    let whole = |cells: Vec<SniaCell>| {
        let tracked = cells.iter().rposition(|c| is_tracked(&c.workload));
        vec![SniaPart {
            before: before(options, None),
            tracked: tracked.unwrap_or(0),
            cells,
        }]
    };
    match options.test {
        SniaTest::Iops => whole(matrix(&IOPS_READS)),
        SniaTest::Latency => whole(matrix(&LATENCY_READS)),
        SniaTest::Wsat => whole(vec![saturation(options)]),
        SniaTest::Throughput => sizes()
            .map(|block| SniaPart {
                before: before(options, Some(block)),
                cells: THROUGHPUT_READS.map(|reads| cell(reads, block)).to_vec(),
                tracked: 1,
            })
            .collect(),
    }
}

fn is_tracked(workload: &Workload) -> bool {
    workload.mix == OpMix::WRITE && workload.block == BlockSizes::Fixed(TRACKED_BLOCK)
}

fn adapted(options: &SniaOptions, block: u64, change: impl FnOnce(&mut Workload)) -> Workload {
    let settings = &options.settings;
    let mut workload = options.base.clone();
    workload.block = BlockSizes::Fixed(block);
    workload.align_bytes = block;
    workload.workers = settings.threads.max(1);
    workload.queue_depth = settings.outstanding.max(1);
    workload.data_set.files = FileLayout {
        count: 1,
        shared: true,
    };
    workload.data_set.working_set_bytes = Some(settings.active_bytes);
    workload.warmup_ns = 0;
    workload.until = None;
    workload.bounds = Bounds {
        time_ns: Some(settings.round_ns),
        ..Bounds::default()
    };
    change(&mut workload);
    workload
}

fn mix(read_percent: u8) -> OpMix {
    OpMix {
        read_percent,
        write_percent: 100 - read_percent.min(100),
        trim_percent: 0,
    }
}

fn cell(options: &SniaOptions, reads: u8, block: u64) -> SniaCell {
    let sequential = options.test == SniaTest::Throughput;
    let size = unit::bytes_exact(block);
    let workload = adapted(options, block, |workload| {
        workload.mix = mix(reads);
        workload.pattern = match sequential {
            true => Pattern::Sequential,
            false => Pattern::Random(Distribution::EachOnce),
        };
    });
    let label = match (sequential, reads) {
        (true, 0) => format!("SEQ {size} write"),
        (true, _) => format!("SEQ {size} read"),
        (false, _) => format!("R/W {reads}/{}, {size}", 100 - reads),
    };
    SniaCell { label, workload }
}

/// All rounds of a write saturation test are one trial, so that nothing comes
/// between them.
fn saturation(options: &SniaOptions) -> SniaCell {
    let settings = &options.settings;
    let rounds = u64::from(settings.rounds_max);
    let workload = adapted(options, TRACKED_BLOCK, |workload| {
        workload.mix = OpMix::WRITE;
        workload.pattern = Pattern::Random(Distribution::EachOnce);
        workload.bounds = Bounds {
            time_ns: Some(settings.round_ns.saturating_mul(rounds)),
            bytes: Some(settings.active_bytes.saturating_mul(WSAT_CAPACITIES)),
            ops: None,
        };
    });
    SniaCell {
        label: "R/W 0/100, 4 KiB".to_owned(),
        workload,
    }
}

/// Purge and the preconditioning that every test shares.
fn before(options: &SniaOptions, of_block: Option<u64>) -> Vec<SniaCell> {
    let settings = &options.settings;
    let suffix = match of_block {
        Some(block) => format!(" before SEQ {}", unit::bytes_exact(block)),
        None => String::new(),
    };
    let mut cells = Vec::new();
    if settings.discards && settings.on == SniaTarget::Device {
        cells.extend(discards(options, &suffix));
    }
    let bytes = settings
        .active_bytes
        .saturating_mul(u64::from(settings.passes));
    if bytes > 0 && options.test != SniaTest::Wsat {
        let workload = adapted(options, WIPC_BLOCK, |workload| {
            workload.mix = OpMix::WRITE;
            workload.pattern = Pattern::Sequential;
            workload.workers = 1;
            workload.queue_depth = WIPC_DEPTH;
            workload.bounds = Bounds {
                bytes: Some(bytes),
                ..Bounds::default()
            };
        });
        cells.push(SniaCell {
            label: format!("WIPC{suffix}"),
            workload,
        });
    }
    cells
}

/// Discards of the whole device: in large pieces, and what is left at its end.
fn discards(options: &SniaOptions, suffix: &str) -> Vec<SniaCell> {
    let capacity = options.settings.capacity_bytes;
    let pieces = capacity - capacity % DISCARD_BYTES;
    let piece = |label: &str, offset: u64, bytes: u64, block: u64| SniaCell {
        label: format!("purge{label}{suffix}"),
        workload: adapted(options, block, |workload| {
            workload.mix = TRIM;
            // A device that takes no discards is measured unpurged.
            workload.on_error = OnError::Continue;
            workload.pattern = Pattern::Sequential;
            workload.workers = 1;
            workload.queue_depth = 1;
            workload.data_set.offset_bytes = offset;
            workload.data_set.working_set_bytes = Some(bytes);
            workload.bounds = Bounds {
                bytes: Some(bytes),
                ..Bounds::default()
            };
        }),
    };
    let mut cells = Vec::new();
    if pieces > 0 {
        cells.push(piece("", 0, pieces, DISCARD_BYTES));
    }
    if capacity > pieces {
        let rest = capacity - pieces;
        cells.push(piece(" of the end", pieces, rest, rest));
    }
    cells
}
