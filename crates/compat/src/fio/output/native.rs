//! Jobs for a run that no job file describes: a fathom plan in fio's terms, so
//! that dashboards made for fio can show any run.

use fathom_model::workload::{BlockSizes, CacheMode, EngineKind, RateUnit, Workload};
use fathom_model::{RunRecord, ScheduledTrial, Target};

use super::view::{DEFAULT_VERSION, FioJob, FioView, LatencyTarget};

impl FioView {
    /// One job for each trial that has a result of its own, each in a group of
    /// its own, because they ran one after the other. The options are those
    /// that parsers look for.
    pub fn of_run(record: &RunRecord) -> FioView {
        let own = |spec: &&ScheduledTrial| !spec.role.is_probe();
        let mut jobs: Vec<FioJob> = Vec::new();
        for spec in record.trials.iter().map(|trial| &trial.spec).filter(own) {
            if jobs.iter().all(|job| job.trial != spec.index) {
                jobs.push(job(spec, jobs.len() as u32));
            }
        }
        FioView {
            version: DEFAULT_VERSION.to_owned(),
            global_options: Vec::new(),
            jobs,
        }
    }
}

impl FioView {
    /// A name for the files of each job, by the pattern that fio-plot looks
    /// for: `randread-iodepth-32-numjobs-4`. Repetitions lie in directories of
    /// their own (`repeat-2/…`): fio-plot takes what lies together for jobs that
    /// ran at the same time.
    pub fn file_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for job in &self.jobs {
            let option = |name: &str| {
                let options = job.options.iter().chain(&self.global_options);
                let mut named = options.into_iter().filter(|(key, _)| key == name);
                named.next().map_or("", |(_, value)| value.as_str())
            };
            let (rw, depth, jobs) = (option("rw"), option("iodepth"), option("numjobs"));
            let name = format!("{rw}-iodepth-{depth}-numjobs-{jobs}").replace('/', "_");
            seen.push(name.clone());
            names.push(match seen.iter().filter(|known| **known == name).count() {
                1 => name,
                number => format!("repeat-{number}/{name}"),
            });
        }
        names
    }

    /// The same with every log, in windows of a second, by those names:
    /// `randread-iodepth-32-numjobs-4_iops.1.log`. Histograms lie apart, in
    /// `histograms`: fio-plot would take them for completion latencies.
    pub fn with_logs(mut self) -> FioView {
        let names = self.file_names();
        for (job, name) in self.jobs.iter_mut().zip(names) {
            job.number = 1;
            job.logs.bandwidth = Some(name.clone());
            job.logs.iops = Some(name.clone());
            job.logs.latency = Some(name.clone());
            job.logs.histogram = Some(format!("histograms/{name}"));
            job.logs.window_ms = 1000;
            job.logs.histogram_window_ms = 1000;
        }
        self
    }
}

fn job(spec: &ScheduledTrial, position: u32) -> FioJob {
    let workload = &spec.workload;
    FioJob {
        group_id: position,
        number: position + 1,
        clones: workload.workers,
        group_reporting: true,
        options: options(spec),
        latency_target: LatencyTarget {
            depth: workload.queue_depth,
            ..LatencyTarget::default()
        },
        ..FioJob::new(&spec.label, spec.index)
    }
}

fn options(spec: &ScheduledTrial) -> Vec<(String, String)> {
    let workload = &spec.workload;
    let mut options: Vec<(String, String)> = Vec::new();
    let mut put = |name: &str, value: String| options.push((name.to_owned(), value));
    put("ioengine", engine(workload.engine).to_owned());
    match &spec.target {
        Target::Path(path) => put("filename", path.display().to_string()),
        other => put("filename", other.to_string()),
    }
    put("rw", direction(workload));
    if workload.mix.reads() && workload.mix.modifies() {
        put("rwmixread", workload.mix.read_percent.to_string());
    }
    match &workload.block {
        BlockSizes::Fixed(bytes) => put("bs", size(*bytes)),
        BlockSizes::Range {
            min_bytes,
            max_bytes,
            ..
        } => {
            put("bs", size(*min_bytes));
            put(
                "bsrange",
                format!("{}-{}", size(*min_bytes), size(*max_bytes)),
            );
        }
        BlockSizes::Weighted(sizes) => {
            put("bs", size(workload.block.min_bytes()));
            put("bssplit", split(sizes));
        }
    }
    put("iodepth", workload.queue_depth.to_string());
    put("numjobs", workload.workers.to_string());
    put("size", size(workload.data_set.size_bytes.unwrap_or(0)));
    let direct = workload.cache == CacheMode::Direct;
    put("direct", u8::from(direct).to_string());
    if let Some(time_ns) = workload.bounds.time_ns {
        put("time_based", "1".to_owned());
        put("runtime", time_ns.div_ceil(1_000_000_000).to_string());
    }
    if let Some(rate) = &workload.rate {
        let each = rate.per_second / f64::from(workload.workers.max(1));
        match rate.unit {
            RateUnit::Ops => put("rate_iops", format!("{each:.0}")),
            RateUnit::Bytes => put("rate", format!("{each:.0}")),
        }
    }
    put("group_reporting", "1".to_owned());
    options
}

/// fio's name of an engine; the simulated drive has none.
fn engine(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Uring => "io_uring",
        other => other.name(),
    }
}

/// fio's word for a pattern and mix.
fn direction(workload: &Workload) -> String {
    let mix = &workload.mix;
    let what = match (mix.reads(), mix.write_percent > 0, mix.trim_percent > 0) {
        (true, false, false) => "read",
        (false, true, false) => "write",
        (false, false, true) => "trim",
        (false, true, true) => "trimwrite",
        _ => "rw",
    };
    if workload.pattern.is_random() {
        format!("rand{what}")
    } else {
        what.to_owned()
    }
}

fn split(sizes: &[fathom_model::workload::WeightedSize]) -> String {
    let total: u64 = sizes.iter().map(|s| u64::from(s.weight)).sum();
    let shares = sizes.iter().map(|s| {
        let percent = u64::from(s.weight) * 100 / total.max(1);
        format!("{}/{percent}", size(s.bytes))
    });
    shares.collect::<Vec<_>>().join(":")
}

/// A size as users of fio write it: `4k`, `1m`, `10g`, or bytes.
fn size(bytes: u64) -> String {
    let units = [
        (1 << 40, "t"),
        (1 << 30, "g"),
        (1 << 20, "m"),
        (1 << 10, "k"),
    ];
    units
        .iter()
        .find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit))
        .map_or_else(
            || bytes.to_string(),
            |(unit, letter)| format!("{}{letter}", bytes / unit),
        )
}

#[cfg(test)]
mod tests {
    use super::super::test_record::{run, trial};
    use super::*;
    use fathom_model::workload::WeightedSize;

    #[test]
    fn sizes_are_written_as_users_write_them() {
        let shown = [0, 512, 4096, 6 << 10, 1 << 30, 3 << 40].map(size);
        assert_eq!(shown, ["0", "512", "4k", "6k", "1g", "3t"]);
        let weighted = |bytes, weight| WeightedSize { bytes, weight };
        assert_eq!(
            split(&[weighted(4096, 3), weighted(65536, 1)]),
            "4k/75:64k/25"
        );
    }

    #[test]
    fn repetitions_get_files_of_their_own() {
        let record = run(vec![trial(0, false), trial(1, false)]);
        let view = FioView::of_run(&record);
        let names = view.file_names();
        assert_eq!(
            names,
            [
                "randrw-iodepth-8-numjobs-1",
                "repeat-2/randrw-iodepth-8-numjobs-1"
            ]
        );
        let logs = view.with_logs();
        let second = logs.jobs[1].logs.iops.as_deref();
        assert_eq!(second, Some("repeat-2/randrw-iodepth-8-numjobs-1"));
    }

    #[test]
    fn patterns_have_names_of_fio() {
        let mut workload = Workload::example("w");
        assert_eq!(direction(&workload), "randread");
        workload.mix.read_percent = 70;
        workload.mix.write_percent = 30;
        assert_eq!(direction(&workload), "randrw");
        workload.pattern = fathom_model::workload::Pattern::Sequential;
        assert_eq!(direction(&workload), "rw");
        assert_eq!(engine(EngineKind::Uring), "io_uring");
    }
}
