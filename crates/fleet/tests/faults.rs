//! Every fault at every phase of a run, on simulated links.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use fathom_fleet::simulated::{AgentThread, LinkFault, fleet};
use fathom_fleet::{
    AgentOptions, Event, Interrupt, Outcome, Policy, Settings, Sink, SinkError, TrialEnding,
    on_hosts, run_on_fleet,
};
use fathom_model::conduct::InOrder;
use fathom_model::fleet::FleetHost;
use fathom_model::schedule::Purpose;
use fathom_model::workload::{Bounds, CacheMode, DataSet, EngineKind};
use fathom_model::{RunState, Schedule, ScheduledTrial, Target, Workload};
use fathom_observe::Sysroot;

/// What an agent says when a phase begins.
const PHASES: [(&str, &str); 6] = [
    ("prepare", "\"phase\":\"prepare\""),
    ("barrier", "\"Ready\""),
    ("ramp", "\"phase\":\"warmup\""),
    ("load", "\"Interval\""),
    ("collection", "\"TrialsEnded\""),
    ("cleaning up", "\"phase\":\"cleanup\""),
];

/// An agent has ended its load and cleaned up at most this long after its
/// coordinator was lost. The machine of a test may be busy: the promise is 10 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the run told.
#[derive(Default)]
struct Notebook {
    endings: Vec<TrialEnding>,
}

impl Sink for Notebook {
    fn event(&mut self, event: Event) -> Result<(), SinkError> {
        if let Event::TrialsEnded(endings) = event {
            self.endings.extend(endings);
        }
        Ok(())
    }
}

fn schedule(directory: &Path) -> Schedule {
    let workload = Workload {
        engine: EngineKind::Psync,
        cache: CacheMode::Buffered,
        warmup_ns: 300_000_000,
        think_ns: 1_000_000,
        bounds: Bounds {
            time_ns: Some(1_200_000_000),
            ..Bounds::default()
        },
        data_set: DataSet::of_bytes(256 << 10),
        ..Workload::example("load")
    };
    let one = trial(Target::Path(directory.to_owned()), workload);
    let schedule = Schedule {
        name: "test".to_owned(),
        seed: 3,
        destructive: false,
        keep_files: false,
        purpose: Purpose::Measure,
        trials: vec![one],
        depth_probe: false,
        host_mode: Default::default(),
    };
    let host = |name: &str| FleetHost {
        name: name.to_owned(),
        ..FleetHost::default()
    };
    on_hosts(&schedule, &["h0", "h1"].map(host)).unwrap()
}

/// Alone, at once, without a pause.
fn trial(target: Target, workload: Workload) -> ScheduledTrial {
    ScheduledTrial {
        seed: 1,
        ..ScheduledTrial::new("trial", target, workload)
    }
}

/// Two agents, of which the second one's link has a fault.
struct Case {
    outcome: Outcome,
    endings: Vec<TrialEnding>,
    agents: Vec<AgentThread>,
}

fn run(directory: &Path, text: &'static str, fault: LinkFault, allow_missing: usize) -> Case {
    let options = AgentOptions {
        policy: Policy {
            allowed: vec![directory.to_owned()],
            destructive: false,
            ..Policy::default()
        },
        ..AgentOptions::default()
    };
    let strikes = |place| (place == 1).then_some((text, fault));
    let (fleet, agents) = fleet(2, &options, allow_missing, strikes).unwrap();
    let settings = Settings {
        run: "run".to_owned(),
        file_prefix: "fathom-test".to_owned(),
        destructive: false,
        keep_files: false,
        ceiling_ns: 0,
        sysroot: Sysroot::host(),
    };
    let schedule = schedule(directory);
    let interrupt = Interrupt::new();
    let mut notebook = Notebook::default();
    let outcome = run_on_fleet(
        fleet,
        &schedule,
        &mut InOrder::new(&schedule),
        &settings,
        &|_| None,
        &interrupt,
        &mut notebook,
    );
    Case {
        outcome: outcome.unwrap(),
        endings: notebook.endings,
        agents,
    }
}

impl Case {
    fn ending(&self, trial: u32) -> Option<&TrialEnding> {
        self.endings.iter().find(|ending| ending.trial == trial)
    }

    /// All agents end by themselves, and nothing of theirs is left.
    fn wait_for_agents(self, directory: &Path, case: &str) {
        let began = Instant::now();
        for agent in self.agents {
            while !agent.is_finished() {
                assert!(began.elapsed() < PATIENCE, "{case}: an agent goes on");
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = agent.join().unwrap();
        }
        let left: Vec<_> = std::fs::read_dir(directory).unwrap().collect();
        assert!(left.is_empty(), "{case}: {left:?}");
    }
}

/// Runs all cases at the same time: most of their time they wait for silence.
fn each(cases: impl Iterator<Item = (String, Check)>) {
    let threads: Vec<_> = cases
        .map(|(name, case)| std::thread::spawn(move || case(&name)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// One case, under its name.
type Check = Box<dyn FnOnce(&str) + Send>;

fn cases(
    faults: &[LinkFault],
    phases: &[(&'static str, &'static str)],
    check: fn(&str, &'static str, LinkFault),
) -> Vec<(String, Check)> {
    let mut all: Vec<(String, Check)> = Vec::new();
    for fault in faults.iter().copied() {
        for (phase, text) in phases.iter().copied() {
            let case = move |name: &str| check(name, text, fault);
            all.push((format!("{fault:?} at {phase}"), Box::new(case)));
        }
    }
    all
}

const LOSSES: [LinkFault; 4] = [
    LinkFault::Cut,
    LinkFault::Freeze,
    LinkFault::AgentUnheard,
    LinkFault::CoordinatorUnheard,
];

/// A lost host ends the run unless it may be missing; the other one says that
/// it ended because of that, and nobody leaves anything behind.
#[test]
fn a_host_that_is_lost_in_any_phase_ends_the_run_and_is_named() {
    let check = |case: &str, text: &'static str, fault: LinkFault| {
        let directory = tempfile::tempdir().unwrap();
        let run = run(directory.path(), text, fault, 0);
        // Once its trials have ended nothing is missing; and a load that is
        // short needs no word of the coordinator to its end.
        let unheard = fault == LinkFault::CoordinatorUnheard;
        let loads = text.contains("warmup") || text.contains("Interval");
        let late = text.contains("TrialsEnded") || text.contains("cleanup") || unheard && loads;
        if !late {
            assert_eq!(
                run.outcome.state,
                RunState::Failed,
                "{case}: {:?}",
                run.outcome
            );
            let reason = run.outcome.reason.clone().unwrap_or_default();
            assert!(
                reason.starts_with("h1: the agent was lost"),
                "{case}: {reason}"
            );
        }
        if let Some(other) = run.ending(0).filter(|_| !late) {
            let reason = other.end.reason.clone().unwrap_or_default();
            let whole = other.state == RunState::Complete;
            assert!(
                whole || reason.starts_with("ended because host h1 was lost"),
                "{case}: {other:?}"
            );
        }
        run.wait_for_agents(directory.path(), case);
    };
    each(cases(&LOSSES, &PHASES, check).into_iter());
}

#[test]
fn with_leave_the_others_end_as_planned_whenever_a_host_is_lost() {
    let check = |case: &str, text: &'static str, fault: LinkFault| {
        let directory = tempfile::tempdir().unwrap();
        let run = run(directory.path(), text, fault, 1);
        assert_eq!(
            run.outcome.state,
            RunState::Complete,
            "{case}: {:?}",
            run.outcome
        );
        let other = run.ending(0).unwrap_or_else(|| panic!("{case}: no ending"));
        assert_eq!(
            other.state,
            RunState::Complete,
            "{case}: {:?}",
            other.end.reason
        );
        run.wait_for_agents(directory.path(), case);
    };
    each(cases(&LOSSES, &PHASES, check).into_iter());
}

#[test]
fn a_host_that_is_only_slow_takes_part_to_the_end() {
    let check = |case: &str, text: &'static str, fault: LinkFault| {
        let directory = tempfile::tempdir().unwrap();
        let run = run(directory.path(), text, fault, 0);
        assert_eq!(
            run.outcome.state,
            RunState::Complete,
            "{case}: {:?}",
            run.outcome
        );
        for trial in 0..2 {
            let ending = run
                .ending(trial)
                .unwrap_or_else(|| panic!("{case}: no ending"));
            assert_eq!(
                ending.state,
                RunState::Complete,
                "{case}: {:?}",
                ending.end.reason
            );
        }
        run.wait_for_agents(directory.path(), case);
    };
    let slow = [LinkFault::Slow(Duration::from_millis(150))];
    each(cases(&slow, &PHASES, check).into_iter());
}
