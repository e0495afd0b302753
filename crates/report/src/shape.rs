//! A workload as a sentence.

use fathom_model::workload::{
    Arrival, BlockSizes, CacheMode, Distribution, OpMix, Pattern, Rate, RateUnit, SyncCall,
    SyncOpen,
};
use fathom_model::{Workload, unit};

/// `random reads of 4 KiB, 1 worker at depth 32, O_DIRECT`.
pub(crate) fn words(workload: &Workload) -> String {
    let plural = if workload.workers == 1 { "" } else { "s" };
    let mut parts = vec![
        what(workload),
        format!(
            "{} worker{plural} at depth {}",
            workload.workers, workload.queue_depth
        ),
        match workload.cache {
            CacheMode::Direct => "O_DIRECT".to_owned(),
            CacheMode::Buffered => "through the page cache".to_owned(),
        },
    ];
    parts.extend(durability(workload));
    parts.extend(
        workload
            .rate
            .iter()
            .chain(workload.rate_by_kind.values())
            .map(rate),
    );
    if workload.think_ns > 0 {
        let pause = unit::latency(workload.think_ns as f64);
        parts.push(format!("a pause of {pause} after each operation"));
    }
    parts.join(", ")
}

/// `random reads of 4 KiB`.
fn what(workload: &Workload) -> String {
    if let Some(replay) = workload.replay() {
        return format!("the operations of {}", replay.path.display());
    }
    let by_kind = &workload.block_by_kind;
    let own = [
        ("reads", by_kind.read.as_ref()),
        ("writes", by_kind.write.as_ref()),
        ("trims", by_kind.trim.as_ref()),
    ];
    let own = own
        .into_iter()
        .filter_map(|(kind, sizes)| Some((kind, sizes?)));
    let own: String = own
        .map(|(kind, sizes)| format!(" ({kind}: {})", blocks(sizes)))
        .collect();
    format!(
        "{} {} of {}{own}",
        order(&workload.pattern),
        mix(&workload.mix),
        blocks(&workload.block)
    )
}

fn mix(mix: &OpMix) -> String {
    let kinds = [
        (mix.read_percent, "reads"),
        (mix.write_percent, "writes"),
        (mix.trim_percent, "trims"),
    ];
    let present: Vec<_> = kinds.into_iter().filter(|k| k.0 > 0).collect();
    match present.as_slice() {
        [(_, name)] => (*name).to_owned(),
        several => {
            let share = |k: &(u8, &str)| format!("{} % {}", k.0, k.1);
            several.iter().map(share).collect::<Vec<_>>().join(", ")
        }
    }
}

fn order(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Backwards => "backwards".to_owned(),
        Pattern::Strided { stride_bytes } => {
            format!("strided ({} apart)", unit::bytes_exact(*stride_bytes))
        }
        Pattern::Skipping { skip_bytes } => {
            let way = if *skip_bytes < 0 { "back" } else { "over" };
            let bytes = unit::bytes_exact(skip_bytes.unsigned_abs());
            format!("sequential (skipping {way} {bytes} after each block)")
        }
        Pattern::Random(distribution) => match distribution {
            Distribution::EachOnce => "random".to_owned(),
            Distribution::Uniform => "random (uniform, with repeats)".to_owned(),
            Distribution::Zipf { theta } => format!("random (Zipf {theta})"),
            Distribution::Pareto { h } => format!("random (Pareto {h})"),
            Distribution::Normal {
                deviation_percent, ..
            } => {
                format!("random (normal, deviation {deviation_percent} %)")
            }
            Distribution::HotSpot {
                access_percent,
                size_percent,
            } => format!("random ({access_percent} % of accesses to {size_percent} %)"),
            Distribution::Zoned(zones) => format!("random (in {} zones)", zones.len()),
            Distribution::Sequence { blocks, .. } => {
                format!("in a given order of {} blocks", blocks.len())
            }
            Distribution::SteadyFill(fill) => format!(
                "random (a filling to the steady state of {} % over-provisioning)",
                fill.over_provisioning_percent
            ),
        },
    }
}

fn blocks(sizes: &BlockSizes) -> String {
    match sizes {
        BlockSizes::Fixed(bytes) => unit::bytes_exact(*bytes),
        sizes => format!(
            "{} to {}",
            unit::bytes_exact(sizes.min_bytes()),
            unit::bytes_exact(sizes.max_bytes())
        ),
    }
}

fn durability(workload: &Workload) -> Vec<String> {
    let sync = &workload.sync;
    let mut parts = Vec::new();
    let call = match sync.call {
        SyncCall::Fsync => "fsync",
        SyncCall::Fdatasync => "fdatasync",
    };
    match sync.every_writes {
        0 => {}
        1 => parts.push(format!("{call} after every write")),
        n => parts.push(format!("{call} after every {n} writes")),
    }
    if let Some(ranges) = sync.ranges {
        let modes = ranges.modes();
        parts.push(match ranges.every_writes {
            1 => format!("sync_file_range ({modes}) after every write"),
            n => format!("sync_file_range ({modes}) after every {n} writes"),
        });
    }
    match sync.open {
        SyncOpen::No => {}
        SyncOpen::Dsync => parts.push("O_DSYNC".to_owned()),
        SyncOpen::Sync => parts.push("O_SYNC".to_owned()),
    }
    parts
}

fn rate(rate: &Rate) -> String {
    let wanted = match rate.unit {
        RateUnit::Ops => format!("{} operations/s", unit::count(rate.per_second)),
        RateUnit::Bytes => unit::throughput(rate.per_second),
    };
    let arrival = match rate.arrival {
        Arrival::Constant => "",
        Arrival::Poisson => " (Poisson)",
    };
    format!("{wanted} requested{arrival}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_one_sentence() {
        let mut workload = Workload::example("x");
        workload.queue_depth = 32;
        assert_eq!(
            words(&workload),
            "random reads of 4 KiB, 1 worker at depth 32, O_DIRECT"
        );
        workload.mix = OpMix {
            read_percent: 70,
            write_percent: 30,
            trim_percent: 0,
        };
        workload.pattern = Pattern::Random(Distribution::Zipf { theta: 1.2 });
        workload.sync.every_writes = 8;
        workload.workers = 4;
        workload.rate = Some(Rate {
            per_second: 20_000.0,
            unit: RateUnit::Ops,
            arrival: Arrival::Poisson,
        });
        assert_eq!(
            words(&workload),
            "random (Zipf 1.2) 70 % reads, 30 % writes of 4 KiB, 4 workers at depth 32, \
             O_DIRECT, fdatasync after every 8 writes, 20,000 operations/s requested (Poisson)"
        );
    }
}
