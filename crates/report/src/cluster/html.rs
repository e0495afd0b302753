//! A judged cluster as one page: what stands out first, then the tables.

use fathom_model::cluster::{ClusterFinding, ClusterLook, ClusterMember};
use fathom_model::unit;
use fathom_model::view::Tone;

use super::tables::{self, tables};
use super::{name, sentence};
use crate::chart::bars::{self, Bar};
use crate::chart::figure::ChartFigure;
use crate::html::answer::{Answer, AnswerBox, LIMITER, VALIDITY};
use crate::html::document_page::{self, DocumentPage, PageBlock, PagePart};
use crate::html::key_figures::KeyFigure;
use crate::sentence::sentence_of;

/// Bars of a chart.
const MOST_BARS: usize = 12;

/// The page.
///
/// # Errors
/// Only when the template engine fails.
pub fn html(look: &ClusterLook) -> crate::Result<String> {
    let found = look.findings.iter().map(line);
    let listings = tables(look).into_iter().enumerate();
    let listings = listings.filter_map(|(at, listing)| {
        let id = format!("table-{}", at + 1);
        PagePart::new(&id, listing.title, Vec::<PageBlock>::from(listing))
    });
    let parts = [PagePart::list(
        "findings",
        "What stands out",
        found.collect(),
    )];
    let notes = PagePart::list("notes", "Notes", look.notes.clone());
    document_page::render(&DocumentPage {
        title: name(look).to_owned(),
        below: vec![format!("From {}", look.sources.join(", "))],
        answer: answer(look),
        overview: overview(look),
        parts: parts
            .into_iter()
            .flatten()
            .chain(listings)
            .chain(notes)
            .collect(),
        ..DocumentPage::default()
    })
}

/// A finding with what to do about it.
fn line(finding: &ClusterFinding) -> String {
    format!(
        "{}: {} ({}). {}",
        finding.severity.to_uppercase(),
        finding.found,
        finding.rule,
        finding.remedy
    )
}

fn answer(look: &ClusterLook) -> Answer {
    Answer {
        figures: figures(look),
        sentence: sentence(look),
        boxes: vec![evidence(look), limiter(look)],
        next: Some(match look.findings.first() {
            Some(finding) => finding.remedy.clone(),
            None => "Dump again while it is slow; `fathom diagnose` on a storage host says \
                     whether its devices are the bottleneck."
                .to_owned(),
        }),
    }
}

fn figures(look: &ClusterLook) -> Vec<KeyFigure> {
    let of = |severity: &str| {
        let found = look.findings.iter().filter(|one| one.severity == severity);
        found.count()
    };
    let grave = of("critical") + of("warning");
    let mut figures = vec![
        KeyFigure::measured("Findings", &look.findings.len().to_string()).below(match grave {
            0 => "none grave".to_owned(),
            _ => format!(
                "{} critical, {}",
                of("critical"),
                unit::counted(of("warning") as u64, "warning")
            ),
        }),
    ];
    let slow = look.members.iter().filter(|member| member.slow).count();
    if !look.members.is_empty() {
        let words = match slow {
            0 => "none slow".to_owned(),
            n => format!("{n} slow"),
        };
        let count = look.members.len().to_string();
        figures.push(KeyFigure::measured(tables::member_word(look).1, &count).below(words));
    }
    figures.extend(member_times(look));
    figures.extend(look.operations.first().map(|first| {
        let name = format!("Time in {}", first.name);
        let share = tables::percent(first.time_share);
        let calls = format!(
            "{} of {}",
            unit::counted(first.calls, "call"),
            tables::time(first.mean_ns)
        );
        KeyFigure::measured(name, &share).below(calls)
    }));
    let fullest = look
        .members
        .iter()
        .filter_map(|member| Some((member.used?, member)));
    let fullest = fullest.max_by(|a, b| a.0.total_cmp(&b.0));
    figures.extend(fullest.map(|(used, member)| {
        KeyFigure::measured("Fullest", &tables::percent(used))
            .below(member.name.clone())
            .out_of(used, 1.0)
    }));
    let writes: u64 = look.writes.iter().map(|size| size.count).sum();
    let most = look.writes.iter().max_by_key(|size| size.count);
    figures.extend(most.filter(|_| writes > 0).map(|size| {
        let share = tables::percent(size.count as f64 / writes as f64);
        KeyFigure::measured("Most writes", &unit::bytes(size.from_bytes).to_string())
            .below(format!("and more: {share} of {}", unit::group(writes)))
    }));
    figures.truncate(crate::html::key_figures::MOST);
    figures
}

/// The mean of an operation, of the middle and the slowest member.
fn member_times(look: &ClusterLook) -> Option<KeyFigure> {
    let timed = look
        .members
        .iter()
        .filter_map(|one| Some((one.mean_ns?, one)));
    let mut timed: Vec<(f64, &ClusterMember)> = timed.filter(|(ns, _)| *ns > 0.0).collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (slowest, member) = timed.last()?;
    let (fastest, _) = timed.first()?;
    let means: Vec<f64> = timed.iter().map(|(ns, _)| *ns).collect();
    let middle = fathom_stats::median::median(&means)?;
    let words = format!(
        "fastest {}, slowest {} ({})",
        unit::latency(*fastest),
        unit::latency(*slowest),
        member.name
    );
    Some(
        KeyFigure::measured("Mean time, median", &unit::latency(middle))
            .within(middle, *fastest, *slowest)
            .below(words),
    )
}

/// How much there was to judge by.
fn evidence(look: &ClusterLook) -> AnswerBox {
    let read = unit::counted(look.sources.len() as u64, "dump");
    match look.notes.is_empty() {
        true => AnswerBox::new(VALIDITY, Tone::Good, format!("{read} read"))
            .because("figures are those of the cluster itself"),
        false => AnswerBox::new(VALIDITY, Tone::Warning, format!("{read} read, with gaps"))
            .with(look.notes.clone()),
    }
}

fn limiter(look: &ClusterLook) -> AnswerBox {
    let slow: Vec<String> = look
        .members
        .iter()
        .filter(|member| member.slow)
        .map(|member| member.name.clone())
        .collect();
    let rest: Vec<String> = look.findings.iter().skip(1).map(line).collect();
    let tone = match look
        .findings
        .first()
        .map(|finding| finding.severity.as_str())
    {
        Some("critical") => Tone::Bad,
        Some("warning") => Tone::Warning,
        _ => Tone::Strong,
    };
    match (slow.split_first(), look.findings.first()) {
        (Some((first, [])), _) => AnswerBox::new(LIMITER, tone, format!("a slow member: {first}")),
        (Some((first, more)), _) => AnswerBox::new(
            LIMITER,
            tone,
            format!("slow members: {first} and {} more", more.len()),
        ),
        (None, Some(finding)) => {
            AnswerBox::new(LIMITER, tone, finding.rule.clone()).because(sentence_of(&finding.found))
        }
        (None, None) => AnswerBox::new(LIMITER, tone, "not determined")
            .because("dumps of another moment, or of more kinds, may show it"),
    }
    .with(rest)
}

/// Where the time goes, and who takes it.
fn overview(look: &ClusterLook) -> Vec<ChartFigure> {
    let bar = |name: &str, value: f64, text: String, class: &str| Bar {
        name: name.to_owned(),
        value: Some(value),
        range: None,
        text,
        class: class.to_owned(),
    };
    let operations = look.operations.iter().filter(|one| one.time_share > 0.0);
    let operations: Vec<Bar> = operations
        .take(MOST_BARS)
        .map(|one| {
            bar(
                &one.name,
                one.time_share,
                tables::percent(one.time_share),
                "k-read",
            )
        })
        .collect();
    let mut members: Vec<&ClusterMember> = look.members.iter().collect();
    let mean = |member: &ClusterMember| member.mean_ns.unwrap_or(0.0);
    members.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let members: Vec<Bar> = members
        .into_iter()
        .filter(|member| mean(member) > 0.0)
        .take(MOST_BARS)
        .map(|one| {
            let class = if one.slow { "k-write" } else { "k-read" };
            bar(&one.name, mean(one), unit::latency(mean(one)), class)
        })
        .collect();
    let writes = look.writes.iter().map(|size| {
        let name = format!("{} and more", unit::bytes(size.from_bytes));
        bar(&name, size.count as f64, unit::group(size.count), "k-write")
    });
    let writes: Vec<Bar> = writes.collect();
    [
        bars::render(
            "Mean time of a member, the slowest first",
            "Mean time of a member, the slowest first",
            &members,
        ),
        bars::render(
            "Time by operation",
            "Share of time by operation",
            &operations,
        ),
        bars::render("Writes by their size", "Writes by their size", &writes),
    ]
    .into_iter()
    .flatten()
    .collect()
}
