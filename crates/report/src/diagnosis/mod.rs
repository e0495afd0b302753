//! Is the storage the bottleneck: the answer as text, Markdown, JSON and a page.

mod graph;
mod html;
mod markdown;
mod next_step;
mod text;

use fathom_model::diagnosis::{Answer, Calibration, Diagnosis, ONE_THREAD_WORDS, Shortage};
use fathom_model::unit;
use fathom_rules::diagnosis::cpus_short::THRESHOLD as BUSY;
use fathom_rules::diagnosis::load_average;

pub use self::html::{PageOrigin, html};
pub(crate) use self::markdown::escaped;
pub use self::markdown::markdown;
pub use self::next_step::Source;
pub use self::text::{devices, text};

/// The answer as JSON.
///
/// # Errors
/// A figure that is not finite.
pub fn json(diagnosis: &Diagnosis) -> crate::Result<String> {
    Ok(fathom_model::indented_json(diagnosis)? + "\n")
}

/// The JSON Schema of that.
///
/// # Errors
/// None in practice.
pub fn schema() -> crate::Result<String> {
    Ok(fathom_model::indented_json(&schemars::schema_for!(Diagnosis))? + "\n")
}

/// The load held against what the volume can give, and how that was measured;
/// nothing where it is not known, or where the evidence has it.
fn ceiling_lines(diagnosis: &Diagnosis) -> Vec<String> {
    let is_said = |words: &str| diagnosis.evidence.iter().any(|line| line.contains(words));
    let used = diagnosis.ceiling.as_ref();
    let used = used.filter(|used| !is_said(&used.words)).map(|used| {
        let judges = match used.comparable || used.contradicted {
            true => "",
            false => "; not comparable",
        };
        match is_said(&used.source) {
            true => format!("{}{judges}", used.words),
            false => format!("{} ({}){judges}", used.words, used.source),
        }
    });
    let calibrated = diagnosis.calibration.as_ref().map(calibration_line);
    let causal = diagnosis.causal.as_ref().map(|test| test.words.clone());
    let causal = causal.filter(|words| !is_said(words));
    used.into_iter().chain(calibrated).chain(causal).collect()
}

/// The line that a graph draws; none where the data contradict it.
fn drawn_ceiling(diagnosis: &Diagnosis) -> Option<f64> {
    let used = diagnosis.ceiling.as_ref();
    used.filter(|used| !used.contradicted)
        .map(|used| used.operations)
}

/// `calibrated in /data: 1,000 IOPS with 32 in flight, …`.
fn calibration_line(found: &Calibration) -> String {
    let ms = |value: f64| match value {
        v if v >= 10.0 => format!("{v:.1} ms"),
        v => format!("{v:.2} ms"),
    };
    let queued = found.wait_at_cap_ms.map_or(String::new(), |wait| {
        format!(", where an operation takes {} with its queueing", ms(wait))
    });
    let below = match (found.pace_kept, found.wait_ms) {
        (true, Some(wait)) => {
            let tail = found
                .wait_p99_ms
                .map_or(String::new(), |p99| format!(" (99 % within {})", ms(p99)));
            format!(
                "; at {} IOPS, below the cap, {}{tail}",
                unit::count(found.paced),
                ms(wait)
            )
        }
        (true, None) => String::new(),
        (false, _) => format!("; it did not keep {} IOPS", unit::count(found.paced)),
    };
    let others = match found.others > 0.0 {
        true => format!(
            " ({} of them of others at the same time)",
            unit::count(found.others)
        ),
        false => String::new(),
    };
    format!(
        "calibrated in {}: {} IOPS{others} at {} and {:.0} % reads, {} in flight{queued}{below}",
        found.target,
        unit::count(found.operations),
        unit::bytes_exact(found.block_bytes),
        100.0 * found.read_share,
        found.depth,
    )
}

/// The answer in one line: `NO: the storage has room, …`.
pub fn headline(diagnosis: &Diagnosis) -> String {
    format!("{}: {}", word(diagnosis.answer), meaning(diagnosis))
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "YES",
        Answer::No => "NO",
        Answer::NotProven => "NOT PROVEN",
    }
}

/// Whether the CPUs had hardly any time left, with niced programs counted.
fn cpus_are_full(diagnosis: &Diagnosis) -> bool {
    let busy = diagnosis.cpu.and_then(|cpu| cpu.busy);
    busy.is_some_and(|busy| busy >= BUSY)
}

/// Whether the load average leaves little room, which a remark says.
fn load_is_high(diagnosis: &Diagnosis) -> bool {
    let load = diagnosis.cpu.and_then(|cpu| cpu.load_per_cpu);
    load.is_some_and(|load| load > load_average::THRESHOLD)
}

/// Whether a program is known that could use no second CPU.
fn one_thread_computes(diagnosis: &Diagnosis) -> bool {
    let evidence = &diagnosis.evidence;
    evidence.iter().any(|line| line.ends_with(ONE_THREAD_WORDS))
}

/// What it is, as the end of a sentence.
fn meaning(diagnosis: &Diagnosis) -> &'static str {
    match (diagnosis.answer, diagnosis.limiter) {
        (Answer::Yes, Shortage::VolumeCap) => {
            "the storage is the bottleneck: the volume is capped at this rate"
        }
        (Answer::Yes, Shortage::HungDevice) => {
            "the storage is the bottleneck: a device has requests and completes none"
        }
        (Answer::Yes, Shortage::OneByOne) => {
            "the storage is the bottleneck: writes wait one by one until they are durable"
        }
        (Answer::Yes, _) => "the storage is the bottleneck: the device is at its limit",
        (_, Shortage::CpuQueue) => "the storage is not the bottleneck; CPUs are",
        (_, Shortage::Hypervisor) => "the storage is not the bottleneck; the hypervisor's CPUs are",
        (_, Shortage::Memory) => "the storage is not the bottleneck; memory is",
        (_, Shortage::Network) => "the storage is not the bottleneck; the network is",
        // One in flight shows no room for more (decision 0029).
        (_, Shortage::OneByOne) => {
            "the storage is not the bottleneck; each operation waits for the one before"
        }
        (_, Shortage::Lock) => "the storage is not the bottleneck; tasks wait for a lock",
        // Niced programs delay nobody else, but room there is none.
        (Answer::No, _) if cpus_are_full(diagnosis) => {
            "the storage has room; the CPUs were full, in part with niced programs, which yield"
        }
        (Answer::No, _) if one_thread_computes(diagnosis) => {
            "the storage has room; a program is limited by its one thread, which computes"
        }
        (Answer::No, _) if load_is_high(diagnosis) => {
            "the storage has room, and nothing else was at its end; the load average is high"
        }
        (Answer::No, _) => {
            "the storage has room, and nothing else was short while this was measured"
        }
        (Answer::NotProven, _) => "not enough evidence yet",
    }
}
