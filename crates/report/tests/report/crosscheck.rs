//! Cross-checks as text and as JSON.

use fathom_model::crosscheck::{
    Agreement, CROSSCHECK_SCHEMA, ComparedFigure, CrossFigure, Crosscheck, CrosscheckRow, PeerTool,
};
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::op::OpKind;
use fathom_model::run::RunState;
use fathom_report::json::render_document;
use fathom_report::text::TextOptions;
use fathom_studies::crosscheck::view;

fn figure(figure: CrossFigure, ratio: f64, outcome: Agreement) -> ComparedFigure {
    let (unit, op) = match figure {
        CrossFigure::OpsPerSecond => (Unit::OpsPerSecond, None),
        _ => (Unit::Nanoseconds, Some(OpKind::Read)),
    };
    ComparedFigure {
        figure,
        op,
        decides: figure != CrossFigure::LatencyMean,
        fathom: Estimate::point(unit, 20_000.0 * ratio, "of the ratio"),
        peer: Estimate::point(unit, 20_000.0, "of the ratio"),
        ratio: Estimate::known(Unit::Ratio, ratio, ratio - 0.01, ratio + 0.01, 6.0),
        margin_percent: 3.0,
        pairs: Vec::new(),
        p_agree: Some(0.01),
        p_differ: Some(0.9),
        outcome,
        more_pairs: (outcome == Agreement::Inconclusive).then_some(8),
    }
}

fn crosscheck(outcome: Agreement, ratio: f64) -> Crosscheck {
    Crosscheck {
        schema: CROSSCHECK_SCHEMA.to_owned(),
        run: "20261121-120000-abcd".to_owned(),
        state: RunState::Complete,
        reason: None,
        peer: PeerTool {
            path: "/usr/bin/fio".to_owned(),
            version: "fio-3.33".to_owned(),
        },
        documents: Some("/tmp/documents".to_owned()),
        planned_pairs: 6,
        rate_margin_percent: 3.0,
        latency_margin_percent: 5.0,
        outcome,
        rows: vec![CrosscheckRow {
            label: "randread-4k".to_owned(),
            target: "/data".to_owned(),
            outcome,
            figures: vec![
                figure(CrossFigure::OpsPerSecond, ratio, outcome),
                figure(CrossFigure::LatencyMean, 1.0, Agreement::Agree),
                figure(CrossFigure::LatencyP99, 1.0, Agreement::Agree),
            ],
            differences: vec!["it shuffles otherwise".to_owned()],
            causes: vec!["the tools are the limit".to_owned()],
            remarks: vec!["pair 3: fio's job ended with error 5".to_owned()],
        }],
    }
}

fn text(crosscheck: &Crosscheck) -> String {
    let options = TextOptions {
        width: 90,
        ..TextOptions::default()
    };
    fathom_report::text::render_document(&view(crosscheck), &options)
}

#[test]
fn agreement_is_short() {
    let text = text(&crosscheck(Agreement::Agree, 1.01));
    assert!(
        text.contains("Outcome:  the tools agree: rates within ±3 %"),
        "{text}"
    );
    assert!(
        text.contains("+1.0 %") && text.contains("ops/s *"),
        "{text}"
    );
    assert!(!text.contains("shuffles"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 90),
        "{text}"
    );
}

#[test]
fn a_difference_names_its_figure_and_where_to_look() {
    let text = text(&crosscheck(Agreement::Differ, 1.2));
    assert!(text.contains("the tools differ: ops/s +20.0 %"), "{text}");
    for words in [
        "- the tools are the limit",
        "fio does otherwise:",
        "error 5",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_is_open_says_how_many_pairs_it_takes() {
    let mut open = crosscheck(Agreement::Inconclusive, 1.03);
    open.state = RunState::Interrupted;
    open.reason = Some("ended by the user".to_owned());
    let text = text(&open);
    assert!(
        text.contains("not decided: ops/s +3.0 % (about 8 more pairs would decide)"),
        "{text}"
    );
    assert!(
        text.contains("not all pairs were measured: ended by the user"),
        "{text}"
    );
}

#[test]
fn json_carries_the_schema() {
    let text = render_document(&crosscheck(Agreement::Agree, 1.0)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], CROSSCHECK_SCHEMA);
    assert_eq!(value["rows"][0]["figures"][0]["ratio"]["value"], 1.0);
}
