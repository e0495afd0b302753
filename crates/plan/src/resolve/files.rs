//! Work on many files, from its keys.

use fathom_model::OpKind;
use fathom_model::limits::{
    MAX_BLOCK_BYTES as MAX_RECORD, MAX_TREE_DEPTH as MAX_DEPTH, MAX_TREE_FILES as MAX_FILES,
    MAX_TREE_LEAVES as MAX_LEAVES, MAX_XATTR_BYTES, MAX_XATTRS,
};
use fathom_model::workload::{
    BlockSizes, Bounds, CacheMode, DataSet, EngineKind, FileSizes, Handing, MetaOrder, MetaPaths,
    MetaTree, MetaWork, OpMix, Rate, RateUnit, Verify, Work, Workload,
};

use crate::diagnostic::{Problems, error};
use crate::keys::WorkloadKeys;
use crate::limits::within;
use crate::node::{Located, Span};
use crate::spelling::Spelling;
use crate::value::{Count, VerifyChoice};

const DEFAULT_FILES: u64 = 1000;
const DEFAULT_FILE_BYTES: u64 = 4096;
const DEFAULT_FAN_OUT: u64 = 10;
const DEFAULT_XATTR_BYTES: u64 = 32;
const MAX_RECORD_BYTES: u64 = 1 << 20;

/// Resolves the work on files of one workload.
pub(super) fn resolve(
    keys: &WorkloadKeys,
    name: &str,
    engine: EngineKind,
    spelling: Spelling,
    problems: &mut Problems,
) -> Workload {
    let workers = within("numjobs", keys.numjobs.as_ref(), 1, spelling, problems);
    let tree = tree(keys, spelling, problems);
    let rate = super::rate(keys, spelling, problems);
    let bounds = bounds(keys);
    let ops = keys.operation.as_ref().map(|ops| ops.value.0.clone());
    let ops = ops.unwrap_or_default();
    let goes_on = bounds.time_ns.is_some() || rate.is_some();
    let awaits = ops.iter().any(|share| share.kind == OpKind::AwaitCreate);
    let mut workload = Workload {
        engine,
        mix: OpMix::NONE,
        cache: CacheMode::Buffered,
        workers,
        block: BlockSizes::Fixed(tree.record_bytes),
        align_bytes: 1,
        drop_cache: super::switch(keys.drop_cache.as_ref(), false),
        warmup_ns: keys.warmup.as_ref().map_or(0, |t| t.value.0),
        think_ns: keys.think_time.as_ref().map_or(0, |t| t.value.0),
        cpus: super::cpus(keys),
        payload: super::payload(keys.payload.as_ref().map(|p| &p.value)),
        verify: verify(keys),
        on_error: super::on_error(keys),
        io_deadline_ns: keys
            .deadline
            .as_ref()
            .map_or(super::DEFAULT_DEADLINE_NS, |d| d.value.0),
        slo: keys.slo.as_ref().map(|slo| slo.value.0.clone()),
        fail_if: keys.fail_if.as_ref().map(|f| f.value.0).unwrap_or_default(),
        until: keys.until.as_ref().map(|u| u.value.0),
        bounds,
        rate,
        data_set: DataSet {
            size_bytes: None,
            ..DataSet::example()
        },
        ..Workload::example(name)
    };
    workload.work = Work::files(MetaWork {
        order: keys
            .visit
            .as_ref()
            .map_or(MetaOrder::AsMade, |v| v.value.order()),
        paths: keys
            .paths
            .as_ref()
            .map_or(MetaPaths::Near, |p| p.value.paths()),
        shift: within("shift", keys.shift.as_ref(), 0, spelling, problems),
        repeat: super::switch(keys.repeat.as_ref(), goes_on && !awaits),
        stop_with_first: super::switch(keys.first_ends.as_ref(), false),
        fsync: keys.fsync.as_ref().is_some_and(|every| every.value.0 > 0)
            || super::switch(keys.end_fsync.as_ref(), false),
        ops,
        append_bytes: keys.append_size.as_ref().map_or(0, |size| size.value.0),
        handing: keys
            .handover
            .as_ref()
            .map_or(Handing::Direct, |h| h.value.handing()),
        xattrs: xattrs(keys, spelling, problems),
        stamped: false,
        tree,
    });
    workload
}

fn xattrs(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> u32 {
    let count = keys.xattr_count.as_ref().map(|x| (x.value.0, x.span));
    let bounds = (1, MAX_XATTRS);
    bounded(("xattr_count", count), 1, bounds, spelling, problems) as u32
}

fn bounds(keys: &WorkloadKeys) -> Bounds {
    Bounds {
        time_ns: keys.runtime.as_ref().map(|t| t.value.0),
        bytes: None,
        ops: keys.number_ios.as_ref().map(|n| n.value.0),
    }
}

fn verify(keys: &WorkloadKeys) -> Option<Verify> {
    let choice = keys.verify.as_ref()?.value;
    (choice != VerifyChoice::No).then(|| Verify {
        on_read: true,
        ..Verify::default()
    })
}

/// A number within its bounds, or an error and the nearest bound.
fn bounded(
    (name, key): (&str, Option<(u64, Option<Span>)>),
    default: u64,
    (least, most): (u64, u64),
    spelling: Spelling,
    problems: &mut Problems,
) -> u64 {
    let Some((value, span)) = key else {
        return default;
    };
    if !(least..=most).contains(&value) {
        let message = format!(
            "{} is {value}; it must be from {least} to {most}",
            spelling.key(name)
        );
        problems.error("limit", span, message);
    }
    value.clamp(least, most)
}

fn tree(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> MetaTree {
    let count = |key: &Option<Located<Count>>| key.as_ref().map(|k| (k.value.0, k.span));
    let mut number =
        |name, key, default, bounds| bounded((name, key), default, bounds, spelling, problems);
    let files = number(
        "nrfiles",
        count(&keys.nrfiles),
        DEFAULT_FILES,
        (1, MAX_FILES),
    );
    let fan_out = number(
        "fan_out",
        count(&keys.fan_out),
        DEFAULT_FAN_OUT,
        (1, u64::from(u32::MAX)),
    );
    let per_dir = keys.files_per_dir.as_ref().map(|_| {
        number(
            "files_per_dir",
            count(&keys.files_per_dir),
            files,
            (1, MAX_FILES),
        )
    });
    let depth = keys
        .tree_depth
        .as_ref()
        .map(|_| number("tree_depth", count(&keys.tree_depth), 0, (0, MAX_DEPTH)) as u32);
    let (sizes, largest) = sizes(keys);
    let record = keys.record_size.as_ref().map(|r| (r.value.0, r.span));
    let record_bytes = number(
        "record_size",
        record,
        largest.clamp(1, MAX_RECORD_BYTES),
        (1, MAX_RECORD),
    );
    let xattr = keys.xattr_size.as_ref().map(|x| (x.value.0, x.span));
    let xattr_bytes = number(
        "xattr_size",
        xattr,
        DEFAULT_XATTR_BYTES,
        (1, MAX_XATTR_BYTES),
    );
    let shape = Shape {
        files,
        fan_out: fan_out as u32,
        per_dir,
        depth,
    };
    let (depth, leaves) = shape.levels().unwrap_or_else(|message| {
        let span = keys.tree_depth.as_ref().and_then(|d| d.span);
        let help = "take fewer levels, a smaller fan-out, or more files in each directory";
        problems.push(error("tree_shape", span, message).help(help));
        (0, 1)
    });
    MetaTree {
        files,
        depth,
        fan_out: shape.fan_out,
        leaves,
        shared: super::switch(keys.shared_dirs.as_ref(), false),
        hashed: super::switch(keys.hashed_dirs.as_ref(), false),
        sizes,
        record_bytes,
        xattr_bytes: xattr_bytes as u32,
    }
}

/// Bytes of each file, and of the largest.
fn sizes(keys: &WorkloadKeys) -> (FileSizes, u64) {
    let sizes = keys.file_size.as_ref().map(|size| size.value.0);
    match sizes.unwrap_or(FileSizes::Fixed(DEFAULT_FILE_BYTES)) {
        sizes @ FileSizes::Fixed(bytes) => (sizes, bytes),
        sizes @ FileSizes::Exponential { max_bytes, .. } => (sizes, max_bytes),
    }
}

/// What was said of the shape of a tree.
struct Shape {
    files: u64,
    fan_out: u32,
    per_dir: Option<u64>,
    depth: Option<u32>,
}

impl Shape {
    /// Levels, and directories of the last level.
    fn levels(&self) -> Result<(u32, u64), String> {
        let needed = self.per_dir.map(|each| self.files.div_ceil(each));
        let (depth, leaves) = match (self.depth, needed) {
            (None, None) => (0, 1),
            (None, Some(leaves)) if self.fan_out == 1 && leaves > 1 => {
                return Err(format!(
                    "{leaves} directories do not fit where each holds only one other"
                ));
            }
            (None, Some(leaves)) => (MetaTree::levels(leaves, self.fan_out), leaves),
            (Some(depth), needed) => {
                let room = u64::from(self.fan_out).checked_pow(depth);
                let room = room.unwrap_or(u64::MAX);
                let leaves = needed.unwrap_or(room.min(self.files));
                if leaves > room {
                    return Err(format!(
                        "{leaves} directories are needed and {depth} levels with {} in each hold \
                         {room}",
                        self.fan_out
                    ));
                }
                (depth, leaves)
            }
        };
        match leaves > MAX_LEAVES {
            true => Err(format!("{leaves} directories are more than can be handled")),
            false => Ok((depth, leaves)),
        }
    }
}

/// Whether a rate counts bytes, which operations on files do not have.
pub(crate) fn rate_counts_bytes(rate: Option<&Rate>) -> bool {
    rate.is_some_and(|rate| rate.unit == RateUnit::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_follows_from_what_is_given() {
        let of = |files, fan_out, per_dir, depth| {
            Shape {
                files,
                fan_out,
                per_dir,
                depth,
            }
            .levels()
        };
        assert_eq!(of(1000, 10, None, None), Ok((0, 1)));
        assert_eq!(of(1000, 10, Some(100), None), Ok((1, 10)));
        assert_eq!(of(1001, 10, Some(100), None), Ok((2, 11)));
        assert_eq!(of(5000, 5, None, Some(4)), Ok((4, 625)));
        assert_eq!(
            of(50, 5, None, Some(4)),
            Ok((4, 50)),
            "no directory stays empty"
        );
        assert!(of(1000, 2, Some(100), Some(3)).is_err());
        assert!(of(1000, 1, Some(100), None).is_err());
    }
}
