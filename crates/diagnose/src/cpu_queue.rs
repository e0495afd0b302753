//! Do tasks wait for CPUs?
//!
//! Only work that is not niced counts where the two are told apart: programs
//! that are niced take what others leave, and delay none of them. A load average
//! counts tasks that wait for I/O as well, so that it proves a queue for CPUs
//! only where it is known that hardly any do.

use fathom_model::diagnosis::{CpuLoad, Shortage};
use fathom_rules::diagnosis;
use fathom_rules::diagnosis::cpus_short::{HALF, NICED, QUEUE, THRESHOLD as BUSY};

use crate::load;
use crate::recording::{CpuShares, Recording};

/// What it is called wherever it is stated.
const LOAD_AVERAGE: &str = "load average";

/// That they do, in words. `waits`: whether work waits for I/O, where that is
/// known.
pub(crate) fn is_short(recording: &Recording, cpu: CpuLoad, waits: Option<bool>) -> Option<String> {
    let own = |cpu: CpuShares| cpu.busy() - cpu.nice.unwrap_or(0.0);
    let busy = load::series(recording, |m| Some(own(m.cpu?))).share_from(BUSY);
    let each_cpu = each_cpu(cpu);
    let others_take_it = niced(recording) >= NICED && busy < HALF;
    let runnable = cpu.runnable_per_cpu.filter(|_| !others_take_it);
    let busy_words = cpu.busy.map(|busy| format!(", {:.0} % busy", 100.0 * busy));
    if let Some(tasks) = runnable.filter(|tasks| *tasks >= QUEUE) {
        return Some(format!(
            "the host is short of CPU: {tasks:.1} runnable tasks for {each_cpu}{}",
            busy_words.unwrap_or_default()
        ));
    }
    // The average of a minute also holds what ended before the recording.
    let load = long_load(cpu).filter(|_| waits == Some(false) && !others_take_it);
    if busy >= HALF && waits != Some(true) {
        let cpus = match cpu.cpus {
            Some(1) => "its one CPU was".to_owned(),
            Some(cpus) => format!("{cpus} CPUs were"),
            None => "the CPUs were".to_owned(),
        };
        let beside = load.map_or(String::new(), |load| {
            format!("; {LOAD_AVERAGE} {load:.1} per CPU")
        });
        return Some(format!(
            "the host is short of CPU: {cpus} at 90 % and above for {:.0} % of the time{beside}",
            100.0 * busy
        ));
    }
    load.map(|load| {
        format!(
            "the host is short of CPU: a {LOAD_AVERAGE} of {load:.1} for {each_cpu}, while hardly any \
             task waits for I/O"
        )
    })
}

/// A load average that leaves little room, in words, with what is usual; nothing where
/// the evidence states it, or names what is short of CPU by a better proof.
pub(crate) fn little_room(cpu: CpuLoad, limiter: Shortage, evidence: &[String]) -> Option<String> {
    let is_said = evidence.iter().any(|line| line.contains(LOAD_AVERAGE));
    if is_said || limiter == Shortage::CpuQueue {
        return None;
    }
    let least = diagnosis::load_average::THRESHOLD;
    let load = cpu.load_per_cpu.filter(|load| *load > least)?;
    Some(format!(
        "the {LOAD_AVERAGE} is {load:.1} for {}: 0.7 to 0.8 leaves room, above 1 tasks wait for \
         CPUs or for I/O",
        each_cpu(cpu)
    ))
}

/// A long queue of which is not known what it is for, in words.
pub(crate) fn load_alone(cpu: CpuLoad, waits: Option<bool>) -> Option<String> {
    let load = long_load(cpu).filter(|_| waits.is_none())?;
    Some(format!(
        "a {LOAD_AVERAGE} of {load:.1} for {}: tasks wait for CPUs or for I/O, it counts both",
        each_cpu(cpu)
    ))
}

/// A high load average, where runnable tasks were not counted.
fn long_load(cpu: CpuLoad) -> Option<f64> {
    let load = cpu.load_per_cpu.filter(|_| cpu.runnable_per_cpu.is_none());
    load.filter(|load| *load >= QUEUE)
}

/// Share of the time of all CPUs that niced programs took.
pub(crate) fn niced(recording: &Recording) -> f64 {
    let niced = load::series(recording, |m| m.cpu?.nice);
    niced.mean().unwrap_or(0.0)
}

fn each_cpu(cpu: CpuLoad) -> String {
    match cpu.cpus {
        Some(1) => "its one CPU".to_owned(),
        Some(cpus) => format!("each of {cpus} CPUs"),
        None => "each of the CPUs".to_owned(),
    }
}
