//! Devices with a limit that was set by somebody else.

use std::time::Duration;

use fathom_lab::Error;
use fathom_lab::real::{Behind, LimitedFile, Limits, LoopDevice, Throttle};
use fathom_model::verdict::Limiter;

use super::rig::{Rig, RigLoad, fill, while_changing};
use super::{HeldFigure, RealScenario, Seen, rate, remarked, sound};

const BYTES: u64 = 16 << 20;
const CAP: u64 = 500;
/// What a limited loop device on a busy machine may truthfully be reproached:
/// a short trial, its little spread included, and whoever shares the machine.
const TRUE_OF_IT: &[&str] = &["V06", "V15", "V16", "V27", "V37"];

pub(super) fn scenarios() -> Vec<RealScenario> {
    vec![
        sound("device with a cap", &[Limiter::Cap], TRUE_OF_IT, capped),
        remarked(
            "cap lowered in the middle",
            &["V13"],
            &[Limiter::Cap],
            lowered,
        ),
        sound(
            "throttle of the control group",
            &[Limiter::Cap],
            TRUE_OF_IT,
            throttled,
        ),
    ]
}

fn limits(iops: u64) -> Limits {
    Limits {
        iops: Some(iops),
        ..Limits::default()
    }
}

/// A device over a file that was written, below a limit.
fn limited_device(rig: &Rig, wanted: Limits) -> Result<(LoopDevice, LimitedFile), Error> {
    let file = LimitedFile::start(&rig.room()?, BYTES, Behind::File, Limits::default())?;
    fill(file.path(), BYTES)?;
    file.set_limits(wanted)?;
    Ok((LoopDevice::over(file.path(), None)?, file))
}

fn capped(rig: &Rig) -> Result<Seen, Error> {
    let (device, _file) = limited_device(rig, limits(CAP))?;
    let load = RigLoad {
        depth: 16,
        seconds: rig.seconds(22, 6),
        fathom: &["--probe=0"],
        ..RigLoad::READS
    };
    let judged = rig.fathom(device.path(), &load)?;
    let held = HeldFigure {
        name: "cap of a device, IOPS",
        measured: rate(&judged),
        truth: CAP as f64,
        bar: 0.01,
    };
    Ok(Seen {
        fio: rig.fio(device.path(), &load)?,
        judged,
        held: vec![held],
    })
}

fn lowered(rig: &Rig) -> Result<Seen, Error> {
    let (device, file) = limited_device(rig, limits(1_000))?;
    let load = RigLoad {
        depth: 16,
        seconds: Some(24),
        fathom: &["--probe=0"],
        ..RigLoad::READS
    };
    let after = Duration::from_secs(12);
    let lower = || {
        // When the daemon refuses, the step is missed, and that is told.
        let _ = file.set_limits(limits(400));
    };
    let judged = while_changing(after, lower, || rig.fathom(device.path(), &load))?;
    file.set_limits(limits(1_000))?;
    let fio = while_changing(after, lower, || rig.fio(device.path(), &load))?;
    Ok(Seen {
        judged,
        fio,
        held: Vec::new(),
    })
}

fn throttled(rig: &Rig) -> Result<Seen, Error> {
    let (device, _file) = limited_device(rig, Limits::default())?;
    let throttle = Throttle::iops(&device.number()?, CAP)?;
    let load = RigLoad {
        depth: 16,
        seconds: rig.seconds(22, 6),
        // The throttle lets its first slice of time pass at once.
        fathom: &["--probe=0", "--warmup=1s"],
        ..RigLoad::READS
    };
    let judged = rig.fathom_within(Some(&throttle), device.path(), &load)?;
    let held = HeldFigure {
        name: "throttle of a control group, IOPS",
        measured: rate(&judged),
        truth: CAP as f64,
        bar: 0.01,
    };
    Ok(Seen {
        fio: rig.fio_within(Some(&throttle), device.path(), &load)?,
        judged,
        held: vec![held],
    })
}
