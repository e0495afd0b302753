//! What the standard wants to be reported beside the figures.

use fathom_analysis::judgement::Trial;
use fathom_model::fingerprint::DeviceFacts;
use fathom_model::schedule::TrialRole;
use fathom_model::snia::{SniaFact, SniaPart, SniaTarget, SniaTest};
use fathom_model::unit;

use super::conformance::purge;
use super::judge::Test;

/// Every fact in order.
pub(super) fn all(test: &Test<'_>, parts: &[SniaPart]) -> Vec<SniaFact> {
    let host = &test.record.meta.host;
    let settings = test.settings;
    let known = |text: Option<String>| text.unwrap_or_else(|| "not known".to_owned());
    let cpu = host.cpu_model.clone();
    let mut facts = vec![
        fact("Device", device(test)),
        fact("Firmware", known(of_leaves(test, |d| d.firmware.clone()))),
        fact("Capacity", capacity(test)),
        fact("Write cache", known(write_cache(test))),
        fact(
            "Host CPU",
            format!("{}, {}", known(cpu), unit::counted(host.cpus.into(), "CPU")),
        ),
        fact("Host memory", unit::bytes(host.memory_bytes).to_string()),
        fact(
            "Operating system",
            format!("{}, kernel {}", known(host.os.clone()), host.kernel),
        ),
        fact(
            "Test software",
            format!("fathom {}", test.record.meta.tool_version),
        ),
        fact("Purge", purge(test, parts).evidence),
        fact("Preconditioning", preconditioning(test)),
        fact("Active range", active(test)),
        fact(
            "Threads and OIO",
            outstanding(settings.threads, settings.outstanding),
        ),
        fact(
            "Data pattern",
            "random, incompressible, no block twice".to_owned(),
        ),
        fact("Round", unit::span(settings.round_ns)),
        fact("Rounds", rounds(test, parts)),
    ];
    if let Some(engine) = engine(test) {
        facts.push(fact("I/O", engine));
    }
    facts
}

fn outstanding(threads: u32, each: u32) -> String {
    match threads {
        1 => format!("1 thread with {each} outstanding"),
        _ => format!(
            "{threads} threads with {each} outstanding each, {} in all",
            u64::from(threads) * u64::from(each)
        ),
    }
}

fn fact(name: &str, value: String) -> SniaFact {
    SniaFact {
        name: name.to_owned(),
        value,
    }
}

fn leaves<'a>(test: &'a Test<'_>) -> Vec<&'a DeviceFacts> {
    test.trials.first().map_or(Vec::new(), Trial::leaves)
}

/// A fact of the devices at the bottom; `None` when one of them has none.
fn of_leaves(test: &Test<'_>, get: impl Fn(&DeviceFacts) -> Option<String>) -> Option<String> {
    let found: Option<Vec<String>> = leaves(test).into_iter().map(get).collect();
    let mut found = found.filter(|all| !all.is_empty())?;
    found.dedup();
    Some(found.join(", "))
}

/// Whether the devices cache writes, as the kernel knows it.
pub(super) fn write_cache(test: &Test<'_>) -> Option<String> {
    of_leaves(test, |device| device.write_cache.clone())
}

fn device(test: &Test<'_>) -> String {
    let target = match test.trials.first() {
        Some(trial) => trial.record.spec.target.to_string(),
        None => "not known".to_owned(),
    };
    let models = of_leaves(test, |device| device.model.clone());
    let serial = of_leaves(test, |device| device.serial.clone());
    let serial = serial.map_or(String::new(), |serial| format!(", serial {serial}"));
    match (test.settings.on, models) {
        (SniaTarget::File, Some(model)) => format!("a file in {target}, on {model}{serial}"),
        (SniaTarget::File, None) => format!("a file in {target}"),
        (_, Some(model)) => format!("{target}, {model}{serial}"),
        (_, None) => target,
    }
}

fn capacity(test: &Test<'_>) -> String {
    match test.settings.capacity_bytes {
        0 => "not known".to_owned(),
        bytes => format!("{} ({} bytes)", unit::bytes(bytes), unit::group(bytes)),
    }
}

fn active(test: &Test<'_>) -> String {
    let bytes = test.settings.active_bytes;
    format!("{} from the start of the target", unit::bytes(bytes))
}

fn preconditioning(test: &Test<'_>) -> String {
    match (test.test, test.settings.passes) {
        (SniaTest::Wsat, _) => "none, as the test asks".to_owned(),
        (_, 0) => "left out".to_owned(),
        (_, passes) => format!("{passes} times the active range, SEQ 128 KiB writes"),
    }
}

fn rounds(test: &Test<'_>, parts: &[SniaPart]) -> String {
    let most = test.settings.rounds_max;
    let done: Vec<String> = parts.iter().map(|p| p.rounds().to_string()).collect();
    match done.is_empty() {
        true => format!("none of at most {most}"),
        false => format!("{} of at most {most}", done.join(" and ")),
    }
}

fn engine(test: &Test<'_>) -> Option<String> {
    let measured = |t: &&Trial<'_>| t.record.spec.role == TrialRole::Measure;
    let trial = test.trials.iter().find(measured)?;
    let direct = match trial.direct() {
        true => ", O_DIRECT",
        false => ", page cache",
    };
    let direct = match trial.artificial() {
        Some(_) => "",
        None => direct,
    };
    Some(format!("{}{direct}", trial.engine().name()))
}
