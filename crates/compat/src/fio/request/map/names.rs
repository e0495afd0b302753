//! Jobs of fio's engines that work on names: filecreate, filestat, filedelete,
//! dircreate, dirstat and dirdelete visit each of their files once.
//!
//! fio opens the files of such a job with an operation of its own and does no
//! I/O; each file counts as one read (or write, as `rw` says).

use std::path::PathBuf;

use fathom_model::OpKind;
use fathom_model::workload::{
    BlockSizes, Bounds, CacheMode, MetaTree, MetaWork, OnError, OpMix, Work, Workload,
};

use super::asked::Asked;
use super::files::MAX_FILES;
use crate::fio::request::value::lists;

/// What every job of such an engine may say without effect.
const NO_BLOCKS: &str = "operations on names have no blocks";

/// Fills in the work of a job whose first clone has this number, and says in
/// which directory its files lie.
pub(super) fn fill(
    asked: &mut Asked<'_>,
    workload: &mut Workload,
    kind: OpKind,
    clone: u32,
) -> Option<PathBuf> {
    let files = asked.count("nrfiles").unwrap_or(1).max(1);
    if files > MAX_FILES {
        asked.problem(
            "nrfiles",
            format!("{files} files are more than {MAX_FILES}"),
        );
        return None;
    }
    account(asked, kind);
    let bytes = match kind {
        OpKind::Create => 0,
        _ => asked
            .text("filesize")
            .and_then(|text| lists::range(text, asked.units).ok())
            .map_or(0, |(low, high)| low / 2 + high / 2),
    };
    let runtime_ns = asked.seconds_ns("runtime").filter(|ns| *ns > 0);
    let time_based = asked.flag("time_based", false) && runtime_ns.is_some();
    workload.mix = OpMix::NONE;
    workload.cache = CacheMode::Buffered;
    workload.queue_depth = 1;
    workload.data_set.size_bytes = None;
    workload.on_error = match asked.has("continue_on_error") {
        true => OnError::Continue,
        false => OnError::Stop,
    };
    workload.bounds = Bounds {
        time_ns: runtime_ns,
        bytes: None,
        ops: None,
    };
    workload.warmup_ns = 0;
    let tree = MetaTree::flat(files, bytes);
    workload.block = BlockSizes::Fixed(tree.record_bytes);
    workload.work = Work::files(MetaWork {
        repeat: time_based,
        ..MetaWork::new([(kind, 1)], tree)
    });
    let directories = asked
        .text("directory")
        .and_then(|text| lists::names(text).ok())
        .unwrap_or_default();
    let place = usize::try_from(clone).unwrap_or(0) % directories.len().max(1);
    let directory = directories.get(place).map_or(".", String::as_str);
    Some(PathBuf::from(directory))
}

/// What becomes of options that such a job has no use for.
fn account(asked: &mut Asked<'_>, kind: OpKind) {
    for name in ["bs", "bsrange", "bssplit", "size", "iodepth", "direct"] {
        asked.ignored(name, NO_BLOCKS);
    }
    for name in ["create_on_open", "openfiles", "fallocate", "unlink"] {
        asked.mapped(
            name,
            "each file is opened when its turn comes, and none stays open",
        );
    }
    if asked.has("filename") || asked.has("filename_format") {
        asked.mapped("filename", "the files have names of their own");
        asked.mapped("filename_format", "the files have names of their own");
    }
    if kind != OpKind::Create {
        asked.mapped("filesize", "the files are made before, this large");
    } else {
        asked.mapped(
            "filesize",
            "files are created and nothing is written to them",
        );
    }
}
