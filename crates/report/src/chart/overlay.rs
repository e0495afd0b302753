//! The latency distributions of two sides in one chart: a line for each trial, so
//! that the spread between trials of one side shows beside the difference of both.

use std::fmt::Write as _;

use fathom_model::OpKind;
use fathom_model::judged::{JudgedRun, JudgedTrial, OpCharts};
use fathom_model::schedule::TrialRole;
use fathom_model::view::axis::{Axis, Quantity};

use super::distribution::{nines_of, percent_axis};
use super::figure::{ChartFigure, Key};
use super::svg;

/// The sides with the classes of their lines, as many as there are lines to tell apart.
const SIDES: [(&str, &str); 8] = [
    ("A", "s-0"),
    ("B", "s-1"),
    ("C", "s-2"),
    ("D", "s-3"),
    ("E", "s-4"),
    ("F", "s-5"),
    ("G", "s-6"),
    ("H", "s-7"),
];

/// The trials of both sides of one run; a chart for each kind of operation.
pub(crate) fn distributions(run: &JudgedRun) -> Vec<ChartFigure> {
    let of = |role: TrialRole| {
        run.trials
            .iter()
            .filter(|trial| trial.role == role)
            .collect()
    };
    charts(&[of(TrialRole::A), of(TrialRole::B)])
}

/// The trials of stored runs, those of each side together.
pub(crate) fn of_sides(sides: &[&[JudgedRun]]) -> Vec<ChartFigure> {
    let results = |runs: &'_ [JudgedRun]| -> Vec<JudgedTrial> {
        let trials = runs.iter().flat_map(|run| &run.trials);
        let trials = trials.filter(|trial| !trial.role.is_probe());
        trials.cloned().collect()
    };
    let sides: Vec<_> = sides.iter().map(|runs| results(runs)).collect();
    // Trials of several workloads would be lines of different things.
    let labels = || sides.iter().flatten().map(|trial| &trial.label);
    let first = labels().next();
    if !labels().all(|label| Some(label) == first) {
        return Vec::new();
    }
    let sides: Vec<Vec<&JudgedTrial>> =
        sides.iter().map(|trials| trials.iter().collect()).collect();
    charts(&sides)
}

fn charts(sides: &[Vec<&JudgedTrial>]) -> Vec<ChartFigure> {
    let mut kinds: Vec<OpKind> = Vec::new();
    for op in sides.iter().flatten().flat_map(|trial| &trial.charts.ops) {
        if !kinds.contains(&op.kind) {
            kinds.push(op.kind);
        }
    }
    let charts = kinds
        .into_iter()
        .filter_map(|kind| distribution(sides, kind));
    charts.collect()
}

fn distribution(trials: &[Vec<&JudgedTrial>], kind: OpKind) -> Option<ChartFigure> {
    let of = |trials: &Vec<&'_ JudgedTrial>| -> Vec<OpCharts> {
        let charts = trials.iter().filter_map(|trial| {
            let mut ops = trial.charts.ops.iter();
            ops.find(|op| op.kind == kind && op.percentile_curve.len() > 1)
        });
        charts.cloned().collect()
    };
    let mut sides = Vec::new();
    for ((name, class), trials) in SIDES.into_iter().zip(trials) {
        sides.push((name, class, of(trials)));
    }
    if sides.iter().any(|(_, _, charts)| charts.is_empty()) {
        return None;
    }
    let curves = || {
        sides
            .iter()
            .flat_map(|side| &side.2)
            .map(|of| &of.percentile_curve)
    };
    let points = || curves().flatten();
    let least = points().map(|point| point.1).min()?.max(1) as f64;
    let most = points().map(|point| point.1).max()? as f64;
    let highest = points()
        .map(|point| point.0)
        .filter(|percent| *percent < 100.0);
    let xs = percent_axis(highest.fold(0.0, f64::max));
    let ys = Axis::log(Quantity::Latency, least, most);
    let all = if trials.len() > 2 { "all" } else { "both" };
    let title = format!("{} latency of {all} sides", kind.name());
    let keys = sides.iter().map(|(name, class, charts)| Key::Line {
        class,
        name: match charts.len() {
            1 => (*name).to_owned(),
            trials => format!("{name}, a line for each of {trials} trials"),
        },
        can_hide: false,
    });
    let keys = keys.collect();
    let label = format!("{title} by percentile");
    let mut out = svg::open(&label, &xs, &ys, "percentile", "latency");
    out.push_str("<g class=\"ln\">");
    for (_, class, charts) in &sides {
        for of in charts {
            let _ = write!(
                out,
                "<path class=\"{class}\" d=\"{}\"/>",
                line(of, &xs, &ys)
            );
        }
    }
    out.push_str("</g></svg>");
    Some(ChartFigure {
        class: "curve",
        title,
        keys,
        svg: out,
        data: None,
    })
}

fn line(of: &OpCharts, xs: &Axis, ys: &Axis) -> String {
    let places = of.percentile_curve.iter().map(|(percent, ns)| {
        let x = svg::n(svg::x(xs, nines_of(*percent)));
        format!("{x} {}", svg::n(svg::y(ys, *ns as f64)))
    });
    format!("M{}", places.collect::<Vec<_>>().join("L"))
}
