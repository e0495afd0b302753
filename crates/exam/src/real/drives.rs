//! Simulated drives as real files and devices, through FUSE in real time.

use std::path::Path;

use fathom_lab::real::LoopDevice;
use fathom_lab::{Description, Error, Options, SimulatedDrive, Truth};
use fathom_model::judged::JudgedRun;
use fathom_model::verdict::Limiter;

use super::rig::{Rig, RigLoad, fill, io_error};
use super::{HeldFigure, RealScenario, Seen, rate, remarked, sound};
use crate::fio_view::FioView;
use crate::truth::set_zone_ratio;

/// What is true of a file that a program serves on a busy machine: it is no
/// device of its own, the trial is short, and cores are shared.
const TRUE_OF_A_FILE: &[&str] = &["V01", "V06", "V15", "V16", "V17", "V27", "V37"];
/// The same of a device over it.
const TRUE_OF_A_LOOP: &[&str] = &["V06", "V15", "V16", "V17", "V27", "V37"];

pub(super) fn scenarios() -> Vec<RealScenario> {
    vec![
        sound(
            "sound drive behind a loop device",
            &[Limiter::QueueDepth, Limiter::Device],
            TRUE_OF_A_LOOP,
            sound_device,
        ),
        sound(
            "sound drive as a file",
            &[Limiter::QueueDepth, Limiter::Device],
            TRUE_OF_A_FILE,
            sound_file,
        ),
        remarked(
            "small SLC cache behind a loop device",
            &["V13"],
            &[Limiter::Cache, Limiter::Device],
            slc,
        ),
        sound(
            "hard disk, one pass",
            &[Limiter::Device, Limiter::QueueDepth],
            &[
                "V01", "V04", "V06", "V12", "V13", "V15", "V16", "V17", "V27", "V37",
            ],
            zones,
        ),
    ]
}

/// One program on a drive of its own, so that neither leaves the other a full
/// cache; gives what the program said, and what the drive did.
fn on_drive<T>(
    rig: &Rig,
    model: &str,
    behind_loop: bool,
    measure: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<(T, Truth), Error> {
    let at = rig.room()?.join("mnt");
    let drive = SimulatedDrive::mount(&Options::new(Description::new(model, 1), &at))?;
    if model.starts_with("ssd") {
        fill(&drive.path(), drive.truth().capacity_bytes)?;
    }
    let said = if behind_loop {
        let device = LoopDevice::over(&drive.path(), None)?;
        if model.starts_with("hdd") {
            let name = device.path().file_name().unwrap_or_default();
            let flag = Path::new("/sys/block").join(name).join("queue/rotational");
            std::fs::write(&flag, "1").map_err(|source| io_error("write", &flag, source))?;
        }
        measure(device.path())?
    } else {
        measure(&drive.path())?
    };
    Ok((said, drive.unmount()))
}

fn fathom_and_fio(
    rig: &Rig,
    model: &str,
    behind_loop: bool,
    load: &RigLoad,
) -> Result<(JudgedRun, Truth, Option<FioView>), Error> {
    let (judged, truth) = on_drive(rig, model, behind_loop, |path| rig.fathom(path, load))?;
    let (fio, _) = on_drive(rig, model, behind_loop, |path| rig.fio(path, load))?;
    Ok((judged, truth, fio))
}

/// Median and tail of the first kind of operation.
fn percentile(judged: &JudgedRun, percent: f64) -> Option<f64> {
    let op = judged.rows.first()?.ops.first()?;
    let mut all = op.service.percentiles.iter();
    all.find(|p| p.percent == percent)?.latency_ns.value
}

/// IOPS, p50 and p99 beside what the drive gave.
fn latencies(judged: &JudgedRun, truth: &Truth) -> Vec<HeldFigure> {
    let given = truth.operations.get("read").map(|read| &read.delivered);
    let held = |name, measured, truth: Option<f64>, bar| {
        truth.map(|truth| HeldFigure {
            name,
            measured,
            truth,
            bar,
        })
    };
    let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let all = [
        held("IOPS", rate(judged), truth.rate("read"), 0.02),
        held(
            "p50",
            percentile(judged, 50.0),
            given.and_then(|g| ns(g.p50_ns)),
            0.03,
        ),
        held(
            "p99",
            percentile(judged, 99.0),
            given.and_then(|g| ns(g.p99_ns)),
            0.03,
        ),
    ];
    all.into_iter().flatten().collect()
}

fn sound_drive(rig: &Rig, behind_loop: bool) -> Result<Seen, Error> {
    let model = "ssd?read_us=6000,tail=0.3,units=8,size=16MiB";
    let load = RigLoad {
        depth: 4,
        seconds: rig.seconds(20, 5),
        // A probe would be in the drive's record as well.
        fathom: &["--probe=0"],
        ..RigLoad::READS
    };
    let (judged, truth, fio) = fathom_and_fio(rig, model, behind_loop, &load)?;
    Ok(Seen {
        held: latencies(&judged, &truth),
        judged,
        fio,
    })
}

fn sound_device(rig: &Rig) -> Result<Seen, Error> {
    sound_drive(rig, true)
}

fn sound_file(rig: &Rig) -> Result<Seen, Error> {
    sound_drive(rig, false)
}

fn of_model(truth: &Truth) -> Option<fathom_drives::Truth> {
    serde_json::from_value(truth.drive.clone()?).ok()
}

fn slc(rig: &Rig) -> Result<Seen, Error> {
    // 240 MB at some 40 MB/s, then the drain alone.
    let model = "slc?write_mibs=40,cache=240000000,drain_mibs=8,units=8,size=2GiB";
    let load = RigLoad {
        rw: "write",
        bs: "256k",
        depth: 8,
        seconds: rig.seconds(30, 24),
        fathom: &["--destructive", "--probe=0"],
        ..RigLoad::READS
    };
    let (judged, truth, fio) = fathom_and_fio(rig, model, true, &load)?;
    let steadiness = judged.trials.first().and_then(|t| t.steadiness.as_ref());
    let measured = steadiness.and_then(|s| s.burst_bytes).map(|b| b as f64);
    let given = of_model(&truth).and_then(|t| t.inside.cliff_at_bytes);
    let held = given.map(|given| HeldFigure {
        name: "end of the SLC cache, bytes",
        measured,
        truth: given as f64,
        bar: 0.03,
    });
    Ok(Seen {
        judged,
        fio,
        held: held.into_iter().collect(),
    })
}

fn zones(rig: &Rig) -> Result<Seen, Error> {
    let (model, load) = match rig.seconds(1, 0) {
        Some(1) => ("hdd?outer_mibs=24,inner_mibs=12,size=1GiB", &ONE_PASS_LONG),
        _ => (
            "hdd?outer_mibs=32,inner_mibs=16,size=128MiB",
            &ONE_PASS_SHORT,
        ),
    };
    let (judged, truth, fio) = fathom_and_fio(rig, model, true, load)?;
    let steadiness = judged.trials.first().and_then(|t| t.steadiness.as_ref());
    let measured = steadiness.and_then(|s| s.zones.as_ref()?.outer_over_inner.value);
    let given = of_model(&truth).and_then(|t| set_zone_ratio(&t.expected.zones, t.capacity_bytes));
    let held = given.map(|truth| HeldFigure {
        name: "outer over inner tracks",
        measured,
        truth,
        bar: 0.03,
    });
    Ok(Seen {
        judged,
        fio,
        held: held.into_iter().collect(),
    })
}

const ONE_PASS_LONG: RigLoad = RigLoad {
    rw: "read",
    // Small against what a second moves, so that whole blocks bend no second.
    bs: "128k",
    depth: 2,
    seconds: None,
    fathom: &["--io-size", "1g", "--probe=0"],
    ..RigLoad::READS
};

const ONE_PASS_SHORT: RigLoad = RigLoad {
    fathom: &["--io-size", "128m", "--probe=0"],
    ..ONE_PASS_LONG
};
