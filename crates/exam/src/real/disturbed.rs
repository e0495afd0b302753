//! Errors, and somebody else on the same device or the same cores.

use std::time::Duration;

use fathom_lab::Error;
use fathom_lab::real::{Behind, Disturber, Faults, FaultyFile, LimitedFile, Limits, LoopDevice};
use fathom_model::verdict::Limiter;

use super::rig::{Rig, RigLoad, while_changing};
use super::{HeldFigure, RealScenario, Seen, faulty, remarked};

/// Threads that compete for each core.
const HOGS: usize = 3;

pub(super) fn scenarios() -> Vec<RealScenario> {
    vec![
        faulty("device that returns EIO", &["V26"], &[], errors),
        // A load that sleeps most of the time gets a core when it wakes: the
        // number stays true, and the crowd deserves a remark. A device without a
        // limit does give more at twice the depth.
        remarked(
            "programs on every core",
            &["V37"],
            &[Limiter::GeneratorCpu, Limiter::QueueDepth],
            hogs,
        ),
        faulty(
            "reader on the same device",
            &["V30"],
            &[Limiter::ForeignLoad],
            reader,
        ),
    ]
}

fn errors(rig: &Rig) -> Result<Seen, Error> {
    let faults = Faults {
        read_delay: Duration::from_millis(1),
        ..Faults::default()
    };
    let load = RigLoad {
        depth: 1,
        fathom: &["--on-error", "continue"],
        fio: &["--continue_on_error=read"],
        ..RigLoad::READS
    };
    let fail_for_a_moment = |faulty: &FaultyFile| {
        let _ = faulty.fail(true);
        std::thread::sleep(Duration::from_millis(100));
        let _ = faulty.fail(false);
    };
    let after = Duration::from_millis(3_500);
    let measured = FaultyFile::start(&rig.room()?, 16 << 20, faults)?;
    let judged = while_changing(
        after,
        || fail_for_a_moment(&measured),
        || rig.fathom(measured.path(), &load),
    )?;
    let counts = measured.counts()?;
    let op = judged.rows.first().and_then(|row| row.ops.first());
    let held = HeldFigure {
        name: "operations, against the server's own count",
        measured: op.map(|op| op.ops as f64),
        truth: counts.get("read").copied().unwrap_or(0) as f64,
        bar: 0.01,
    };
    let for_fio = FaultyFile::start(&rig.room()?, 16 << 20, faults)?;
    let fio = while_changing(
        after,
        || fail_for_a_moment(&for_fio),
        || rig.fio(for_fio.path(), &load),
    )?;
    Ok(Seen {
        judged,
        fio,
        held: vec![held],
    })
}

/// A device that answers after 1 ms and has no limit.
fn device(rig: &Rig) -> Result<(LoopDevice, LimitedFile), Error> {
    let nothing = Behind::Nothing {
        latency_ns: 1_000_000,
    };
    let file = LimitedFile::start(&rig.room()?, 64 << 20, nothing, Limits::default())?;
    Ok((LoopDevice::over(file.path(), None)?, file))
}

fn hogs(rig: &Rig) -> Result<Seen, Error> {
    let (device, _file) = device(rig)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let hogs: Result<Vec<Disturber>, Error> = (0..cores)
        .map(|core| Disturber::on_core(core, HOGS))
        .collect();
    let _hogs = hogs?;
    Ok(Seen {
        judged: rig.fathom(device.path(), &RigLoad::READS)?,
        fio: rig.fio(device.path(), &RigLoad::READS)?,
        held: Vec::new(),
    })
}

fn reader(rig: &Rig) -> Result<Seen, Error> {
    let (device, _file) = device(rig)?;
    let _reader = Disturber::reading(device.path(), 64 << 10)?;
    Ok(Seen {
        judged: rig.fathom(device.path(), &RigLoad::READS)?,
        fio: rig.fio(device.path(), &RigLoad::READS)?,
        held: Vec::new(),
    })
}
