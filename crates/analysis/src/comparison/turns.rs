//! A run whose trials took turns: `fathom ab`.

use fathom_model::comparison::{
    COMPARISON_SCHEMA, ComparedControl, ComparedPair, ComparedSide, Comparison, ComparisonDesign,
    Difference, Standing,
};
use fathom_model::judged::{JudgedRun, JudgedTrial};
use fathom_model::schedule::{Purpose, TrialRole};
use fathom_model::{Metric, RunState, Validity, unit};
use fathom_rules::method::comparison::CONTROL_SHARE;
use fathom_stats::moments;

use super::difference::{self, target_fields};
use super::effect::Margin;
use super::figures::{Figure, figures_of};
use super::paired::{self, Order};
use super::standing::{self, Moved};
use super::table::{self, Entry, RowEntries};
use super::{LEAST_PAIRS, order_level, overall};
use crate::unknown::Unknown;

/// The comparison that a run was made for; `None` for any other run.
pub(crate) fn of_run(run: &JudgedRun) -> Option<Comparison> {
    let Purpose::Comparison {
        margin_percent,
        design,
    } = &run.run.purpose
    else {
        return None;
    };
    let margin = Margin::percent(*margin_percent);
    let rows: Vec<Turns<'_>> = design
        .rows
        .iter()
        .map(|row| Turns::of(run, &row.label, row.a_row, row.b_row))
        .collect();
    let mut orders = Vec::new();
    let entries = rows
        .iter()
        .map(|turns| turns.entries(design.decides, &mut orders));
    let compared = table::rows(entries.collect(), margin, LEAST_PAIRS);
    let control = control(run, design, *margin_percent);
    let (declared, undeclared) = split(design, &rows);
    let fewest = compared.iter().map(|row| usable(&row.metrics)).min();
    let moved = Moved {
        order: strongest(orders),
        control: control.as_ref().and_then(|c| {
            let change = c.metric.ratio.value? - 1.0;
            Some((c.metric.p_value?, change, c.moved))
        }),
    };
    let findings = vec![
        standing::unpaired(true),
        standing::few_pairs(fewest.unwrap_or(0), Some(design.pairs)),
        standing::order_and_control(&moved),
        standing::config_diff(&undeclared),
    ];
    let side = |side: &fathom_model::comparison::SideDesign| ComparedSide {
        label: side.label.clone(),
        runs: vec![run.run.id.clone()],
        before: side.before.clone(),
    };
    let mut comparison = Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        standing: Standing::Proven,
        reasons: Vec::new(),
        outcome: overall(&compared),
        margin_percent: if margin_percent.is_finite() {
            *margin_percent
        } else {
            0.0
        },
        planned_pairs: Some(design.pairs),
        a: side(&design.a),
        b: side(&design.b),
        declared,
        undeclared,
        rows: compared,
        unmatched: Vec::new(),
        control,
        findings,
    };
    standing::settle(&mut comparison, true, untrusted(&rows));
    Some(comparison)
}

/// Pairs that the deciding figure could use.
fn usable(metrics: &[fathom_model::comparison::ComparedMetric]) -> usize {
    metrics.first().map_or(0, |m| m.pairs.len())
}

/// The trials of one row by turn.
struct Turns<'a> {
    label: String,
    a: Vec<&'a JudgedTrial>,
    b: Vec<&'a JudgedTrial>,
}

impl<'a> Turns<'a> {
    fn of(run: &'a JudgedRun, label: &str, a_row: u32, b_row: u32) -> Turns<'a> {
        let side = |row: u32, role: TrialRole| {
            let trials = run.trials.iter();
            let whole = trials.filter(|t| t.state == RunState::Complete);
            whole.filter(|t| t.row == row && t.role == role).collect()
        };
        Turns {
            label: label.to_owned(),
            a: side(a_row, TrialRole::A),
            b: side(b_row, TrialRole::B),
        }
    }

    fn entries(&self, decides: Option<Metric>, orders: &mut Vec<(String, Order)>) -> RowEntries {
        let figures = figures_of(&self.a, &self.b, decides);
        let entries = figures.into_iter().enumerate().map(|(i, figure)| {
            let (entry, order) = entry(figure, &self.a, &self.b);
            if let Some(order) = order.filter(|_| i == 0) {
                orders.push((self.label.clone(), order));
            }
            entry
        });
        RowEntries {
            label: self.label.clone(),
            entries: entries.collect(),
        }
    }
}

/// One figure over the pairs of which both trials gave it.
fn entry(figure: Figure, a: &[&JudgedTrial], b: &[&JudgedTrial]) -> (Entry, Option<Order>) {
    let mut pairs = Vec::new();
    let mut reason = None;
    for a in a {
        let Some(b) = b.iter().find(|b| b.iteration == a.iteration) else {
            continue;
        };
        match (figure.of(a), figure.of(b)) {
            (Ok((va, _)), Ok((vb, _))) => pairs.push(ComparedPair {
                pair: a.iteration,
                b_first: b.index < a.index,
                a: va,
                b: vb,
            }),
            (Err(why), _) | (_, Err(why)) => reason = reason.or(Some(why)),
        }
    }
    let differences: Vec<paired::Difference> = pairs
        .iter()
        .map(|p| paired::Difference {
            log_ratio: (p.b / p.a).ln(),
            b_first: p.b_first,
        })
        .filter(|d| d.log_ratio.is_finite())
        .collect();
    let (effect, order) = paired::effect(&differences, order_level());
    let reason = reason.unwrap_or_else(|| Unknown::because("fewer than two whole pairs"));
    let mean = |of: fn(&ComparedPair) -> f64| -> Result<f64, Unknown> {
        let logs: Vec<f64> = pairs.iter().map(|p| of(p).ln()).collect();
        let mean = moments::mean(&logs);
        mean.map(f64::exp).ok_or_else(|| reason.clone())
    };
    let entry = Entry {
        figure,
        a: mean(|p| p.a),
        b: mean(|p| p.b),
        effect: effect.map(|effect| figure.effect(effect)),
        p_sign_flip: paired::sign_flip(&differences),
        reason: reason.to_string(),
        pairs,
    };
    (entry, order)
}

/// The row in which the order mattered most; its probability counts the rows.
fn strongest(orders: Vec<(String, Order)>) -> Option<(String, Order)> {
    let rows = orders.len() as f64;
    let strongest = orders.into_iter().min_by(|a, b| a.1.p.total_cmp(&b.1.p));
    strongest.map(|(label, order)| {
        let p = (order.p * rows).min(1.0);
        (label, Order { p, ..order })
    })
}

/// The control's trials before those of A and of B.
fn control(
    run: &JudgedRun,
    design: &ComparisonDesign,
    margin_percent: f64,
) -> Option<ComparedControl> {
    let planned = design.control.as_ref()?;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (i, trial) in run.trials.iter().enumerate() {
        if trial.role != TrialRole::Control || trial.state != RunState::Complete {
            continue;
        }
        match run.trials.get(i + 1).map(|next| next.role) {
            Some(TrialRole::A) => a.push(trial),
            Some(TrialRole::B) => b.push(trial),
            _ => {}
        }
    }
    let figure = Figure {
        metric: Metric::OpsPerSecond,
        op: None,
    };
    let (entry, _) = entry(figure, &a, &b);
    let margin = Margin::percent(margin_percent);
    let effects = [vec![entry.effect]];
    let decided = super::decide::decide(&effects, margin, LEAST_PAIRS);
    let metric = table::metric(entry, decided[0][0], margin, LEAST_PAIRS);
    let change = metric.ratio.value.map_or(0.0, |ratio| (ratio - 1.0).abs());
    let moved = metric.p_value.is_some_and(|p| p < order_level())
        && change >= CONTROL_SHARE * margin_percent / 100.0
        && metric.pairs.len() >= LEAST_PAIRS;
    Some(ComparedControl {
        target: planned.target.clone(),
        why: planned.why.clone(),
        metric,
        moved,
    })
}

/// What was declared, or follows from it, and what was not.
fn split(design: &ComparisonDesign, rows: &[Turns<'_>]) -> (Vec<Difference>, Vec<Difference>) {
    let mut declared = design.factor.clone();
    let mut undeclared: Vec<Difference> = Vec::new();
    let hooked = design.a.before.is_some() || design.b.before.is_some();
    let mut add = |list: Vec<Difference>, follows: bool| {
        for difference in list {
            let into = if follows {
                &mut declared
            } else {
                &mut undeclared
            };
            if !into.contains(&difference) {
                into.push(difference);
            }
        }
    };
    for turns in rows {
        for a in &turns.a {
            let Some(b) = turns.b.iter().find(|b| b.iteration == a.iteration) else {
                continue;
            };
            let (fa, fb) = (target_fields(a), target_fields(b));
            let other_target = a.target != b.target;
            let other_engine =
                a.workload.engine != b.workload.engine || a.workload.cache != b.workload.cache;
            let settings = difference::differences(&fa.settings, &fb.settings);
            let (engine, settings): (Vec<_>, Vec<_>) = settings
                .into_iter()
                .partition(|d| d.field.starts_with("engine."));
            add(engine, other_engine || other_target);
            add(settings, hooked);
            let identity = difference::differences(&fa.identity, &fb.identity);
            add(identity, other_target || hooked);
        }
    }
    (declared, undeclared)
}

/// Trials whose figures are not what they say they are.
fn untrusted(rows: &[Turns<'_>]) -> Vec<String> {
    let all = rows.iter().flat_map(|t| t.a.iter().chain(&t.b));
    let bad: Vec<&&JudgedTrial> = all
        .clone()
        .filter(|t| t.verdict.validity == Validity::NotTrusted)
        .collect();
    let Some(first) = bad.first() else {
        return Vec::new();
    };
    let why = first.verdict.findings.first();
    let why = why.map_or(String::new(), |f| {
        format!(", for example {}: {}", f.id, f.evidence)
    });
    let are = if bad.len() == 1 { "is" } else { "are" };
    vec![format!(
        "{} of {} {are} not trusted{why}",
        bad.len(),
        unit::counted(all.count() as u64, "trial")
    )]
}
