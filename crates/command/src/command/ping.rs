//! `fathom ping`: the latency of a storage, request by request.
//!
//! One request is in flight at a time. It is an instrument to look through,
//! not a trial: nothing is stored and nothing judged, but the figures keep the
//! rules of the others (no percentile without the requests that it needs, an
//! error is no latency, the page cache is named when it answers).

mod jobs;
mod values;

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use clap::Args;
use fathom_engine::ping::{self, Pace};
use fathom_fleet::Interrupt;
use fathom_model::workload::{
    BlockSizes, CacheMode, DataSet, Distribution, EngineKind, OpMix, Pattern, Precondition,
};
use fathom_model::{Job, Target, Workload, unit};
use fathom_plan::StoreFlags;
use fathom_screen::ping::{PingForm, show_ping};
use values::{parse_count, parse_time};

use crate::exit::{CommandError, Exit, is_missing};
use crate::output_flags::Color;
use crate::shown::TextOrJson;
use crate::{pipeline, present, run_identity, signals, surroundings};

/// Size of the test file in a directory: too large for most caches of drives,
/// small enough to be written in a moment.
const FILE_BYTES: u64 = 64 << 20;
/// Of the free space the test file takes at most this part.
const FREE_SHARE: u64 = 4;
/// Requests that a simulated drive answers when nobody says how many: its time
/// passes at once, so that it would never end.
const SIMULATED_COUNT: u64 = 20;

/// Show storage latency, request by request.
///
/// As ping does for a host: one request at a time, one line each, and at the
/// end the distribution. A request that takes more than three times the median
/// of those before it is marked (slow). Percentiles are printed only when
/// there were enough requests for them. Reads unless --write is given.
///
/// In a directory a file of its own is made, filled with random data, and
/// read; it has no name and is gone however fathom ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom ping /data                  Until Ctrl-C, a read each second
  fathom ping /data -c 100 -i 100ms  A hundred reads, ten a second
  fathom ping /data --write --sync   What a durable write takes
  fathom ping /dev/sda -c 20         A device, only read from
  fathom ping /data --cached         With the page cache in between
  fathom ping . -i 0 -w 5s -q        As fast as it goes, only the summary
  fathom ping s3://bench/try --endpoint http://127.0.0.1:9000
                                     GETs of a few objects of its own
  fathom ping tcp://storage1:2049    A host: the time of a TCP connection
  fathom ping sim:hdd                A simulated disk
  fathom ping /data --json | jq .    One JSON object a line

The numbers of the summary: requests, their time, operations and throughput
while a request was in flight, then min/avg/max/mdev of the latency (mdev is
the standard deviation).")]
pub(crate) struct Ping {
    /// A directory, file, device, bucket (s3://BUCKET/PREFIX), host
    /// (tcp://HOST:PORT), `null:` or `sim:MODEL`.
    target: String,
    /// Stop after this many requests.
    #[arg(short, long, value_parser = parse_count)]
    count: Option<u64>,
    /// Time from one request's start to the next's; a bare number is seconds,
    /// 0 is none. A request that takes longer delays the next.
    #[arg(short, long, default_value = "1s", value_parser = parse_time)]
    interval: u64,
    /// Size of a request.
    #[arg(short, long, default_value = "4k", value_parser = unit::parse_bytes)]
    size: u64,
    /// Only this much of the target is accessed; in a directory the size of
    /// the test file. Default: 64 MiB in a directory, else all of it.
    #[arg(short = 'S', long, value_parser = unit::parse_bytes)]
    working_set: Option<u64>,
    /// Stop after this time; a bare number is seconds.
    #[arg(short = 'w', long = "for", aliases = ["wait", "runtime", "seconds"], value_name = "TIME")]
    #[arg(value_parser = parse_time)]
    wait: Option<u64>,
    /// Requests at the beginning that are shown and not counted: the first
    /// one wakes a drive up. Default: 1, or 0 when there is only one.
    #[arg(short = 'W', long)]
    warmup: Option<u64>,
    /// Through the page cache.
    #[arg(long, conflicts_with = "direct")]
    cached: bool,
    /// Past the page cache (O_DIRECT). The default.
    #[arg(long)]
    direct: bool,
    /// Write instead of reading. Only into a file of its own, unless
    /// --destructive is given.
    #[arg(long)]
    write: bool,
    /// Make each write durable (fdatasync); its time is part of the latency.
    #[arg(long, requires = "write")]
    sync: bool,
    /// One block after the other instead of at random.
    #[arg(long)]
    sequential: bool,
    /// Allow a device or file to be overwritten.
    #[arg(long)]
    destructive: bool,
    /// Only the summary.
    #[arg(short, long)]
    quiet: bool,
    /// How it is printed; JSON is one object a line (schema fathom.ping/1).
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: TextOrJson,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(flatten)]
    reached: StoreFlags,
}

pub(crate) fn run(ping: Ping) -> anyhow::Result<Exit> {
    let job = job(&ping)?;
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let simulated = matches!(job.target, Target::Sim(_));
    let endless = ping.count.is_none() && ping.wait.is_none();
    let pace = Pace {
        interval_ns: ping.interval,
        count: ping
            .count
            .or((simulated && endless).then_some(SIMULATED_COUNT)),
        deadline_ns: ping.wait,
    };
    let warmup = ping.warmup.unwrap_or(u64::from(pace.count != Some(1)));
    let form = match ping.json || ping.format == TextOrJson::Json {
        true => PingForm::Json,
        false => PingForm::Lines {
            quiet: ping.quiet,
            color: present::use_color(ping.color, &std::io::stdout()),
        },
    };
    let missing = is_missing(&job.target);
    let ended = show_ping(job, pace, warmup, form, &interrupt)?;
    Ok(match ended {
        Exit::Failure if missing => Exit::Usage,
        exit => exit,
    })
}

/// What the requests are made of.
fn job(ping: &Ping) -> Result<Job, CommandError> {
    let target = parse_target(&ping.target)?;
    if ping.size == 0 || ping.size > 1 << 30 {
        let problem = "a request has 1 byte to 1 GiB: give another --size";
        return Err(CommandError::usage(problem));
    }
    match &target {
        Target::Bucket(_) => return jobs::on_bucket(ping, target),
        Target::Peer(_) => return jobs::on_host(ping, target),
        _ => {}
    }
    // Neither a directory nor /dev/zero has a size of its own.
    let sizeless = target
        .path()
        .is_some_and(|path| fathom_deadline::paths::is_dir(path) || is_stream(path));
    let workload = Workload {
        engine: EngineKind::Psync,
        mix: if ping.write {
            OpMix::WRITE
        } else {
            OpMix::READ
        },
        pattern: match ping.sequential {
            true => Pattern::Sequential,
            false => Pattern::Random(Distribution::EachOnce),
        },
        block: BlockSizes::Fixed(ping.size),
        align_bytes: ping.size,
        sync: fathom_model::workload::SyncPolicy {
            every_writes: u32::from(ping.sync),
            ..fathom_model::workload::SyncPolicy::default()
        },
        cache: match ping.cached {
            true => CacheMode::Buffered,
            false => CacheMode::Direct,
        },
        data_set: DataSet {
            size_bytes: sizeless.then(|| {
                let whole = ping
                    .working_set
                    .unwrap_or_else(|| file_bytes(&target, ping.size));
                let block = ping.size.max(1);
                whole.max(block) / block * block
            }),
            working_set_bytes: ping.working_set.filter(|_| !sizeless),
            precondition: Precondition::None,
            ..DataSet::example()
        },
        ..Workload::example("ping")
    };
    Ok(Job {
        workload,
        target,
        seed: run_identity::fresh_seed(),
        run_tag: run_identity::fresh_seed(),
        destructive: ping.destructive,
        keep_files: false,
        file_prefix: pipeline::FILE_PREFIX.to_owned(),
    })
}

fn parse_target(text: &str) -> Result<Target, CommandError> {
    if let Some(address) = text.strip_prefix("tcp://") {
        return ping::target(address).map_err(CommandError::usage);
    }
    if text.contains("://") && !text.starts_with("s3://") {
        return Err(CommandError::usage(format!(
            "'{text}' cannot be pinged; name a directory, a file, a device, \
             s3://BUCKET/PREFIX, tcp://HOST:PORT, null: or sim:MODEL"
        )));
    }
    let target: Target = text.parse()?;
    match target.path().filter(|_| !text.contains('/')) {
        Some(path) if fathom_deadline::paths::find(path)?.is_none() => {
            Err(CommandError::usage(format!(
                "'{text}' is not a directory, file or device here; a host is pinged at a port, as in \
                 tcp://{text}:22"
            )))
        }
        _ => Ok(target),
    }
}

fn is_stream(path: &Path) -> bool {
    let facts = fathom_deadline::paths::metadata(path);
    facts.is_ok_and(|facts| facts.file_type().is_char_device())
}

/// Size of the test file; where there is no room, that of a request, of which
/// preparing says how much is missing.
fn file_bytes(target: &Target, request_bytes: u64) -> u64 {
    let free = target.path().and_then(surroundings::room_for_files);
    let most = free.map_or(FILE_BYTES, |free| FILE_BYTES.min(free / FREE_SHARE));
    most.max(request_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_target_is_told_with_one_that_is() {
        for wrong in ["http://host:80", "storage.example.com"] {
            let told = parse_target(wrong).unwrap_err().to_string();
            assert!(told.contains("tcp://"), "{told}");
        }
        assert!(parse_target("tcp://storage.example.com:2049").is_ok());
        assert!(parse_target("sim:hdd").is_ok());
        assert!(parse_target("/data").is_ok());
        assert!(parse_target("s3://bucket").is_ok());
    }
}
