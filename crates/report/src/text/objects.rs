//! Requests to an object store: what was worked on, and what each endpoint did.

use fathom_model::judged::JudgedTrial;
use fathom_model::{JudgedRun, unit};
use fathom_stats::order_statistics::least_samples;

use super::page::Page;
use crate::table::{Align, Table};
use crate::{facts, objects, summary};

/// Whether endpoints of a trial differ in whose keys signed.
fn have_own_keys(run: &JudgedRun) -> bool {
    run.trials.iter().any(|trial| {
        let all = &trial.summary.endpoints;
        all.iter().any(|one| one.keys != all[0].keys)
    })
}

/// A percentile of what one endpoint answered, where so many requests carry it, and
/// those of the trial do: requests that depend on one another are worth less.
fn percentile(trial: &JudgedTrial, requests: u64, percent: f64, text: String) -> String {
    let mut kinds = trial.summary.ops.iter().filter(|op| op.kind.is_data());
    let carried = kinds.any(|op| {
        let latencies = summary::latencies(op);
        let mut known = latencies
            .iter()
            .map(|(_, latency)| summary::percentile(latency, percent));
        known.all(|figure| !figure.is_missing())
    });
    match carried && requests as f64 >= least_samples(percent / 100.0) {
        true => text,
        false => "n/a".to_owned(),
    }
}

pub(super) fn write(page: &mut Page, run: &JudgedRun) {
    let Some(text) = run.trials.iter().find_map(objects::work) else {
        return;
    };
    page.field("Objects", &text);
    page.blank();
    let head = [
        "requests",
        "moved",
        "p50",
        "p99",
        "max",
        "failed",
        "slow down",
        "retried",
        "connections",
        "connect",
        "TLS",
    ];
    let compares = run
        .trials
        .iter()
        .flat_map(|trial| &trial.summary.endpoints)
        .any(|endpoint| endpoint.checksums_compared > 0);
    let compared = compares.then_some(("checksums", Align::Right));
    let columns = head.map(|text| (text, Align::Right));
    let own_keys = have_own_keys(run);
    let names = [("", Align::Left), ("endpoint", Align::Left)];
    let whose = own_keys.then_some(("keys", Align::Left));
    let mut table = Table::new(
        names
            .into_iter()
            .chain(whose)
            .chain(columns)
            .chain(compared),
    );
    let span = |ns: u64| match ns {
        0 => "-".to_owned(),
        ns => unit::latency(ns as f64),
    };
    for trial in &run.trials {
        for endpoint in &trial.summary.endpoints {
            let names = [facts::trial_name(run, trial), endpoint.endpoint.clone()];
            let whose = own_keys.then(|| endpoint.keys.clone());
            let cells = [
                unit::group(endpoint.requests),
                unit::bytes(endpoint.bytes).to_string(),
                percentile(trial, endpoint.requests, 50.0, span(endpoint.p50_ns)),
                percentile(trial, endpoint.requests, 99.0, span(endpoint.p99_ns)),
                span(endpoint.max_ns),
                unit::group(endpoint.failed),
                unit::group(endpoint.slow_downs),
                unit::group(endpoint.retries),
                unit::group(endpoint.connections),
                span(endpoint.connect_mean_ns),
                span(endpoint.handshake_mean_ns),
            ];
            let compared = compares.then(|| unit::group(endpoint.checksums_compared));
            let cells = cells.into_iter().chain(compared);
            table.row(names.into_iter().chain(whose).chain(cells));
        }
    }
    page.table(&table);
}
