//! The answer of a cross-check, from the stored trials of fathom and what the other
//! tool gave beside them.

use fathom_model::crosscheck::{CROSSCHECK_SCHEMA, Crosscheck, PeerTool};
use fathom_model::run::RunRecord;

use super::compare::{CrossMargins, crosscheck_rows};
use super::conductor::{CrossBench, Turns, peer_first};
use super::plan::{CrossPlan, PlannedRow};
use super::row::{CrossPair, CrossRow};

/// What was asked.
pub struct Question {
    /// The other tool.
    pub peer: PeerTool,
    /// Pairs of trials per row that were planned.
    pub pairs: u32,
    /// Within so many percent figures agree.
    pub margins: CrossMargins,
    /// Directory with the other tool's job files and documents.
    pub documents: Option<String>,
}

/// How far the two agree.
pub fn judge<B: CrossBench>(
    question: Question,
    plan: &CrossPlan,
    turns: &Turns<'_, B>,
    record: &RunRecord,
) -> Crosscheck {
    let margins = question.margins;
    let measured = rows(plan, turns, record);
    let (mut rows, outcome) = crosscheck_rows(&measured, &record.meta.host, margins);
    for (number, row) in rows.iter_mut().enumerate() {
        row.remarks.extend(turns.repeats().remark(number));
    }
    Crosscheck {
        schema: CROSSCHECK_SCHEMA.to_owned(),
        run: record.meta.id.clone(),
        state: record.meta.state,
        reason: record.meta.reason.clone(),
        peer: question.peer,
        documents: question.documents,
        planned_pairs: question.pairs,
        rate_margin_percent: margins.rate_percent,
        latency_margin_percent: margins.latency_percent,
        outcome,
        rows,
    }
}

/// What was measured, ready to be compared.
fn rows<'a, B: CrossBench>(
    plan: &CrossPlan,
    turns: &'a Turns<'_, B>,
    record: &'a RunRecord,
) -> Vec<CrossRow<'a>> {
    let row = |(number, row): (usize, &PlannedRow)| {
        let trials = record.trials.iter();
        let trials = trials.filter(|t| t.spec.row as usize == number);
        let trials = trials.filter(|t| !turns.repeats().is_aside(number, t.spec.iteration));
        let mut pairs: Vec<CrossPair<'a>> = trials
            .map(|trial| {
                let pair = trial.spec.iteration;
                let mut results = turns.results().iter();
                let peer = results.find(|peer| (peer.row, peer.pair) == (number, pair));
                CrossPair {
                    pair,
                    peer_first: peer_first(pair),
                    fathom: Some(trial),
                    peer: peer.map(|peer| &peer.side),
                }
            })
            .collect();
        pairs.sort_by_key(|pair| pair.pair);
        CrossRow {
            label: row.trial().label.clone(),
            target: row.trial().target.to_string(),
            differences: row.fio.differences.clone(),
            pairs,
        }
    };
    plan.rows.iter().enumerate().map(row).collect()
}
