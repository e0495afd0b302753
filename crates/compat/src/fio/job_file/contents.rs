//! What is written, checked, and laid down before.

use fathom_model::Workload;
use fathom_model::workload::{Content, EngineKind, Part, Precondition};

use super::draft::{Draft, FioSection, section_name};
use super::place::Placed;

/// fio's limit on a pattern.
const MOST_PATTERN_BYTES: usize = 512;
/// Blocks in which a target is filled.
const FILL_BLOCK: &str = "1048576";

pub(super) fn write(workload: &Workload, draft: &mut Draft) {
    if workload.data_set.precondition == Precondition::Written {
        draft.differs(
            "fathom first writes what was never written; fio does so only to files that it makes \
             and reads",
        );
    }
    if workload.mix.write_percent > 0 {
        payload(workload, draft);
    }
    let Some(verify) = workload.verify else {
        return;
    };
    if verify.by_content || verify.earlier {
        draft.refuse(
            "verify",
            "fathom's checks of contents, and of what earlier trials wrote, are not those of fio",
        );
    }
    if verify.by_anybody {
        draft.set("verify_write_sequence", 0);
    }
    if verify.on_read || workload.mix.reads() {
        draft.refuse(
            "verify",
            "fio checks reads only against what a job of fio with the same options has written; \
             write without reading and verify after",
        );
    }
    if let Some(back) = verify.read_back.filter(|back| back.every_writes < u32::MAX) {
        draft.set("verify_backlog", back.every_writes);
        if back.at_once < back.every_writes {
            draft.set("verify_backlog_batch", back.at_once);
        }
    }
    if verify.after || verify.read_back.is_some() {
        draft.set("verify", "crc32c");
        draft.set("do_verify", 1);
        draft.differs("fio's stamps are checksums with a header, not those of fathom");
    }
}

fn payload(workload: &Workload, draft: &mut Draft) {
    let payload = &workload.payload;
    let shares = payload.compress_percent > 0 || payload.duplicate_percent > 0;
    match &payload.content {
        Content::Random if shares => {}
        Content::Random => draft.differs(
            "fio writes the same random buffers again and again with a few bytes of each 512 \
             changed; fathom's blocks have nothing in common (refill_buffers=1 does the same, at \
             a cost)",
        ),
        _ if shares => draft.refuse(
            "payload",
            "fio's shares of compressible and repeated data go with random content only",
        ),
        Content::Zeros => draft.set("zero_buffers", 1),
        Content::Bytes(bytes) if bytes.len() <= MOST_PATTERN_BYTES && !bytes.is_empty() => {
            draft.set("buffer_pattern", format!("0x{}", hex::encode(bytes)));
        }
        Content::Parts(parts) => {
            let text = parts.iter().map(|part| match part {
                Part::Bytes(bytes) => format!("0x{}", hex::encode(bytes)),
                Part::Offset => "%o".to_owned(),
            });
            draft.set("buffer_pattern", text.collect::<String>());
            draft.differs("only newer versions of fio know the offset in written data");
        }
        Content::Bytes(_) => draft.refuse(
            "payload",
            format!("fio's patterns have at most {MOST_PATTERN_BYTES} bytes"),
        ),
    }
    if payload.compress_percent > 0 {
        draft.set("refill_buffers", 1);
        draft.set("buffer_compress_percentage", payload.compress_percent);
        draft.set("buffer_compress_chunk", 4096);
    }
    if payload.duplicate_percent > 0 {
        draft.set("dedupe_percentage", payload.duplicate_percent);
    }
}

/// Jobs that lay data down before the trial.
pub(super) fn before(
    workload: &Workload,
    draft: &Draft,
    placed: Option<&Placed>,
) -> Vec<FioSection> {
    let Some(placed) = placed else {
        return Vec::new();
    };
    let section = |suffix: &str, options: &[(&str, &str)]| {
        let given = options
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        let engine = [
            ("ioengine", "libaio"),
            ("thread", "1"),
            ("group_reporting", "1"),
        ];
        let engine = engine.map(|(n, v)| (n.to_owned(), v.to_owned()));
        FioSection {
            name: format!("{} {suffix}", section_name(&workload.name)),
            options: engine
                .into_iter()
                .chain(given)
                .chain(placed.whole.clone())
                .collect(),
        }
    };
    let direct = draft.value("direct").unwrap_or("0");
    let fill = [
        ("rw", "write"),
        ("bs", FILL_BLOCK),
        ("iodepth", "8"),
        ("direct", direct),
        ("end_fsync", "1"),
    ];
    let block = workload.block.max_bytes().to_string();
    let again = [
        ("rw", "randwrite"),
        ("bs", block.as_str()),
        ("iodepth", "32"),
        ("direct", direct),
        ("end_fsync", "1"),
    ];
    let real = !matches!(workload.engine, EngineKind::Null | EngineKind::Sim);
    match workload.data_set.precondition {
        Precondition::Fill if real => vec![section("fill", &fill)],
        Precondition::RandomFill if real => {
            vec![section("fill", &fill), section("fill at random", &again)]
        }
        _ => Vec::new(),
    }
}
