//! `fathom diagnose`: is the storage the bottleneck, yes or no.

mod calibrate;
mod causal;
mod live;
mod measured;
mod origin;

use std::path::PathBuf;

use clap::Args;
use fathom_diagnose::recording::Recording;
use fathom_diagnose::{Ceiling, GroupWords, anonymised, diagnose, no_test_load};
use fathom_documents as documents;
use fathom_model::cluster::ClusterLook;
use fathom_model::unit;
use fathom_report::diagnosis::{self, Source};
use fathom_studies::causal::with_causal;

use crate::document_formats::document_formats;
use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::shown::{AlsoPage, Shown};

/// Is storage the bottleneck? Yes, no or not proven.
///
/// Without files it watches this host for a while and answers. With files it
/// reads what `fathom record` or other tools recorded on the host that is slow:
/// iostat (text, or JSON with `-x -t -o JSON`), sar, `sadf -j`, vmstat, and the
/// first lines of `top -b` or uptime.
///
/// The first recording with devices is of the real load; a
/// second one, of another time, is of a test load on the same volume, and what
/// it reached is what the volume can give, if it asked for more than the load.
/// Recordings without devices, and one of the same time, are joined to the first.
///
/// YES needs a device that is proved to be at its end and work that waited for
/// it; NO needs room that is proved, or something else that is proved to be
/// short. `%util` proves neither; a low one can only take a proof away.
///
/// Dumps of storage clusters are judged by rules of their own (docs/reference/clusters.md):
/// a volume profile of Gluster, or `ceph status`, `ceph health detail`, `ceph osd
/// perf`, `ceph osd df` (with `-f json`), `dump_historic_ops` and `perf dump`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom diagnose --for 1m                         This host, now
  fathom record --for 10m --output slow.frec       On the host that is slow
  fathom diagnose slow.frec
  fathom diagnose /var/lib/fathom                  All parts of a recording
  iostat -x -t -o JSON 10 60 > iostat-1.json       Under the real load
  fathom diagnose iostat-1.json
  fathom diagnose iostat-1.json iostat-2.json      With a second one, under a
                                                   test load
  fathom diagnose iostat-1.json uptime.txt --ceiling-iops 1000
                                                   With the limit of the volume
  fathom io /data --rw randrw --rwmixread 70 --bs 16k --iodepth 16 --runtime 1m
  fathom diagnose --ceiling latest                 With what a run of it reached
  fathom diagnose slow.frec --calibrate            Measure what the volume gives,
                                                   with the mix of the load
  fathom diagnose slow.frec --ceiling calibration  With the last such measurement
  fathom diagnose --for 1m --ceiling calibration --causal --pid 4711
                                                   And a test: is the application
                                                   slower on a smaller volume?
  sadf -j /var/log/sysstat/sa21 -- -A > day.json
  fathom diagnose day.json --html diagnosis.html
  sar -A -f /var/log/sysstat/sa21 > day.txt && fathom diagnose day.txt
  ceph osd perf -f json > perf.json && fathom diagnose perf.json
  gluster volume profile vol1 info > profile.txt && fathom diagnose profile.txt")]
pub(crate) struct Diagnose {
    /// Recordings; `-` reads standard input. A folder stands for all recordings of
    /// fathom in it, and parts of one recording are joined. Without any, this host
    /// is watched.
    #[arg(value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,
    /// How long this host is watched.
    #[arg(
        long = "for",
        aliases = ["seconds", "runtime"],
        value_name = "TIME",
        default_value = "30s",
        conflicts_with = "files"
    )]
    #[arg(value_parser = live::duration)]
    for_ns: u64,
    /// Reads and writes per second that the volume can give: its limit, or what
    /// a benchmark of it reached.
    #[arg(long, value_name = "NUMBER", value_parser = iops)]
    ceiling_iops: Option<f64>,
    /// What the volume gave when it was measured: a stored run (its id, the
    /// start of one, `latest`, or `calibration` for the last one by
    /// `--calibrate`), or a result of fathom or fio in JSON. Of its workloads
    /// the one most like the load is taken.
    #[arg(long, value_name = "RUN|FILE", conflicts_with = "ceiling_iops")]
    ceiling: Option<String>,
    #[command(flatten)]
    calibration: calibrate::CalibrateArgs,
    #[command(flatten)]
    causal: causal::CausalArgs,
    #[command(flatten)]
    store: StorePath,
    /// Only this device (by default the one with the longest queue is judged).
    #[arg(long, value_name = "NAME")]
    disk: Option<String>,
    /// Logical CPUs of the host, where no recording tells.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    cpus: Option<u32>,
    /// Major version of Gluster; needed for its profiles as XML.
    #[arg(long, value_name = "MAJOR")]
    gluster_version: Option<u32>,
    /// Leave out the names of the host, of recordings, network mounts and control
    /// groups, and IP addresses; of a cluster also those of hosts, bricks, pools and
    /// objects. Names of devices and processes, and times, stay.
    #[arg(long, visible_alias = "anonymize")]
    anonymise: bool,
    #[command(flatten)]
    shown: Shown<Format>,
    #[command(flatten)]
    page: AlsoPage,
}

document_formats!(
    Format: "One document",
    /// One page, for the ticket.
    Html
);

fn iops(text: &str) -> Result<f64, String> {
    match unit::parse_count(text) {
        Ok(0) => Err("a volume gives more than 0 operations per second".to_owned()),
        Ok(count) => Ok(count as f64),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: &Diagnose) -> anyhow::Result<Exit> {
    calibrate::may_measure(args)?;
    args.shown.admit()?;
    args.page.admit()?;
    let measured = measured::named(args)?;
    causal::may_test(args)?;
    if args.files.is_empty() {
        return of_this_host(args, measured);
    }
    let dumps = documents::cluster_of(&args.files, args.gluster_version, args.anonymise);
    match dumps.map_err(CommandError::from)? {
        None => {}
        Some(_) if args.calibration.calibrate.is_some() || args.causal.is_asked_for() => {
            let problem = "--calibrate and --causal hold a load of this host against its volume; \
                           a dump of a cluster has none";
            return Err(CommandError::usage(problem).into());
        }
        Some(look) => return print_cluster(args, &look),
    }
    let recordings = documents::recordings(&args.files, args.anonymise);
    let sorted = recordings.and_then(documents::load_and_test);
    let (load, test) = sorted.map_err(CommandError::from)?;
    let name = test.as_ref().map(|(name, _)| name.as_str());
    let source = origin::source(&args.files, name, args.anonymise);
    let test = test.as_ref().map(|(_, test)| test);
    answer(args, measured, load, test, source)
}

fn of_this_host(args: &Diagnose, measured: Option<Vec<Ceiling>>) -> anyhow::Result<Exit> {
    let (load, was_interrupted) = live::record(args.for_ns, args.shown.is_quiet(), |names| {
        has_disk(args, names)
    })?;
    let answered = answer(args, measured, load, None, Source::ThisHost)?;
    match (answered, was_interrupted) {
        (Exit::Success, true) => Ok(Exit::Interrupted),
        (exit, _) => Ok(exit),
    }
}

fn answer(
    args: &Diagnose,
    measured: Option<Vec<Ceiling>>,
    load: Recording,
    test: Option<&Recording>,
    source: Source,
) -> anyhow::Result<Exit> {
    let load = only(load, args)?;
    let no_test = test.and_then(|test| no_test_load(&load, test));
    let test = test.filter(|_| no_test.is_none());
    let measured = measured.and_then(|measured| documents::nearest(measured, &load));
    let calibrated = calibrate::measure(args, &load)?;
    let measured = calibrated.ceiling().or(measured);
    let mut load = causal::without_limits_of_others(args, load);
    let groups = args.anonymise.then(|| GroupWords::put_into(&mut load));
    let mut found = diagnose(&load, |disk| ceiling(args, test, measured.as_ref(), disk));
    found.remarks.extend(no_test);
    found.remarks.extend(calibrated.remarks);
    found.calibration = calibrated.calibration;
    let mut exit = calibrated.exit;
    match causal::test(args, &load, &found)? {
        None => {}
        Some(Ok(test)) => found = with_causal(found, test),
        Some(Err(why)) => {
            exit = causal::exit_without(&why);
            found.remarks.push(why.to_string());
        }
    }
    let origin = origin::of(&load, args.anonymise, source);
    let found = match groups {
        Some(groups) => anonymised(found, &load, groups),
        None => found,
    };
    let text = match args.shown.format() {
        Format::Json => diagnosis::json(&found)?,
        Format::Markdown => diagnosis::markdown(&found, &origin.source),
        Format::Html => diagnosis::html(&found, &origin)?,
        Format::Text => {
            let (columns, colored) = (args.shown.columns(), args.shown.is_colored());
            diagnosis::text(&found, &origin.source, columns, colored)
        }
    };
    args.shown.write(&text)?;
    args.page.write(|| diagnosis::html(&found, &origin))?;
    Ok(exit)
}

fn print_cluster(args: &Diagnose, look: &ClusterLook) -> anyhow::Result<Exit> {
    use fathom_report::cluster;
    let text = match args.shown.format() {
        Format::Json => cluster::json(look)?,
        Format::Html => cluster::html(look)?,
        Format::Markdown => cluster::markdown(look),
        Format::Text => cluster::text(look, args.shown.columns()),
    };
    args.shown.write(&text)?;
    args.page.write(|| cluster::html(look))?;
    Ok(Exit::Success)
}

/// The recording of one device, and what the user knows of the host.
fn only(mut load: Recording, args: &Diagnose) -> Result<Recording, CommandError> {
    load.host.cpus = args.cpus.or(load.host.cpus);
    let Some(wanted) = wanted_disk(args) else {
        return Ok(load);
    };
    let disks = load.moments.iter().flat_map(|moment| &moment.disks);
    has_disk(args, disks.map(|disk| disk.name.as_str()).collect())?;
    for moment in &mut load.moments {
        moment.disks.retain(|disk| disk.name == wanted);
    }
    Ok(load)
}

fn wanted_disk(args: &Diagnose) -> Option<&str> {
    let wanted = args.disk.as_deref()?;
    Some(wanted.strip_prefix("/dev/").unwrap_or(wanted))
}

/// Whether the device that is asked for is one of these.
fn has_disk(args: &Diagnose, mut names: Vec<&str>) -> Result<(), CommandError> {
    let Some(wanted) = wanted_disk(args) else {
        return Ok(());
    };
    names.sort_unstable();
    names.dedup();
    if names.contains(&wanted) {
        return Ok(());
    }
    let place = match args.files.is_empty() {
        true => "this host",
        false => "the recording",
    };
    Err(CommandError::usage(format!(
        "--disk {wanted}: {place} has {}",
        match names.is_empty() {
            true => "no devices".to_owned(),
            false => names.join(", "),
        }
    )))
}

fn ceiling(
    args: &Diagnose,
    test: Option<&Recording>,
    measured: Option<&Ceiling>,
    disk: &str,
) -> Option<Ceiling> {
    if let Some(operations) = args.ceiling_iops {
        return Some(Ceiling::given(operations));
    }
    match measured {
        Some(measured) => Some(measured.clone()),
        None => Ceiling::of_test(test?, disk),
    }
}
