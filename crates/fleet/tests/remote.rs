//! Agents behind connections: joining, running, refusing, and getting lost.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_fleet::{
    AgentOptions, AgentServer, CoordinatorKeys, Event, Fleet, HostName, Interrupt, JoinOutcome,
    JoinToken, Launcher, Outcome, Policy, Settings, Sink, SinkError, TrialEnding, on_hosts,
    run_on_fleet,
};
use fathom_model::conduct::InOrder;
use fathom_model::fleet::FleetHost;
use fathom_model::schedule::Purpose;
use fathom_model::workload::{Bounds, DataSet, EngineKind};
use fathom_model::{RunState, Sample, Schedule, ScheduledTrial, Target, Workload};
use fathom_observe::Sysroot;
use tempfile::TempDir;

/// An agent in a thread of this process.
struct Agent {
    host: HostName,
    interrupt: Interrupt,
    reports: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Agent {
    fn start(keys: &Path, token: Option<JoinToken>, allowed: &Path) -> Agent {
        let interrupt = Interrupt::new();
        let options = AgentOptions {
            policy: Policy {
                allowed: vec![allowed.to_owned()],
                destructive: false,
                ..Policy::default()
            },
            interrupt: interrupt.clone(),
            journals: None,
            spool: None,
            peers: None,
            silence: None,
        };
        let reports = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&reports);
        let report = Arc::new(move |text: &str| kept.lock().unwrap().push(text.to_owned()));
        let server = AgentServer::bind("127.0.0.1:0", keys.to_owned(), token, options, report);
        let server = server.unwrap();
        let host = HostName {
            name: "127.0.0.1".to_owned(),
            port: Some(server.address().unwrap().port()),
        };
        let thread = std::thread::spawn(move || server.serve());
        Agent {
            host,
            interrupt,
            reports,
            thread: Some(thread),
        }
    }

    /// Whether it said so, by now or soon.
    fn reports(&self, text: &str) -> bool {
        for _ in 0..200 {
            if self
                .reports
                .lock()
                .unwrap()
                .iter()
                .any(|r| r.contains(text))
            {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.interrupt.raise();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A fleet whose agents have joined, and a directory that they may use.
struct Bench {
    folder: TempDir,
    agents: Vec<Agent>,
}

impl Bench {
    fn new(agents: usize) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let keys = CoordinatorKeys::create(&folder.path().join("fleet")).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let agents = (0..agents).map(|n| {
            let token = keys.make_token(Duration::from_secs(60)).unwrap();
            let directory = folder.path().join(format!("agent{n}"));
            let agent = Agent::start(&directory, Some(token), &folder.path().join("data"));
            assert_eq!(keys.join(&agent.host).unwrap(), JoinOutcome::Now);
            agent
        });
        Bench {
            agents: agents.collect(),
            folder,
        }
    }

    fn launcher(&self) -> Launcher {
        Launcher::joined(self.folder.path().join("fleet")).unwrap()
    }

    fn hosts(&self) -> Vec<HostName> {
        self.agents.iter().map(|agent| agent.host.clone()).collect()
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    fn gather(&self) -> Fleet {
        Fleet::gather(&self.hosts(), &self.launcher(), 0).unwrap()
    }

    fn run(&self, fleet: Fleet, trial: ScheduledTrial, notebook: &mut Notebook) -> Outcome {
        let schedule = schedule(vec![trial]);
        let schedule = on_hosts(&schedule, &fleet.hosts()).unwrap();
        run(fleet, &schedule, &Interrupt::new(), notebook)
    }
}

fn run(
    fleet: Fleet,
    schedule: &Schedule,
    interrupt: &Interrupt,
    notebook: &mut Notebook,
) -> Outcome {
    let settings = Settings {
        run: "run".to_owned(),
        file_prefix: "fathom-test".to_owned(),
        destructive: false,
        keep_files: false,
        ceiling_ns: 0,
        sysroot: Sysroot::host(),
    };
    let mut conductor = InOrder::new(schedule);
    run_on_fleet(
        fleet,
        schedule,
        &mut conductor,
        &settings,
        &|_| None,
        interrupt,
        notebook,
    )
    .unwrap()
}

fn schedule(trials: Vec<ScheduledTrial>) -> Schedule {
    Schedule {
        name: "test".to_owned(),
        seed: 7,
        destructive: false,
        keep_files: false,
        purpose: Purpose::Measure,
        trials,
        depth_probe: false,
        host_mode: fathom_model::host_mode::HostMode::default(),
    }
}

fn trial(target: Target, engine: EngineKind, time_ns: u64) -> ScheduledTrial {
    ScheduledTrial {
        seed: 11,
        ..ScheduledTrial::new(
            "work",
            target,
            Workload {
                engine,
                think_ns: 100_000,
                bounds: Bounds {
                    time_ns: Some(time_ns),
                    ..Bounds::default()
                },
                data_set: DataSet::of_bytes(1 << 20),
                ..Workload::example("work")
            },
        )
    }
}

fn null(time_ns: u64) -> ScheduledTrial {
    trial(Target::Null, EngineKind::Null, time_ns)
}

/// Keeps what it is told.
#[derive(Default)]
struct Notebook {
    started: Vec<Vec<(u32, Option<u32>)>>,
    ops: BTreeMap<u32, u64>,
    ended: BTreeMap<u32, TrialEnding>,
    notes: Vec<String>,
    /// Done when the first interval comes in.
    at_first: Option<Box<dyn FnOnce()>>,
}

impl Sink for Notebook {
    fn event(&mut self, event: Event) -> Result<(), SinkError> {
        match event {
            Event::TrialsStarted(starts) => {
                let facts = starts.iter().map(|s| (s.spec.index, s.spec.host));
                self.started.push(facts.collect());
            }
            Event::Interval(intervals) => {
                if let Some(action) = self.at_first.take() {
                    action();
                }
                for interval in intervals {
                    let ops = self.ops.entry(interval.trial).or_default();
                    *ops += interval.samples.iter().map(Sample::data_ops).sum::<u64>();
                }
            }
            Event::TrialsEnded(endings) => {
                for ending in endings {
                    self.ended.insert(ending.trial, ending);
                }
            }
            Event::Note(text) => self.notes.push(text),
            _ => {}
        }
        Ok(())
    }
}

#[test]
fn a_trial_runs_on_all_hosts_and_begins_at_one_moment() {
    let bench = Bench::new(3);
    let fleet = bench.gather();
    for host in fleet.hosts() {
        let clock = host.clock.unwrap();
        // One machine, one clock: the truth is 0.
        assert!(
            clock.offset_ns.unsigned_abs() <= clock.uncertainty_ns,
            "{clock:?}"
        );
        assert!(!host.fingerprint.kernel.is_empty());
    }
    let mut notebook = Notebook::default();
    let outcome = bench.run(fleet, null(1_200_000_000), &mut notebook);
    assert_eq!(outcome.state, RunState::Complete, "{outcome:?}");
    let all = vec![(0, Some(0)), (1, Some(1)), (2, Some(2))];
    assert_eq!(notebook.started, [all], "once, in order");
    let unix: Vec<u64> = notebook
        .ended
        .values()
        .filter_map(|ending| ending.end.load_started_unix_ns)
        .collect();
    assert_eq!(unix.len(), 3);
    for ending in notebook.ended.values() {
        assert_eq!(ending.state, RunState::Complete);
        let start = ending.end.start.unwrap();
        assert!(start.clock.is_some());
        assert!(ending.end.load_started_ns.is_some());
        assert!(notebook.ops[&ending.trial] > 0);
    }
}

#[test]
fn files_are_made_for_each_host_and_removed() {
    let bench = Bench::new(2);
    let target = Target::Path(bench.data());
    let fleet = bench.gather();
    let mut notebook = Notebook::default();
    let outcome = bench.run(
        fleet,
        trial(target, EngineKind::Psync, 100_000_000),
        &mut notebook,
    );
    assert_eq!(outcome.state, RunState::Complete, "{outcome:?}");
    let files: Vec<String> = notebook
        .ended
        .values()
        .flat_map(|ending| ending.end.data.files.clone())
        .collect();
    assert_eq!(files.len(), 2);
    assert_ne!(files[0], files[1], "each host has its own");
    assert_eq!(std::fs::read_dir(bench.data()).unwrap().count(), 0);
    // The same agents serve the next run.
    let mut again = Notebook::default();
    let outcome = bench.run(bench.gather(), null(50_000_000), &mut again);
    assert_eq!(outcome.state, RunState::Complete, "{outcome:?}");
}

#[test]
fn what_cannot_work_is_found_before_anything_begins_anywhere() {
    let bench = Bench::new(2);
    let on = |target: &Path| trial(Target::Path(target.to_owned()), EngineKind::Psync, 1_000);
    let missing = bench.data().join("missing");
    let mut odd = on(&bench.data());
    odd.workload.data_set.size_bytes = Some(1000);
    for (mut impossible, expected) in [
        (on(&missing), "data/missing does not exist"),
        (on(Path::new("/etc")), "/etc is not on the list"),
        (odd, "1000"),
    ] {
        let fleet = bench.gather();
        impossible.index = 1;
        let schedule = schedule(vec![null(50_000_000), impossible]);
        let schedule = on_hosts(&schedule, &fleet.hosts()).unwrap();
        let mut notebook = Notebook::default();
        let outcome = run(fleet, &schedule, &Interrupt::new(), &mut notebook);
        assert_eq!(outcome.state, RunState::Failed, "{outcome:?}");
        let reason = outcome.reason.unwrap();
        assert_eq!(reason.matches(expected).count(), 1, "{reason}");
        assert!(notebook.started.is_empty(), "{reason}");
    }
}

#[test]
fn a_token_serves_once_and_only_its_own_fleet() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let keys = CoordinatorKeys::create(&path("fleet")).unwrap();
    let token = keys.make_token(Duration::from_secs(60)).unwrap();
    let first = Agent::start(&path("one"), Some(token.clone()), folder.path());
    let second = Agent::start(&path("two"), Some(token), folder.path());
    // Another fleet does not know the token.
    let others = CoordinatorKeys::create(&path("others")).unwrap();
    let refused = |keys: &CoordinatorKeys, host| keys.join(host).unwrap_err().to_string();
    assert!(refused(&others, &first.host).contains("another fleet"));
    assert!(first.reports("could not join"));
    assert_eq!(keys.join(&first.host).unwrap(), JoinOutcome::Now);
    assert_eq!(keys.join(&first.host).unwrap(), JoinOutcome::Before);
    // Replayed by somebody else.
    assert!(refused(&keys, &second.host).contains("used before"));
    // Expired.
    let late = keys.make_token(Duration::ZERO).unwrap();
    let third = Agent::start(&path("three"), Some(late), folder.path());
    assert!(refused(&keys, &third.host).contains("expired"));
    // A fleet is not made twice, and an agent needs a token once.
    assert!(CoordinatorKeys::create(&path("fleet")).is_err());
    let options = AgentOptions::default();
    let report = Arc::new(|_: &str| {});
    let bare = AgentServer::bind("127.0.0.1:0", path("four"), None, options, report);
    assert!(bare.unwrap_err().to_string().contains("fathom fleet token"));
}

#[test]
fn only_the_coordinator_of_the_fleet_gets_in() {
    let bench = Bench::new(1);
    let others = bench.folder.path().join("others");
    CoordinatorKeys::create(&others).unwrap();
    let intruder = Launcher::joined(others).unwrap();
    let error = Fleet::gather(&bench.hosts(), &intruder, 0).unwrap_err();
    assert!(error.to_string().contains("not of this fleet"), "{error}");
    // A member's certificate does not make it a coordinator.
    let member = bench.folder.path().join("member");
    std::fs::create_dir(&member).unwrap();
    for name in ["authority.pem", "certificate.pem", "key.pem"] {
        let from = bench.folder.path().join("agent0").join(name);
        std::fs::copy(from, member.join(name)).unwrap();
    }
    let from = bench.folder.path().join("others/authority.key");
    std::fs::copy(from, member.join("authority.key")).unwrap();
    let member = Launcher::joined(member).unwrap();
    let error = Fleet::gather(&bench.hosts(), &member, 0).unwrap_err();
    assert!(error.to_string().contains("does not accept"), "{error}");
    assert!(bench.agents[0].reports("not that of the coordinator"));
    // And nobody is disturbed by that.
    let mut notebook = Notebook::default();
    let outcome = bench.run(bench.gather(), null(50_000_000), &mut notebook);
    assert_eq!(outcome.state, RunState::Complete, "{outcome:?}");
}

#[test]
fn hundreds_of_silent_connections_lock_nobody_out() {
    let bench = Bench::new(1);
    let host = &bench.agents[0].host;
    let address = (host.name.as_str(), host.port.unwrap());
    let silent: Vec<_> = (0..700)
        .filter_map(|_| std::net::TcpStream::connect(address).ok())
        .collect();
    assert!(silent.len() > 600, "{} connections were made", silent.len());
    for _ in 0..3 {
        let fleet = bench.gather();
        assert_eq!(fleet.hosts().len(), 1);
        drop(fleet);
        // More come in between.
        for _ in 0..50 {
            drop(std::net::TcpStream::connect(address));
        }
    }
    drop(silent);
}

#[test]
fn a_second_coordinator_is_told_that_the_agent_is_busy() {
    let bench = Bench::new(1);
    let first = bench.gather();
    let error = Fleet::gather(&bench.hosts(), &bench.launcher(), 0).unwrap_err();
    assert!(error.to_string().contains("busy"), "{error}");
    drop(first);
    bench.gather();
}

#[test]
fn all_hosts_that_cannot_be_had_are_listed_at_once() {
    let bench = Bench::new(1);
    let mut hosts = bench.hosts();
    hosts.extend(fathom_fleet::parse_hosts("127.0.0.1:1,no-such-host.invalid").unwrap());
    let error = Fleet::gather(&hosts, &bench.launcher(), 1).unwrap_err();
    assert_eq!(error.0.len(), 2, "{error}");
    let why = |of: usize| error.0[of].error.to_string();
    assert!(why(0).contains("no agent answers"), "{error}");
    assert!(why(1).contains("cannot be resolved"), "{error}");
    // With leave they are passed over, and keep their places.
    let fleet = Fleet::gather(&hosts, &bench.launcher(), 2).unwrap();
    let names: Vec<FleetHost> = fleet.hosts();
    assert_eq!(names.iter().filter(|host| host.lost.is_some()).count(), 2);
    let mut notebook = Notebook::default();
    let outcome = bench.run(fleet, null(50_000_000), &mut notebook);
    assert_eq!(outcome.state, RunState::Complete, "{outcome:?}");
    assert_eq!(notebook.ended.len(), 1);
}

/// Runs on two hosts, one of which goes away in the middle.
fn lose_one(allow_missing: usize) -> (Outcome, Notebook) {
    let bench = Bench::new(2);
    let fleet = Fleet::gather(&bench.hosts(), &bench.launcher(), allow_missing).unwrap();
    let victim = bench.agents[1].interrupt.clone();
    let mut notebook = Notebook {
        at_first: Some(Box::new(move || victim.raise())),
        ..Notebook::default()
    };
    let outcome = bench.run(fleet, null(3_000_000_000), &mut notebook);
    (outcome, notebook)
}

#[test]
fn a_lost_agent_ends_the_run_and_all_keep_what_they_measured() {
    let (outcome, notebook) = lose_one(0);
    assert_eq!(outcome.state, RunState::Failed);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("the agent was lost"), "{reason}");
    assert_eq!(notebook.ended.len(), 2);
    let lost = &notebook.ended[&1];
    assert_eq!(lost.state, RunState::Interrupted);
    assert!(notebook.ops[&0] > 0);
    assert!(notebook.notes.iter().any(|note| note.contains("was lost")));
}

#[test]
fn with_leave_the_others_go_on_without_a_lost_agent() {
    let (outcome, notebook) = lose_one(1);
    assert_eq!(outcome.state, RunState::Complete, "{outcome:?}");
    assert_eq!(notebook.ended[&0].state, RunState::Complete);
    assert_eq!(notebook.ended[&1].state, RunState::Interrupted);
}

#[test]
fn ctrl_c_reaches_every_host() {
    let bench = Bench::new(2);
    let fleet = bench.gather();
    let interrupt = Interrupt::new();
    let raise = interrupt.clone();
    let mut notebook = Notebook {
        at_first: Some(Box::new(move || raise.raise())),
        ..Notebook::default()
    };
    let spread = on_hosts(&schedule(vec![null(600_000_000_000)]), &fleet.hosts()).unwrap();
    let outcome = run(fleet, &spread, &interrupt, &mut notebook);
    assert_eq!(outcome.state, RunState::Interrupted);
    for ending in notebook.ended.values() {
        assert_eq!(ending.state, RunState::Interrupted);
        assert!(notebook.ops[&ending.trial] > 0);
    }
}
