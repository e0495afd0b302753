//! Trials that run at the same time.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_fleet::{
    Event, Interrupt, Outcome, Settings, Sink, SinkError, TrialEnding, run_schedule,
};
use fathom_model::conduct::InOrder;
use fathom_model::schedule::Purpose;
use fathom_model::workload::{Bounds, DataSet, EngineKind, OpMix};
use fathom_model::{Observation, RunState, Sample, Schedule, ScheduledTrial, Target, Workload};
use fathom_observe::Sysroot;

const SECOND_NS: u64 = 1_000_000_000;

fn settings() -> Settings {
    Settings {
        run: "run".to_owned(),
        file_prefix: "fathom-test".to_owned(),
        destructive: true,
        keep_files: false,
        ceiling_ns: 0,
        sysroot: Sysroot::host(),
    }
}

fn trial(index: u32, target: Target, workload: Workload) -> ScheduledTrial {
    ScheduledTrial {
        index,
        row: index,
        seed: 11,
        together: Some(0),
        file_set: index,
        ..ScheduledTrial::new(format!("trial {index}"), target, workload)
    }
}

fn timed(engine: EngineKind, time_ns: u64) -> Workload {
    Workload {
        engine,
        bounds: Bounds {
            time_ns: Some(time_ns),
            ..Bounds::default()
        },
        data_set: DataSet::of_bytes(4 << 20),
        ..Workload::example("timed")
    }
}

fn null(index: u32, time_ns: u64) -> ScheduledTrial {
    let mut workload = timed(EngineKind::Null, time_ns);
    // A rate keeps the machine free for its neighbours.
    workload.think_ns = 100_000;
    trial(index, Target::Null, workload)
}

fn sim(index: u32, time_ns: u64) -> ScheduledTrial {
    let target = Target::Sim("ssd".to_owned());
    trial(index, target, timed(EngineKind::Sim, time_ns))
}

fn files(index: u32, directory: &Path, mix: OpMix) -> ScheduledTrial {
    let mut workload = timed(EngineKind::Psync, 200_000_000);
    workload.mix = mix;
    trial(index, Target::Path(directory.to_owned()), workload)
}

/// Keeps what it is told, by trial.
#[derive(Default)]
struct Notebook {
    started: Vec<Vec<u32>>,
    samples: BTreeMap<u32, Vec<Sample>>,
    observations: BTreeMap<u32, Vec<Observation>>,
    ended: BTreeMap<u32, TrialEnding>,
    notes: Vec<String>,
    created: usize,
    /// Raised when two trials have given their first samples.
    interrupt: Option<Interrupt>,
}

impl Sink for Notebook {
    fn event(&mut self, event: Event) -> Result<(), SinkError> {
        match event {
            Event::TrialsStarted(starts) => {
                let indexes = starts.iter().map(|start| start.spec.index);
                self.started.push(indexes.collect());
            }
            Event::Interval(intervals) => {
                for interval in intervals {
                    let samples = self.samples.entry(interval.trial).or_default();
                    samples.extend(interval.samples);
                    let seen = self.observations.entry(interval.trial).or_default();
                    seen.extend(interval.observations);
                }
                let measured = self.samples.values().filter(|s| !s.is_empty());
                if measured.count() >= 2
                    && let Some(interrupt) = self.interrupt.take()
                {
                    interrupt.raise();
                }
            }
            Event::TrialsEnded(endings) => {
                for ending in endings {
                    self.ended.insert(ending.trial, ending);
                }
            }
            Event::FileCreating(_) => self.created += 1,
            Event::Note(text) => self.notes.push(text),
            _ => {}
        }
        Ok(())
    }
}

impl Notebook {
    fn began_ns(&self, trial: u32) -> Option<u64> {
        self.ended[&trial].end.load_started_ns
    }

    fn length_ns(&self, trial: u32) -> u64 {
        let samples = self.samples.get(&trial).into_iter().flatten();
        let ends = samples.map(|s| s.start_ns + s.duration_ns);
        ends.max().unwrap_or(0)
    }

    fn reason(&self, trial: u32) -> &str {
        self.ended[&trial].end.reason.as_deref().unwrap_or_default()
    }

    fn ops(&self, trial: u32) -> u64 {
        let samples = self.samples.get(&trial).into_iter().flatten();
        samples.map(Sample::data_ops).sum()
    }
}

fn run_with(
    trials: Vec<ScheduledTrial>,
    interrupt: &Interrupt,
    notebook: &mut Notebook,
) -> Outcome {
    let schedule = Schedule {
        name: "test".to_owned(),
        seed: 11,
        destructive: true,
        keep_files: false,
        purpose: Purpose::Measure,
        trials,
        depth_probe: false,
        host_mode: fathom_model::host_mode::HostMode::default(),
    };
    run_schedule(
        &mut InOrder::new(&schedule),
        &settings(),
        &|_| None,
        interrupt,
        notebook,
    )
    .expect("the run ends")
}

fn run(trials: Vec<ScheduledTrial>) -> (Outcome, Notebook) {
    let mut notebook = Notebook::default();
    let outcome = run_with(trials, &Interrupt::new(), &mut notebook);
    (outcome, notebook)
}

#[test]
fn a_set_is_one_step_and_each_trial_keeps_samples_of_its_own() {
    let mut alone = null(2, 50_000_000);
    alone.together = None;
    let (outcome, notebook) = run(vec![null(0, 50_000_000), null(1, 50_000_000), alone]);
    assert_eq!(outcome.state, RunState::Complete);
    assert_eq!(notebook.started, [vec![0, 1], vec![2]]);
    for index in 0..3 {
        assert_eq!(notebook.began_ns(index), Some(0));
        assert!(notebook.ops(index) > 0, "trial {index} did nothing");
        assert!(!notebook.observations[&index].is_empty());
    }
}

#[test]
fn a_delayed_trial_counts_from_its_own_beginning() {
    let mut late = null(1, 50_000_000);
    late.start_delay_ns = 70_000_000;
    let (outcome, notebook) = run(vec![null(0, 50_000_000), late]);
    assert_eq!(outcome.state, RunState::Complete);
    assert_eq!(notebook.began_ns(1), Some(70_000_000));
    assert_eq!(notebook.samples[&1][0].start_ns, 0);
    assert_eq!(notebook.length_ns(1), 50_000_000);
}

#[test]
fn a_trial_that_follows_begins_after_the_other_has_ended() {
    let mut next = null(1, 20_000_000);
    next.follows = Some(0);
    next.start_delay_ns = 30_000_000;
    let (outcome, notebook) = run(vec![null(0, 50_000_000), next]);
    assert_eq!(outcome.state, RunState::Complete);
    assert!(notebook.began_ns(1) >= Some(80_000_000));
    assert_eq!(notebook.length_ns(1), 20_000_000);
}

#[test]
fn a_trial_that_ends_the_others_stops_those_that_run_and_those_that_wait() {
    let mut first = null(0, 100_000_000);
    first.ends_others = true;
    let endless = null(1, 3_600 * SECOND_NS);
    let mut waits = null(2, SECOND_NS);
    waits.follows = Some(1);
    let mut delayed = null(3, SECOND_NS);
    delayed.start_delay_ns = 3_600 * SECOND_NS;
    let (outcome, notebook) = run(vec![first, endless, waits, delayed]);
    assert_eq!(outcome.state, RunState::Complete);
    assert!(notebook.reason(1).contains("ended together with 'trial 0'"));
    assert!(notebook.ops(1) > 0);
    for never in [2, 3] {
        assert_eq!(notebook.began_ns(never), None);
        assert!(notebook.reason(never).starts_with("did not begin"));
        assert_eq!(notebook.ended[&never].state, RunState::Complete);
    }
}

#[test]
fn simulated_trials_keep_delays_and_order_in_virtual_time() {
    let mut late = sim(1, 10 * SECOND_NS);
    late.start_delay_ns = 5 * SECOND_NS;
    let mut next = sim(2, 20 * SECOND_NS);
    next.follows = Some(1);
    let (outcome, notebook) = run(vec![sim(0, 60 * SECOND_NS), late, next]);
    assert_eq!(outcome.state, RunState::Complete);
    assert_eq!(notebook.began_ns(0), Some(0));
    assert_eq!(notebook.began_ns(1), Some(5 * SECOND_NS));
    // The last operation of the one before may end a moment after its time.
    let began_ms = notebook.began_ns(2).map(|ns| ns / 1_000_000);
    assert_eq!(began_ms, Some(15_000));
    assert_eq!(notebook.length_ns(2) / SECOND_NS, 20);
    // Three loads on the same drive, each with a drive of its own.
    assert_eq!(notebook.notes.len(), 1, "{:?}", notebook.notes);
}

#[test]
fn the_end_of_a_simulated_trial_ends_the_others_at_about_its_time() {
    let mut first = sim(0, 30 * SECOND_NS);
    first.ends_others = true;
    let (outcome, notebook) = run(vec![first, sim(1, 86_400 * SECOND_NS)]);
    assert_eq!(outcome.state, RunState::Complete);
    let ended_s = notebook.length_ns(1) / SECOND_NS;
    assert!((30..36).contains(&ended_s), "ended after {ended_s} s");
}

#[test]
fn ctrl_c_ends_all_and_keeps_what_they_measured() {
    let interrupt = Interrupt::new();
    let mut notebook = Notebook {
        interrupt: Some(interrupt.clone()),
        ..Notebook::default()
    };
    let mut delayed = null(2, SECOND_NS);
    delayed.start_delay_ns = 3_600 * SECOND_NS;
    let long = 3_600 * SECOND_NS;
    let trials = vec![null(0, long), null(1, long), delayed];
    let outcome = run_with(trials, &interrupt, &mut notebook);
    assert_eq!(outcome.state, RunState::Interrupted);
    assert_eq!(outcome.reason.as_deref(), Some("ended by the user"));
    for index in 0..2 {
        assert_eq!(notebook.ended[&index].state, RunState::Interrupted);
        assert!(notebook.ops(index) > 0);
    }
    assert_eq!(notebook.began_ns(2), None);
}

#[test]
fn a_trial_that_cannot_be_prepared_ends_the_set_before_any_load() {
    let mut missing = null(1, SECOND_NS);
    missing.target = Target::Path("/no/such/place".into());
    missing.workload.engine = EngineKind::Psync;
    let (outcome, notebook) = run(vec![null(0, SECOND_NS), missing]);
    assert_eq!(outcome.state, RunState::Failed);
    assert!(outcome.reason.is_some_and(|r| r.contains("/no/such/place")));
    assert_eq!(notebook.ended[&0].state, RunState::Interrupted);
    assert!(
        notebook.reason(0).contains("'trial 1'"),
        "{}",
        notebook.reason(0)
    );
    assert!(notebook.samples.is_empty());
}

#[test]
fn a_set_that_would_wait_for_ever_is_refused() {
    let (mut one, mut other) = (null(0, SECOND_NS), null(1, SECOND_NS));
    one.follows = Some(1);
    other.follows = Some(0);
    let (outcome, _) = run(vec![one, other]);
    assert_eq!(outcome.state, RunState::Failed);
    assert!(outcome.reason.is_some_and(|r| r.contains("circle")));
    let mut lost = null(0, SECOND_NS);
    lost.follows = Some(7);
    let (outcome, _) = run(vec![lost, null(1, SECOND_NS)]);
    assert!(
        outcome
            .reason
            .is_some_and(|r| r.contains("does not run at the same time"))
    );
}

#[test]
fn files_of_several_trials_in_one_directory_are_made_and_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let reader = files(0, directory.path(), OpMix::READ);
    let writer = files(1, directory.path(), OpMix::WRITE);
    let (outcome, notebook) = run(vec![reader, writer]);
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.reason);
    assert!(notebook.ops(0) > 0 && notebook.ops(1) > 0);
    // Two lists and two files.
    assert_eq!(notebook.created, 4);
    let left = std::fs::read_dir(directory.path())
        .expect("readable")
        .count();
    assert_eq!(left, 0, "everything was removed");
}

#[test]
fn a_reader_and_a_writer_of_the_same_file_run_at_the_same_time() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), vec![7; 4 << 20]).expect("content");
    let on_file = |index, mix| {
        let mut spec = files(index, file.path(), mix);
        spec.workload.cache = fathom_model::workload::CacheMode::Buffered;
        spec
    };
    let (outcome, notebook) = run(vec![on_file(0, OpMix::READ), on_file(1, OpMix::WRITE)]);
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.reason);
    assert!(notebook.ops(0) > 0 && notebook.ops(1) > 0);
    assert_eq!(
        std::fs::metadata(file.path()).expect("there").len(),
        4 << 20
    );
}

#[test]
fn test_files_that_trials_share_are_removed_once_at_the_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = files(1, directory.path(), OpMix::WRITE);
    writer.file_set = 0;
    let (outcome, notebook) = run(vec![files(0, directory.path(), OpMix::READ), writer]);
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.reason);
    assert_eq!(notebook.created, 2, "one list and one file");
    assert!(notebook.ended[&1].end.data.reused);
    let left = std::fs::read_dir(directory.path())
        .expect("readable")
        .count();
    assert_eq!(left, 0, "everything was removed");
}

#[test]
fn hundreds_of_trials_are_observed_by_one_and_all_of_them_see_it() {
    let trials = (0..256).map(|index| {
        let mut spec = null(index, 100_000_000);
        spec.workload.think_ns = 10_000_000;
        spec
    });
    let (outcome, notebook) = run(trials.collect());
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.reason);
    let first = &notebook.observations[&0];
    for index in 0..256 {
        assert!(notebook.ops(index) > 0);
        assert_eq!(&notebook.observations[&index], first);
    }
}
