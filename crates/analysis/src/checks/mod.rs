//! The checks: each looks at one trial and says what it found.
//!
//! A check that has no meaning for a workload (durability of a read test, lag
//! of a closed loop) says nothing. A check that has a meaning but no data says
//! "not measured" and why; it never passes silently and never alarms.

mod cap;
mod commits;
mod company;
mod data_set;
mod device_bytes;
mod device_facts;
mod drive;
mod durability;
pub(crate) mod evidence;
mod files;
mod first_pass;
mod frequent_pauses;
mod generator;
mod generator_cpu;
mod host;
mod idle_gate;
mod integrity;
mod layers;
mod link;
mod load;
mod objects;
mod pauses;
mod power;
mod precision;
mod requests;
mod stall;
mod state;
mod steadiness;
mod unflushed;
mod write_path;

use fathom_model::judged::TrialSummary;
use fathom_model::steadiness::Steadiness;
use fathom_model::verdict::Finding;

use crate::activity::Activity;
use crate::outcome::Outcome;
use crate::trial::Trial;
use crate::unknown::Unknown;

pub(crate) use cap::{declared as declared_cap, evidence as cap_evidence, is_limited};
pub(crate) use data_set::{all_in_memory, holes, in_memory};
pub(crate) use drive::heat_limited;
pub(crate) use files::is_flushed;
pub(crate) use generator::{busy_worker, share_of_ceiling};
pub(crate) use generator_cpu::{cpu_bound, nearly_bound, quota_bound};
pub(crate) use host::short_of_cpus;
pub(crate) use layers::is_compressible;
pub use load::is_rate_not_reached;
pub(crate) use load::{achieved, asks_all_the_time, depth_kept};

/// What the checks of one trial share.
pub(crate) struct Facts<'a> {
    pub(crate) trial: &'a Trial<'a>,
    pub(crate) summary: &'a TrialSummary,
    /// Whether one number describes the trial.
    pub(crate) steadiness: Option<Steadiness>,
    /// Devices and workload over the measure phase.
    pub(crate) activity: Result<Activity, Unknown>,
    /// Bytes that this run had written to the target before.
    pub(crate) written_before: u64,
}

type CheckFn = fn(&Facts<'_>) -> Option<Outcome>;

impl Facts<'_> {
    /// Bytes of this run that may have been dirty when the load began: what
    /// earlier trials wrote. The preparation flushes what it makes.
    fn left_by_earlier_trials(&self) -> u64 {
        let Some(end) = self.trial.end() else {
            return self.written_before;
        };
        let flushed = match end.data.reused {
            true => end.data.active_bytes,
            false => end.data.prepared_bytes,
        };
        self.written_before.saturating_sub(flushed)
    }
}

const CHECKS: &[CheckFn] = &[
    device_bytes::app_vs_device_bytes,
    data_set::page_cache_resident,
    data_set::working_set,
    data_set::sparse_unwritten,
    data_set::virtual_fs,
    durability::durability,
    steadiness::fresh,
    steadiness::snia,
    steadiness::drift,
    steadiness::cliff,
    steadiness::bimodal,
    first_pass::first_pass,
    precision::duration,
    precision::n_eff,
    precision::ci_width,
    precision::pctl_support,
    steadiness::until,
    load::little,
    generator::ceiling,
    load::open_loop_lag,
    integrity::clock,
    integrity::unit_identity,
    integrity::io_errors,
    generator::stall,
    stall::target_stall,
    pauses::recurring,
    integrity::engine_fallback,
    integrity::incomplete,
    host::foreign_io,
    host::contention,
    layers::compress_dedup,
    write_path::host_write_amplification,
    write_path::filesystem_state,
    state::background_job,
    state::degraded,
    drive::thermal,
    drive::health,
    link::link,
    power::power,
    power::swapping,
    cap::cap,
    company::together,
    idle_gate::busy_before,
    files::client_cache,
    files::durable,
    objects::seconds,
    objects::endpoints,
    objects::kept,
];

/// Every check that has something to say about a trial, worst first.
pub(crate) fn run(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS
        .iter()
        .filter_map(|check| check(facts))
        .map(Outcome::finding)
        .collect();
    findings.extend(evidence::missing(&findings, facts.trial.kind));
    sort(&mut findings);
    findings
}

/// Worst first, then by id.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| b.status.cmp(&a.status).then_with(|| a.id.cmp(&b.id)));
}
