//! What a scale-out study says, in sentences.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::scale::{ScaleStudy, ScaledOperation, ScalingLaw};
use fathom_model::unit;
use fathom_model::verdict::{Limiter, Validity};
use fathom_rules::method::scale::TOO_WIDE;

/// The sentences, by operation.
pub(super) fn of(study: &ScaleStudy) -> Vec<String> {
    let word = if study.machines.is_some() {
        "agents"
    } else {
        "hosts"
    };
    let mut answers: Vec<String> = Vec::new();
    answers.extend(study.machines.map(shared));
    answers.extend(study.operations.iter().flat_map(|one| operation(one, word)));
    if study.operations.is_empty() {
        answers.push("nothing was measured".to_owned());
    }
    answers
}

fn shared(machines: u32) -> String {
    let of = match machines {
        1 => "one machine (by the boot id of its kernel): it is one host".to_owned(),
        machines => format!("{machines} machines (by the boot ids of their kernels)"),
    };
    format!(
        "the agents ran on {of}, and agents that share CPUs, memory and devices say nothing about \
         more hosts; start one on each machine"
    )
}

/// What an operation says; `word` is what ran it.
fn operation(operation: &ScaledOperation, word: &str) -> Vec<String> {
    let name = match operation.label.contains(operation.kind.name()) {
        true => operation.label.clone(),
        false => format!("{} {}", operation.label, operation.kind.name()),
    };
    let mut said = Vec::new();
    if let Some(last) = operation.points.last() {
        let figure = match last.rate.value {
            Some(rate) => rate_text(last.rate.unit, rate),
            None => "no known rate".to_owned(),
        };
        said.push(match last.speed_up.value {
            Some(_) => format!(
                "{name}: {} {word} reach {figure}, {} of one host, an efficiency of {}",
                last.hosts,
                times(&last.speed_up),
                percent(&last.efficiency)
            ),
            None => format!(
                "{name}: {} {word} reach {figure}; no speed-up, because {}",
                last.hosts,
                last.speed_up
                    .reason
                    .as_deref()
                    .unwrap_or("one host is missing")
            ),
        });
    }
    said.extend(operation.saturation.as_ref().map(|saturation| {
        let what = match saturation.limiter {
            Limiter::Unknown => String::new(),
            limiter => format!(" by {}", words(limiter)),
        };
        format!(
            "{name} is held back{what} from {} hosts on: {}",
            saturation.from_hosts, saturation.evidence
        )
    }));
    let note = operation.note.as_deref();
    let law = operation.law.as_ref();
    said.extend(law.map(|law| law_text(&name, law, note)));
    if let (None, Some(note)) = (&operation.law, &operation.note) {
        said.push(format!("{name}: {note}"));
    }
    let doubtful = operation.points.iter();
    let doubtful = doubtful.filter(|point| point.validity == Validity::NotTrusted);
    let doubtful: Vec<String> = doubtful.map(|point| point.hosts.to_string()).collect();
    if !doubtful.is_empty() {
        said.push(format!(
            "{name}: the points at {} hosts are not trusted",
            doubtful.join(", ")
        ));
    }
    said
}

fn law_text(name: &str, law: &ScalingLaw, note: Option<&str>) -> String {
    let sigma = share(&law.sigma);
    let kappa = share(&law.kappa);
    let width = law
        .sigma
        .low
        .zip(law.sigma.high)
        .map(|(low, high)| high - low);
    if width.is_some_and(|width| width > TOO_WIDE) {
        return format!(
            "{name} scatters too much to tell a scalability law (contention {sigma}); run longer, \
             or more blocks"
        );
    }
    let negative = |cost: &Estimate| cost.value.is_none_or(|value| value < 0.0);
    if negative(&law.sigma) || negative(&law.kappa) {
        let proven = |cost: &Estimate| cost.low.is_some_and(|low| low > 0.0);
        let costs = format!("contention {sigma}, coherency {kappa}");
        return match proven(&law.sigma) || proven(&law.kappa) {
            true => {
                format!("{name} has one cost of sharing for sure and one that may be 0: {costs}")
            }
            false => format!("{name} shows no cost of sharing beyond its scatter: {costs}"),
        };
    }
    let peak = match law.peak_hosts {
        Some(peak) => format!("; by the law {peak:.0} hosts are the best number"),
        None => match note {
            Some(note) => format!("; {note}"),
            None => "; no number of hosts is shown to be the best".to_owned(),
        },
    };
    format!(
        "{name} follows the scalability law with contention {sigma} and coherency {kappa}{peak}"
    )
}

fn rate_text(unit: Unit, rate: f64) -> String {
    match unit {
        Unit::BytesPerSecond => unit::throughput(rate),
        _ => format!("{} ops/s", unit::count(rate)),
    }
}

fn times(estimate: &Estimate) -> String {
    let value = estimate.value.unwrap_or(0.0);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{value:.2} times ({low:.2} to {high:.2}) that"),
        _ => format!("{value:.2} times that"),
    }
}

fn percent(estimate: &Estimate) -> String {
    format!("{:.0} %", estimate.value.unwrap_or(0.0) * 100.0)
}

/// A parameter of the law with its interval.
fn share(estimate: &Estimate) -> String {
    let text = |value: f64| match value.abs() < 0.000_05 {
        true => "0".to_owned(),
        false => format!("{value:.4}"),
    };
    let value = estimate.value.map_or("?".to_owned(), text);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{value} ({} to {})", text(low), text(high)),
        _ => format!("{value} (no interval: too few blocks)"),
    }
}

fn words(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Device => "the device",
        Limiter::QueueDepth => "the queue depth of each host",
        Limiter::GeneratorCpu => "the CPU of the hosts",
        Limiter::Rate => "the requested rate",
        Limiter::Cap => "a configured limit",
        Limiter::DeviceOrCap => "the device or a limit in front of it",
        Limiter::Cache => "a cache",
        Limiter::Flush => "waiting for durability",
        Limiter::Filesystem => "the file system",
        Limiter::Memory => "memory",
        Limiter::Network => "the network",
        Limiter::Thermal => "heat",
        Limiter::ForeignLoad => "the load of others",
        Limiter::Unknown => "something unknown",
    }
}
