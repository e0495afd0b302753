//! Requests to an object store: what was worked on, and what each endpoint did.

use fathom_model::{JudgedRun, unit};

use super::page::Page;
use crate::table::{Align, Table};
use crate::{facts, objects};

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
    let columns = head.map(|text| (text, Align::Right));
    let names = [("", Align::Left), ("endpoint", Align::Left)];
    let mut table = Table::new(names.into_iter().chain(columns));
    let span = |ns: u64| match ns {
        0 => "-".to_owned(),
        ns => unit::latency(ns as f64),
    };
    for trial in &run.trials {
        for endpoint in &trial.summary.endpoints {
            table.row([
                facts::trial_name(run, trial),
                endpoint.endpoint.clone(),
                unit::group(endpoint.requests),
                unit::bytes(endpoint.bytes).to_string(),
                span(endpoint.p50_ns),
                span(endpoint.p99_ns),
                span(endpoint.max_ns),
                unit::group(endpoint.failed),
                unit::group(endpoint.slow_downs),
                unit::group(endpoint.retries),
                unit::group(endpoint.connections),
                span(endpoint.connect_mean_ns),
                span(endpoint.handshake_mean_ns),
            ]);
        }
    }
    page.block(&table.render());
}
