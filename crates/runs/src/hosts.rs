//! `--hosts`: a command that measures, on many hosts at the same time.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Context;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use fathom_deadline::paths::read_text_soon;
use fathom_fleet::{
    Fleet, Gathering, GatheringProgress, HostListError, HostName, Interrupt, Kubectl, LAUNCHERS,
    LaunchRequest, Launcher, LauncherKind, POD_LAUNCHER, Pod, Unreachable, agent_arguments,
};
use fathom_model::Schedule;

use crate::error::{EndedByUser, RequestError};
use crate::site::SiteArgs;
use crate::{present, signals};

/// Where keys of a fleet are, instead of the user's configuration directory.
const KEYS_VARIABLE: &str = "FATHOM_FLEET";

/// So many of the hosts that are awaited are named.
const AWAITED_SHOWN: usize = 4;

/// Of a host without a port, whose address is looked up.
const SSH_PORT: u16 = 22;

/// A list of hosts is shorter.
const HOSTS_FILE_BYTES_MAX: u64 = 1 << 20;

/// Which hosts carry the load.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Hosts")]
pub struct HostArgs {
    /// Run on these hosts at the same time: h1,h2 or node[01-84].
    #[arg(long, value_name = "LIST")]
    hosts: Option<HostList>,
    /// The same from a file with one host to a line; # begins a comment.
    #[arg(long, value_name = "FILE", conflicts_with = "hosts")]
    hosts_file: Option<PathBuf>,
    /// How agents are started there.
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    launcher: LauncherChoice,
    /// Go on when up to this many hosts cannot be used, fail or get lost.
    #[arg(long, default_value_t = 0, value_name = "N")]
    allow_missing: usize,
    /// Keys of the fleet (static). Default: $FATHOM_FLEET or
    /// ~/.config/fathom/fleet.
    #[arg(long, value_name = "DIR")]
    fleet: Option<PathBuf>,
    /// The binary for the hosts, where they have another architecture (ssh and
    /// slurm copy it, mpi finds it there). Default: this one.
    #[arg(long, value_name = "FILE")]
    agent_binary: Option<PathBuf>,
    #[command(flatten)]
    site: SiteArgs,
    /// Pods in which agents are started, and how they are reached.
    #[arg(skip)]
    pods: (Vec<Pod>, Kubectl),
}

/// A list of hosts as it is typed.
#[derive(Debug, Clone)]
pub struct HostList(pub Vec<HostName>);

impl FromStr for HostList {
    type Err = HostListError;

    fn from_str(text: &str) -> Result<HostList, HostListError> {
        fathom_fleet::parse_hosts(text).map(HostList)
    }
}

/// One of the launchers, as it is chosen.
#[derive(Debug, Clone, Copy)]
struct LauncherChoice(&'static LauncherKind);

impl Default for LauncherChoice {
    fn default() -> LauncherChoice {
        LauncherChoice(LAUNCHERS[0])
    }
}

impl ValueEnum for LauncherChoice {
    fn value_variants<'a>() -> &'a [LauncherChoice] {
        static ALL: LazyLock<Vec<LauncherChoice>> =
            LazyLock::new(|| LAUNCHERS.map(LauncherChoice).to_vec());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.about))
    }
}

impl HostArgs {
    /// These hosts, over ssh.
    pub fn over_ssh(hosts: HostList) -> HostArgs {
        HostArgs {
            hosts: Some(hosts),
            ..HostArgs::default()
        }
    }

    /// The nodes of pods that run already, with their agents in these.
    ///
    /// # Errors
    /// A node that no host can be called after, or that has two of the pods.
    pub fn in_pods(pods: Vec<Pod>, kubectl: Kubectl) -> Result<HostArgs, HostListError> {
        let nodes: Vec<&str> = pods.iter().map(|pod| pod.node.as_str()).collect();
        let hosts = fathom_fleet::parse_hosts(&nodes.join(","))?;
        Ok(HostArgs {
            launcher: LauncherChoice(&POD_LAUNCHER),
            pods: (pods, kubectl),
            ..HostArgs::default().with(hosts)
        })
    }

    /// Whether other hosts carry the load.
    pub fn are_given(&self) -> bool {
        self.hosts.is_some() || self.hosts_file.is_some() || self.launcher.0.knows_hosts()
    }

    /// Hosts as the command line of another tool names them. `launcher` is a
    /// value of `--launcher`.
    ///
    /// # Errors
    /// When there is no such launcher.
    pub fn named(
        hosts: Vec<HostName>,
        launcher: Option<&str>,
        fleet: Option<PathBuf>,
        allow_missing: usize,
    ) -> Result<HostArgs, RequestError> {
        let launcher = match launcher {
            Some(name) => <LauncherChoice as ValueEnum>::from_str(name, true)
                .map_err(|_| RequestError::UnknownLauncher(name.to_owned()))?,
            None => LauncherChoice::default(),
        };
        Ok(HostArgs {
            launcher,
            fleet,
            allow_missing,
            ..HostArgs::default().with(hosts)
        })
    }

    /// These hosts instead.
    pub fn with(self, hosts: Vec<HostName>) -> HostArgs {
        HostArgs {
            hosts: Some(HostList(hosts)),
            hosts_file: None,
            ..self
        }
    }

    /// Whether agents are started for the purpose, and may touch what a plan
    /// names.
    pub fn start_agents(&self) -> bool {
        self.launcher.0.starts_agents
    }

    /// The same, content with whoever answers.
    pub fn tolerant(&self) -> HostArgs {
        HostArgs {
            allow_missing: usize::MAX,
            ..self.clone()
        }
    }

    /// Brings the hosts of a schedule to life.
    ///
    /// # Errors
    /// What is wrong with the list, or all hosts that cannot be used.
    pub fn gather(&self, schedule: &Schedule) -> anyhow::Result<Fleet> {
        let hosts = self.list()?;
        check_targets(schedule)?;
        // From here on something may have been started that must be ended.
        let interrupt = Interrupt::new();
        signals::raise_on_signals(&interrupt)?;
        let launcher = self.launcher(schedule, &hosts)?;
        let asked = AtomicBool::new(false);
        let gathering = Gathering {
            allow_missing: self.allow_missing,
            interrupt: &interrupt,
            tell: &|awaited| {
                present::write_stderr(&still_awaited(awaited));
                if !asked.swap(true, Relaxed) {
                    complain_of_the_name_service(&hosts, awaited);
                }
            },
        };
        let fleet = Fleet::gather_watched(&hosts, &launcher, &gathering);
        match fleet {
            Err(_) if interrupt.is_raised() => {
                Err(EndedByUser("ended before all hosts were there".to_owned()).into())
            }
            fleet => fleet.map_err(|unreachable| self.advise(unreachable)),
        }
    }

    /// The hosts, and what brings their agents to life for something else than
    /// a schedule.
    ///
    /// # Errors
    /// What is wrong with the list or the launcher.
    pub fn for_errand(&self) -> anyhow::Result<(Vec<HostName>, Launcher)> {
        let hosts = self.list()?;
        let nothing = Schedule::nothing("errand");
        let launcher = self.launcher(&nothing, &hosts)?;
        Ok((hosts, launcher))
    }

    /// How many hosts are named; 1 without any.
    ///
    /// # Errors
    /// What is wrong with the list.
    pub fn count(&self) -> anyhow::Result<u64> {
        match self.are_given() {
            true => Ok(self.list()?.len().max(1) as u64),
            false => Ok(1),
        }
    }

    fn list(&self) -> anyhow::Result<Vec<HostName>> {
        match (&self.hosts, &self.hosts_file) {
            (Some(list), _) => Ok(list.0.clone()),
            (None, Some(file)) => {
                let hosts = fathom_fleet::parse_hosts_file(&read(file)?);
                hosts.map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))
            }
            (None, None) => Ok(self.launcher.0.default_hosts()?),
        }
    }

    fn launcher(&self, schedule: &Schedule, hosts: &[HostName]) -> anyhow::Result<Launcher> {
        let kind = self.launcher.0;
        let mut request = LaunchRequest {
            hosts: hosts.to_vec(),
            agent_binary: self.agent_binary.clone(),
            pods: self.pods.0.clone(),
            kubectl: self.pods.1.clone(),
            ..self.site.request()
        };
        if kind.starts_agents {
            request.arguments = agent_arguments(schedule)?;
        } else {
            request.keys = fleet_directory(self.fleet.as_deref())?;
        }
        Ok(kind.start(&request)?)
    }

    fn advise(&self, unreachable: Unreachable) -> anyhow::Error {
        let hint = match self.allow_missing {
            0 => "\n  to go on without them: --allow-missing N",
            _ => "",
        };
        anyhow::anyhow!("{unreachable}{hint}")
    }
}

/// A relative path would mean another place on each host.
fn check_targets(schedule: &Schedule) -> anyhow::Result<()> {
    let mut paths = schedule.trials.iter().filter_map(|spec| spec.target.path());
    if let Some(path) = paths.find(|path| !path.is_absolute()) {
        anyhow::bail!(
            "the target {} must be an absolute path, because it is looked for on other hosts",
            path.display()
        );
    }
    Ok(())
}

/// Who has not come yet, in a line.
fn still_awaited(awaited: &GatheringProgress) -> String {
    let shown: Vec<&str> = awaited.waiting.iter().map(String::as_str).collect();
    let (first, others) = shown.split_at(shown.len().min(AWAITED_SHOWN));
    let others = match others.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!(
        "{} of {} hosts are there; waiting for {}{others}\n",
        awaited.settled,
        awaited.of,
        first.join(", ")
    )
}

/// Says so when the name service does not answer for a host that is awaited. A
/// name that it does not know is not reported, since the launcher may know it.
fn complain_of_the_name_service(hosts: &[HostName], awaited: &GatheringProgress) {
    let is_awaited = |host: &&HostName| awaited.waiting.contains(&host.to_string());
    let Some(host) = hosts.iter().find(is_awaited) else {
        return;
    };
    let name = host.name.rsplit('@').next().unwrap_or_default();
    if let Err(error) = fathom_deadline::host_addresses(name, host.port.unwrap_or(SSH_PORT))
        && error.kind() == std::io::ErrorKind::TimedOut
    {
        present::complain(&error.to_string());
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let what = || format!("cannot read the list of hosts {}", file.display());
    read_text_soon(file, HOSTS_FILE_BYTES_MAX).with_context(what)
}

/// Where the keys of a coordinator's fleet are.
pub fn fleet_directory(chosen: Option<&Path>) -> anyhow::Result<PathBuf> {
    match (chosen, variable(KEYS_VARIABLE)) {
        (Some(chosen), _) => Ok(chosen.to_owned()),
        (None, Some(directory)) => Ok(directory),
        (None, None) => Ok(configuration()?.join("fleet")),
    }
}

/// The user's configuration directory of fathom.
pub fn configuration() -> anyhow::Result<PathBuf> {
    let home = variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let home = home.or_else(|| variable("HOME").map(|home| home.join(".config")));
    home.map(|home| home.join("fathom"))
        .context("neither HOME nor XDG_CONFIG_HOME is set")
}

/// The user's directory for what may be lost without harm.
pub fn cache() -> Option<PathBuf> {
    let home = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = home.or_else(|| variable("HOME").map(|home| home.join(".cache")));
    home.map(|home| home.join("fathom"))
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}
