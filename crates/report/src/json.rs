//! A judged run for machines: the schema [`fathom_model::RUN_SCHEMA`].
//!
//! Numbers are numbers in base units (bytes, nanoseconds, operations per
//! second); a missing number is `null` with its reason beside it. A number
//! that is not finite never gets out: JSON has no word for it, and readers
//! that guess guess differently.

use fathom_model::workload::{Distribution, Pattern, Zone, ZoneSize};
use fathom_model::{COMPARISONS_SCHEMA, Comparison, Comparisons, JudgedRun, Workload};

use crate::{Error, Result};

/// The run as one JSON document, indented when `pretty`, ended by a newline.
///
/// # Errors
/// [`Error::NotFinite`] when a number that the schema requires is not finite.
pub fn render(run: &JudgedRun, pretty: bool) -> Result<String> {
    check_finite(run)?;
    let mut text = if pretty {
        fathom_model::indented_json(run)?
    } else {
        serde_json::to_string(run)?
    };
    text.push('\n');
    Ok(text)
}

/// A comparison as one JSON document, indented, ended by a newline.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn render_comparison(comparison: &Comparison) -> Result<String> {
    render_document(comparison)
}

/// Side A beside each of several others as one JSON document, indented, ended by a
/// newline.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn render_comparisons(comparisons: &[&Comparison]) -> Result<String> {
    render_document(&Comparisons {
        schema: COMPARISONS_SCHEMA.to_owned(),
        comparisons: comparisons.iter().copied().cloned().collect(),
    })
}

/// A result with a schema of its own as one JSON document, indented, ended by a
/// newline.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn render_document<T: serde::Serialize>(document: &T) -> Result<String> {
    let mut text = fathom_model::indented_json(document)?;
    text.push('\n');
    Ok(text)
}

/// The JSON Schema (draft 2020-12) of [`render`]'s document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn schema() -> Result<String> {
    schema_of::<JudgedRun>(fathom_model::RUN_SCHEMA, "fathom run")
}

/// The JSON Schema of [`render_comparison`]'s document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn comparison_schema() -> Result<String> {
    schema_of::<Comparison>(fathom_model::COMPARISON_SCHEMA, "fathom comparison")
}

/// The JSON Schema of [`render_comparisons`]'s document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn comparisons_schema() -> Result<String> {
    schema_of::<Comparisons>(COMPARISONS_SCHEMA, "fathom comparisons")
}

/// The JSON Schema (draft 2020-12) of a document whose `schema` field is always `id`,
/// indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn schema_of<T: schemars::JsonSchema>(id: &str, title: &str) -> Result<String> {
    // The contract of what is written: optional numbers are there as `null`.
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), id.into());
    schema.insert("title".to_owned(), title.into());
    if let Some(version) = schema.pointer_mut("/properties/schema/const") {
        *version = id.into();
    } else if let Some(version) = schema.pointer_mut("/properties/schema") {
        version["const"] = id.into();
    }
    let mut text = fathom_model::indented_json(&schema)?;
    text.push('\n');
    Ok(text)
}

/// Optional numbers become `null` by themselves; these are the required ones.
fn check_finite(run: &JudgedRun) -> Result<()> {
    for (i, trial) in run.trials.iter().enumerate() {
        let at = |field: &str| format!("trials[{i}].{field}");
        if let Some(ceiling) = &trial.summary.ceiling {
            finite(ceiling.ops_per_second, || {
                at("summary.ceiling.ops_per_second")
            })?;
            finite(ceiling.cpu_ns_per_op, || {
                at("summary.ceiling.cpu_ns_per_op")
            })?;
        }
        let open_loop = trial.summary.lateness.iter();
        for latency in open_loop.chain(summaries(&trial.summary.ops)) {
            for p in &latency.percentiles {
                finite(p.percent, || at("summary percentile"))?;
            }
        }
        check_workload(&trial.workload, &at)?;
    }
    for (i, row) in run.rows.iter().enumerate() {
        for p in summaries(&row.ops).flat_map(|l| &l.percentiles) {
            finite(p.percent, || format!("rows[{i}] percentile"))?;
        }
    }
    Ok(())
}

fn summaries(
    ops: &[fathom_model::judged::OpSummary],
) -> impl Iterator<Item = &fathom_model::judged::LatencySummary> {
    ops.iter()
        .flat_map(|op| std::iter::once(&op.service).chain(&op.response))
}

fn check_workload(workload: &Workload, at: &impl Fn(&str) -> String) -> Result<()> {
    if let Some(rate) = &workload.rate {
        finite(rate.per_second, || at("workload.rate.per_second"))?;
    }
    if let Pattern::Random(distribution) = &workload.pattern {
        check_distribution(distribution, || at("workload.pattern"))?;
    }
    for distribution in workload.distribution_by_kind.values() {
        check_distribution(distribution, || at("workload.distribution_by_kind"))?;
    }
    Ok(())
}

fn check_distribution(distribution: &Distribution, field: impl Fn() -> String) -> Result<()> {
    let parameters = match distribution {
        Distribution::EachOnce | Distribution::Uniform | Distribution::Sequence { .. } => vec![],
        Distribution::Zipf { theta } => vec![*theta],
        Distribution::Pareto { h } => vec![*h],
        Distribution::Normal {
            deviation_percent,
            center_percent,
        } => vec![*deviation_percent, *center_percent],
        Distribution::HotSpot {
            access_percent,
            size_percent,
        } => vec![*access_percent, *size_percent],
        Distribution::SteadyFill(fill) => vec![fill.over_provisioning_percent],
        Distribution::Zoned(zones) => zones.iter().flat_map(zone_parameters).collect(),
    };
    parameters.into_iter().try_for_each(|p| finite(p, &field))
}

fn zone_parameters(zone: &Zone) -> [f64; 2] {
    match zone.size {
        ZoneSize::Percent(percent) => [zone.access_percent, percent],
        ZoneSize::Bytes(_) => [zone.access_percent, 0.0],
    }
}

fn finite(value: f64, field: impl FnOnce() -> String) -> Result<()> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(Error::NotFinite { field: field() })
    }
}
