//! Hundreds of agents in this process, on simulated links and drives: hours of
//! virtual time in moments.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::time::Duration;

use fathom_fleet::simulated::fleet;
use fathom_fleet::{
    AgentOptions, Event, Interrupt, Settings, Sink, SinkError, on_hosts, run_on_fleet,
};
use fathom_model::conduct::InOrder;
use fathom_model::schedule::Purpose;
use fathom_model::workload::{Bounds, DataSet, EngineKind};
use fathom_model::{RunState, Schedule, ScheduledTrial, Target, Workload};
use fathom_observe::Sysroot;

const SECONDS: u64 = 60;

/// What the run told.
#[derive(Default)]
struct Notebook {
    started: usize,
    /// Virtual seconds of all hosts.
    seconds: u64,
    complete: BTreeSet<u32>,
}

impl Sink for Notebook {
    fn event(&mut self, event: Event) -> Result<(), SinkError> {
        match event {
            Event::TrialsStarted(starts) => self.started += starts.len(),
            Event::Interval(intervals) => {
                let samples = intervals.iter().flat_map(|interval| &interval.samples);
                self.seconds += samples.map(|s| s.duration_ns).sum::<u64>() / 1_000_000_000;
            }
            Event::TrialsEnded(endings) => {
                let complete = endings.iter().filter(|e| e.state == RunState::Complete);
                self.complete.extend(complete.map(|ending| ending.trial));
            }
            _ => {}
        }
        Ok(())
    }
}

fn schedule() -> Schedule {
    let workload = Workload {
        engine: EngineKind::Sim,
        bounds: Bounds {
            time_ns: Some(SECONDS * 1_000_000_000),
            ..Bounds::default()
        },
        // Few operations a second, so that the seconds are what costs.
        think_ns: 500_000_000,
        data_set: DataSet::of_bytes(1 << 20),
        ..Workload::example("load")
    };
    Schedule {
        name: "test".to_owned(),
        seed: 3,
        destructive: false,
        keep_files: false,
        purpose: Purpose::Measure,
        trials: vec![trial("sim:ideal?latency_us=100".parse().unwrap(), workload)],
        depth_probe: false,
        host_mode: Default::default(),
    }
}

/// Alone, at once, without a pause.
fn trial(target: Target, workload: Workload) -> ScheduledTrial {
    ScheduledTrial {
        seed: 1,
        ..ScheduledTrial::new("trial", target, workload)
    }
}

#[test]
fn two_hundred_agents_under_the_virtual_clock() {
    many_agents(200);
}

mod measured {
    use super::many_agents;

    #[test]
    #[ignore = "needs the machine for itself: `scripts/run-tests measured` runs it alone"]
    fn a_thousand_agents_under_the_virtual_clock() {
        many_agents(1_000);
    }
}

fn many_agents(count: usize) {
    // All prepare at the same time, which a small machine does one after the other.
    let options = AgentOptions {
        silence: Some(Duration::from_secs(300)),
        ..AgentOptions::default()
    };
    let (fleet, agents) = fleet(count, &options, 0, |_| None).unwrap();
    let schedule = on_hosts(&schedule(), &fleet.hosts()).unwrap();
    let settings = Settings {
        run: "run".to_owned(),
        file_prefix: "fathom-test".to_owned(),
        destructive: false,
        keep_files: false,
        ceiling_ns: 0,
        sysroot: Sysroot::host(),
    };
    let (interrupt, mut notebook) = (Interrupt::new(), Notebook::default());
    let outcome = run_on_fleet(
        fleet,
        &schedule,
        &mut InOrder::new(&schedule),
        &settings,
        &|_| None,
        &interrupt,
        &mut notebook,
    );
    let outcome = outcome.unwrap();
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.reason);
    assert_eq!(notebook.started, count);
    assert_eq!(notebook.complete.len(), count);
    assert_eq!(notebook.seconds, count as u64 * SECONDS);
    for agent in agents {
        agent.join().unwrap().unwrap();
    }
}
