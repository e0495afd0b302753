//! The generator's own ceiling: the workload's shape on the null target.
//!
//! Mix, pattern, block size, depth, batch, workers, payload and pinning stay;
//! files, durability, rate, think time and verification of contents that are
//! not there go. What comes out is what fathom could do on this host, now, if the
//! target took no time at all (law 11).

use fathom_model::run::Ceiling;
use fathom_model::workload::{
    Bounds, ByKind, EngineKind, FailIf, ObjectSizes, SyncPolicy, WorkerBounds,
};
use fathom_model::{Job, Phase, Target};

use crate::group::batch;
use crate::prepare::{NoHooks, prepare};
use crate::{Error, Group};

/// How often a busy host gets more time.
const TRIES: u32 = 3;
/// Each try takes this many times as long as the one before.
const LONGER: u64 = 4;

/// Measures the ceiling of `job` for `duration_ns` (at least a millisecond), and for
/// longer where the host gave its workers no CPU in that time.
///
/// # Errors
/// Those of starting the group itself; [`Error::Workload`] where the
/// workers never ran.
pub fn measure_ceiling(job: &Job, duration_ns: u64) -> Result<Ceiling, Error> {
    let mut duration_ns = duration_ns.max(1_000_000);
    for _ in 0..TRIES {
        if let Some(ceiling) = measured_for(job, duration_ns)? {
            return Ok(ceiling);
        }
        duration_ns = duration_ns.saturating_mul(LONGER);
    }
    Err(Error::Workload(
        "the null target completed nothing; the host may be overloaded".to_owned(),
    ))
}

/// `None` where nothing was completed.
fn measured_for(job: &Job, duration_ns: u64) -> Result<Option<Ceiling>, Error> {
    let null = on_null(job, duration_ns);
    let prepared = prepare(&null, &mut NoHooks)?;
    let mut group = Group::start(&null, &prepared)?;
    group.go();
    let end = group.finish();
    let measured = end.samples.iter().filter(|s| s.phase == Phase::Measure);
    let (mut ops, mut time_ns, mut cpu_ns) = (0, 0, 0);
    for sample in measured {
        ops += sample.data_ops();
        time_ns += sample.duration_ns;
        cpu_ns += sample.cpu_user_ns + sample.cpu_system_ns;
    }
    if ops == 0 || time_ns == 0 {
        return Ok(None);
    }
    Ok(Some(Ceiling {
        ops_per_second: ops as f64 / (time_ns as f64 / 1e9),
        cpu_ns_per_op: cpu_ns as f64 / ops as f64,
    }))
}

fn on_null(job: &Job, duration_ns: u64) -> Job {
    let mut null = job.clone();
    let workload = &mut null.workload;
    null.target = Target::Null;
    workload.batch = batch(workload, workload.engine, workload.queue_depth);
    workload.engine = EngineKind::Null;
    workload.sync = SyncPolicy::default();
    workload.bounds = Bounds {
        time_ns: Some(duration_ns),
        bytes: None,
        ops: None,
    };
    workload.warmup_ns = 0;
    workload.rate = None;
    workload.think_ns = 0;
    workload.verify = None;
    workload.drop_cache = false;
    workload.each_worker = WorkerBounds::default();
    workload.fail_if = FailIf::default();
    // The list belongs to the target; its operations would be drawn otherwise.
    workload.work = workload.work.drawn();
    workload.trim_first = false;
    workload.rate_by_kind = ByKind::default();
    workload.flow = None;
    workload.latency_target = None;
    workload.data_set.ends_when_full = false;
    if let Some(object) = workload.requests_mut() {
        object.existing = false;
        object.repeat = true;
        object.retries = 0;
        // The null server knows one size only.
        let mean_bytes = object.sizes.mean_bytes() as u64;
        object.sizes = ObjectSizes::Fixed(mean_bytes);
    }
    null
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::Workload;
    use fathom_model::workload::{OpMix, Rate, RateUnit, Verify};

    #[test]
    fn every_shape_has_a_ceiling_and_the_target_is_left_alone() {
        let mut workload = Workload::example("ceiling");
        workload.mix = OpMix {
            read_percent: 50,
            write_percent: 40,
            trim_percent: 10,
        };
        workload.workers = 2;
        workload.queue_depth = 4;
        workload.think_ns = 1_000_000_000;
        workload.warmup_ns = 3_600_000_000_000;
        workload.rate = Some(Rate {
            per_second: 1.0,
            unit: RateUnit::Ops,
            arrival: Default::default(),
        });
        workload.verify = Some(Verify {
            on_read: true,
            after: true,
            ..Verify::default()
        });
        let job = Job {
            workload,
            target: Target::Path("/nonexistent/file".into()),
            seed: 1,
            run_tag: 1,
            destructive: false,
            keep_files: false,
            file_prefix: "ceiling".to_owned(),
        };
        let ceiling = measure_ceiling(&job, 30_000_000).unwrap();
        // Neither rate, think time nor warm-up is part of the shape.
        assert!(ceiling.ops_per_second > 100.0, "{ceiling:?}");
        assert!(ceiling.cpu_ns_per_op > 0.0, "{ceiling:?}");
        let no_shape = Job {
            workload: Workload {
                workers: 0,
                ..Workload::example("none")
            },
            ..job
        };
        assert!(measure_ceiling(&no_shape, 1).is_err());
    }
}
