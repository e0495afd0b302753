//! The matrix for a machine: one row per part and cell, base units.

use fathom_model::snia::SniaReport;
use fathom_model::view::Records;

/// Columns in order; they are only ever added at the end.
const COLUMNS: [&str; 20] = [
    "run_id",
    "test",
    "conforming",
    "part",
    "steady",
    "window_first_round",
    "window_last_round",
    "read_percent",
    "write_percent",
    "block_bytes",
    "rounds",
    "ops_per_second",
    "bytes_per_second",
    "service_min_ns",
    "service_mean_ns",
    "service_p50_ns",
    "service_p99_ns",
    "service_p999_ns",
    "service_p9999_ns",
    "service_max_ns",
];

/// The cells of all parts.
pub(super) fn of(run_id: &str, report: &SniaReport) -> Records {
    let mut rows = Vec::new();
    for part in &report.parts {
        for cell in &part.cells {
            let latency = &cell.latency;
            let whole = |value: Option<u64>| value.map_or(String::new(), |v| v.to_string());
            let number = |value: Option<f64>| {
                let value = value.filter(|v| v.is_finite());
                value.map_or(String::new(), |v| v.to_string())
            };
            let percentile = |p| number(latency.percentile(p).value);
            rows.push(vec![
                run_id.to_owned(),
                report.test.name().to_owned(),
                report.conforming.to_string(),
                part.name.clone(),
                part.steady.to_string(),
                part.window_from.map_or(String::new(), |r| r.to_string()),
                match part.window_from {
                    Some(_) => part.rounds().to_string(),
                    None => String::new(),
                },
                cell.read_percent.to_string(),
                (100 - cell.read_percent.min(100)).to_string(),
                cell.block_bytes.to_string(),
                cell.rounds.to_string(),
                number(Some(cell.ops_per_second)),
                number(Some(cell.bytes_per_second)),
                whole(latency.min_ns),
                number(latency.mean_ns.value),
                percentile(50.0),
                percentile(99.0),
                percentile(99.9),
                percentile(99.99),
                whole(latency.max_ns),
            ]);
        }
    }
    Records {
        columns: &COLUMNS,
        rows,
    }
}
