//! The figures that smallfile prints, from what was measured.

use super::Smallfile;
use fathom_model::run::{RunRecord, TrialRecord, WorkerPart};
use fathom_model::workload::{FileSizes, MetaTree};

const KIB: f64 = 1024.0;

/// What one thread, one host or all did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SmallfileFigure {
    /// Time of the work.
    pub elapsed_s: f64,
    /// Files that were done.
    pub files: u64,
    /// Calls that moved data.
    pub records: u64,
    /// Bytes moved.
    pub bytes: f64,
}

/// One host with its threads.
#[derive(Debug, Clone)]
pub struct HostFigures {
    /// Its name.
    pub name: String,
    /// What each thread did.
    pub threads: Vec<SmallfileFigure>,
    /// What all of them did.
    pub all: SmallfileFigure,
}

/// What all hosts did.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Each host.
    pub hosts: Vec<HostFigures>,
    /// All hosts together.
    pub all: SmallfileFigure,
    /// Operations that failed.
    pub errors: u64,
    /// When the load began.
    pub started_unix_s: f64,
    /// Files that were asked for.
    pub asked: u64,
}

impl SmallfileFigure {
    /// The rates of a set of threads are those of their common time: the
    /// longest.
    fn join(&mut self, other: &SmallfileFigure) {
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.files += other.files;
        self.records += other.records;
        self.bytes += other.bytes;
    }

    /// So much over the time.
    pub fn per_second(&self, count: f64) -> f64 {
        match self.elapsed_s > 0.0 {
            true => count / self.elapsed_s,
            false => 0.0,
        }
    }

    /// Files a second.
    pub fn files_per_second(&self) -> f64 {
        self.per_second(self.files as f64)
    }

    /// Calls a second.
    pub fn records_per_second(&self) -> f64 {
        self.per_second(self.records as f64)
    }

    /// MiB a second.
    pub fn mib_per_second(&self) -> f64 {
        self.per_second(self.bytes / KIB / KIB)
    }
}

impl Figures {
    /// The figures of a run.
    pub fn of(asked: &Smallfile, record: &RunRecord) -> Figures {
        let mut hosts = Vec::new();
        let mut errors = 0;
        for trial in &record.trials {
            hosts.push(of_host(asked, record, trial));
            let failed = trial.samples.iter().flat_map(|sample| &sample.ops);
            errors += failed.map(|op| op.errors.total()).sum::<u64>();
        }
        let mut all = SmallfileFigure::default();
        for host in &hosts {
            all.join(&host.all);
        }
        let started = record.trials.iter().filter_map(|trial| {
            let end = trial.end.as_ref()?;
            end.load_started_unix_ns
        });
        let started_ns = started.min().unwrap_or(record.meta.started_unix_ns);
        let threads: u64 = hosts.iter().map(|host| host.threads.len() as u64).sum();
        Figures {
            asked: asked.files.saturating_mul(threads),
            hosts,
            all,
            errors,
            started_unix_s: started_ns as f64 / 1e9,
        }
    }

    /// Threads of all hosts.
    pub fn threads(&self) -> usize {
        self.hosts.iter().map(|host| host.threads.len()).sum()
    }

    /// Share of the files that were done, percent.
    pub fn percent_done(&self) -> f64 {
        100.0 * self.all.files as f64 / self.asked.max(1) as f64
    }
}

fn of_host(asked: &Smallfile, record: &RunRecord, trial: &TrialRecord) -> HostFigures {
    let end = trial.end.as_ref();
    let first_ns = end
        .and_then(|end| end.engine.finishers)
        .map(|finishers| finishers.first_ns);
    let tree = trial.spec.workload.files_work().map(|meta| &meta.tree);
    let parts = end.map(|end| end.engine.parts.as_slice());
    let threads: Vec<SmallfileFigure> = parts
        .unwrap_or_default()
        .iter()
        .map(|part| of_thread(asked, part, first_ns, tree))
        .collect();
    let mut all = SmallfileFigure::default();
    for thread in &threads {
        all.join(thread);
    }
    HostFigures {
        name: record.meta.host_of(&trial.spec).hostname.clone(),
        threads,
        all,
    }
}

fn of_thread(
    asked: &Smallfile,
    part: &WorkerPart,
    first_ns: Option<u64>,
    tree: Option<&MetaTree>,
) -> SmallfileFigure {
    let (ns, ops, records) = match first_ns.filter(|_| asked.stonewall) {
        Some(first_ns) => (
            first_ns.min(part.ended_ns),
            part.ops_at_first,
            part.records_at_first,
        ),
        None => (part.ended_ns, part.ops, part.records),
    };
    let files = match (asked.operation.lists(), tree) {
        // It counts the files that a listing found.
        (true, Some(tree)) => ops.saturating_mul(tree.files_per_leaf()).min(asked.files),
        _ => ops,
    };
    SmallfileFigure {
        elapsed_s: ns as f64 / 1e9,
        files,
        records,
        bytes: match (records > 0, tree) {
            (true, Some(tree)) => ops as f64 * file_bytes(asked, tree),
            _ => 0.0,
        },
    }
}

fn file_bytes(asked: &Smallfile, tree: &MetaTree) -> f64 {
    match tree.sizes {
        FileSizes::Fixed(bytes) => bytes as f64,
        sizes @ FileSizes::Exponential { .. } => match asked.operation.name() {
            // An append adds the mean to each.
            "append" => asked.file_size_kib as f64 * KIB,
            _ => sizes.mean_bytes(),
        },
    }
}
