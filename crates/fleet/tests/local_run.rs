//! A local run: what its sink is told, in which order, and how it ends.

use std::path::{Path, PathBuf};

use fathom_fleet::{Event, Interrupt, Outcome, Settings, Sink, SinkError, run_schedule};
use fathom_model::conduct::{Conductor, InOrder, Step};
use fathom_model::sample::Phase;
use fathom_model::schedule::{Purpose, Schedule, ScheduledTrial};
use fathom_model::stop::{Decision, StopRule};
use fathom_model::workload::{Bounds, DataSet, EngineKind, Workload};
use fathom_model::{RunState, Sample, Target, TrialRecord};
use fathom_observe::Sysroot;

fn settings() -> Settings {
    Settings {
        run: "run".to_owned(),
        file_prefix: "fathom-test".to_owned(),
        destructive: false,
        keep_files: false,
        ceiling_ns: 0,
        sysroot: Sysroot::host(),
    }
}

fn trial(index: u32, target: Target, workload: Workload) -> ScheduledTrial {
    ScheduledTrial {
        index,
        iteration: index,
        seed: 11,
        ..ScheduledTrial::new("test", target, workload)
    }
}

fn schedule(trials: Vec<ScheduledTrial>) -> Schedule {
    Schedule {
        name: "test".to_owned(),
        seed: 11,
        destructive: false,
        keep_files: false,
        purpose: Purpose::Measure,
        trials,
        depth_probe: false,
        host_mode: fathom_model::host_mode::HostMode::default(),
    }
}

fn null_reads(ops: u64) -> Workload {
    Workload {
        engine: EngineKind::Null,
        bounds: Bounds {
            ops: Some(ops),
            ..Bounds::default()
        },
        ..Workload::example("null")
    }
}

fn file_reads(ops: u64) -> Workload {
    Workload {
        engine: EngineKind::Psync,
        bounds: Bounds {
            ops: Some(ops),
            ..Bounds::default()
        },
        data_set: DataSet::of_bytes(4 << 20),
        ..Workload::example("file")
    }
}

/// Writes down what it is told.
#[derive(Default)]
struct Notebook {
    lines: Vec<String>,
    ops: u64,
    noted_before_creation: bool,
    fail_at: Option<&'static str>,
}

impl Notebook {
    fn write(&mut self, line: &str) -> Result<(), SinkError> {
        self.lines.push(line.to_owned());
        match self.fail_at {
            Some(wanted) if line.starts_with(wanted) => {
                Err(SinkError("the notebook is full".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

impl Sink for Notebook {
    fn event(&mut self, event: Event) -> Result<(), SinkError> {
        match event {
            Event::TrialsStarted(starts) => starts
                .iter()
                .try_for_each(|start| self.write(&format!("trial {}", start.spec.index))),
            Event::PhaseStarted { phase, .. } => self.write(phase.name()),
            Event::Interval(intervals) => {
                self.ops += intervals
                    .iter()
                    .flat_map(|interval| &interval.samples)
                    .filter(|sample| sample.phase == Phase::Measure)
                    .map(Sample::data_ops)
                    .sum::<u64>();
                Ok(())
            }
            Event::FileCreating(path) => {
                self.noted_before_creation = !path.exists();
                self.write("creating")
            }
            Event::FileRemoved(_) => self.write("removed"),
            Event::FileCreated { .. } | Event::FileFound { .. } => Ok(()),
            Event::TrialsEnded(endings) => endings
                .iter()
                .try_for_each(|ending| self.write(&format!("{:?}", ending.state))),
            Event::Progress { .. }
            | Event::Note(_)
            | Event::Waiting(_)
            | Event::LeftBehind(_)
            | Event::Pausing { .. } => Ok(()),
        }
    }
}

fn run(schedule: &Schedule, interrupt: &Interrupt, notebook: &mut Notebook) -> Outcome {
    run_schedule(
        &mut InOrder::new(schedule),
        &settings(),
        &|_| None,
        interrupt,
        notebook,
    )
    .expect("the run ends")
}

fn files_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("readable").count()
}

#[test]
fn every_operation_of_every_trial_reaches_the_sink() {
    let mut notebook = Notebook::default();
    let trials = (0..3)
        .map(|n| trial(n, Target::Null, null_reads(5_000)))
        .collect();
    let outcome = run(&schedule(trials), &Interrupt::new(), &mut notebook);
    assert_eq!(outcome.state, RunState::Complete);
    assert_eq!(notebook.ops, 15_000);
    let one = |n| {
        [
            format!("trial {n}"),
            "prepare".into(),
            "measure".into(),
            "Complete".into(),
        ]
    };
    assert_eq!(notebook.lines, [one(0), one(1), one(2)].concat());
}

#[test]
fn files_are_noted_before_they_exist_and_removed_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut notebook = Notebook::default();
    let target = Target::Path(folder.path().to_owned());
    let trials = (0..2)
        .map(|n| trial(n, target.clone(), file_reads(100)))
        .collect();
    let outcome = run(&schedule(trials), &Interrupt::new(), &mut notebook);
    assert_eq!(
        outcome,
        Outcome {
            state: RunState::Complete,
            reason: None,
            no_such_target: false,
        }
    );
    assert!(notebook.noted_before_creation);
    let creations = notebook
        .lines
        .iter()
        .filter(|line| *line == "creating")
        .count();
    assert_eq!(
        creations, 2,
        "the file and the list of files, once: the second trial reuses them"
    );
    assert!(notebook.lines.contains(&"removed".to_owned()));
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn an_interrupt_ends_the_run_and_removes_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let interrupt = Interrupt::new();
    let workload = Workload {
        bounds: Bounds {
            time_ns: Some(60_000_000_000),
            ..Bounds::default()
        },
        ..file_reads(0)
    };
    let trials = vec![trial(0, Target::Path(folder.path().to_owned()), workload)];
    let raiser = interrupt.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        raiser.raise();
    });
    let mut notebook = Notebook::default();
    let outcome = run(&schedule(trials), &interrupt, &mut notebook);
    thread.join().expect("the thread ends");
    assert_eq!(outcome.state, RunState::Interrupted);
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn a_failed_trial_ends_the_run_with_its_reason() {
    let mut notebook = Notebook::default();
    let missing = Target::Path(PathBuf::from("/nonexistent/fathom"));
    let trials = vec![
        trial(0, missing, file_reads(1)),
        trial(1, Target::Null, null_reads(1)),
    ];
    let outcome = run(&schedule(trials), &Interrupt::new(), &mut notebook);
    assert_eq!(outcome.state, RunState::Failed);
    assert!(outcome.reason.expect("a reason").contains("/nonexistent"));
    assert!(!notebook.lines.contains(&"trial 1".to_owned()));
}

#[test]
fn a_failing_sink_ends_the_run_and_keeps_its_first_word() {
    let mut notebook = Notebook {
        fail_at: Some("measure"),
        ..Notebook::default()
    };
    let trials = (0..2)
        .map(|n| trial(n, Target::Null, null_reads(1_000)))
        .collect();
    let result = run_schedule(
        &mut InOrder::new(&schedule(trials)),
        &settings(),
        &|_| None,
        &Interrupt::new(),
        &mut notebook,
    );
    assert_eq!(
        result.expect_err("the sink failed").to_string(),
        "the notebook is full"
    );
    assert!(!notebook.lines.contains(&"trial 1".to_owned()));
}

#[test]
fn a_file_that_cannot_be_noted_is_not_created() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut notebook = Notebook {
        fail_at: Some("creating"),
        ..Notebook::default()
    };
    let target = Target::Path(folder.path().to_owned());
    let trials = vec![trial(0, target, file_reads(10))];
    let result = run_schedule(
        &mut InOrder::new(&schedule(trials)),
        &settings(),
        &|_| None,
        &Interrupt::new(),
        &mut notebook,
    );
    assert!(result.is_err());
    assert_eq!(files_in(folder.path()), 0);
}

struct AfterTheFirst;

impl StopRule for AfterTheFirst {
    fn observe(&mut self, _: &Sample) -> Decision {
        Decision::Stop("seen enough".to_owned())
    }
}

#[test]
fn a_stop_rule_ends_the_measure_phase_and_the_trial_counts_as_complete() {
    let workload = Workload {
        bounds: Bounds {
            time_ns: Some(60_000_000_000),
            ..Bounds::default()
        },
        ..null_reads(0)
    };
    let mut notebook = Notebook::default();
    let outcome = run_schedule(
        &mut InOrder::new(&schedule(vec![trial(0, Target::Null, workload)])),
        &settings(),
        &|_| Some(Box::new(AfterTheFirst)),
        &Interrupt::new(),
        &mut notebook,
    )
    .expect("the run ends");
    assert_eq!(outcome.state, RunState::Complete);
    assert!(notebook.ops > 0);
}

/// Doubles the depth until a trial gives no more than the one before.
struct Doubling {
    next: ScheduledTrial,
    seen_ops: Vec<u64>,
}

impl Conductor for Doubling {
    fn next(&mut self, last: &[TrialRecord]) -> Step {
        if let [last] = last {
            let ops = last.samples.iter().map(Sample::data_ops).sum();
            self.seen_ops.push(ops);
            self.next.index += 1;
            self.next.workload.queue_depth *= 2;
        }
        match self.seen_ops.len() {
            3 => Step::End(Some("three depths were enough".to_owned())),
            _ => Step::Run(Box::new(self.next.clone())),
        }
    }
}

#[test]
fn a_conductor_sees_what_a_trial_gave_and_chooses_the_next() {
    let mut conductor = Doubling {
        next: trial(0, Target::Null, null_reads(1_000)),
        seen_ops: Vec::new(),
    };
    let mut notebook = Notebook::default();
    let outcome = run_schedule(
        &mut conductor,
        &settings(),
        &|_| None,
        &Interrupt::new(),
        &mut notebook,
    )
    .expect("the run ends");
    assert_eq!(outcome.state, RunState::Complete);
    assert_eq!(outcome.reason.as_deref(), Some("three depths were enough"));
    assert_eq!(conductor.seen_ops, [1_000, 1_000, 1_000]);
    assert_eq!(conductor.next.workload.queue_depth, 8);
    assert!(notebook.lines.contains(&"trial 2".to_owned()));
}
