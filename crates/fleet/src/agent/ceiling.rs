//! The generator's own ceiling, measured once per workload shape.

use std::collections::HashMap;

use fathom_model::Job;
use fathom_model::run::Ceiling;
use fathom_model::workload::{Bounds, EngineKind, FailIf, WorkerBounds, Workload};

/// How often a shape is looked at; the best counts, because a busy host makes
/// a single look too low.
const LOOKS: u64 = 3;

/// From this share of the ceiling on, a result deserves a longer look at it:
/// half of where the check on the generator begins to speak.
const NEAR: f64 = 0.25;

/// The longer look takes this many times as long.
const LONGER: u64 = 30;

/// Ceilings that this agent has measured already.
#[derive(Default)]
pub(crate) struct Ceilings {
    known: HashMap<String, Ceiling>,
}

impl Ceilings {
    /// The ceiling of the job's shape, measured now or earlier. A glance of
    /// `duration_ns`, so that the load begins soon.
    ///
    /// `None` for targets that are no real I/O, and when the null target
    /// cannot run in this shape (the reason is of no use to anybody: the
    /// check that needs the ceiling then says that there is none).
    pub(crate) fn of(&mut self, job: &Job, duration_ns: u64) -> Option<Ceiling> {
        if duration_ns == 0 || matches!(job.workload.engine, EngineKind::Null | EngineKind::Sim) {
            return None;
        }
        let key = shape(&job.workload);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let ceiling = look(job, duration_ns, LOOKS)?;
        self.known.insert(key, ceiling);
        Some(ceiling)
    }

    /// The ceiling in the light of what the load reached: near the ceiling, or
    /// over it, it is measured again and for longer. The higher one counts.
    pub(crate) fn refined(
        &mut self,
        job: &Job,
        duration_ns: u64,
        glance: Option<Ceiling>,
        ops_per_second: f64,
    ) -> Option<Ceiling> {
        let glance = glance?;
        if ops_per_second < glance.ops_per_second * NEAR {
            return Some(glance);
        }
        let longer = look(job, duration_ns * LONGER, 1).unwrap_or(glance);
        let best = if longer.ops_per_second > glance.ops_per_second {
            longer
        } else {
            glance
        };
        self.known.insert(shape(&job.workload), best);
        Some(best)
    }
}

/// A store in this process is looked at `at_store` times.
fn look(job: &Job, duration_ns: u64, at_store: u64) -> Option<Ceiling> {
    // Phases on files are short and begin at once: one look, which is repeated
    // for longer where the load came near. A server in this process takes
    // longer to come to speed.
    let (looks, each_ns) = match (job.workload.files_work(), job.workload.requests()) {
        (Some(_), _) => (1, duration_ns / LOOKS / LOOKS),
        (None, Some(_)) => (at_store, duration_ns),
        (None, None) => (LOOKS, duration_ns / LOOKS),
    };
    let looks = (0..looks).filter_map(|_| fathom_engine::measure_ceiling(job, each_ns).ok());
    looks.max_by(|a, b| a.ops_per_second.total_cmp(&b.ops_per_second))
}

/// Everything about a workload that costs the generator CPU, as text. Names,
/// bounds, engine and rate leave the shape as it is.
pub(crate) fn shape(workload: &Workload) -> String {
    let shape = Workload {
        name: String::new(),
        engine: EngineKind::Null,
        bounds: Bounds::default(),
        until: None,
        each_worker: WorkerBounds::default(),
        fail_if: FailIf::default(),
        rate: None,
        warmup_ns: 0,
        io_deadline_ns: 0,
        ..workload.clone()
    };
    format!("{shape:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_costs_the_generator_makes_another_shape() {
        let one = Workload::example("one");
        let mut two = Workload::example("two");
        two.bounds.ops = Some(5);
        two.engine = EngineKind::Psync;
        assert_eq!(shape(&one), shape(&two));
        two.queue_depth = 2;
        assert_ne!(shape(&one), shape(&two));
    }
}
