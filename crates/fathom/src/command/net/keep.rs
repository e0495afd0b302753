//! Results of network measurements in the store: runs without trials, whose
//! result is what they are for.

use fathom_model::network::{MatrixReport, PairReport};
use fathom_model::schedule::Purpose;
use fathom_model::{RunMeta, RunRecord, RunState, Schedule};
use fathom_observe::Sysroot;
use fathom_report::network as pages;
use fathom_store::Store;

use crate::output_flags::StorePath;
use crate::{present, run_identity};

/// Keeps the result of a pair. Why it cannot be kept is told.
pub(super) fn pair(store: &StorePath, report: &PairReport) {
    let pair = Some(Box::new(report.clone()));
    keep(store, "net", Purpose::Network { pair, matrix: None });
}

/// Keeps the result of a matrix.
pub(super) fn matrix(store: &StorePath, report: &MatrixReport) {
    let matrix = Some(Box::new(report.clone()));
    keep(
        store,
        "net, all pairs",
        Purpose::Network { pair: None, matrix },
    );
}

fn keep(store: &StorePath, name: &str, purpose: Purpose) {
    let kept = meta(name, purpose).and_then(|meta| {
        let mut store = Store::open(&present::store_path(store)?)?;
        let run = store.begin_run(&meta)?;
        Ok(store.end_run(run, RunState::Complete, fathom_observe::unix_now_ns(), None)?)
    });
    if let Err(error) = kept {
        present::complain(&format!("this result is not in the store: {error:#}"));
    }
}

fn meta(name: &str, purpose: Purpose) -> anyhow::Result<RunMeta> {
    let now_ns = fathom_observe::unix_now_ns();
    Ok(RunMeta {
        id: run_identity::run_id(now_ns)?,
        started_unix_ns: now_ns,
        ended_unix_ns: None,
        state: RunState::Running,
        reason: None,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args().collect(),
        plan_yaml: String::new(),
        label: None,
        schedule: Schedule {
            purpose,
            ..Schedule::nothing(name)
        },
        host: fathom_observe::host_fingerprint(&Sysroot::host()),
        hosts: Vec::new(),
    })
}

/// How a stored network measurement is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Text,
    Json,
    Html,
}

/// A stored network measurement once more; `None` for any other run.
pub(crate) fn page(record: &RunRecord, shown: Shown) -> Option<anyhow::Result<String>> {
    let Purpose::Network { pair, matrix } = &record.meta.schedule.purpose else {
        return None;
    };
    Some(match (pair, matrix, shown) {
        (Some(pair), _, Shown::Json) => pages::json(pair.as_ref()).map_err(Into::into),
        (Some(pair), _, Shown::Text) => Ok(pages::pair_text(pair)),
        (None, Some(matrix), Shown::Json) => pages::json(matrix.as_ref()).map_err(Into::into),
        (None, Some(matrix), Shown::Text) => Ok(pages::matrix_text(matrix)),
        (None, Some(matrix), Shown::Html) => pages::matrix_html(matrix).map_err(Into::into),
        (Some(pair), _, Shown::Html) => Ok(in_html(&pages::pair_text(pair))),
        (None, None, _) => Err(anyhow::anyhow!("this run has no result")),
    })
}

/// Text as a page of its own.
fn in_html(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>fathom net</title>\
         <pre>{text}</pre></html>\n"
    )
}
