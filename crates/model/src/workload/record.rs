//! The stored form of a workload: one flat record, in which what does not
//! belong to its work is left out.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::*;
use crate::network::LoadSpec;

/// Everything about one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct WorkloadRecord {
    /// Name within the plan.
    pub(super) name: String,
    /// How operations reach the target.
    pub(super) engine: EngineKind,
    /// Shares of reads, writes and trims.
    pub(super) mix: OpMix,
    /// Order of offsets.
    pub(super) pattern: Pattern,
    /// Sizes of blocks.
    pub(super) block: BlockSizes,
    /// Offsets are multiples of this plus `misalign_bytes`; at least 1.
    pub(super) align_bytes: u64,
    /// Deliberate shift of every offset.
    pub(super) misalign_bytes: u64,
    /// Threads; at least 1.
    pub(super) workers: u32,
    /// Operations in flight per worker; at least 1.
    pub(super) queue_depth: u32,
    /// Operations submitted in one system call at most; 0 lets the engine choose.
    pub(super) batch: u32,
    /// Files of a directory target.
    pub(super) files: FileLayout,
    /// These files by name; `files` says how they are divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) named: Option<NamedFiles>,
    /// Bytes of the whole data set on the target, all files and workers
    /// together. `None` on a device or an existing file: all of it.
    pub(super) size_bytes: Option<u64>,
    /// Only this much of the data set is accessed.
    pub(super) working_set_bytes: Option<u64>,
    /// Start of the accessed range within the target.
    pub(super) offset_bytes: u64,
    /// Durability.
    pub(super) sync: SyncPolicy,
    /// Page cache or not.
    pub(super) cache: CacheMode,
    /// The page cache of the target is dropped before each trial.
    pub(super) drop_cache: bool,
    /// End of the measure phase.
    pub(super) bounds: Bounds,
    /// Ends the measure phase before its bounds, once it holds.
    #[serde(default)]
    pub(super) until: Option<Until>,
    /// Time before the measure phase in which the load runs and is stored,
    /// but not judged.
    pub(super) warmup_ns: u64,
    /// Open loop, when given.
    pub(super) rate: Option<Rate>,
    /// Pause of a worker after each operation (closed loop only).
    pub(super) think_ns: u64,
    /// Workers are pinned to these CPUs in turn; empty is not pinned.
    pub(super) cpus: Vec<u32>,
    /// What is written.
    pub(super) payload: Payload,
    /// Checking of contents.
    pub(super) verify: Option<Verify>,
    /// What is done to the target first.
    pub(super) precondition: Precondition,
    /// Poll for completions instead of sleeping, where the engine can.
    pub(super) poll: bool,
    /// Put I/O buffers on huge pages, where the system grants them.
    pub(super) huge_pages: bool,
    /// After a failed operation.
    pub(super) on_error: OnError,
    /// An operation outstanding for longer ends the trial as interrupted.
    pub(super) io_deadline_ns: u64,
    /// What the user calls good enough; changes nothing in what is done.
    #[serde(default)]
    pub(super) slo: Option<crate::slo::Slo>,
    /// Sizes of blocks of those kinds that have sizes other than `block`.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) block_by_kind: ByKind<BlockSizes>,
    /// Spreads of random offsets of those kinds that have one other than the
    /// pattern's. Only with [`Sequencer::each_kind`].
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) distribution_by_kind: ByKind<Distribution>,
    /// Bounds of each worker by itself. A worker that has reached its own ends;
    /// the trial ends with the last.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) each_worker: WorkerBounds,
    /// Which part of shared files a worker uses.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) region: WorkerRegion,
    /// What becomes of random offsets between two draws.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) sequencer: Sequencer,
    /// The pause `think_ns` comes after this many operations of a worker, when
    /// those in flight have ended. 0: each operation in flight pauses by itself
    /// before the next takes its place.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) think_every_ops: u32,
    /// The first part of each pause is spent computing instead of asleep; at
    /// most `think_ns`.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) think_spin_ns: u64,
    /// Each block is trimmed and then written. The mix is half trims, half
    /// writes; a write starts when its trim has ended.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) trim_first: bool,
    /// How the space of test files is allocated.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) allocation: Allocation,
    /// The operations come from a recorded list instead of mix, pattern and
    /// block.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) replay: Option<Replay>,
    /// The connection of the engine `net`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) peer: Option<Box<Peer>>,
    /// What ends the trial as failed.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) fail_if: FailIf,
    /// What is recorded beyond counts and latencies.
    #[serde(default)]
    pub(super) recording: Recording,
    /// Accesses stay in one zone for a while, then move on.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) zone_walk: Option<ZoneWalk>,
    /// Rates of kinds of operations, over all workers, instead of `rate`. Each
    /// kind has intended starts of its own, and the one that is due first comes
    /// first: the shares of the mix follow from the rates. Every kind of the mix
    /// has one, or none has.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) rate_by_kind: ByKind<Rate>,
    /// Keeps step with other trials of the set.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) flow: Option<Flow>,
    /// The depth adapts to a latency.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) latency_target: Option<LatencyTarget>,
    /// When there is no room for a write, its worker ends as it does at a
    /// bound; this is not an error.
    #[serde(default, skip_serializing_if = "unset")]
    pub(super) ends_when_full: bool,
    /// Operations on a tree of files, instead of mix, pattern and block: the
    /// work of engine `meta`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Box<MetaWork>>,
    /// How the store of engine `s3` is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) store: Option<Box<ObjectStore>>,
    /// Requests on objects, instead of mix, pattern and block. Without it each
    /// block is an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) object: Option<Box<ObjectWork>>,
    /// A load between two hosts, of which both ends are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) load: Option<Box<LoadSpec>>,
}

/// Why a record does not say what a workload acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnclearWork {
    #[error("a workload acts on one of meta, store, peer, replay and load, not on several")]
    Several,
    #[error("object describes requests, but there is no store to send them to: add store")]
    NoStore,
}

impl TryFrom<WorkloadRecord> for Workload {
    type Error = UnclearWork;

    fn try_from(mut record: WorkloadRecord) -> Result<Workload, UnclearWork> {
        let work = record.take_work()?;
        Ok(Workload {
            work,
            data_set: DataSet {
                files: record.files,
                named: record.named,
                size_bytes: record.size_bytes,
                working_set_bytes: record.working_set_bytes,
                offset_bytes: record.offset_bytes,
                region: record.region,
                allocation: record.allocation,
                precondition: record.precondition,
                ends_when_full: record.ends_when_full,
            },
            name: record.name,
            engine: record.engine,
            mix: record.mix,
            pattern: record.pattern,
            block: record.block,
            align_bytes: record.align_bytes,
            misalign_bytes: record.misalign_bytes,
            workers: record.workers,
            queue_depth: record.queue_depth,
            batch: record.batch,
            sync: record.sync,
            cache: record.cache,
            drop_cache: record.drop_cache,
            bounds: record.bounds,
            until: record.until,
            warmup_ns: record.warmup_ns,
            rate: record.rate,
            think_ns: record.think_ns,
            cpus: record.cpus,
            payload: record.payload,
            verify: record.verify,
            poll: record.poll,
            huge_pages: record.huge_pages,
            on_error: record.on_error,
            io_deadline_ns: record.io_deadline_ns,
            slo: record.slo,
            block_by_kind: record.block_by_kind,
            distribution_by_kind: record.distribution_by_kind,
            each_worker: record.each_worker,
            sequencer: record.sequencer,
            think_every_ops: record.think_every_ops,
            think_spin_ns: record.think_spin_ns,
            trim_first: record.trim_first,
            fail_if: record.fail_if,
            recording: record.recording,
            zone_walk: record.zone_walk,
            rate_by_kind: record.rate_by_kind,
            flow: record.flow,
            latency_target: record.latency_target,
        })
    }
}

impl From<Workload> for WorkloadRecord {
    fn from(workload: Workload) -> WorkloadRecord {
        let mut record = WorkloadRecord {
            replay: None,
            peer: None,
            meta: None,
            store: None,
            object: None,
            load: None,
            name: workload.name,
            engine: workload.engine,
            mix: workload.mix,
            pattern: workload.pattern,
            block: workload.block,
            align_bytes: workload.align_bytes,
            misalign_bytes: workload.misalign_bytes,
            workers: workload.workers,
            queue_depth: workload.queue_depth,
            batch: workload.batch,
            files: workload.data_set.files,
            named: workload.data_set.named,
            size_bytes: workload.data_set.size_bytes,
            working_set_bytes: workload.data_set.working_set_bytes,
            offset_bytes: workload.data_set.offset_bytes,
            sync: workload.sync,
            cache: workload.cache,
            drop_cache: workload.drop_cache,
            bounds: workload.bounds,
            until: workload.until,
            warmup_ns: workload.warmup_ns,
            rate: workload.rate,
            think_ns: workload.think_ns,
            cpus: workload.cpus,
            payload: workload.payload,
            verify: workload.verify,
            precondition: workload.data_set.precondition,
            poll: workload.poll,
            huge_pages: workload.huge_pages,
            on_error: workload.on_error,
            io_deadline_ns: workload.io_deadline_ns,
            slo: workload.slo,
            block_by_kind: workload.block_by_kind,
            distribution_by_kind: workload.distribution_by_kind,
            each_worker: workload.each_worker,
            region: workload.data_set.region,
            sequencer: workload.sequencer,
            think_every_ops: workload.think_every_ops,
            think_spin_ns: workload.think_spin_ns,
            trim_first: workload.trim_first,
            allocation: workload.data_set.allocation,
            fail_if: workload.fail_if,
            recording: workload.recording,
            zone_walk: workload.zone_walk,
            rate_by_kind: workload.rate_by_kind,
            flow: workload.flow,
            latency_target: workload.latency_target,
            ends_when_full: workload.data_set.ends_when_full,
        };
        record.put_work(workload.work);
        record
    }
}

impl WorkloadRecord {
    fn take_work(&mut self) -> Result<Work, UnclearWork> {
        let works = (
            self.replay.take(),
            self.peer.take(),
            self.meta.take(),
            self.store.take(),
            self.object.take(),
        );
        if let Some(load) = self.load.take() {
            return match works {
                (None, None, None, None, None) => Ok(Work::Pair(load)),
                _ => Err(UnclearWork::Several),
            };
        }
        Ok(match works {
            (None, None, None, None, None) => Work::Blocks,
            (Some(replay), None, None, None, None) => Work::recorded(replay),
            (None, Some(peer), None, None, None) => Work::Connections(peer),
            (None, None, Some(files), None, None) => Work::Files(files),
            (None, None, None, Some(store), requests) => Work::Objects(Box::new(Objects {
                store: *store,
                requests: requests.map(|requests| *requests),
            })),
            (None, None, None, None, Some(_)) => return Err(UnclearWork::NoStore),
            _ => return Err(UnclearWork::Several),
        })
    }

    fn put_work(&mut self, work: Work) {
        match work {
            Work::Blocks => {}
            Work::Files(files) => self.meta = Some(files),
            Work::Objects(objects) => {
                self.store = Some(Box::new(objects.store));
                self.object = objects.requests.map(Box::new);
            }
            Work::Connections(peer) => self.peer = Some(peer),
            Work::Recorded(replay) => self.replay = Some(*replay),
            Work::Pair(load) => self.load = Some(load),
        }
    }
}

impl JsonSchema for Workload {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WorkloadRecord::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpKind, workload::MetaTree};

    fn of(work: Work) -> Workload {
        Workload {
            work,
            ..Workload::example("stored")
        }
    }

    #[test]
    fn every_work_is_stored_and_read_again() {
        let store = ObjectStore::new(vec!["http://localhost:9000".to_owned()]);
        let requests = ObjectWork::new([(OpKind::Get, 1)], 10, ObjectSizes::Fixed(4096));
        let files = MetaWork::new([(OpKind::Create, 1)], MetaTree::flat(10, 4096));
        let works = [
            Work::Blocks,
            Work::files(files),
            Work::objects(store.clone(), requests),
            Work::blocks_as_objects(store),
            Work::recorded(Replay::of("/var/list".into())),
            Work::Pair(Box::new(LoadSpec::stream(3))),
        ];
        for work in works {
            let workload = of(work);
            let text = serde_json::to_string(&workload).unwrap();
            assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), workload);
        }
    }

    #[test]
    fn several_works_are_rejected() {
        let files = MetaWork::new([(OpKind::Create, 1)], MetaTree::flat(10, 4096));
        let mut stored = serde_json::to_value(of(Work::files(files))).unwrap();
        let list = Replay::of("/var/list".into());
        stored["replay"] = serde_json::to_value(list).unwrap();
        let error = serde_json::from_value::<Workload>(stored).unwrap_err();
        assert!(error.to_string().contains("not on several"), "{error}");
    }

    #[test]
    fn requests_without_a_store_are_rejected_as_such() {
        let sizes = ObjectSizes::Fixed(4096);
        let requests = ObjectWork::new([(OpKind::Put, 1)], 1, sizes);
        let mut stored = serde_json::to_value(of(Work::Blocks)).unwrap();
        stored["object"] = serde_json::to_value(requests).unwrap();
        let error = serde_json::from_value::<Workload>(stored).unwrap_err();
        assert!(error.to_string().contains("add store"), "{error}");
    }
}
