//! `steadystate` and `latency_target`: loads that look at what they do.

use fathom_model::settled::{Figure, Settled};
use fathom_model::workload::{LatencyTarget, Until, Workload};

use super::asked::Asked;
use crate::fio::request::account::OptionOutcome;
use crate::fio::request::value::words;

const SECOND_NS: u64 = 1_000_000_000;
/// fio's `latency_window` where nothing is said.
const USUAL_WINDOW_NS: u64 = 5 * SECOND_NS;

/// Fills in fio's criterion of a steady state.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload) {
    workload.until = rule(asked).map(Until::Settled);
}

/// The criterion. Without a duration fio looks at nothing.
fn rule(asked: &mut Asked<'_>) -> Option<Settled> {
    let window_ns = asked.seconds_ns("steadystate_duration")?;
    let text = asked.text("steadystate").unwrap_or("iops_slope:0.01%");
    let steady = words::steady(text).ok()?;
    let asked_ns = asked
        .seconds_ns("steadystate_check_interval")
        .unwrap_or(SECOND_NS);
    let interval_ns = asked_ns.div_ceil(SECOND_NS).max(1) * SECOND_NS;
    match interval_ns == asked_ns {
        true => asked.becomes("steadystate_check_interval", OptionOutcome::Run),
        false => asked.mapped(
            "steadystate_check_interval",
            "whole seconds: a sample is a second",
        ),
    }
    if window_ns == 0 {
        return None;
    }
    if window_ns < interval_ns {
        asked.mapped(
            "steadystate_check_interval",
            "no longer than the window of steadystate",
        );
    }
    let window_ns = window_ns.div_ceil(SECOND_NS) * SECOND_NS;
    let interval_ns = interval_ns.min(window_ns);
    for name in [
        "steadystate",
        "steadystate_duration",
        "steadystate_ramp_time",
    ] {
        asked.becomes(name, OptionOutcome::Run);
    }
    Some(Settled {
        figure: match steady.of {
            "bw" => Figure::Throughput,
            "lat" => Figure::Latency,
            _ => Figure::Iops,
        },
        slope: steady.slope,
        limit: steady.limit,
        percent: steady.percent,
        window_ns,
        ramp_ns: asked.seconds_ns("steadystate_ramp_time").unwrap_or(0),
        interval_ns,
    })
}

/// Fills in the latency that the depth adapts to.
pub(super) fn latency(asked: &mut Asked<'_>, workload: &mut Workload) {
    let Some(latency_ns) = asked.micro_ns("latency_target").filter(|ns| *ns > 0) else {
        return;
    };
    let window_ns = asked.micro_ns("latency_window").filter(|ns| *ns > 0);
    let percentile = asked
        .text("latency_percentile")
        .and_then(|text| text.trim().parse::<f64>().ok())
        .filter(|percentile| *percentile > 0.0 && *percentile <= 100.0);
    workload.latency_target = Some(LatencyTarget {
        latency_ns,
        window_ns: window_ns.unwrap_or(USUAL_WINDOW_NS),
        percentile: percentile.unwrap_or(100.0),
        goes_on: asked.flag("latency_run", false),
    });
}
