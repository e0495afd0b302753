//! Terminal text and Markdown.

use fathom_model::{Estimate, JudgedRun, Unit, Validity};
use fathom_report::table::display_width;
use fathom_report::text::{TextOptions, render};
use fathom_report::{html, markdown};

use crate::synthetic;

fn plain(run: &JudgedRun) -> String {
    render(run, &TextOptions::default())
}

#[test]
fn quick_trusted() {
    insta::assert_snapshot!(plain(&synthetic::quick()));
}

#[test]
fn quick_with_caveats() {
    insta::assert_snapshot!(plain(&synthetic::quick_caveats()));
}

#[test]
fn one_bad_row_does_not_speak_for_the_others() {
    let mut run = synthetic::quick();
    let rows = run.rows.len();
    assert!(rows > 2);
    run.rows[1].verdict.validity = Validity::NotTrusted;
    run.rows[2].verdict.validity = Validity::Caveats;
    run.verdict.validity = Validity::NotTrusted;
    let mut run = synthetic::with_grid(run);
    let text = plain(&run);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let label = run.rows[1].label.clone();
    let expected = format!("not trusted in 1 of {rows} rows: {label}; 1 more trusted with caveats");
    assert!(text.contains(&expected), "{expected}\n{text}");
    let html = html::render(&run).unwrap();
    assert!(html.contains(&format!("In 1 of {rows} rows: {label}")));
    assert!(markdown::render(&run).contains(&format!("in 1 of {rows} rows")));
    // Where all stand alike there is nothing to single out.
    for row in &mut run.rows {
        row.verdict.validity = Validity::NotTrusted;
    }
    assert!(!plain(&run).contains(&format!("of {rows} rows")));
}

#[test]
fn not_trusted_because_of_a_cache() {
    insta::assert_snapshot!(plain(&synthetic::not_trusted_cache()));
}

#[test]
fn open_loop_with_lag() {
    insta::assert_snapshot!(plain(&synthetic::open_loop_lag()));
}

#[test]
fn interrupted() {
    insta::assert_snapshot!(plain(&synthetic::interrupted()));
}

#[test]
fn failed() {
    insta::assert_snapshot!(plain(&synthetic::failed()));
}

#[test]
fn errors() {
    insta::assert_snapshot!(plain(&synthetic::errors()));
}

#[test]
fn many_rows_of_a_matrix() {
    insta::assert_snapshot!(plain(&synthetic::matrix()));
}

#[test]
fn verbose_shows_every_interval_trial_and_check() {
    let options = TextOptions {
        verbose: true,
        ..TextOptions::default()
    };
    insta::assert_snapshot!(render(&synthetic::open_loop_lag(), &options));
}

#[test]
fn a_wide_terminal_gets_one_line_per_result() {
    let options = TextOptions {
        width: 140,
        decimal_units: true,
        ..TextOptions::default()
    };
    insta::assert_snapshot!(render(&synthetic::open_loop_lag(), &options));
}

#[test]
fn markdown_of_a_grid_and_of_rows() {
    insta::assert_snapshot!(
        "markdown_quick",
        markdown::render(&synthetic::quick_caveats())
    );
    insta::assert_snapshot!("markdown_rows", markdown::render(&synthetic::interrupted()));
}

#[test]
fn eighty_columns_hold_everything() {
    let mut long = synthetic::open_loop_lag();
    long.rows[0].label = "a very long name of a workload and its matrix values ".repeat(5);
    for run in [
        long,
        synthetic::quick(),
        synthetic::quick_caveats(),
        synthetic::not_trusted_cache(),
        synthetic::open_loop_lag(),
        synthetic::matrix(),
        synthetic::interrupted(),
        synthetic::failed(),
        synthetic::errors(),
    ] {
        for line in plain(&run).lines() {
            assert!(display_width(line) <= 80, "{line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn a_narrow_terminal_gets_reads_above_writes() {
    let options = TextOptions {
        width: 60,
        ..TextOptions::default()
    };
    let text = render(&synthetic::quick(), &options);
    assert!(text.lines().all(|l| display_width(l) <= 60), "{text}");
    assert_eq!(text.matches("SEQ1M Q8T1  ").count(), 2, "{text}");
}

#[test]
fn colour_comes_only_when_asked_and_changes_no_word() {
    let run = synthetic::errors();
    let options = TextOptions {
        color: true,
        ..TextOptions::default()
    };
    let coloured = render(&run, &options);
    assert!(coloured.contains("\x1b[1;31mnot trusted\x1b[0m"));
    let mut stripped = coloured;
    for code in ["\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m"] {
        stripped = stripped.replace(code, "");
    }
    assert_eq!(stripped, plain(&run));
}

#[test]
fn names_cannot_reach_the_terminal() {
    let run = synthetic::hostile();
    for verbose in [false, true] {
        let options = TextOptions {
            verbose,
            ..TextOptions::default()
        };
        assert!(!render(&run, &options).contains('\x1b'));
    }
    let page = markdown::render(&run);
    assert!(!page.contains('\x1b'));
    let outside_plan = page.split("<details>").next().unwrap();
    assert!(!outside_plan.contains("<script"), "{outside_plan}");
    assert!(!outside_plan.contains("@you"), "{outside_plan}");
}

/// Law 4: where an estimate has no value, no output may print one.
#[test]
fn a_missing_estimate_is_printed_by_nobody() {
    let mut run = synthetic::not_trusted_cache();
    let hide = |ops: &mut Vec<fathom_model::judged::OpSummary>| {
        for op in ops {
            let reason = "too short by far";
            op.ops_per_second = Estimate::unknown(Unit::OpsPerSecond, reason);
            op.bytes_per_second = Estimate::unknown(Unit::BytesPerSecond, reason);
            op.service.mean_ns = Estimate::unknown(Unit::Nanoseconds, reason);
            for p in &mut op.service.percentiles {
                p.latency_ns = Estimate::unknown(Unit::Nanoseconds, reason);
            }
        }
    };
    hide(&mut run.rows[0].ops);
    hide(&mut run.trials[0].summary.ops);
    let text = plain(&run);
    assert!(text.contains("n/a"), "{text}");
    assert!(text.contains("too short by far"), "{text}");
    assert!(!text.contains("2.12 µs"), "{text}");
    let page = html::render(&run).unwrap();
    assert!(page.contains("too short by far"));
    assert!(!page.contains("1,120,000") && !page.contains(">2.12 µs"));
}

#[test]
fn a_grid_without_intervals_says_so() {
    let mut run = synthetic::quick();
    for op in run.rows.iter_mut().flat_map(|r| &mut r.ops) {
        let value = op.ops_per_second.value.unwrap();
        op.ops_per_second = Estimate::point(Unit::OpsPerSecond, value, "5 s are few");
        op.service.percentiles[3].latency_ns =
            Estimate::unknown(Unit::Nanoseconds, "few slow ones");
    }
    let text = plain(&synthetic::with_grid(run));
    assert!(
        text.contains("No 95 % intervals of IOPS: 5 s are few."),
        "{text}"
    );
    assert!(text.contains("n/a: few slow ones."), "{text}");
}

#[test]
fn an_empty_run_is_still_a_report() {
    let mut run = synthetic::quick();
    run.rows.clear();
    run.trials.clear();
    run.verdict.findings.clear();
    run.host = fathom_model::Fingerprint::default();
    let views = [fathom_studies::quick::view(&run)].map(Some);
    for view in views.into_iter().chain([None]) {
        run.view = view;
        let text = plain(&run);
        assert!(text.contains("Validity: trusted"), "{text}");
        assert!(html::render(&run).unwrap().contains("</html>"));
        assert!(markdown::render(&run).contains("Validity"));
    }
}
