//! Drives one workload on one target and prints operations and CPU time per
//! operation: what the comparison in `benches/` is made of.
//!
//! `hotloop TARGET ENGINE BLOCK DEPTH OPS [WORKERS [SIZE [WRITE_PERCENT [BATCH]]]]`
//!
//! `hotloop requests DEPTH OPS` drives a mix of requests on a store in memory,
//! which is a process of its own so that its work is not counted.
//!
//! `hotloop files OPS` drives operations on a tree of files that is not there:
//! what is counted is the loop.
//!
//! `hotloop recording` prints what recording one latency costs.

#![allow(clippy::print_stdout)]

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitCode, Stdio};

use fathom_engine::object::give_credentials;
use fathom_engine::{Error, Group, GroupEnd, prepare, prepare::NoHooks};
use fathom_model::workload::{
    Bounds, CacheMode, Distribution, EngineKind, KeySource, MetaTree, MetaWork, ObjectSizes,
    ObjectStore, ObjectWork, OpMix, Pattern, Work,
};
use fathom_model::{Job, OpKind, Phase, Sample, Target, Workload, unit};
use fathom_s3::{Credentials, Script, StoreServer};

const USAGE: &str = "hotloop TARGET ENGINE BLOCK DEPTH OPS [WORKERS [SIZE [WRITE_PERCENT [BATCH]]]]
hotloop requests DEPTH OPS
hotloop files OPS
hotloop recording";

/// Objects and files that there are before the load begins.
const ENTRIES: u64 = 4096;
const OBJECT_BYTES: u64 = 1024;
/// Memory of the store.
const STORE_BYTES: u64 = 1 << 30;
const KEYS: &str = "hotloop";

fn job(arguments: &[String]) -> Option<Job> {
    let number = |at: usize, default: u64| match arguments.get(at) {
        Some(text) => unit::parse_bytes(text).ok(),
        None => Some(default),
    };
    let mut workload = Workload::example("hotloop");
    let engine = arguments.get(1)?;
    workload.engine = EngineKind::ALL.into_iter().find(|k| k.name() == engine)?;
    let block = number(2, 4096)?;
    workload.block = fathom_model::workload::BlockSizes::Fixed(block);
    workload.align_bytes = block;
    workload.queue_depth = number(3, 1)? as u32;
    workload.bounds = Bounds {
        ops: Some(number(4, 1)?),
        ..Bounds::default()
    };
    workload.workers = number(5, 1)? as u32;
    workload.data_set.size_bytes = Some(number(6, 1 << 30)?);
    let write_percent = number(7, 0)? as u8;
    workload.mix = OpMix {
        read_percent: 100u8.checked_sub(write_percent)?,
        write_percent,
        trim_percent: 0,
    };
    workload.batch = number(8, 0)? as u32;
    workload.pattern = Pattern::Random(Distribution::Uniform);
    if std::env::var_os("BUFFERED").is_some() {
        workload.cache = CacheMode::Buffered;
    }
    Some(job_on(arguments.first()?.parse::<Target>().ok()?, workload))
}

fn job_on(target: Target, workload: Workload) -> Job {
    Job {
        workload,
        target,
        seed: 1,
        run_tag: 1,
        destructive: std::env::var_os("DESTRUCTIVE").is_some(),
        keep_files: true,
        file_prefix: "hotloop".to_owned(),
    }
}

/// A workload of `ops` operations of one worker, on files or objects.
fn without_blocks(engine: EngineKind, depth: u64, ops: u64) -> Workload {
    let mut workload = Workload::example("hotloop");
    workload.engine = engine;
    workload.mix = OpMix::NONE;
    workload.workers = 1;
    workload.queue_depth = depth as u32;
    workload.bounds = Bounds {
        ops: Some(ops),
        ..Bounds::default()
    };
    workload
}

/// Requests of all families on the store at `endpoint`.
fn requests(arguments: &[String], endpoint: String) -> Option<Job> {
    let number = |at: usize| unit::parse_bytes(arguments.get(at)?).ok();
    give_credentials(KEYS, Credentials::default());
    let store = ObjectStore {
        region: "us-east-1".to_owned(),
        keys: KeySource::Given(KEYS.to_owned()),
        ..ObjectStore::new(vec![endpoint])
    };
    let mix = [
        (OpKind::Get, 60),
        (OpKind::Head, 10),
        (OpKind::Put, 15),
        (OpKind::Delete, 15),
    ];
    let mut workload = without_blocks(EngineKind::S3, number(1)?, number(2)?);
    workload.work = Work::objects(
        store,
        ObjectWork::new(mix, ENTRIES, ObjectSizes::Fixed(OBJECT_BYTES)),
    );
    Some(job_on(Target::Bucket("hotloop/x".to_owned()), workload))
}

/// Operations on files that are not there.
fn files(arguments: &[String]) -> Option<Job> {
    let ops = unit::parse_bytes(arguments.get(1)?).ok()?;
    let mut workload = without_blocks(EngineKind::Meta, 1, ops);
    let mix = [
        (OpKind::Stat, 50),
        (OpKind::ReadFile, 25),
        (OpKind::Create, 15),
        (OpKind::Unlink, 10),
    ];
    workload.data_set.size_bytes = None;
    workload.work = Work::files(MetaWork::new(mix, MetaTree::flat(ENTRIES, OBJECT_BYTES)));
    Some(job_on(Target::Null, workload))
}

/// A store in memory in a process of its own, which ends with this one.
struct StoreProcess {
    child: Child,
    endpoint: String,
}

impl StoreProcess {
    fn start() -> std::io::Result<StoreProcess> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("store")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut endpoint = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut endpoint)?;
        }
        Ok(StoreProcess {
            child,
            endpoint: endpoint.trim().to_owned(),
        })
    }
}

impl Drop for StoreProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Serves until standard input ends.
fn serve() -> ExitCode {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    match StoreServer::start(any, STORE_BYTES, Script::default()) {
        Ok(server) => {
            println!("{}", server.endpoint());
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(job: &Job) -> Result<GroupEnd, Error> {
    let prepared = prepare(job, &mut NoHooks)?;
    let mut group = Group::start(job, &prepared)?;
    group.go();
    Ok(group.finish())
}

fn recording() -> ExitCode {
    match fathom_engine::measure_recording(200) {
        Ok(cost) => {
            println!(
                "worker_ns={:.2} histogram_ns={:.2}",
                cost.worker_ns, cost.histogram_ns
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut store = None;
    let job = match arguments.first().map(String::as_str) {
        Some("recording") => return recording(),
        Some("store") => return serve(),
        Some("files") => files(&arguments),
        Some("requests") => match StoreProcess::start() {
            Ok(started) => {
                let endpoint = started.endpoint.clone();
                store = Some(started);
                requests(&arguments, endpoint)
            }
            Err(error) => {
                println!("{error}");
                None
            }
        },
        _ => job(&arguments),
    };
    let Some(job) = job else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let ended = run(&job);
    drop(store);
    match ended {
        Ok(end) => {
            print(&end);
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a kind is an operation rather than a part of one.
fn counts(kind: OpKind) -> bool {
    kind.is_data() || kind.is_object() || kind.is_metadata()
}

fn print(end: &GroupEnd) {
    let measured: Vec<&Sample> = end
        .samples
        .iter()
        .filter(|s| s.phase == Phase::Measure)
        .collect();
    let count = |s: &Sample| {
        s.ops
            .iter()
            .filter(|op| counts(op.kind))
            .map(|op| op.ops)
            .sum::<u64>()
    };
    let ops: u64 = measured.iter().map(|s| count(s)).sum();
    let time_ns: u64 = measured.iter().map(|s| s.duration_ns).sum();
    let user_ns: u64 = measured.iter().map(|s| s.cpu_user_ns).sum();
    let system_ns: u64 = measured.iter().map(|s| s.cpu_system_ns).sum();
    for line in &end.report.fallbacks {
        println!("note: {line}");
    }
    for error in end.report.errors.iter().take(3) {
        println!("error: {}", error.message);
    }
    let per_op = |ns: u64| ns as f64 / ops.max(1) as f64;
    println!(
        "ops={ops} seconds={:.3} cpu_ns_per_op={:.1} user_ns={:.1} system_ns={:.1}",
        time_ns as f64 / 1e9,
        per_op(user_ns + system_ns),
        per_op(user_ns),
        per_op(system_ns),
    );
}
