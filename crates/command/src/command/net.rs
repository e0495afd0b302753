//! `fathom net`: the network between hosts.

mod agents;
mod load;
mod matrix;
mod serve;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, Subcommand, ValueEnum};
use fathom_analysis::network::{NetworkReport, judge_network};
use fathom_fleet::network::{
    LoadControl, NetError, default_plan, measure_pair, resolve, single_plan,
};
use fathom_model::network::PairReport;
use fathom_model::pair_trials::pair_run;
use fathom_report::network as pages;
use fathom_runs::network::{self, Keeper};

use crate::command::hosts::HostArgs;
use crate::exit::{self, CommandError, Exit};
use crate::output_flags::StorePath;
use crate::shown::{AlsoPage, DocumentFormat, Shown};
use crate::whole_seconds::whole_seconds;
use crate::{present, signals};

/// Measure the network between hosts.
///
/// Start `fathom net serve` on the other hosts. With one HOST everything
/// between this host and that one is measured: connect time, round trips
/// without and beside load, packet sizes (jumbo frames), one stream each way
/// and both, several streams, storage-shaped requests, segments sent again,
/// CPU time; and what sets the rate is named. With several HOSTs (each runs
/// `serve`; this host only drives) all pairs are measured: each alone, all at
/// once, all to one, one to all; and links and hosts that stand out are named.
///
/// Rates are payload that arrived, in bits per second.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  fathom net serve                   On the other host; Ctrl-C ends it
  fathom net node2                   Everything between here and node2
  fathom net node2 -t 10 -P 4 -R     Only this: 4 streams from node2, 10 s
  fathom net node2 -u -b 1G          Datagrams at 1 Gbit/s
  fathom net node2 -P 8 --format iperf3 > iperf.json
  fathom net node1 node2 node3 node4 --html net.html
                                     All pairs of four hosts
  fathom net --hosts 'node[1-4]'     The same; ssh starts what serves there
  fathom runs show latest            The last result once more

TCP and UDP of port 5299 must pass the firewalls.")]
pub(crate) struct Net {
    #[command(subcommand)]
    command: Option<NetCommand>,
    /// Hosts that run `fathom net serve`: a name or an address, with a port where it is not 5299.
    #[arg(value_name = "HOST", conflicts_with_all = ["hosts", "hosts_file"])]
    servers: Vec<String>,
    /// How long each load is measured, after one second of warm-up.
    #[arg(long = "for", short = 't', aliases = ["seconds", "runtime"], value_name = "TIME")]
    #[arg(default_value = "4s")]
    #[arg(value_parser = whole_seconds(1, 3600))]
    seconds: u32,
    #[command(flatten)]
    agents: HostArgs,
    #[command(flatten)]
    store: StorePath,
    #[command(flatten)]
    load: load::LoadFlags,
    #[command(flatten)]
    matrix: matrix::MatrixFlags,
    #[command(flatten)]
    shown: Shown<NetFormat>,
    #[command(flatten)]
    page: AlsoPage,
}

/// What to do instead of measuring.
#[derive(Debug, Subcommand)]
enum NetCommand {
    Serve(serve::Serve),
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum NetFormat {
    /// For people.
    #[default]
    Text,
    /// The whole report.
    Json,
    /// As `iperf3 -J` would say it; of a single load between two hosts.
    Iperf3,
    /// A page.
    Html,
}

impl DocumentFormat for NetFormat {
    const JSON: NetFormat = NetFormat::Json;
}

pub(crate) fn run(net: Net) -> anyhow::Result<Exit> {
    if let Some(NetCommand::Serve(serve)) = &net.command {
        return serve::run(serve);
    }
    net.shown.admit()?;
    net.page.admit()?;
    let format = net.shown.format();
    if net.agents.are_given() {
        return agents::run(&net, format);
    }
    let mut hosts = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    for host in &net.servers {
        // An address of IPv6 begins with its bracket.
        if host.find('[').is_some_and(|at| at > 0) {
            let problem = format!(
                "'{host}' is a list, and HOST is one host\nhelp: fathom net --hosts '{host}'"
            );
            return Err(CommandError::Usage(problem).into());
        }
        match resolve(host) {
            Ok(address) => hosts.push((host.clone(), address)),
            Err(error @ NetError::Port { .. }) => return Err(CommandError::usage(error).into()),
            Err(error) => unknown.push(error.to_string()),
        }
    }
    if !unknown.is_empty() {
        unknown.iter().for_each(|problem| exit::fail(problem));
        return Ok(Exit::Failure);
    }
    match hosts.as_slice() {
        [] => Err(CommandError::usage("name a host that runs `fathom net serve`").into()),
        [(_, address)] => pair(&net, *address, format),
        _ if format == NetFormat::Iperf3 => {
            let problem = "iperf3 has no form for more than two hosts; name one host";
            Err(CommandError::usage(problem).into())
        }
        _ => matrix::run(&net, &hosts, format),
    }
}

/// Loads that Ctrl-C ends; what does not respond is told of.
fn load_control(quiet: bool) -> anyhow::Result<LoadControl> {
    Ok(LoadControl {
        stop: signals::stop_on_signals()?,
        allowance: None,
        waiting: (!quiet).then_some(tell_of_silence),
    })
}

/// On a line of its own, also where one about the progress stands.
fn tell_of_silence(text: &str) {
    Progress::new(false).clear();
    present::complain(text);
}

/// Says what is done next, on a line of its own that the next one replaces.
struct Progress {
    shown: bool,
}

impl Progress {
    fn new(quiet: bool) -> Progress {
        use std::io::IsTerminal;
        Progress {
            shown: !quiet && std::io::stderr().is_terminal(),
        }
    }

    fn tell(&self, what: &str) {
        if self.shown {
            present::rewrite_line(&format!("{what} …"));
        }
    }
}

impl Progress {
    fn clear(&self) {
        if self.shown {
            present::rewrite_line("");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn pair(net: &Net, address: SocketAddr, format: NetFormat) -> anyhow::Result<Exit> {
    let single = net.load.is_asked() || format == NetFormat::Iperf3;
    let plan = match single {
        true => single_plan(net.load.spec(net.seconds), format == NetFormat::Iperf3),
        false => default_plan(net.seconds, 4),
    };
    for load in &plan.loads {
        load.spec.check().map_err(CommandError::usage)?;
    }
    let load_control = load_control(net.shown.is_quiet())?;
    let meta = network::meta("net")?;
    let progress = Progress::new(net.shown.is_quiet());
    let measured = measure_pair(address, &plan, 0, &load_control, &mut |what| {
        progress.tell(what);
    });
    drop(progress);
    let run = match measured {
        Ok(measured) => pair_run(meta, &measured),
        Err(error) => return Ok(fail(&error, &load_control.stop)),
    };
    let mut keeper = Keeper::new(&net.store, run.meta);
    keeper.add(run.trials);
    let record = keeper.finish(&load_control.stop);
    let Some(NetworkReport::Pair(report)) = judge_network(&record) else {
        anyhow::bail!("nothing was measured");
    };
    net.shown.write(&page(net, &report, format)?)?;
    net.page.write(|| pages::pair_html(&report))?;
    let failed = report.loads.iter().any(|load| load.error.is_some());
    Ok(exit_of(failed, &load_control.stop))
}

fn page(net: &Net, report: &PairReport, format: NetFormat) -> anyhow::Result<String> {
    Ok(match (format, report.loads.first()) {
        (NetFormat::Json, _) => pages::json(report)?,
        (NetFormat::Iperf3, Some(load)) => fathom_compat::iperf3::iperf3_json(report, load)?,
        (NetFormat::Html, _) => pages::pair_html(report)?,
        _ => pages::pair_text(report, net.shown.columns()),
    })
}

fn exit_of(failed: bool, stop: &AtomicBool) -> Exit {
    match (stop.load(Ordering::Relaxed), failed) {
        (true, _) => {
            present::complain("interrupted; this is what was measured until then");
            Exit::Interrupted
        }
        (false, true) => Exit::Failure,
        (false, false) => Exit::Success,
    }
}

fn fail(error: &NetError, stop: &AtomicBool) -> Exit {
    if stop.load(Ordering::Relaxed) {
        return Exit::Interrupted;
    }
    exit::fail(&error.to_string());
    Exit::Failure
}
