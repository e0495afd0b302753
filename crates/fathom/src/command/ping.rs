//! `fathom ping`: the latency of a storage, request by request.
//!
//! One request is in flight at a time. It is an instrument to look through,
//! not a trial: nothing is stored and nothing judged, but the figures keep the
//! rules of the others (no percentile without the requests that it needs, an
//! error is no latency, the page cache is named when it answers).

mod bins;
mod described;
mod host;
mod json;
mod lines;
mod one;
mod serve;
mod tally;

use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use fathom_engine::OneByOneFacts;
use fathom_fleet::Interrupt;
use fathom_model::workload::{
    BlockSizes, CacheMode, DataSet, Distribution, EngineKind, OpMix, Pattern, Precondition,
};
use fathom_model::{Job, Target, Workload, unit};
use fathom_plan::StoreFlags;
use json::Json;
use lines::Lines;
use serve::{News, Pace, Server};
use tally::Tally;

use crate::exit::{CommandError, Exit, is_missing};
use crate::output_flags::Color;
use crate::{pipeline, present, run_identity, signals, surroundings};

/// Size of the test file in a directory: too large for most caches of drives,
/// small enough to be written in a moment.
const FILE_BYTES: u64 = 64 << 20;
/// Of the free space the test file takes at most this part.
const FREE_SHARE: u64 = 4;
/// Requests that a simulated drive answers when nobody says how many: its time
/// passes at once, so that it would never end.
const SIMULATED_COUNT: u64 = 20;
/// How long the request in flight may take to end after Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);
/// How long the removal of objects may then take to end.
const LEAVE: Duration = Duration::from_secs(1);
/// A request of this age is told of where no line can be rewritten, and again.
const OUTSTANDING: Duration = Duration::from_secs(5);
const OUTSTANDING_AGAIN: Duration = Duration::from_secs(10);
/// How often it is looked whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Show the latency of a storage, request by request.
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
    #[arg(short, long, default_value = "4k", value_parser = parse_size)]
    size: u64,
    /// Only this much of the target is accessed; in a directory the size of
    /// the test file. Default: 64 MiB in a directory, else all of it.
    #[arg(short = 'S', long, value_parser = parse_size)]
    working_set: Option<u64>,
    /// Stop after this time; a bare number is seconds.
    #[arg(short = 'w', long = "wait", value_name = "DEADLINE", value_parser = parse_time)]
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
    /// One JSON object a line (schema fathom.ping/1) and nothing else on
    /// standard output.
    #[arg(long)]
    json: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(flatten)]
    reached: StoreFlags,
}

/// Where requests and the end are shown.
enum Shown {
    Lines(Lines),
    Json(Json),
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
    let described = described::describe(&job.target);
    let color = present::use_color(ping.color, &std::io::stdout());
    let shown = match ping.json {
        true => Shown::Json(Json::new(&described)),
        false => Shown::Lines(Lines::new(&described, ping.quiet, color)),
    };
    let bucket = matches!(job.target, Target::Bucket(_)).then(|| job.target.to_string());
    let missing = is_missing(&job.target);
    let target = job.target.to_string();
    let server = Server::start(job, pace)?;
    let mut session = Session {
        bucket,
        shown,
        tally: Tally::new(warmup, ping.interval),
        facts: None,
        interrupted: false,
        outstanding: None,
        target,
    };
    let ended = session.follow(&server, &interrupt, ping.wait);
    if ended.is_err() {
        // Nobody can be shown anything; what was made is removed all the same.
        server.stop();
        session.leave(&server, GRACE);
    }
    ended.map(|exit| match exit {
        Exit::Failure if missing => Exit::Usage,
        exit => exit,
    })
}

/// A ping under way.
struct Session {
    /// Where objects are made.
    bucket: Option<String>,
    shown: Shown,
    tally: Tally,
    facts: Option<OneByOneFacts>,
    interrupted: bool,
    /// The request of which was told that it is outstanding, and when.
    outstanding: Option<(u64, Instant)>,
    target: String,
}

impl Session {
    /// Shows what the server tells until it, the user or the deadline ends it.
    fn follow(
        &mut self,
        server: &Server,
        interrupt: &Interrupt,
        deadline_ns: Option<u64>,
    ) -> anyhow::Result<Exit> {
        let deadline = deadline_ns.and_then(|ns| {
            let simulated = matches!(&self.shown, Shown::Lines(l) if l.simulated());
            (!simulated).then(|| Duration::from_nanos(ns) + GRACE)
        });
        let mut opened: Option<Instant> = None;
        let mut stop_at: Option<Instant> = None;
        loop {
            match server.next(LOOK) {
                Some(News::Opened(facts)) => {
                    opened = Some(Instant::now());
                    self.opened(facts)?;
                }
                Some(News::Ended(single, said)) => {
                    self.ended(&single)?;
                    if let Some(said) = said {
                        present::complain(&said);
                    }
                }
                Some(News::Failed(problem)) => {
                    self.clear();
                    present::complain(&problem);
                    if self.facts.is_some() {
                        self.finish()?;
                    }
                    return Ok(Exit::Failure);
                }
                Some(News::Done) => break,
                None => self.waiting(server),
            }
            if stop_at.is_none() && (interrupt.is_raised() || present::reader_is_gone()) {
                self.interrupted = interrupt.is_raised();
                server.stop();
                stop_at = Some(Instant::now() + GRACE);
            }
            let late = |from: Instant| deadline.is_some_and(|most| from.elapsed() > most);
            let hung = stop_at.is_some_and(|at| Instant::now() > at);
            if hung || interrupt.wishes() > 1 || opened.is_some_and(late) {
                self.tally.unanswered(server.in_flight());
                if self.bucket.is_some() {
                    self.clear();
                    self.leave(server, LEAVE);
                }
                break;
            }
        }
        self.finish()
    }

    /// Waits a moment longer for the removal of what was made, and says what is
    /// not removed.
    fn leave(&self, server: &Server, patience: Duration) {
        server.stop();
        let until = Instant::now() + patience;
        while Instant::now() < until {
            match server.next(LOOK) {
                Some(News::Failed(problem)) => return present::complain(&problem),
                Some(News::Done) => return,
                _ => {}
            }
            server.leave();
        }
        if let Some(bucket) = &self.bucket {
            present::complain(&format!(
                "the store did not answer in time: objects that were made may still be there; \
                 `fathom clean {bucket} --yes`, with the same --endpoint, removes them"
            ));
        }
    }

    fn opened(&mut self, facts: OneByOneFacts) -> anyhow::Result<()> {
        match &mut self.shown {
            Shown::Lines(lines) => lines.opened(&facts),
            Shown::Json(json) => json.opened(&facts)?,
        }
        self.facts = Some(facts);
        Ok(())
    }

    fn ended(&mut self, single: &fathom_engine::Single) -> anyhow::Result<()> {
        let told = self.tally.add(single);
        match &mut self.shown {
            Shown::Lines(lines) => lines.request(single, &told),
            Shown::Json(json) => json.request(single, &told),
        }
    }

    fn waiting(&mut self, server: &Server) {
        let Some((number, since)) = server.in_flight() else {
            return;
        };
        match &mut self.shown {
            Shown::Lines(lines) if lines.on_terminal() => lines.waiting(number, since),
            _ => self.outstanding(number, since),
        }
    }

    /// Says of a request that does not come back what other loads say of theirs.
    fn outstanding(&mut self, number: u64, since: Duration) {
        let told = self.outstanding.filter(|(told, _)| *told == number);
        let due = told.is_none_or(|(_, at)| at.elapsed() >= OUTSTANDING_AGAIN);
        if since >= OUTSTANDING && due {
            self.outstanding = Some((number, Instant::now()));
            let (seconds, target) = (since.as_secs(), &self.target);
            present::write_stderr(&format!(
                "1 operation outstanding for {seconds} s on {target}\n"
            ));
        }
    }

    fn clear(&mut self) {
        if let Shown::Lines(lines) = &mut self.shown {
            lines.clear();
        }
    }

    fn finish(&mut self) -> anyhow::Result<Exit> {
        let Some(facts) = &self.facts else {
            return Ok(Exit::Interrupted);
        };
        match &mut self.shown {
            Shown::Lines(lines) => lines.summary(&self.tally, facts)?,
            Shown::Json(json) => json.summary(&self.tally)?,
        }
        Ok(match self.tally.shown() {
            0 if self.interrupted => Exit::Interrupted,
            _ if self.tally.failures() > 0 || self.tally.unanswered_request().is_some() => {
                Exit::Failure
            }
            _ => Exit::Success,
        })
    }
}

/// What the requests are made of.
fn job(ping: &Ping) -> Result<Job, CommandError> {
    let target = parse_target(&ping.target)?;
    if ping.size == 0 || ping.size > 1 << 30 {
        let problem = "a request has 1 byte to 1 GiB: give another --size";
        return Err(CommandError::usage(problem));
    }
    match &target {
        Target::Bucket(_) => return one::job_on_bucket(ping, target),
        Target::Peer(_) => return host::job(ping, target),
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
                let whole = ping.working_set.unwrap_or_else(|| file_bytes(&target));
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

fn parse_target(text: &str) -> Result<Target, String> {
    if let Some(address) = text.strip_prefix("tcp://") {
        return host::target(address);
    }
    if text.contains("://") && !text.starts_with("s3://") {
        return Err(format!(
            "'{text}' cannot be pinged; name a directory, a file, a device, \
             s3://BUCKET/PREFIX, tcp://HOST:PORT, null: or sim:MODEL"
        ));
    }
    let target: Target = text.parse().map_err(|error| format!("{error}"))?;
    let found = |path| fathom_deadline::paths::find(path).map_err(|silent| silent.to_string());
    match target.path().filter(|_| !text.contains('/')) {
        Some(path) if found(path)?.is_none() => Err(format!(
            "'{text}' is no directory, file or device here; a host is pinged at a port, as in \
             tcp://{text}:22"
        )),
        _ => Ok(target),
    }
}

fn is_stream(path: &Path) -> bool {
    let facts = fathom_deadline::paths::metadata(path);
    facts.is_ok_and(|facts| facts.file_type().is_char_device())
}

fn file_bytes(target: &Target) -> u64 {
    let free = target.path().and_then(surroundings::free_bytes);
    free.map_or(FILE_BYTES, |free| FILE_BYTES.min(free / FREE_SHARE))
}

fn parse_size(text: &str) -> Result<u64, String> {
    unit::parse_bytes(text).map_err(|error| error.to_string())
}

fn parse_count(text: &str) -> Result<u64, String> {
    match unit::parse_count(text) {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}

/// A time; a bare number is seconds.
fn parse_time(text: &str) -> Result<u64, String> {
    let seconds = text.trim().parse::<f64>();
    match seconds {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok((seconds * 1e9).round() as u64),
        _ => unit::parse_duration(text).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_times_are_seconds() {
        assert_eq!(parse_time("0.2"), Ok(200_000_000));
        assert_eq!(parse_time("1"), Ok(1_000_000_000));
        assert_eq!(parse_time("250ms"), Ok(250_000_000));
        for wrong in ["", "-1", "nan", "inf", "1e300", "soon"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_target_is_told_with_one_that_is() {
        for wrong in ["http://host:80", "storage.example.com"] {
            let told = parse_target(wrong).unwrap_err();
            assert!(told.contains("tcp://"), "{told}");
        }
        assert!(parse_target("tcp://storage.example.com:2049").is_ok());
        assert!(parse_target("sim:hdd").is_ok());
        assert!(parse_target("/data").is_ok());
        assert!(parse_target("s3://bucket").is_ok());
    }
}
