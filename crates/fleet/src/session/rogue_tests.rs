//! A coordinator that belongs to the fleet and sends what it should not:
//! sessions that would be valid, with numbers, texts, fields and orders changed
//! at random. The agent may refuse anything, and must not panic, hang, or touch
//! what its owner did not allow.
//!
//! `FATHOM_ROGUE_SEED` and `FATHOM_ROGUE_CASES` choose other cases
//! (`scripts/hostile.d/rogue-coordinator`).

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fathom_model::rng::Rng;
use fathom_model::workload::{
    Bounds, DataSet, KeySource, MetaTree, MetaWork, NamedFiles, ObjectSizes, ObjectStore,
    ObjectWork, OpMix, PeerProtocol, Verify, Work,
};
use fathom_model::{OpKind, ScheduledTrial, Target, Workload};
use serde_json::{Value, json};

use crate::admission::policy::Policy;
use crate::protocol::wire::Greeting;
use crate::session::mutation::mutate;
use crate::session::options::AgentOptions;
use crate::session::serve;
use crate::test_trial::trial;
use crate::transport::Transport;

/// How long a session may go on before its coordinator leaves.
const SESSION: Duration = Duration::from_millis(400);

/// An agent that has not ended so long after its coordinator left hangs.
const HANGS: Duration = Duration::from_secs(60);

/// Cases of the suite; the script asks for more.
const CASES: u64 = 100;

/// What the agent's owner allows, and what lies beside it.
struct Ground {
    root: tempfile::TempDir,
    /// Where the owner lets requests to object stores go. Nobody listens there
    /// unless a test says so.
    endpoint: String,
}

impl Ground {
    fn new() -> Ground {
        let root = tempfile::tempdir().unwrap();
        for folder in ["allowed", "beside", "journals", "held"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        std::fs::write(root.path().join("allowed/theirs"), "x".repeat(1 << 16)).unwrap();
        std::fs::write(root.path().join("beside/theirs"), "y".repeat(1 << 16)).unwrap();
        Ground {
            root,
            endpoint: "http://127.0.0.1:9".to_owned(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn options(&self) -> AgentOptions {
        AgentOptions {
            policy: Policy {
                allowed: vec![self.path("allowed"), PathBuf::from("s3://bucket")],
                destructive: false,
                endpoints: vec![self.endpoint.parse().unwrap()],
            },
            journals: Some(self.path("journals")),
            spool: Some(self.path("held")),
            peers: Some(vec!["127.0.0.1".parse().unwrap()]),
            ..AgentOptions::default()
        }
    }

    /// What must not change: the foreign files, and all that is not allowed.
    fn untouched(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        for folder in ["", "beside"] {
            for entry in std::fs::read_dir(self.path(folder)).unwrap() {
                let path = entry.unwrap().path();
                let content = std::fs::read_to_string(&path).unwrap_or_default();
                all.insert(path, content);
            }
        }
        let theirs = self.path("allowed/theirs");
        let content = std::fs::read_to_string(&theirs).unwrap_or_default();
        all.insert(theirs, content);
        all
    }
}

/// Sessions that a coordinator could have: their messages in order, without
/// the answers.
fn sessions(ground: &Ground) -> Vec<Vec<Value>> {
    let sets = trials(ground).into_iter().map(|spec| {
        let settings = json!({"Begin": {
            "run": "20261123-033000-abcd", "place": 0, "file_prefix": "rogue",
            "destructive": false, "keep_files": false, "ceiling_ns": 1000,
        }});
        let set = json!({"Command": {"Set": [spec]}});
        let pause = json!({"Command": {"Pause": {
            "floor_ns": 1000, "ceiling_ns": 2000, "until_quiet": true,
        }}});
        let mut messages = vec![json!(Greeting::coordinator()), settings, set];
        messages.extend([
            pause,
            json!({"Ping": {"sent_ns": 1, "handled": 3}}),
            json!({"Command": "Finish"}),
            json!({"Collect": {"run": "20261123-033000-abcd", "place": 0}}),
            json!({"Forget": {"run": "20261123-033000-abcd", "place": 0}}),
            json!({"Clean": {"remove": true, "kept": true}}),
        ]);
        messages
    });
    sets.collect()
}

fn trials(ground: &Ground) -> Vec<ScheduledTrial> {
    let allowed = Target::Path(ground.path("allowed"));
    let short = |target: Target| {
        let mut spec = trial(target);
        spec.workload = Workload {
            mix: OpMix {
                read_percent: 50,
                write_percent: 50,
                trim_percent: 0,
            },
            cache: fathom_model::workload::CacheMode::Buffered,
            engine: fathom_model::workload::EngineKind::Psync,
            bounds: Bounds {
                time_ns: Some(20_000_000),
                ops: Some(100),
                bytes: None,
            },
            data_set: DataSet {
                size_bytes: Some(256 << 10),
                ..spec.workload.data_set.clone()
            },
            ..spec.workload
        };
        spec
    };
    let mut all = vec![short(allowed.clone())];
    let mut verified = short(allowed.clone());
    verified.workload.verify = Some(Verify {
        after: true,
        ..Verify::default()
    });
    let mut named = short(allowed.clone());
    named.workload.data_set.named = Some(NamedFiles {
        paths: vec!["own".into(), ground.path("allowed/theirs")],
        create: true,
        ours: true,
    });
    let mut tree = short(allowed);
    let work = MetaWork::new([(OpKind::Create, 1)], MetaTree::flat(10, 4096));
    tree.workload.engine = fathom_model::workload::EngineKind::Meta;
    tree.workload.work = Work::files(work);
    let mut null = short(Target::Null);
    null.workload.engine = fathom_model::workload::EngineKind::Null;
    let mut drive = short("sim:ssd".parse().unwrap());
    drive.workload.engine = fathom_model::workload::EngineKind::Sim;
    let mut peer = short(Target::Peer("unix".to_owned()));
    peer.workload.engine = fathom_model::workload::EngineKind::Net;
    peer.workload.work = Work::connections(fathom_model::workload::Peer {
        protocol: PeerProtocol::Unix,
        listen: true,
        host: ground.path("allowed/socket").display().to_string(),
        port: 0,
        nodelay: false,
        ping_pong: false,
        buffer_bytes: 0,
        mss_bytes: 0,
        interface: String::new(),
        ttl: 1,
    });
    let mut objects = short("s3://bucket/prefix".parse().unwrap());
    objects.workload.engine = fathom_model::workload::EngineKind::S3;
    let mut store = ObjectStore::new(vec![ground.endpoint.clone()]);
    store.keys = KeySource::Anonymous;
    let work = ObjectWork::new([(OpKind::Put, 1)], 10, ObjectSizes::Fixed(4096));
    objects.workload.work = Work::objects(store, work);
    all.extend([verified, named, tree, null, drive, peer, objects]);
    all
}

/// Holds the session; returns how many commands were carried out, or how the
/// agent failed.
fn hold(ground: &Ground, frames: &[Vec<u8>], rng: &mut Rng) -> Result<u32, String> {
    let (mut here, there) = UnixStream::pair().unwrap();
    let (output, closing) = (there.try_clone().unwrap(), there.try_clone().unwrap());
    let transport = Transport {
        input: Box::new(there),
        output: Box::new(output),
        close: Arc::new(move || drop(closing.shutdown(Shutdown::Both))),
        complaint: Arc::new(|| None),
    };
    let options = ground.options();
    let (ended, end) = std::sync::mpsc::channel();
    let agent = std::thread::spawn(move || {
        let _ = serve(transport, &options);
        let _ = ended.send(());
    });
    let done = converse(&mut here, frames, rng);
    let _ = here.shutdown(Shutdown::Both);
    if end.recv_timeout(HANGS).is_err() && !agent.is_finished() {
        return Err("the agent hangs".to_owned());
    }
    let ended = agent.join().map(|()| done);
    ended.map_err(|_| "the session panicked".to_owned())
}

/// Sends the frames one after the other, mostly when the agent has carried out
/// the last, and answers what it asks. Returns how many it has carried out.
fn converse(stream: &mut UnixStream, frames: &[Vec<u8>], rng: &mut Rng) -> u32 {
    let mut until = Instant::now() + SESSION;
    stream
        .set_read_timeout(Some(Duration::from_millis(5)))
        .unwrap();
    stream.set_write_timeout(Some(SESSION)).unwrap();
    let mut left = frames.iter();
    let mut unread: Vec<u8> = Vec::new();
    let mut done = 0;
    // Greeting, settings and set follow one another without an answer.
    let mut may_send = 3;
    while Instant::now() < until {
        if may_send > 0 || rng.below(64) == 0 {
            may_send -= i32::from(may_send > 0);
            let Some(frame) = left.next() else {
                // What was sent last is still read.
                until = until.min(Instant::now() + Duration::from_millis(30));
                may_send = 0;
                continue;
            };
            if stream.write_all(frame).is_err() {
                return done;
            }
            continue;
        }
        if read(stream, &mut unread).is_none() {
            return done;
        }
        while let Some(message) = next_message(&mut unread) {
            let answer = if message["Event"]["waits"] == true {
                json!({"Handled": {"Ok": null}})
            } else if message == "Ready" {
                let at_monotonic_ns = fathom_observe::monotonic_ns();
                json!({"Command": {"Open": {"at_monotonic_ns": at_monotonic_ns}}})
            } else {
                if message == "Done" {
                    done += 1;
                    // The messages behind the last command follow at once.
                    may_send += if done == 3 { 4 } else { 1 };
                }
                continue;
            };
            if stream
                .write_all(&framed(answer.to_string().as_bytes()))
                .is_err()
            {
                return done;
            }
        }
    }
    done
}

/// Reads what is there; `None` when the agent has hung up.
fn read(stream: &mut UnixStream, unread: &mut Vec<u8>) -> Option<()> {
    let mut room = [0; 16 << 10];
    match stream.read(&mut room) {
        Ok(0) => None,
        Ok(read) => {
            unread.extend_from_slice(&room[..read]);
            Some(())
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Some(())
        }
        Err(_) => None,
    }
}

fn next_message(unread: &mut Vec<u8>) -> Option<Value> {
    let length = u32::from_be_bytes(unread.get(..4)?.try_into().ok()?) as usize;
    let message = serde_json::from_slice(unread.get(4..4 + length)?).unwrap();
    unread.drain(..4 + length);
    Some(message)
}

fn framed(text: &[u8]) -> Vec<u8> {
    let mut frame = (text.len() as u32).to_be_bytes().to_vec();
    frame.extend_from_slice(text);
    frame
}

/// Counts panics of all threads, also of those that nobody joins.
fn count_panics() -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let name = std::thread::current().name().map(str::to_owned);
        if name.is_some_and(|name| name.starts_with("fathom") || name == "agent") {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        usual(info);
    }));
    count
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn try_case(ground: &Ground, bases: &[Vec<Value>], seed: u64) -> Option<String> {
    let mut rng = Rng::new(seed);
    let base = &bases[rng.below(bases.len() as u64) as usize];
    let texts = mutate(base, &hostile_paths(ground.root.path()), &mut rng);
    let frames: Vec<Vec<u8>> = texts.iter().map(|text| framed(text.as_bytes())).collect();
    let before = ground.untouched();
    let failure = hold(ground, &frames, &mut rng);
    if ground.untouched() != before {
        return Some("something was touched that is not allowed".to_owned());
    }
    failure.err()
}

fn hostile_paths(root: &Path) -> Vec<String> {
    let text = |path: PathBuf| path.display().to_string();
    vec![
        text(root.join("beside")),
        text(root.join("beside/theirs")),
        text(root.join("allowed/../beside/new")),
        text(root.join("allowed/theirs")),
    ]
}

#[test]
fn a_rogue_coordinator_does_no_harm() {
    let seed = from_environment("FATHOM_ROGUE_SEED").unwrap_or(20_261_123);
    let cases = from_environment("FATHOM_ROGUE_CASES").unwrap_or(CASES);
    let panics = count_panics();
    let ground = Ground::new();
    let bases = sessions(&ground);
    let mut failures = Vec::new();
    for case in seed..seed + cases {
        let before = panics.load(Ordering::Relaxed);
        let mut failure = try_case(&ground, &bases, case);
        if panics.load(Ordering::Relaxed) > before {
            failure = Some("a thread of the agent panicked".to_owned());
        }
        failures.extend(failure.map(|why| format!("seed {case}: {why}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The sessions that are changed are good ones: without a change each is
/// carried out, or refused for what it asks.
#[test]
fn unchanged_sessions_are_carried_out() {
    let ground = Ground::new();
    let bases = sessions(&ground);
    let before = ground.untouched();
    for (base, spec) in bases.iter().zip(trials(&ground)) {
        let frames: Vec<Vec<u8>> = base
            .iter()
            .map(|m| framed(m.to_string().as_bytes()))
            .collect();
        let done = hold(&ground, &frames, &mut Rng::new(1)).unwrap();
        // A listening end waits for one that never comes.
        let waits = matches!(spec.target, Target::Peer(_));
        assert!(waits || done >= 1, "{}: {done}", spec.target);
        crate::admission::check_set(&[spec]).unwrap();
    }
    assert_eq!(ground.untouched(), before);
}

fn framed_all(messages: &[Value]) -> Vec<Vec<u8>> {
    let texts = messages.iter().map(Value::to_string);
    texts.map(|text| framed(text.as_bytes())).collect()
}

/// A server that only takes connections, and how many have come.
fn count_connections() -> (String, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counter.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    (endpoint, count)
}

#[test]
fn requests_with_the_keys_of_a_host_go_only_where_its_owner_lets_them() {
    let (endpoint, count) = count_connections();
    let elsewhere = Ground::new();
    let asking = Ground {
        endpoint: endpoint.clone(),
        ..Ground::new()
    };
    let session = framed_all(sessions(&asking).last().unwrap());
    hold(&elsewhere, &session, &mut Rng::new(1)).unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 0, "{endpoint} was asked");
    // The owner's word is what makes the difference.
    hold(&asking, &session, &mut Rng::new(1)).unwrap();
    assert!(count.load(Ordering::SeqCst) > 0);
}

#[test]
fn a_run_cannot_pass_for_another_one() {
    let ground = Ground::new();
    let mut kept = sessions(&ground).swap_remove(0);
    kept.truncate(6);
    let mut claiming = kept.clone();
    kept[1]["Begin"]["keep_files"] = json!(true);
    hold(&ground, &framed_all(&kept), &mut Rng::new(1)).unwrap();
    let files = || {
        let entries = std::fs::read_dir(ground.path("allowed")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    let before = files();
    assert!(before.len() > 1, "{before:?}");
    // What marks the data of a run is no wish of a message.
    claiming[1]["Begin"]["run"] = json!("20261123-040000-efgh");
    let tag = fathom_model::run::tag_of("20261123-033000-abcd");
    claiming[1]["Begin"]["run_tag"] = json!(tag);
    hold(&ground, &framed_all(&claiming), &mut Rng::new(1)).unwrap();
    assert_eq!(files(), before);
}
