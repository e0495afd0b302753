//! What a group is going to do, settled before any thread starts: engine,
//! files, depth, and what could not be had.

use std::sync::Arc;

use fathom_model::workload::{EngineKind, OnError, Rate};
use fathom_model::{Job, OpKind, Target, Workload};

use crate::Error;
use crate::access::{Layout, TargetKind};
use crate::engine::{MAX_BLOCK_BYTES, MAX_DEPTH};
use crate::engines;
use crate::meta::{self, TreeWork};
use crate::object;
use crate::open::{OpenMode, Opener};
use crate::prepare::Prepared;
use crate::record::{Detail, Shape};
use crate::replay::Recorded;
use crate::verify::Ledger;

/// Threads that one group may have.
const MAX_WORKERS: u32 = 16_384;

/// The settled plan of a group. Workers share it.
#[derive(Debug)]
pub(crate) struct GroupPlan {
    pub(crate) job: Job,
    pub(crate) layout: Layout,
    pub(crate) ledger: Option<Arc<Ledger>>,
    pub(crate) recorded: Option<Arc<Recorded>>,
    pub(crate) engine: EngineKind,
    pub(crate) mode: OpenMode,
    pub(crate) opener: Opener,
    pub(crate) depth: u32,
    pub(crate) may_spin: bool,
    pub(crate) fallbacks: Vec<String>,
    /// Work on a tree of files instead of blocks.
    pub(crate) tree_work: Option<Arc<TreeWork>>,
    /// Work on an object store instead of blocks.
    pub(crate) object_work: Option<Arc<object::StoreWork>>,
    /// A store whose objects are blocks.
    pub(crate) blocks: Option<Arc<object::BlockStore>>,
}

impl GroupPlan {
    pub(crate) fn new(job: &Job, prepared: &Prepared) -> Result<GroupPlan, Error> {
        let workload = &job.workload;
        if workload.files_work().is_some() {
            return GroupPlan::of_tree(job, prepared);
        }
        if workload.requests().is_some() {
            return GroupPlan::of_objects(job, prepared);
        }
        check_limits(workload)?;
        let layout = prepared.layout.clone();
        let mut fallbacks = Vec::new();
        let nothing = matches!(layout.kind, TargetKind::Null | TargetKind::Sim);
        let mode = if nothing {
            OpenMode::NOTHING
        } else {
            OpenMode::choose(workload, prepared, &mut fallbacks)?
        };
        let engine = match layout.kind {
            _ if matches!(job.target, Target::Peer(_)) => EngineKind::Net,
            _ if prepared.ready.blocks().is_some() => EngineKind::S3,
            TargetKind::Null => EngineKind::Null,
            TargetKind::Sim => EngineKind::Sim,
            _ if workload.engine == EngineKind::Sim => {
                return Err(Error::Workload(
                    "engine sim needs a simulated target, for example sim:ssd".to_owned(),
                ));
            }
            _ => engines::choose(workload.engine, mode.direct, &mut fallbacks),
        };
        let depth = workload.queue_depth.min(engines::max_depth(engine));
        if depth < workload.queue_depth {
            fallbacks.push(format!(
                "engine {} has one operation in flight per worker: queue depth {} became 1",
                engine.name(),
                workload.queue_depth
            ));
        }
        if workload.recording.submission && !engine.traits().goes_on {
            fallbacks.push(format!(
                "engine {} does not return between submission and completion: service latency \
                 is not split",
                engine.name()
            ));
        }
        let opener = Opener::new(mode, &layout, workload.workers)?;
        Ok(GroupPlan {
            job: job.clone(),
            layout,
            ledger: prepared.ledger.clone(),
            recorded: prepared.ready.recorded().cloned(),
            engine,
            mode,
            opener,
            depth,
            may_spin: workload.workers < crate::affinity::allowed_cpus(),
            fallbacks,
            tree_work: None,
            object_work: None,
            blocks: prepared.ready.blocks().cloned(),
        })
    }

    /// The plan of work on a tree of files.
    fn of_tree(job: &Job, prepared: &Prepared) -> Result<GroupPlan, Error> {
        let workload = &job.workload;
        check_numbers(workload)?;
        meta::check(workload)?;
        let work = TreeWork::of(job, prepared.ready.tree());
        let layout = prepared.layout.clone();
        let mode = OpenMode::NOTHING;
        Ok(GroupPlan {
            job: job.clone(),
            opener: Opener::new(mode, &layout, workload.workers)?,
            ledger: None,
            recorded: None,
            engine: match prepared.ready.tree() {
                Some(_) => EngineKind::Meta,
                None => EngineKind::Null,
            },
            mode,
            depth: 1,
            may_spin: workload.workers < crate::affinity::allowed_cpus(),
            fallbacks: Vec::new(),
            tree_work: work.map(Arc::new),
            object_work: None,
            blocks: None,
            layout,
        })
    }

    /// The plan of work on an object store.
    fn of_objects(job: &Job, prepared: &Prepared) -> Result<GroupPlan, Error> {
        let workload = &job.workload;
        check_numbers(workload)?;
        let layout = prepared.layout.clone();
        let mode = OpenMode::NOTHING;
        Ok(GroupPlan {
            job: job.clone(),
            opener: Opener::new(mode, &layout, workload.workers)?,
            ledger: None,
            recorded: None,
            engine: match job.target {
                Target::Null => EngineKind::Null,
                _ => EngineKind::S3,
            },
            mode,
            depth: workload.queue_depth,
            may_spin: workload.workers < crate::affinity::allowed_cpus(),
            fallbacks: Vec::new(),
            tree_work: None,
            object_work: prepared.ready.objects().cloned(),
            blocks: None,
            layout,
        })
    }

    /// Whether operations of a kind are done.
    pub(crate) fn does(&self, kind: OpKind) -> bool {
        match &self.recorded {
            Some(recorded) => recorded.holds(kind),
            None => self.job.workload.may_do(kind) || (kind == OpKind::Read && self.reads_back()),
        }
    }

    /// Whether what was written is read again within the load.
    fn reads_back(&self) -> bool {
        let verify = self.job.workload.verify;
        verify.is_some_and(|verify| verify.read_back.is_some())
    }

    /// The largest block.
    pub(crate) fn max_block_bytes(&self) -> u64 {
        match &self.recorded {
            Some(recorded) => recorded.max_block_bytes(),
            None => self.job.workload.max_block_bytes(),
        }
    }

    /// Kinds of operations and histograms of the trial.
    pub(crate) fn shape(&self) -> Shape {
        let workload = &self.job.workload;
        if let Some(work) = &self.tree_work {
            let kinds = OpKind::ALL.into_iter().filter(|kind| work.meta.does(*kind));
            let detail = Detail::new(&workload.recording, workload.workers, false);
            return Shape::new(kinds.collect(), workload.is_open_loop()).with(detail);
        }
        if let Some(work) = &self.object_work {
            return Shape::new(work.kinds(), workload.is_open_loop());
        }
        let writes = self.does(OpKind::Write);
        let sync = &workload.sync;
        let every = sync.every_writes > 0 || sync.other_every_writes > 0;
        let batches = writes && every;
        let flushes = batches || (writes && (sync.final_flush || sync.ranges.is_some()));
        let kinds = [
            (OpKind::Read, self.does(OpKind::Read)),
            (OpKind::Write, writes),
            (OpKind::Trim, self.does(OpKind::Trim)),
            (OpKind::Sync, flushes || self.does(OpKind::Sync)),
            (OpKind::Commit, batches),
        ];
        let wanted = kinds.into_iter().filter(|(_, wanted)| *wanted);
        Shape::new(
            wanted.map(|(kind, _)| kind).collect(),
            workload.is_open_loop(),
        )
        .with(Detail::new(
            &workload.recording,
            workload.workers,
            self.engine.traits().goes_on,
        ))
    }

    pub(crate) fn stops_on_error(&self) -> bool {
        self.job.workload.on_error == OnError::Stop
    }
}

fn check_limits(workload: &Workload) -> Result<(), Error> {
    let mix = &workload.mix;
    let shares =
        u32::from(mix.read_percent) + u32::from(mix.write_percent) + u32::from(mix.trim_percent);
    if shares == 100 {
        return check_numbers(workload);
    }
    Err(Error::Workload(format!(
        "workload {}: the shares of the mix add up to {shares}, not 100",
        workload.name
    )))
}

fn check_numbers(workload: &Workload) -> Result<(), Error> {
    let rates = workload.rate.iter().chain(workload.rate_by_kind.values());
    let sane = |rate: &Rate| rate.per_second.is_finite() && rate.per_second > 0.0;
    let refused = if !(1..=MAX_WORKERS).contains(&workload.workers) {
        Some(format!("workers must be 1 to {MAX_WORKERS}"))
    } else if !(1..=MAX_DEPTH).contains(&workload.queue_depth) {
        Some(format!("queue depth must be 1 to {MAX_DEPTH}"))
    } else if !(1..=MAX_BLOCK_BYTES).contains(&workload.max_block_bytes())
        || workload.min_block_bytes() == 0
    {
        Some(format!("blocks must be 1 to {MAX_BLOCK_BYTES} bytes"))
    } else if !rates.into_iter().all(sane) {
        Some("the rate must be above 0".to_owned())
    } else {
        None
    };
    refused.map_or(Ok(()), |text| {
        Err(Error::Workload(format!(
            "workload {}: {text}",
            workload.name
        )))
    })
}
