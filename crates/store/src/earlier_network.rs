//! Networks as versions up to 0.1 stored them: the result itself lay in what the
//! run was for, and there were no trials.

use fathom_model::network::{MatrixReport, PairReport};
use fathom_model::pair_trials::pair_run;
use fathom_model::schedule::Purpose;
use fathom_model::{RunMeta, RunRecord, TrialRecord};
use serde::Deserialize;

/// A schedule, of which only the result in it is read.
#[derive(Debug, Deserialize)]
pub(crate) struct EarlierSchedule {
    purpose: EarlierPurpose,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EarlierPurpose {
    Network {
        #[serde(default)]
        pair: Option<Box<PairReport>>,
        #[serde(default)]
        matrix: Option<Box<MatrixReport>>,
    },
}

/// A run whose schedule may hold the result of a network: a pair becomes the
/// trials that it would be today, of a matrix the figures are kept. `read` reads
/// the schedule again, and is asked only where the run is one of a network.
pub(crate) fn complete<E>(
    mut meta: RunMeta,
    trials: Vec<TrialRecord>,
    read: impl FnOnce() -> Result<EarlierSchedule, E>,
) -> Result<RunRecord, E> {
    let is_network = matches!(meta.schedule.purpose, Purpose::Network {});
    if !is_network || !meta.schedule.trials.is_empty() {
        return Ok(RunRecord { meta, trials });
    }
    let EarlierPurpose::Network { pair, matrix } = read()?.purpose;
    meta.matrix_figures = matrix.or(meta.matrix_figures);
    Ok(match pair {
        Some(pair) => pair_run(meta, &pair),
        None => RunRecord { meta, trials },
    })
}

#[cfg(test)]
mod tests {
    use fathom_model::Schedule;
    use fathom_model::network::{MATRIX_SCHEMA, Outliers};

    use super::*;

    fn schedule(purpose: &str) -> String {
        let mut schedule = serde_json::to_value(Schedule::nothing("net")).unwrap();
        schedule["purpose"] = serde_json::from_str(purpose).unwrap();
        schedule.to_string()
    }

    fn completed(text: &str) -> RunRecord {
        let meta = RunMeta {
            schedule: serde_json::from_str(text).unwrap(),
            hosts: Vec::new(),
            ..crate::fixtures::meta("a", 0)
        };
        complete(meta, Vec::new(), || serde_json::from_str(text)).unwrap()
    }

    #[test]
    fn a_matrix_keeps_its_figures() {
        let matrix = MatrixReport {
            schema: MATRIX_SCHEMA.to_owned(),
            started_unix_s: 5,
            hosts: vec!["a".to_owned(), "b".to_owned()],
            facts: Vec::new(),
            seconds: 4,
            streams: 1,
            rounds: Vec::new(),
            outliers: Outliers::default(),
            remarks: Vec::new(),
        };
        let text = serde_json::to_string(&matrix).unwrap();
        let run = completed(&schedule(&format!(r#"{{"network":{{"matrix":{text}}}}}"#)));
        assert_eq!(run.meta.matrix_figures.as_deref(), Some(&matrix));
        assert!(run.trials.is_empty());
    }

    #[test]
    fn runs_of_today_and_of_other_kinds_are_left_alone() {
        for purpose in [r#"{"network":{}}"#, r#""measure""#] {
            let run = completed(&schedule(purpose));
            assert_eq!(run.meta.matrix_figures, None, "{purpose}");
            assert!(run.trials.is_empty(), "{purpose}");
        }
    }
}
