//! A run as Markdown that pastes into an issue.
//!
//! GitHub's dialect. What a user, file or device named is escaped, so that it
//! is shown as it is and neither formats the page nor notifies anybody.

use std::fmt::Write as _;

use fathom_model::figure::{self, Figure, Throughput};
use fathom_model::judged::{LatencySummary, ResultRow};
use fathom_model::{JudgedRun, unit};

use crate::escape::escape_markdown as escape;
use crate::names::mark;
use crate::table::clean;
use crate::{affected, facts, levels, limits, moment, names, sets, steady, summary};

const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// The run as Markdown.
pub fn render(run: &JudgedRun) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "### fathom {}: {}\n",
        escape(&run.run.name),
        escape(&facts::targets(run).join(", "))
    );
    push_alarms(&mut out, run);
    push_facts(&mut out, run);
    if let Some(comparison) = &run.comparison {
        crate::comparison::push_markdown(&mut out, comparison);
    }
    let standard = facts::standard(run);
    if let Some((view, report)) = standard {
        crate::view::standard::push_markdown(&mut out, view, report);
    } else if let Some(view) = facts::answer(run) {
        crate::view::push_markdown(&mut out, view);
    } else if let Some(view) = crate::fleet::view(run, Throughput::Binary) {
        crate::fleet::push_markdown(&mut out, &view, escape);
    } else {
        if let Some(view) = facts::result_form(run) {
            crate::view::push_markdown(&mut out, view);
        }
        push_rows(&mut out, run, &facts::plain_rows(run));
    }
    for line in crate::gluster::lines(run) {
        let _ = writeln!(out, "{}\n", escape(&line));
    }
    if !run.view.as_ref().is_some_and(|view| view.adds_up_sets) {
        push_sets(&mut out, run);
    }
    if standard.is_none() {
        push_steadiness(&mut out, run);
    }
    push_verdict(&mut out, run);
    push_plan(&mut out, run);
    out
}

fn push_alarms(out: &mut String, run: &JudgedRun) {
    if let Some(text) = facts::ended_line(run) {
        let _ = writeln!(out, "> **Not complete:** {}\n", escape(&text));
    }
    if let Some(text) = facts::failures_line(run) {
        let _ = writeln!(out, "> **Errors:** {}\n", escape(&text));
    }
    for trial in facts::unfinished(run) {
        let _ = writeln!(
            out,
            "> **Trial {} {}** ({}): {}\n",
            trial.index + 1,
            names::state(trial.state),
            escape(&trial.label),
            escape(facts::reason_of(trial))
        );
    }
}

fn push_facts(out: &mut String, run: &JudgedRun) {
    for target in facts::fingerprints(run) {
        if let Some(fs) = &target.filesystem {
            let _ = writeln!(
                out,
                "- File system: {}",
                escape(&facts::filesystem_line(fs))
            );
        }
        for device in facts::leaves(target) {
            let _ = writeln!(out, "- Device: {}", escape(&facts::device_line(device)));
        }
    }
    let _ = writeln!(out, "- Host: {}", escape(&facts::host_line(run)));
    let _ = writeln!(
        out,
        "- fathom {}, {}, run `{}`",
        escape(&run.run.tool_version),
        moment::readable(run.run.started_unix_ns),
        run.run.id.replace('`', "")
    );
    if let Some(label) = facts::user_label(run) {
        let _ = writeln!(out, "- Label: {}", escape(label));
    }
    if let Some(line) = facts::measurement_line(run) {
        let _ = writeln!(out, "- {}", escape(&line));
    }
    out.push('\n');
}

/// The label, and who ran at the same time.
fn name_of(run: &JudgedRun, row: &ResultRow) -> String {
    match sets::company(run, row) {
        Some(company) => format!("{}, {company}", row.label),
        None => row.label.clone(),
    }
}

/// The sums of what ran at the same time.
fn push_sets(out: &mut String, run: &JudgedRun) {
    for set in &run.sets {
        let _ = writeln!(out, "\nSum of {}\n", escape(&sets::heading(set)));
        let Some(sum) = &set.sum else { continue };
        out.push_str(
            "| op | IOPS | MiB/s | mean | p50 | p99 | p99.9 |\n|---|--:|--:|--:|--:|--:|--:|\n",
        );
        for line in sets::lines(sum) {
            let rate = |at: usize| match line.rates {
                Some(rates) if at == 0 || line.moves_data => {
                    let figure = Figure::of(rates[at], Throughput::Binary);
                    figure.inline().replace(" MiB/s", "")
                }
                _ => String::new(),
            };
            let mut cells = vec![line.name.clone(), rate(0), rate(1)];
            cells.push(Figure::of(&line.latency.mean_ns, Throughput::Binary).inline());
            cells.extend(PERCENTILES.map(|p| summary::percentile(line.latency, p).inline()));
            let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
}

fn push_rows(out: &mut String, run: &JudgedRun, rows: &[&ResultRow]) {
    if rows.is_empty() {
        return;
    }
    // In an open loop a single stop of the target is what users feel most.
    let open = |row: &&ResultRow| row.ops.iter().any(|op| op.response.is_some());
    let with_max = rows.iter().any(open);
    let (head, rule) = match with_max {
        true => (" max |", "--:|"),
        false => ("", ""),
    };
    let from = out.len();
    let _ = writeln!(
        out,
        "| workload | op | trials | IOPS | MiB/s | mean | p50 | p99 | p99.9 |{head}\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|{rule}",
    );
    for row in rows {
        let name = format!(
            "{}{}",
            escape(mark(row.verdict.validity)),
            escape(&name_of(run, row))
        );
        if row.ops.is_empty() {
            let _ = writeln!(
                out,
                "| {name} | none succeeded | {} | | | | | | |{}",
                row.trials.len(),
                if with_max { " |" } else { "" }
            );
        }
        let shown = levels::of_row(run, row);
        for (when, op) in shown
            .iter()
            .flat_map(|l| l.ops.iter().map(|op| (&l.when, op)))
        {
            for (i, (which, latency)) in summary::latencies(op).into_iter().enumerate() {
                let rate = |estimate, shown: bool| {
                    if shown && i == 0 {
                        Figure::of(estimate, Throughput::Binary)
                            .inline()
                            .replace(" MiB/s", "")
                    } else {
                        String::new()
                    }
                };
                let kind = match op.response {
                    Some(_) => format!("{} {which}", op.kind.name()),
                    None => op.kind.name().to_owned(),
                };
                let kind = escape(&levels::named(&kind, when));
                let mut cells = vec![
                    rate(&op.ops_per_second, true),
                    rate(&op.bytes_per_second, op.kind.moves_bytes()),
                    Figure::of(&latency.mean_ns, Throughput::Binary).inline(),
                ];
                cells.extend(PERCENTILES.map(|p| summary::percentile(latency, p).inline()));
                cells.extend(with_max.then(|| largest(latency)));
                let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
                let _ = writeln!(
                    out,
                    "| {name} | {kind} | {} | {} |",
                    row.trials.len(),
                    cells.join(" | ")
                );
            }
        }
    }
    push_reading(out, from);
}

/// What the signs in the table from a place on mean, where there are any.
fn push_reading(out: &mut String, from: usize) {
    out.push('\n');
    let table = out.get(from..).unwrap_or_default();
    if let Some(legend) = figure::interval_legend([table].into_iter()) {
        out.push_str(legend);
        out.push_str("\n\n");
    }
}

/// The largest latency, which is exact.
fn largest(latency: &LatencySummary) -> String {
    let max = latency.max_ns.map(|ns| unit::latency(ns as f64));
    max.unwrap_or_else(|| "–".to_owned())
}

/// Trials that are no one level, or long enough for the rule of SNIA.
fn push_steadiness(out: &mut String, run: &JudgedRun) {
    let told = run.trials.iter().filter_map(|trial| {
        let steadiness = trial.steadiness.as_ref()?;
        let told = steadiness.has_no_single_rate() || steadiness.snia.is_some();
        told.then_some((trial, steadiness))
    });
    let mut any = false;
    for (trial, steadiness) in told {
        any = true;
        let _ = writeln!(
            out,
            "**{}**: {}\n",
            escape(&facts::trial_name(run, trial)),
            escape(&steady::headline(steadiness))
        );
        for rung in steady::ladder(steadiness) {
            let evidence = escape(&rung.evidence);
            let _ = writeln!(out, "- {} {}: {evidence}", rung.title, rung.status);
        }
        out.push('\n');
    }
    if any {
        // The list of the verdict is another one.
        out.push_str("<!-- -->\n\n");
    }
}

fn push_verdict(out: &mut String, run: &JudgedRun) {
    let verdict = &run.verdict;
    let affected = affected::rows(run).map_or(String::new(), |rows| format!(" in {rows}"));
    let _ = writeln!(
        out,
        "- **Validity:** {}{}",
        names::validity(verdict.validity),
        escape(&affected)
    );
    for finding in names::objections(&verdict.findings) {
        let _ = writeln!(
            out,
            "  - {} {} ({}): {} *{}*",
            escape(&finding.id),
            escape(&finding.name),
            names::status(finding.status),
            escape(&finding.evidence),
            escape(finding.remedy.trim())
        );
    }
    push_limiter(out, run);
    if let Some(fitness) = &verdict.fitness {
        let _ = writeln!(
            out,
            "- **Fitness:** {}: {}: {}",
            names::fit(fitness.outcome),
            escape(&fitness.target),
            escape(&fitness.evidence)
        );
    }
}

fn push_limiter(out: &mut String, run: &JudgedRun) {
    let by_row = limits::limiter_lines(run);
    if by_row.is_empty() {
        let _ = writeln!(
            out,
            "- **Limiter:** {}: {}",
            names::limiter(run.verdict.limiter),
            escape(&run.verdict.limiter_evidence)
        );
        return;
    }
    out.push_str("- **Limiter:**\n");
    for line in by_row {
        let _ = writeln!(out, "  - {}", escape(&line));
    }
}

fn push_plan(out: &mut String, run: &JudgedRun) {
    // A fence longer than any run of backticks inside cannot be closed by it.
    let longest = run
        .run
        .plan_yaml
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let plan: Vec<String> = run.run.plan_yaml.trim_end().lines().map(clean).collect();
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(
        out,
        "\n<details><summary>Plan (seed {})</summary>\n\n{fence}yaml\n{}\n{fence}\n\n</details>",
        run.run.seed,
        plan.join("\n")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_neither_format_nor_notify() {
        assert_eq!(escape("a|b_c <x> @you"), "a\\|b\\_c &lt;x&gt; &#64;you");
        assert_eq!(escape("two\nlines"), "two lines");
    }
}
