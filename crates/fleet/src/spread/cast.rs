//! Who does what where hosts do not do the same: of those that wait for files,
//! the first one makes them.

use fathom_model::host_mode::HostPart;
use fathom_model::workload::{Handing, MetaWork, Rate, RateUnit};
use fathom_model::{OpKind, ScheduledTrial};

use super::error::SpreadError;
use super::steps::SpreadStep;

/// Files that are made each second unless somebody says otherwise: few enough
/// that whoever waits has nothing else to do.
const RATE_PER_SECOND: f64 = 100.0;

fn awaits(spec: &ScheduledTrial) -> bool {
    let meta = spec.workload.files_work();
    meta.and_then(MetaWork::phase) == Some(OpKind::AwaitCreate)
}

/// Refuses waiting where nobody is left to wait.
pub(super) fn check(step: &SpreadStep, places: &[u32]) -> Result<(), SpreadError> {
    if places.len() < 2 && step.set.iter().any(awaits) {
        return Err(SpreadError::AwaitAlone);
    }
    Ok(())
}

/// Gives the trial of one host among `places` what it has to do.
pub(super) fn take(mut spec: ScheduledTrial, places: &[u32]) -> ScheduledTrial {
    let (Some(first), Some(own)) = (places.first(), spec.host) else {
        return spec;
    };
    if !awaits(&spec) {
        return spec;
    }
    let workload = &mut spec.workload;
    let Some(meta) = workload.files_work_mut() else {
        return spec;
    };
    meta.stamped = true;
    if own == *first {
        meta.handing = Handing::Direct;
        for share in &mut meta.ops {
            share.kind = OpKind::Create;
        }
        workload.rate.get_or_insert(Rate {
            per_second: RATE_PER_SECOND,
            unit: RateUnit::Ops,
            arrival: Default::default(),
        });
        spec.part = None;
        return spec;
    }
    // Each looks for the next file as soon as it has seen one.
    workload.rate = None;
    workload.think_ns = 0;
    let number = places.iter().position(|place| *place == own);
    spec.part = Some(HostPart {
        whose: *first,
        number: number.unwrap_or(0) as u32,
        of: places.len() as u32,
        divided: false,
    });
    spec
}
