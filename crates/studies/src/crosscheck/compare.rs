//! From pairs of trials to agreement, figure by figure.
//!
//! Each pair gives the log ratio of a figure. Two tools *agree* when two
//! one-sided tests prove the ratio to lie within the margin, and *differ* when
//! a test proves it to lie beyond; a ratio that is proved to be small but not
//! zero is agreement. `docs/decisions/0015-crosscheck.md` has the reasons.

use fathom_analysis::judgement::Trial;
use fathom_analysis::pairs::{self, Difference, Effect, order_level};
use fathom_model::crosscheck::{Agreement, ComparedFigure, CrossFigure, CrosscheckRow, FigurePair};
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::fingerprint::Fingerprint;
use fathom_model::op::OpKind;
use fathom_model::run::RunState;
use fathom_rules::method::crosscheck::BUCKET_ERROR;
use fathom_stats::moments::mean;

use super::causes;
use super::decide::{self, Test, decide};
use super::figures::{CrossSide, Which};
use super::row::{CrossPair, CrossRow, WholePair};

/// Within so many percent figures agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossMargins {
    /// Rates.
    pub rate_percent: f64,
    /// Latencies.
    pub latency_percent: f64,
}

/// A row whose trials are numbers.
struct Measured {
    pairs: Vec<WholePair>,
    which: Vec<Which>,
}

/// Compares every figure of every row, and folds the rows.
pub(super) fn crosscheck_rows(
    rows: &[CrossRow<'_>],
    host: &Fingerprint,
    margins: CrossMargins,
) -> (Vec<CrosscheckRow>, Agreement) {
    let measured: Vec<Measured> = rows.iter().map(|row| measured(row, host)).collect();
    let tests: Vec<Vec<Test>> = measured.iter().map(|row| tests(row, margins)).collect();
    let decided = decide(&tests);
    let each = rows
        .iter()
        .zip(&measured)
        .zip(tests.into_iter().zip(decided));
    let compared: Vec<CrosscheckRow> = each
        .map(|((row, measured), (tests, decisions))| {
            let figures: Vec<ComparedFigure> = tests
                .into_iter()
                .zip(decisions)
                .map(|(test, decision)| {
                    let pairs = pairs_of(measured, test.which);
                    test.figure(pairs, decision)
                })
                .collect();
            let outcome = fold(figures.iter().filter(|f| f.decides).map(|f| f.outcome));
            let causes = match outcome {
                Agreement::Agree => Vec::new(),
                _ => causes::causes(row, &measured.pairs, &figures),
            };
            CrosscheckRow {
                label: row.label.clone(),
                target: row.target.clone(),
                outcome,
                figures,
                differences: row.differences.clone(),
                causes,
                remarks: remarks(row),
            }
        })
        .collect();
    let outcome = fold(compared.iter().map(|row| row.outcome));
    (compared, outcome)
}

/// Differ if any does, else inconclusive if any is or there is none.
fn fold(outcomes: impl Iterator<Item = Agreement>) -> Agreement {
    let outcomes: Vec<Agreement> = outcomes.collect();
    if outcomes.contains(&Agreement::Differ) {
        Agreement::Differ
    } else if outcomes.is_empty() || outcomes.contains(&Agreement::Inconclusive) {
        Agreement::Inconclusive
    } else {
        Agreement::Agree
    }
}

fn measured(row: &CrossRow<'_>, host: &Fingerprint) -> Measured {
    let whole = |pair: &CrossPair<'_>| {
        let record = pair.fathom.filter(|r| r.state == RunState::Complete)?;
        let peer = pair.peer.filter(|peer| peer.error.unwrap_or(0) == 0)?;
        let fathom = CrossSide::of_trial(&Trial::new(record, host));
        Some(WholePair {
            pair: pair.pair,
            peer_first: pair.peer_first,
            fathom,
            peer: peer.clone(),
        })
    };
    let pairs: Vec<WholePair> = row.pairs.iter().filter_map(whole).collect();
    let kinds = OpKind::ALL.into_iter().filter(|kind| {
        let has = |side: &CrossSide| side.kinds.iter().any(|k| k.kind == *kind && k.count > 0.0);
        pairs
            .iter()
            .any(|pair| has(&pair.fathom) && has(&pair.peer))
    });
    let mut which = vec![
        Which::all(CrossFigure::OpsPerSecond),
        Which::all(CrossFigure::BytesPerSecond),
    ];
    for kind in kinds {
        let latencies = [
            CrossFigure::LatencyMean,
            CrossFigure::LatencyP50,
            CrossFigure::LatencyP99,
            CrossFigure::LatencyP999,
        ];
        which.extend(latencies.map(|figure| Which {
            figure,
            op: Some(kind),
        }));
    }
    which.push(Which::all(CrossFigure::CpuPerOp));
    Measured { pairs, which }
}

fn pairs_of(row: &Measured, which: Which) -> Vec<FigurePair> {
    let each = row.pairs.iter().filter_map(|whole| {
        Some(FigurePair {
            pair: whole.pair,
            peer_first: whole.peer_first,
            fathom: which.of(&whole.fathom).ok()?,
            peer: which.of(&whole.peer).ok()?,
        })
    });
    each.collect()
}

fn tests(row: &Measured, margins: CrossMargins) -> Vec<Test> {
    let test = |which: &Which| {
        let pairs = pairs_of(row, *which);
        let differences: Vec<Difference> = pairs
            .iter()
            .map(|p| Difference {
                log_ratio: (p.fathom / p.peer).ln(),
                b_first: !p.peer_first,
            })
            .filter(|d| d.log_ratio.is_finite())
            .collect();
        let (effect, _) = pairs::effect(&differences, order_level());
        let whole = row.pairs.iter();
        let mut sides = whole.flat_map(|pair| [&pair.fathom, &pair.peer]);
        let reason = sides.find_map(|side| which.of(side).err());
        let margin_percent = match which.figure.is_rate() {
            true => margins.rate_percent,
            false => margins.latency_percent,
        };
        Test {
            which: *which,
            effect: effect.map(|effect| widened(*which, effect)),
            margin_percent,
            reason: match reason {
                Some(reason) => reason.to_string(),
                None => "fewer than two whole pairs".to_owned(),
            },
        }
    };
    row.which.iter().map(test).collect()
}

fn widened(which: Which, effect: Effect) -> Effect {
    let bucketed = matches!(
        which.figure,
        CrossFigure::LatencyP50 | CrossFigure::LatencyP99 | CrossFigure::LatencyP999
    );
    match bucketed {
        true => Effect {
            error: effect.error.max(BUCKET_ERROR),
            ..effect
        },
        false => effect,
    }
}

impl Test {
    /// The figure with what was decided.
    fn figure(self, pairs: Vec<FigurePair>, decision: decide::Decision) -> ComparedFigure {
        let unit = self.which.unit();
        let side = |of: fn(&FigurePair) -> f64| {
            let logs: Vec<f64> = pairs.iter().map(|p| of(p).ln()).collect();
            match mean(&logs) {
                None => Estimate::unknown(unit, self.reason.clone()),
                Some(mean) => {
                    Estimate::point(unit, mean.exp(), "the interval is that of the ratio")
                }
            }
        };
        ComparedFigure {
            figure: self.which.figure,
            op: self.which.op,
            decides: self.which.decides(),
            fathom: side(|p| p.fathom),
            peer: side(|p| p.peer),
            ratio: match self.effect {
                Some(effect) => ratio(effect),
                None => Estimate::unknown(Unit::Ratio, self.reason.clone()),
            },
            margin_percent: self.margin_percent,
            pairs,
            p_agree: decision.p_agree,
            p_differ: decision.p_differ,
            outcome: decision.outcome,
            more_pairs: decision.more_pairs,
        }
    }
}

fn ratio(effect: Effect) -> Estimate {
    let (low, high) = effect.interval();
    let [value, low, high] = [effect.mean, low, high].map(f64::exp);
    match [value, low, high].iter().all(|v| v.is_finite()) {
        true => Estimate::known(Unit::Ratio, value, low, high, effect.units as f64),
        false => Estimate::unknown(Unit::Ratio, "the spread is beyond computation"),
    }
}

/// What went wrong in single trials.
fn remarks(row: &CrossRow<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    for pair in &row.pairs {
        let number = pair.pair + 1;
        if let Some(error) = pair.peer.and_then(|peer| peer.error).filter(|e| *e != 0) {
            remarks.push(format!("pair {number}: fio's job ended with error {error}"));
        }
        let early = pair.fathom.filter(|r| r.state != RunState::Complete);
        if let Some(record) = early {
            let reason = record.end.as_ref().and_then(|end| end.reason.as_deref());
            let reason = reason.unwrap_or("the trial is not complete");
            remarks.push(format!("pair {number}: fathom: {reason}"));
        }
    }
    remarks
}
