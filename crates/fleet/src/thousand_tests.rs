//! A thousand agents in this process, on simulated links and drives: hours of
//! virtual time in moments.

use std::collections::BTreeSet;
use std::sync::mpsc::sync_channel;

use fathom_model::conduct::InOrder;
use fathom_model::fleet::FleetHost;
use fathom_model::schedule::Purpose;
use fathom_model::workload::{Bounds, EngineKind};
use fathom_model::{RunState, Schedule, ScheduledTrial, Workload};
use fathom_observe::Sysroot;

use crate::agents::Agents;
use crate::coordinator::{Settings, Sink};
use crate::interrupt::Interrupt;
use crate::link::EVENT_LIMIT;
use crate::message::Event;
use crate::remote::RemoteAgent;
use crate::session::AgentOptions;
use crate::sim_link::SimLink;
use crate::test_trial::trial;
use crate::walk::Walk;

const AGENTS: usize = 1000;
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
    fn event(&mut self, event: Event) -> Result<(), String> {
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
    let one = ScheduledTrial {
        workload: Workload {
            engine: EngineKind::Sim,
            bounds: Bounds {
                time_ns: Some(SECONDS * 1_000_000_000),
                ..Bounds::default()
            },
            // Few operations a second, so that the seconds are what costs.
            think_ns: 500_000_000,
            size_bytes: Some(1 << 20),
            ..Workload::example("load")
        },
        host: None,
        ..trial("sim:ideal?latency_us=100".parse().unwrap())
    };
    let hosts: Vec<FleetHost> = (0..AGENTS)
        .map(|place| FleetHost {
            name: format!("h{place}"),
            ..FleetHost::default()
        })
        .collect();
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
    crate::on_hosts(&schedule, &hosts).unwrap()
}

#[test]
fn a_thousand_agents_under_the_virtual_clock() {
    let (sender, events) = sync_channel(EVENT_LIMIT);
    let (mut remotes, mut agents) = (Vec::new(), Vec::new());
    for place in 0..AGENTS {
        let link = SimLink::default();
        agents.push(link.agent(AgentOptions::default(), None));
        let name = format!("h{place}");
        let remote = RemoteAgent::greet(&name, place, link.coordinator_end(), &sender);
        remotes.push(Some(remote.unwrap()));
    }
    drop(sender);
    let settings = Settings {
        run_tag: 0xFA,
        file_prefix: "fathom-test".to_owned(),
        destructive: false,
        keep_files: false,
        ceiling_ns: 0,
        sysroot: Sysroot::host(),
    };
    let schedule = schedule();
    let (interrupt, mut notebook) = (Interrupt::new(), Notebook::default());
    let agents_of_run = Agents::remote(remotes, events, &settings);
    let walk = Walk::new(agents_of_run, 0, &mut notebook, &interrupt, false);
    let outcome = walk.carry_out(&mut InOrder::new(&schedule), &|_| None);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.reason);
    assert_eq!(notebook.started, AGENTS);
    assert_eq!(notebook.complete.len(), AGENTS);
    assert_eq!(notebook.seconds, AGENTS as u64 * SECONDS);
    for agent in agents {
        agent.join().unwrap().unwrap();
    }
}
