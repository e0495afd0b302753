//! Switches of fio's command line that are no options of jobs, and fathom's
//! own beside them.

use super::value::number::{SECOND_NS, time_ns};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FioAction {
    /// Run the jobs.
    Run,
    /// Only read them (`--parse-only`).
    Parse,
    /// Print the jobs as a command line (`--showcmd`).
    ShowCommand,
    /// Print the schedule (`--plan`).
    Plan,
    /// Print what becomes of every option (`--account`).
    Account,
    /// Print the version.
    Version,
    /// Print how to call.
    Help,
    /// Explain options: all, or one (`--cmdhelp`).
    OptionHelp(Option<String>),
    /// List engines, or the options of one (`--enghelp`).
    EngineHelp(Option<String>),
}

impl FioAction {
    pub(crate) fn needs_jobs(&self) -> bool {
        matches!(
            self,
            FioAction::Run | FioAction::ShowCommand | FioAction::Plan | FioAction::Account
        )
    }
}

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FioFormat {
    /// Text for people.
    Normal,
    /// Lines of fields (`--minimal`).
    Terse,
    /// JSON.
    Json,
    /// JSON with all buckets.
    JsonPlus,
}

/// When progress is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FioEta {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Switches of a whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct FioRun {
    /// Results go to this file instead of standard output.
    pub output: Option<String>,
    /// Formats in the order in which they were asked for.
    pub formats: Vec<FioFormat>,
    /// Version of the terse format.
    pub terse_version: u8,
    /// When progress is shown.
    pub eta: FioEta,
    /// Nothing is written to.
    pub readonly: bool,
    /// Only these sections.
    pub sections: Vec<String>,
    /// At most so many jobs.
    pub max_jobs: Option<u64>,
    /// Logs are made in this directory.
    pub log_directory: Option<String>,
    /// Warnings are errors.
    pub warnings_fatal: bool,
    /// Unknown options are left out.
    pub lenient: bool,
    /// An ignored option is an error, and the verdict sets the exit status.
    pub strict: bool,
    /// Devices and foreign files may be overwritten.
    pub destructive: bool,
    /// Errors only on standard error: neither progress nor a verdict.
    pub quiet: bool,
    /// No verdict and nothing of options that were left out on standard error.
    pub results_only: bool,
    /// The store instead of the usual one.
    pub store: Option<String>,
    /// The HTML report goes here.
    pub html: Option<String>,
    /// Parts that say what they do (`--debug`): `parse` and `random` do.
    pub debug: Option<String>,
    /// Interim results are printed this often.
    pub status_interval_ns: Option<u64>,
    /// Hosts on which the jobs run at the same time (`--client`), or files with
    /// lists of them.
    pub clients: Vec<String>,
    /// How agents are started there: a value of fathom's `--launcher`.
    pub launcher: Option<String>,
    /// Keys of the fleet of agents that run already.
    pub fleet: Option<String>,
    /// Hosts that may be missing.
    pub allow_missing: usize,
    /// Switches that were accepted and have no effect, with the reason.
    pub without_effect: Vec<(&'static str, &'static str)>,
}

impl Default for FioRun {
    fn default() -> FioRun {
        FioRun {
            output: None,
            formats: Vec::new(),
            terse_version: 3,
            eta: FioEta::Auto,
            readonly: false,
            sections: Vec::new(),
            max_jobs: None,
            log_directory: None,
            warnings_fatal: false,
            lenient: false,
            strict: false,
            destructive: false,
            quiet: false,
            results_only: false,
            store: None,
            html: None,
            debug: None,
            status_interval_ns: None,
            clients: Vec::new(),
            launcher: None,
            fleet: None,
            allow_missing: 0,
            without_effect: Vec::new(),
        }
    }
}

/// A switch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    pub(crate) name: &'static str,
    pub(crate) needs_value: bool,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Output,
    Minimal,
    Format,
    AppendTerse,
    TerseVersion,
    Eta,
    ReadOnly,
    Section,
    MaxJobs,
    AuxPath,
    WarningsFatal,
    Lenient,
    Strict,
    Destructive,
    Quiet,
    Store,
    Html,
    Debug,
    StatusInterval,
    Client,
    Launcher,
    Fleet,
    AllowMissing,
    Action(Display),
    /// Accepted; of no effect, and why.
    Without(&'static str),
    /// Not to be had: why, and what to do instead.
    Not(&'static str, &'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Display {
    Parse,
    ShowCommand,
    Plan,
    Account,
    Version,
    Help,
    OptionHelp,
    EngineHelp,
}

const fn with(name: &'static str, what: What) -> Switch {
    Switch {
        name,
        needs_value: true,
        what,
    }
}

const fn bare(name: &'static str, what: What) -> Switch {
    Switch {
        name,
        needs_value: false,
        what,
    }
}

const AGENTS: &str =
    "fio's servers take commands from anybody; fathom does not speak their protocol";
const AGENTS_HELP: &str = "no server is needed: `fathom fio --client=HOST …` starts an agent there over ssh; where \
     ssh is not to be had, run `fathom agent` and add --launcher=static";
const SELF_TEST: &str = "a self-test of fio";
const TRIGGERS: &str = "programs are not started by a run";

const SWITCHES: &[Switch] = &[
    with("output", What::Output),
    bare("minimal", What::Minimal),
    with("output-format", What::Format),
    bare("append-terse", What::AppendTerse),
    with("terse-version", What::TerseVersion),
    with("eta", What::Eta),
    with(
        "eta-interval",
        What::Without("progress is shown every second"),
    ),
    with(
        "eta-newline",
        What::Without("progress is shown in its own way"),
    ),
    bare("readonly", What::ReadOnly),
    with("section", What::Section),
    with("status-interval", What::StatusInterval),
    with("max-jobs", What::MaxJobs),
    bare(
        "bandwidth-log",
        What::Without("use write_bw_log in the jobs; every second is stored"),
    ),
    with(
        "latency-log",
        What::Not("fio dropped it", "use write_lat_log=NAME in the job"),
    ),
    with("aux-path", What::AuxPath),
    bare("warnings-fatal", What::WarningsFatal),
    with(
        "alloc-size",
        What::Without("memory is taken as it is needed"),
    ),
    with("debug", What::Debug),
    with(
        "idle-prof",
        What::Without("the idle time of CPUs is always observed"),
    ),
    bare("parse-only", What::Action(Display::Parse)),
    bare("showcmd", What::Action(Display::ShowCommand)),
    bare("version", What::Action(Display::Version)),
    bare("help", What::Action(Display::Help)),
    bare("cmdhelp", What::Action(Display::OptionHelp)),
    bare("enghelp", What::Action(Display::EngineHelp)),
    bare("v", What::Action(Display::Version)),
    bare("h", What::Action(Display::Help)),
    bare("server", What::Not(AGENTS, AGENTS_HELP)),
    with("client", What::Client),
    with("launcher", What::Launcher),
    with("fleet", What::Fleet),
    with("allow-missing", What::AllowMissing),
    with(
        "remote-config",
        What::Not(
            AGENTS,
            "give the job file here; agents are sent what it says",
        ),
    ),
    with("daemonize", What::Not(AGENTS, AGENTS_HELP)),
    with(
        "profile",
        What::Not(
            "fio's built-in profiles are not known",
            "see `fathom plan new`",
        ),
    ),
    with(
        "inflate-log",
        What::Not("logs are never compressed", "use the fio that wrote it"),
    ),
    bare("cpuclock-test", What::Not(SELF_TEST, "see `fathom doctor`")),
    bare("crctest", What::Not(SELF_TEST, "use the real fio")),
    bare("memcpytest", What::Not(SELF_TEST, "use the real fio")),
    with(
        "trigger-file",
        What::Not(TRIGGERS, "watch the file yourself and interrupt fathom"),
    ),
    with("trigger-timeout", What::Not(TRIGGERS, "use `timeout`")),
    with("trigger", What::Not(TRIGGERS, "use `timeout`")),
    with("trigger-remote", What::Not(TRIGGERS, "use `timeout`")),
    bare(
        "merge-blktrace-only",
        What::Not("traces are not merged", "use the real fio"),
    ),
    bare("plan", What::Action(Display::Plan)),
    bare("account", What::Action(Display::Account)),
    bare("lenient", What::Lenient),
    bare("strict", What::Strict),
    bare("destructive", What::Destructive),
    bare("quiet", What::Quiet),
    with("store", What::Store),
    with("html", What::Html),
];

/// The switch of a name.
pub(crate) fn lookup(name: &str) -> Option<&'static Switch> {
    SWITCHES.iter().find(|switch| switch.name == name)
}

/// The switch that a misspelt one most probably means.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let names = SWITCHES.iter().map(|s| s.name).filter(|n| n.len() > 1);
    fathom_model::nearest::nearest(name, names)
}

/// What is wrong, and what to do.
type Refusal = (String, Option<&'static str>);

/// Does what a switch asks for.
pub(crate) fn apply(
    switch: &'static Switch,
    value: Option<String>,
    run: &mut FioRun,
    action: &mut FioAction,
) -> Result<(), Refusal> {
    let text = value.clone().unwrap_or_default();
    match switch.what {
        What::Output => run.output = value,
        What::Minimal => run.formats = vec![FioFormat::Terse],
        What::Format => run.formats = formats(&text)?,
        What::AppendTerse => {
            if run.formats.is_empty() {
                run.formats.push(FioFormat::Normal);
            }
            run.formats.push(FioFormat::Terse);
        }
        What::TerseVersion => {
            run.terse_version = match text.as_str() {
                "2" | "3" | "4" | "5" => text.parse().unwrap_or(3),
                _ => return Err((format!("'{text}' is not 2, 3, 4 or 5"), None)),
            }
        }
        What::Eta => {
            run.eta = match text.as_str() {
                "always" => FioEta::Always,
                "never" => FioEta::Never,
                "auto" => FioEta::Auto,
                _ => return Err((format!("'{text}' is not always, never or auto"), None)),
            }
        }
        What::ReadOnly => run.readonly = true,
        What::Section if text == "global" => {
            return Err((
                "global is not a job".to_owned(),
                Some("name the section of a job"),
            ));
        }
        What::Section => run.sections.push(text),
        What::MaxJobs => match text.parse() {
            Ok(jobs @ 1..) => run.max_jobs = Some(jobs),
            _ => return Err((format!("'{text}' is not a number above 0"), None)),
        },
        What::AuxPath => run.log_directory = value,
        What::WarningsFatal => run.warnings_fatal = true,
        What::Lenient => run.lenient = true,
        What::Strict => run.strict = true,
        What::Destructive => run.destructive = true,
        What::Quiet => run.quiet = true,
        What::Store => run.store = value,
        What::Html => run.html = value,
        What::Debug => run.debug = value,
        What::StatusInterval => {
            let time = time_ns(&text, SECOND_NS).ok().filter(|ns| *ns > 0);
            let wrong = || (format!("'{text}' is not a time above 0"), None);
            run.status_interval_ns = Some(time.ok_or_else(wrong)?);
        }
        What::Client => run.clients.push(text),
        What::Launcher => run.launcher = value,
        What::Fleet => run.fleet = value,
        What::AllowMissing => {
            let wrong = |_| (format!("'{text}' is not a number of hosts"), None);
            run.allow_missing = text.parse().map_err(wrong)?;
        }
        What::Action(shown) => *action = asked(shown, value),
        What::Without(why) => run.without_effect.push((switch.name, why)),
        What::Not(why, help) => return Err((why.to_owned(), Some(help))),
    }
    Ok(())
}

fn asked(shown: Display, value: Option<String>) -> FioAction {
    match shown {
        Display::Parse => FioAction::Parse,
        Display::ShowCommand => FioAction::ShowCommand,
        Display::Plan => FioAction::Plan,
        Display::Account => FioAction::Account,
        Display::Version => FioAction::Version,
        Display::Help => FioAction::Help,
        Display::OptionHelp => FioAction::OptionHelp(value.filter(|name| name != "all")),
        Display::EngineHelp => FioAction::EngineHelp(value),
    }
}

fn formats(text: &str) -> Result<Vec<FioFormat>, Refusal> {
    let mut formats = Vec::new();
    for word in text.split(',').map(str::trim) {
        let format = match word {
            "normal" => FioFormat::Normal,
            "terse" | "minimal" => FioFormat::Terse,
            "json" => FioFormat::Json,
            "json+" => FioFormat::JsonPlus,
            _ => {
                return Err((
                    format!("'{word}' is not normal, terse, json or json+"),
                    None,
                ));
            }
        };
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    Ok(formats)
}
