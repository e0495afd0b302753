//! Pages say what there is, once, in words: no figure without its sides, no sign without
//! its meaning, no `1 things`.

use fathom_analysis::{CompareOptions, compare_runs};
use fathom_model::comparison::{Comparison, ComparisonOutcome};
use fathom_model::diagnosis::{Answer, ONE_THREAD_WORDS, Shortage};
use fathom_model::schedule::TrialRole;
use fathom_model::view::View;
use fathom_model::workload::{MetaTree, MetaWork, ObjectSizes, ObjectStore, ObjectWork, Work};
use fathom_model::{Estimate, JudgedRun, Limiter, OpKind, Unit, Validity};
use fathom_report::diagnosis::{self, PageOrigin};
use fathom_report::html::{compared, render, summary_page};
use fathom_report::text::{TextOptions, render_comparison};

use crate::{synthetic, synthetic_documents};

/// Takes the intervals of a run, as of a load of a single second.
fn without_intervals(run: &mut JudgedRun) {
    let trials = run.trials.iter_mut().flat_map(|t| &mut t.summary.ops);
    let rows = run.rows.iter_mut().flat_map(|row| &mut row.ops);
    for op in trials.chain(rows) {
        let mut estimates = vec![&mut op.ops_per_second, &mut op.bytes_per_second];
        for latency in [Some(&mut op.service), op.response.as_mut()] {
            let Some(latency) = latency else { continue };
            estimates.push(&mut latency.mean_ns);
            let percentiles = latency.percentiles.iter_mut();
            estimates.extend(percentiles.map(|p| &mut p.latency_ns));
        }
        for estimate in estimates {
            (estimate.low, estimate.high) = (None, None);
        }
    }
}

/// A run with one trial of one workload, and the same a fifth faster.
fn sides() -> [JudgedRun; 2] {
    let mut a = synthetic::open_loop_lag();
    without_intervals(&mut a);
    let mut b = a.clone();
    for op in &mut b.trials[0].summary.ops {
        op.ops_per_second.value = op.ops_per_second.value.map(|rate| 1.2 * rate);
    }
    [a, b]
}

fn compared_once(a: &JudgedRun, b: &JudgedRun) -> Comparison {
    let options = CompareOptions {
        margin_percent: 3.0,
        decides: None,
        declared: Vec::new(),
    };
    compare_runs(std::slice::from_ref(a), std::slice::from_ref(b), &options)
}

fn page_of(a: JudgedRun, b: JudgedRun, comparison: &Comparison) -> fathom_report::Result<String> {
    compared::render(&[a], &[(comparison.clone(), vec![b])])
}

#[test]
fn single_trials_are_compared_with_both_values_and_one_reason() {
    let [a, b] = sides();
    let comparison = compared_once(&a, &b);
    assert!(
        comparison.rows[0].metrics[0].ratio.value.is_none(),
        "there is no interval"
    );
    let page = page_of(a, b, &comparison).unwrap();
    let cards: Vec<&str> = page.split("class=\"key-figure\"").skip(1).collect();
    assert!(cards.len() >= 3, "{} cards", cards.len());
    for card in cards {
        let card = card.split("</div>").next().unwrap();
        assert!(!card.contains("n/a") && !card.contains("95 %"), "{card}");
        assert!(card.contains(">A ") && card.contains(", B "), "{card}");
    }
    assert!(page.contains("<p class=\"number\">+20.0 %</p>"));
    let reason = "a single short run has none";
    let notes = page.split("class=\"note\"").skip(1);
    assert!(
        !notes
            .filter_map(|note| note.split("</p>").next())
            .any(|note| note.contains(reason)),
        "the headline says it"
    );
    assert!(page.contains(" % (no interval: a single short run has none"));
    let text = render_comparison(&comparison, &TextOptions::default());
    assert!(text.contains("+20.0 %") && !text.contains("n/a"), "{text}");
}

#[test]
fn several_rows_give_a_reason_once() {
    let [a, b] = [synthetic::quick(), synthetic::quick()];
    let mut comparison = compared_once(&a, &b);
    for metric in comparison.rows.iter_mut().flat_map(|row| &mut row.metrics) {
        metric.ratio =
            Estimate::unknown(Unit::Ratio, "a side is a single trial without an interval");
    }
    let page = page_of(a, b, &comparison).unwrap();
    assert_eq!(
        page.matches("a side is a single trial without an interval")
            .count(),
        1
    );
    assert!(page.contains("(no interval: a side is a single trial without an interval)"));
    let text = render_comparison(&comparison, &TextOptions::default());
    assert_eq!(text.matches("is a single trial").count(), 1, "{text}");
}

/// The first row is a fifth faster, the second a fifth slower, the others are equal; none
/// has an interval.
fn leaning_both_ways() -> Comparison {
    let mut comparison = compared_once(&synthetic::quick(), &synthetic::quick());
    for (index, row) in comparison.rows.iter_mut().enumerate() {
        row.outcome = ComparisonOutcome::Inconclusive;
        for metric in &mut row.metrics {
            metric.outcome = ComparisonOutcome::Inconclusive;
            metric.ratio = Estimate::unknown(Unit::Ratio, "a side is a single trial");
        }
        let decides = &mut row.metrics[0];
        let times = [1.2, 0.8].get(index).copied().unwrap_or(1.0);
        decides.b.value = decides.a.value.map(|rate| times * rate);
    }
    comparison
}

#[test]
fn a_headline_says_what_rows_look_like_until_one_is_proven() {
    let mut comparison = leaning_both_ways();
    let rows = comparison.rows.len();
    assert!(rows > 2);
    let text = |comparison: &Comparison| {
        let options = TextOptions {
            width: 400,
            ..TextOptions::default()
        };
        render_comparison(comparison, &options)
    };
    let open = text(&comparison);
    let looks = format!("B looks faster in 1, slower in 1 of {rows} rows, not proven");
    assert!(open.contains(&looks), "{open}");
    assert!(open.contains("changes from -20.0 % to +20.0 %"), "{open}");

    comparison.rows[0].outcome = ComparisonOutcome::Faster;
    comparison.rows[0].metrics[0].outcome = ComparisonOutcome::Faster;
    comparison.rows[0].metrics[0].ratio = Estimate {
        low: Some(1.1),
        high: Some(1.3),
        ..Estimate::point(Unit::Ratio, 1.2, String::new())
    };
    let proven = text(&comparison);
    let counts = format!("in {rows} rows: 1 faster, {} inconclusive", rows - 1);
    assert!(proven.contains(&counts), "{proven}");
    assert!(!proven.contains("looks"), "{proven}");
}

#[test]
fn one_trial_of_a_side_is_no_line_for_each() {
    let [a, b] = sides();
    let comparison = compared_once(&a, &b);
    let page = page_of(a, b, &comparison).unwrap();
    assert!(page.contains("latency of both sides"));
    assert!(!page.contains("a line for each of"));
}

#[test]
fn a_full_report_has_every_answer_of_a_grid() {
    let mut run = synthetic::quick();
    let view = run.view.as_mut().unwrap();
    view.answers = vec![
        "reads like an SSD".to_owned(),
        "slower than <two>".to_owned(),
    ];
    for page in [render(&run).unwrap(), summary_page::render(&run).unwrap()] {
        assert!(page.contains("Reads like an SSD."));
        assert_eq!(
            page.matches("<li>slower than &#60;two&#62;</li>").count(),
            1
        );
    }
    // Where a section of the page has them, they stand there alone.
    let view = run.view.take().unwrap();
    run.view = Some(View { form: None, ..view });
    let page = render(&run).unwrap();
    let item = "<li>Slower than &#60;two&#62;.</li>";
    assert_eq!(page.matches(item).count(), 1);
}

#[test]
fn only_signs_that_are_there_are_explained() {
    let results = |page: &str| {
        let from = page.split("<h2 id=\"results\">").nth(1).unwrap();
        from.split("</section>").next().unwrap().to_owned()
    };
    let run = synthetic::matrix();
    let page = render(&run).unwrap();
    assert!(results(&page).contains("±: 95 % interval"));
    let mut bare = run.clone();
    without_intervals(&mut bare);
    let page = render(&bare).unwrap();
    assert!(!page.contains("95 % interval"), "no interval is explained");
    let page = summary_page::render(&bare).unwrap();
    assert!(!page.contains("95 % interval"), "no interval is explained");
}

#[test]
fn a_share_of_all_is_a_bar_without_a_range() {
    let page = diagnosis::html(&synthetic_documents::diagnosis(), &PageOrigin::default());
    let page = page.unwrap();
    let card = page.split("CPUs busy").nth(1).unwrap();
    let card = card.split("</div>").next().unwrap();
    assert!(
        card.contains("<rect class=\"value\" width=\"12.0\""),
        "{card}"
    );
    assert!(!page.contains("class=\"range\""));
}

#[test]
fn full_cpus_are_not_called_room() {
    let mut found = synthetic_documents::diagnosis();
    found.answer = Answer::No;
    found.limiter = Shortage::Nothing;
    let with_load = |load| {
        let mut found = found.clone();
        found.cpu.as_mut().unwrap().load_per_cpu = load;
        diagnosis::headline(&found)
    };
    assert!(with_load(Some(0.5)).ends_with("nothing else was short while this was measured"));
    assert!(with_load(Some(1.3)).ends_with("the load average is high"));
    found
        .evidence
        .push(format!("9 dd computes: {ONE_THREAD_WORDS}"));
    assert!(diagnosis::headline(&found).contains("its one thread"));
    found.cpu.as_mut().unwrap().busy = Some(0.99);
    let headline = diagnosis::headline(&found);
    assert!(headline.contains("the CPUs were full"), "{headline}");
}

#[test]
fn sentences_of_the_verdict_are_whole() {
    let mut run = synthetic::open_loop_lag();
    run.view = None;
    run.verdict.limiter = Limiter::Filesystem;
    let page = render(&run).unwrap();
    assert!(page.contains("they are limited by the file system."));
    assert!(!page.contains(" objects</span>") && !page.contains(" object,"));
    let mut run = synthetic::quick_caveats();
    run.verdict.findings.retain(|f| f.id != "V16");
    let page = render(&run).unwrap();
    assert!(page.contains(", 1 objection</span>"));
}

#[test]
fn one_file_is_no_files_and_its_chart_has_a_colour() {
    let mut run = synthetic::open_loop_lag();
    let files = MetaWork::new([(OpKind::Create, 1)], MetaTree::flat(1, 4096));
    let trial = &mut run.trials[0];
    trial.workload.workers = 1;
    trial.workload.work = Work::files(files);
    trial.charts.ops.truncate(1);
    trial.summary.ops.truncate(1);
    trial.charts.ops[0].kind = OpKind::ReadFile;
    trial.summary.ops[0].kind = OpKind::ReadFile;
    let page = render(&run).unwrap();
    assert!(page.contains("<dd>1 file of 4 KiB by 1 worker, in one directory</dd>"));
    assert!(page.contains("class=\"bar k-read\"") && !page.contains("k-read_file"));
    let requests = ObjectWork::new([(OpKind::Get, 1)], 1, ObjectSizes::Fixed(4096));
    let store = ObjectStore::new(vec!["http://localhost:9000".to_owned()]);
    run.trials[0].workload.work = Work::objects(store, requests);
    let page = render(&run).unwrap();
    assert!(
        page.contains("<dd>1 object of 4 KiB by 1 worker, "),
        "{}",
        page.len()
    );
}

/// The elements of key figures, and the sentence below them.
fn first_screen(page: &str) -> (Vec<&str>, &str) {
    let cards = page.split("class=\"key-figure\"").skip(1);
    let cards = cards.filter_map(|card| card.split("</div>").next());
    let sentence = page.split("class=\"meaning\">").nth(1).unwrap();
    (cards.collect(), sentence.split("</p>").next().unwrap())
}

#[test]
fn a_row_that_is_not_trusted_is_marked_and_named() {
    let mut run = synthetic::quick();
    run.verdict.validity = Validity::NotTrusted;
    for (at, validity) in [(0, Validity::NotTrusted), (4, Validity::Caveats)] {
        run.rows[at].verdict.validity = validity;
    }
    let run = synthetic::with_grid(run);
    for page in [render(&run).unwrap(), summary_page::render(&run).unwrap()] {
        let (cards, sentence) = first_screen(&page);
        let name = &run.rows[0].label;
        let expected = format!("1 of 9 rows cannot be trusted: {name}; 1 more with caveats.");
        assert_eq!(sentence, expected);
        let marked = |words: &str| {
            let marked = cards.iter().filter(|card| card.contains(words));
            let names = marked.filter_map(|card| card.split("\"name\">").nth(1)?.split('<').next());
            names.collect::<Vec<&str>>()
        };
        let bad = "<b class=\"mark bad\"><span aria-hidden=\"true\">✕</span> not trusted</b>";
        assert_eq!(marked(bad), ["Sequential read"]);
        assert_eq!(marked("> with caveats</b>"), ["Random read"]);
        assert!(page.contains("</span> not trusted in 1 of 9 rows</b>"));
    }
    let all = synthetic::not_trusted_cache();
    let page = render(&JudgedRun { view: None, ..all }).unwrap();
    let (_, sentence) = first_screen(&page);
    assert!(
        sentence.starts_with("The figures cannot be trusted"),
        "{sentence}"
    );
}

#[test]
fn a_run_that_can_be_trusted_is_trusted_as_a_whole() {
    let mut run = synthetic::quick();
    run.rows[0].role = TrialRole::Precondition;
    run.rows[0].verdict.validity = Validity::NotDetermined;
    let page = render(&run).unwrap();
    assert!(page.contains("</span> trusted</b>"));
    assert!(!page.contains("of 9 rows") && !page.contains("of 8 rows"));
}

#[test]
fn a_title_names_each_target_once() {
    let mut run = synthetic::open_loop_lag();
    let target = run.trials[0].target.to_string();
    run.run.name = format!("ab {target} / {target}");
    for page in [render(&run).unwrap(), summary_page::render(&run).unwrap()] {
        let heading = format!("<h1>{}<span></span></h1>", run.run.name);
        assert!(page.contains(&heading), "{heading}");
        assert!(page.contains(&format!("{}, 20", run.run.name)), "the title");
    }
    run.run.name = "io".to_owned();
    let page = render(&run).unwrap();
    assert!(page.contains(&format!("<h1>io<span> on {target}</span></h1>")));
}

#[test]
fn a_control_is_explained_and_stands_in_no_table() {
    let mut run = synthetic::matrix();
    run.rows[0].role = TrialRole::A;
    run.rows[1].role = TrialRole::Control;
    run.rows[1].label = "the control".to_owned();
    let page = render(&run).unwrap();
    assert!(
        !page.contains("<th scope=\"row\">the control"),
        "a row of it"
    );
    assert_eq!(page.matches("Control: ").count(), 1);
    assert!(page.contains("ran before each trial and reached "));
}

#[test]
fn probabilities_are_apart_from_the_figures() {
    let [a, b] = [synthetic::matrix(), synthetic::matrix()];
    let comparison = compared_once(&a, &b);
    let page = page_of(a, b, &comparison).unwrap();
    let statistics = page.find("<summary>Statistics</summary>").unwrap();
    assert!(page.find("p (t test").unwrap() > statistics);
    assert!(page.find("95 % interval</th>").unwrap() < statistics);
}
