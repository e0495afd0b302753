//! The jobs as fio's outputs show them.

use fathom_model::secret::masked;

use super::output::{
    DEFAULT_VERSION, FioJob as JobView, FioLogs, FioView, LatencyTarget, PercentilesOf, Unified,
    WindowValue,
};
use super::request::{FioJob, FioJobs, FioMapped, FioMappedJob, FioSetting, is_secret};

const MICROSECOND_NS: u64 = 1000;
/// fio's limit.
const MOST_PERCENTILES: usize = 20;

/// How a run is shown.
pub fn request_view(mapped: &FioMapped, jobs: &FioJobs) -> FioView {
    let shown = mapped.jobs.iter().filter_map(|mapped| {
        let job = jobs.jobs.get(mapped.section)?;
        job.flag("stats", true).then(|| view(job, mapped))
    });
    FioView {
        version: DEFAULT_VERSION.to_owned(),
        global_options: options(&jobs.globals),
        jobs: shown.collect(),
    }
}

fn options(settings: &[FioSetting]) -> Vec<(String, String)> {
    let mut options: Vec<(String, String)> = Vec::new();
    for setting in settings {
        let name = setting.option.name.to_owned();
        let value = match is_secret(setting.option.name) {
            true => "…".to_owned(),
            false => masked(setting.value.as_deref().unwrap_or_default()),
        };
        // The last one counts.
        match options.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value,
            None => options.push((name, value)),
        }
    }
    options
}

fn view(job: &FioJob, mapped: &FioMappedJob) -> JobView {
    let name = job.text("name").unwrap_or(&job.name);
    let mut view = JobView::new(name, mapped.trial);
    view.group_id = mapped.group;
    view.number = mapped.number;
    view.clones = mapped.clones;
    view.group_reporting = job.flag("group_reporting", false);
    view.options = options(&job.settings);
    view.description = job.text("description").map(masked);
    percentiles(job, &mut view);
    view.percentiles_of = PercentilesOf {
        slat: job.flag("slat_percentiles", false),
        clat: job.flag("clat_percentiles", true),
        lat: job.flag("lat_percentiles", false),
    };
    view.unified = match job.text("unified_rw_reporting") {
        Some("mixed" | "1") => Unified::Mixed,
        Some("both" | "2") => Unified::Both,
        _ => Unified::Separate,
    };
    view.bits = job.text("unit_base") == Some("1");
    view.significant_digits = match job.count("significant_figures") {
        Some(digits @ 1..=10) => u32::try_from(digits).unwrap_or(4),
        _ => 4,
    };
    view.continue_on_error = !matches!(job.text("continue_on_error"), None | Some("none" | "0"));
    view.latency_target = LatencyTarget {
        depth: job
            .count("iodepth")
            .and_then(|d| u32::try_from(d).ok())
            .unwrap_or(1),
        target_us: micro(job, "latency_target"),
        window_us: micro(job, "latency_window"),
        percentile: job
            .floats("latency_percentile")
            .and_then(|p| p.first().copied())
            .unwrap_or(100.0),
    };
    view.logs = logs(job, name);
    view
}

fn micro(job: &FioJob, name: &str) -> u64 {
    job.time_ns(name, MICROSECOND_NS).unwrap_or(0) / MICROSECOND_NS
}

fn percentiles(job: &FioJob, view: &mut JobView) {
    let Some(text) = job.text("percentile_list") else {
        return;
    };
    let mut list = job.floats("percentile_list").unwrap_or_default();
    list.retain(|percentile| (0.0..=100.0).contains(percentile));
    list.sort_by(f64::total_cmp);
    list.truncate(MOST_PERCENTILES);
    if list.is_empty() {
        return;
    }
    view.percentiles = list;
    let decimals = text
        .split(':')
        .filter_map(|part| part.trim().split_once('.'));
    let digits = decimals.map(|(_, decimals)| decimals.trim_end_matches('0').len());
    view.percentile_precision = digits.max().unwrap_or(0).clamp(1, 9);
}

fn logs(job: &FioJob, name: &str) -> FioLogs {
    // A log without a name is called after its job.
    let log = |option: &str| {
        let setting = job.setting(option)?;
        let value = setting
            .value
            .as_deref()
            .map(str::trim)
            .filter(|v| !v.is_empty());
        Some(value.unwrap_or(name).to_owned())
    };
    let number = |option: &str| job.count(option).unwrap_or(0);
    FioLogs {
        bandwidth: log("write_bw_log"),
        iops: log("write_iops_log"),
        latency: log("write_lat_log"),
        histogram: log("write_hist_log"),
        operations: log("write_iolog"),
        window_ms: number("log_avg_msec"),
        histogram_window_ms: number("log_hist_msec"),
        histogram_coarseness: u32::try_from(number("log_hist_coarseness").min(6)).unwrap_or(0),
        window_value: match job.text("log_window_value") {
            Some("max" | "1") => WindowValue::Maximum,
            Some("both") => WindowValue::Both,
            _ => WindowValue::Average,
        },
        offset: job.flag("log_offset", false),
        priority: job.flag("log_prio", false),
        issue_time: job.flag("log_issue_time", false),
        per_job: job.flag("per_job_logs", true),
        unix_epoch: job.flag("log_alternate_epoch", false),
    }
}
