//! Servers on the loopback: what is agreed is measured, what is not allowed is
//! refused, and odd peers harm nobody.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fathom_model::network::{
    Direction, LoadSpec, MatrixMode, PairPlan, PairReport, PlannedLoad, Protocol,
};
use fathom_model::schedule::TrialRole;
use fathom_model::{Sample, TrialRecord};

use super::*;

/// A server that ends with the test.
struct Served {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn with(owner: Owner) -> Served {
        let stop = Arc::new(AtomicBool::new(false));
        let any = "127.0.0.1:0".parse().unwrap();
        let server = Server::bind(any, owner, Arc::clone(&stop)).unwrap();
        let address = server.address().unwrap();
        let thread = std::thread::spawn(move || server.run().unwrap());
        Served {
            address,
            stop,
            thread: Some(thread),
        }
    }

    fn new() -> Served {
        Served::with(Owner::default())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn short(direction: Direction, protocol: Protocol, streams: u32) -> PlannedLoad {
    PlannedLoad {
        name: format!("{protocol:?} {direction:?}"),
        spec: LoadSpec {
            protocol,
            direction,
            streams,
            block_bytes: if protocol == Protocol::Udp {
                1000
            } else {
                65_536
            },
            rate_bits: (protocol == Protocol::Udp).then_some(8_000_000),
            warmup_ns: 10_000_000,
            measure_ns: 100_000_000,
            ..LoadSpec::stream(1)
        },
        round_trips: true,
    }
}

fn measured(server: &Served, plan: &PairPlan) -> Result<PairReport, NetError> {
    measure_pair(
        server.address,
        plan,
        0,
        &LoadControl::default(),
        &mut |_| {},
    )
}

fn refusal(server: &Served, plan: &PairPlan) -> String {
    match measured(server, plan) {
        Err(NetError::Refused { reason, .. }) => reason,
        Ok(report) => report.loads[0].error.clone().expect("a refusal"),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_pair_is_measured_in_every_direction_and_protocol() {
    let server = Served::new();
    let plan = PairPlan {
        path: true,
        idle_ns: 50_000_000,
        loads: vec![
            short(Direction::Forward, Protocol::Tcp, 1),
            short(Direction::Reverse, Protocol::Tcp, 2),
            short(Direction::Both, Protocol::Tcp, 1),
            short(Direction::Forward, Protocol::Udp, 2),
            short(Direction::Reverse, Protocol::Udp, 1),
            PlannedLoad {
                name: "read".to_owned(),
                spec: LoadSpec::requests(64, 4096, 50_000_000),
                round_trips: false,
            },
        ],
    };
    let report = measured(&server, &plan).unwrap();
    assert!(report.loads.len() >= plan.loads.len());
    for load in &report.loads {
        assert_eq!(load.error, None, "{}", load.name);
        assert!(load.bits_per_second().unwrap() > 0.0, "{}", load.name);
        let (there, back) = (load.spec.direction.forward(), load.spec.direction.reverse());
        assert_eq!(
            (load.forward.is_some(), load.reverse.is_some()),
            (there, back)
        );
    }
    let two = report
        .load("Tcp Reverse")
        .unwrap()
        .reverse
        .as_ref()
        .unwrap();
    assert_eq!(two.sender.connections.len(), 2);
    assert!(two.sender.connections[0].last_tcp().is_some());
    assert!(
        report
            .load("Tcp Forward")
            .unwrap()
            .loaded
            .as_ref()
            .unwrap()
            .latency
            .count()
            > 0
    );
    let clock = report.clock.unwrap();
    assert!(
        clock.offset_ns.unsigned_abs() <= clock.uncertainty_ns,
        "{clock:?}"
    );
    let probes = report.probes.unwrap();
    assert!(probes.iter().all(|probe| probe.jumbo_passes), "{probes:?}");
    assert!(report.idle.unwrap().latency.count() > 0);
    assert_eq!(report.reached.connect_ns.len(), 5);
    assert_eq!(
        report.theirs.link.unwrap().interface,
        report.ours.link.unwrap().interface
    );
}

#[test]
fn the_owner_is_obeyed() {
    let stranger = Owner {
        peers: vec!["192.0.2.0/24".parse().unwrap()],
        ..Owner::default()
    };
    let one = PairPlan {
        loads: vec![short(Direction::Forward, Protocol::Tcp, 1)],
        ..PairPlan::default()
    };
    assert!(refusal(&Served::with(stranger), &one).contains("--allow 127.0.0.1"));
    let brief = Owner {
        most_time: Duration::from_millis(20),
        ..Owner::default()
    };
    assert!(refusal(&Served::with(brief), &one).contains("--max-time"));
    let poor = Owner {
        most_bytes: Some(1 << 20),
        ..Owner::default()
    };
    let told = measured(&Served::with(poor), &one).unwrap().loads[0]
        .error
        .clone();
    assert!(told.unwrap().contains("used up"));
    let busy = Owner {
        most_sessions: 0,
        ..Owner::default()
    };
    assert!(refusal(&Served::with(busy), &one).contains("0 conversations"));
}

#[test]
fn nonsense_is_refused_and_the_server_lives_on() {
    let server = Served::new();
    let mut old = [0_u8; 40];
    old[..8].copy_from_slice(b"fathnet\x09");
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: a\r\nAccept: nothing at all\r\n\r\n"[..],
        &old,
    ] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(bytes).unwrap();
        let mut told = Vec::new();
        // A server that closes while bytes are unread resets the connection.
        let _ = stream.read_to_end(&mut told);
        assert!(String::from_utf8_lossy(&told).contains("Refused"));
    }
    // A message that claims to be huge ends the conversation, no more.
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(&wire::Hello::Control.encode()).unwrap();
    stream.write_all(&u32::MAX.to_le_bytes()).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
    let plan = PairPlan {
        loads: vec![short(Direction::Forward, Protocol::Tcp, 1)],
        ..PairPlan::default()
    };
    assert_eq!(measured(&server, &plan).unwrap().loads[0].error, None);
}

#[test]
fn connections_that_say_nothing_are_closed_and_hinder_nobody() {
    let server = Served::new();
    let silent: Vec<TcpStream> = (0..40)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    let plan = PairPlan {
        loads: vec![short(Direction::Forward, Protocol::Tcp, 1)],
        ..PairPlan::default()
    };
    assert_eq!(measured(&server, &plan).unwrap().loads[0].error, None);
    for mut stream in silent {
        let mut heard = Vec::new();
        // Ends because the server has closed it: this side sends nothing.
        let _ = stream.read_to_end(&mut heard);
        assert_eq!(heard, b"");
    }
}

#[test]
fn one_server_measures_against_another_and_all_make_a_matrix() {
    let servers: Vec<Served> = (0..3).map(|_| Served::new()).collect();
    let hosts: Vec<(String, SocketAddr)> = servers
        .iter()
        .enumerate()
        .map(|(n, server)| (format!("h{n}"), server.address))
        .collect();
    let plan = MatrixPlan {
        modes: MatrixMode::ALL.to_vec(),
        load: short(Direction::Forward, Protocol::Tcp, 1).spec,
    };
    let mut told = Vec::new();
    let matrix = Matrix::meet(&hosts, &plan, &LoadControl::default()).unwrap();
    assert!(matrix.hosts().iter().all(|host| host.network.is_some()));
    let mut trials: Vec<TrialRecord> = Vec::new();
    let mut tell = |what: &str| told.push(what.to_owned());
    let measured = matrix.measure(&mut tell, &mut |set| {
        trials.extend(set);
    });
    assert_eq!(measured, Ok(()));
    let schedule = matrix.schedule();
    let planned = trials.iter().filter(|trial| trial.spec.iteration == 0);
    assert!(
        planned.map(|trial| &trial.spec).eq(&schedule),
        "as was planned"
    );
    for mode in MatrixMode::ALL {
        let of_mode = trials.iter().filter(|trial| {
            trial.spec.ends.unwrap().mode == Some(mode) && trial.spec.iteration == 0
        });
        let (loads, probes): (Vec<_>, Vec<_>) =
            of_mode.partition(|trial| trial.spec.role == TrialRole::Measure);
        assert_eq!(loads.len(), 6, "{mode:?}");
        let beside = probes.iter().filter(|probe| probe.spec.together.is_some());
        assert_eq!(beside.count(), 6, "{mode:?}");
        let idle = if mode == MatrixMode::Alone { 6 } else { 0 };
        assert_eq!(probes.len(), 6 + idle, "{mode:?}");
        for load in &loads {
            let ends = load.spec.ends.unwrap();
            assert_eq!(load.end.as_ref().unwrap().reason, None);
            assert!(ends.from != ends.to && !load.samples.is_empty());
        }
        // On a busy machine one of them may get nothing in its moment.
        let bytes = loads.iter().flat_map(|load| &load.samples);
        assert!(bytes.map(Sample::data_bytes).sum::<u64>() > 0, "{mode:?}");
    }
    assert!(
        told.iter()
            .any(|line| line.starts_with("all to one: round 3 of 3"))
    );
}

#[test]
fn all_hosts_that_cannot_be_reached_are_named() {
    let server = Served::new();
    let closed = |n: u16| (format!("c{n}"), SocketAddr::from(([127, 0, 0, 1], n)));
    let hosts = [("up".to_owned(), server.address), closed(1), closed(2)];
    let plan = MatrixPlan {
        modes: vec![MatrixMode::Alone],
        load: LoadSpec::stream(1),
    };
    let told = Matrix::meet(&hosts, &plan, &LoadControl::default()).unwrap_err();
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("127.0.0.1:1 does not answer"),
        "{told:?}"
    );
}

/// A server that says nothing from now on.
fn mute() -> (std::net::TcpListener, SocketAddr) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn a_server_that_is_not_responding_is_told_of_and_left_when_the_user_wants_the_end() {
    static TOLD: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let (_listener, address) = mute();
    let load_control = LoadControl {
        waiting: Some(|text| TOLD.lock().unwrap().push(text.to_owned())),
        ..LoadControl::default()
    };
    let plan = PairPlan {
        path: false,
        idle_ns: 0,
        loads: vec![short(Direction::Forward, Protocol::Tcp, 1)],
    };
    let measure = |load_control: &LoadControl| {
        measure_pair(address, &plan, 0, load_control, &mut |_| {}).unwrap_err()
    };
    let error = measure(&load_control).to_string();
    assert!(error.contains(&address.to_string()), "{error}");
    assert!(error.contains("is not responding (waited 4 s)"), "{error}");
    let told = TOLD.lock().unwrap().join(", ");
    assert_eq!(told, format!("{address} is not responding (waited 3 s)"));
    load_control.stop.store(true, Ordering::Relaxed);
    let begun = std::time::Instant::now();
    let error = measure(&load_control).to_string();
    assert!(error.contains("(waited 1 s)"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}
