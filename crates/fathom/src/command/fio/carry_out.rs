//! Jobs are mapped, run, stored, judged, and shown in fio's formats.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use fathom_compat::fio::output::{self, FioView};
use fathom_compat::fio::request::{
    FioAccount, FioAction, FioEta, FioFormat, FioMapped, FioRequest, FioRun, Outcome, map_fio,
};
use fathom_compat::fio::request_view;
use fathom_engine::object::give_credentials;
use fathom_engine::prepare::{Found, remove_file_if};
use fathom_fleet::Interrupt;
use fathom_model::conduct::InOrder;
use fathom_model::fleet::FleetHost;
use fathom_model::verdict::FindingStatus;
use fathom_model::{JudgedRun, RunRecord, RunState, Schedule, Validity};
use fathom_outputs::Mark;
use fathom_s3::Credentials;
use fathom_store::Store;

use super::interim::Interim;
use super::machine::Machine;
use super::permission::{self, says_yes};
use super::{FIO_FAILURE, clients, outputs};
use crate::command::export::write_logs;
use crate::exit::{Exit, NothingMeasured};
use crate::made_files::MadeFiles;
use crate::output_flags::{Output, StorePath};
use crate::pipeline::{self, Request};
use crate::{present, run_identity};

/// What a shell says of a program that ended by an interrupt.
const INTERRUPTED: u8 = 130;
/// Left-out options that are told one by one.
const TOLD: usize = 10;

/// Maps the jobs and does with them what is asked for.
pub(super) fn carry_out(request: &FioRequest) -> anyhow::Result<Exit> {
    let (account, mapped) = map_fio(request, &Machine, run_identity::fresh_seed());
    if request.action == FioAction::Account {
        present::write_stdout(&account.render())?;
    }
    let mut mapped = match mapped {
        Ok(mapped) => mapped,
        Err(problems) => {
            for problem in &problems.0 {
                present::complain(&problem.to_string());
            }
            return Ok(FIO_FAILURE);
        }
    };
    match request.action {
        FioAction::Account => Ok(Exit::Success),
        FioAction::Plan => {
            present::write_stdout(&crate::command::plan::table(&mapped.schedule))?;
            Ok(Exit::Success)
        }
        _ => run(request, &mut mapped),
    }
}

fn run(request: &FioRequest, mapped: &mut FioMapped) -> anyhow::Result<Exit> {
    let run = &request.run;
    let store = StorePath {
        store: run.store.clone().map(PathBuf::from),
    };
    let store_path = present::store_path(&store)?;
    let made = MadeFiles::beside(&store_path);
    let destructive = run.destructive || says_yes(permission::DESTRUCTIVE_VARIABLE);
    if !run.clients.is_empty() {
        return run_on_clients(request, mapped, destructive, store);
    }
    if let Err(refused) = permission::settle(mapped, &made, destructive) {
        refused.iter().for_each(|line| present::complain(line));
        return Ok(FIO_FAILURE);
    }
    give_keys(mapped);
    if !run.results_only {
        tell_left_out(&mapped.account);
    }
    let pipeline_request = Request {
        plan: mapped.plan(),
        schedule: mapped.schedule.clone(),
        label: Some(format!("fio {}", mapped.schedule.name)),
        output: output_of(run, store.clone()),
    };
    let view = request_view(mapped, &request.jobs);
    outputs::admit(run, &view)?;
    let mut in_order = InOrder::new(&mapped.schedule);
    let id = run_identity::run_id(fathom_observe::unix_now_ns())?;
    let interim = Interim::begin(run, &store_path, &id, &view);
    let interrupt = Interrupt::new();
    let (conductor, unlinked) = (&mut in_order, unlinked(mapped));
    let measured = pipeline::Run::new(&pipeline_request)
        .conductor(conductor)
        .id(id)
        .interrupt(&interrupt)
        .unlinking(unlinked)
        .measure();
    let before = interim.map(Interim::finish).unwrap_or_default();
    let measured = match measured {
        Err(error) if error.is::<NothingMeasured>() => {
            present::complain(&error.to_string());
            return Ok(FIO_FAILURE);
        }
        measured => measured?,
    };
    let record = &measured.record;
    print(record, &view, run, before + &debug_text(mapped, run))?;
    unlink(mapped, &store_path);
    let judged = fathom_studies::judge(record);
    if let Some(html) = &run.html {
        present::write_html(&judged, Some(Path::new(html)), &store)?;
    }
    if !run.results_only {
        tell_verdict(&judged);
        measured.complain();
    }
    Ok(exit_of(&judged, run.strict))
}

/// Lets the requests of the jobs be signed.
fn give_keys(mapped: &FioMapped) {
    for keys in &mapped.keys {
        let credentials = Credentials {
            key_id: keys.key_id.clone(),
            secret: keys.secret.clone(),
            session_token: keys.session_token.clone(),
            sse_customer_key: keys.sse_customer_key.clone(),
        };
        give_credentials(&keys.name, credentials);
    }
}

/// The same on other hosts at the same time. What may be written to there is
/// for their agents to see.
fn run_on_clients(
    request: &FioRequest,
    mapped: &mut FioMapped,
    destructive: bool,
    store: StorePath,
) -> anyhow::Result<Exit> {
    let run = &request.run;
    let hosts = match clients::hosts(run) {
        Ok(hosts) => hosts,
        Err(why) => {
            present::complain(&why);
            return Ok(FIO_FAILURE);
        }
    };
    clients::settle(mapped, destructive);
    if !run.results_only {
        tell_left_out(&mapped.account);
        if mapped.jobs.iter().any(|job| job.unlink) {
            present::complain("unlink is ignored: files of other hosts stay where they are");
        }
        if run.status_interval_ns.is_some() {
            present::complain("--status-interval is ignored: not with --client");
        }
    }
    let pipeline_request = Request {
        plan: mapped.plan(),
        schedule: mapped.schedule.clone(),
        label: Some(format!("fio {}", mapped.schedule.name)),
        output: output_of(run, store.clone()),
    };
    outputs::admit(run, &request_view(mapped, &request.jobs))?;
    let apart = |schedule: &Schedule, hosts: &[FleetHost]| {
        let mut many = fathom_fleet::on_hosts(schedule, hosts)?;
        clients::keep_apart(&mut many, hosts, mapped, &request.jobs);
        Ok(many)
    };
    let on_clients = pipeline::Run::new(&pipeline_request).hosts(&hosts);
    let measured = on_clients.spread(&apart).measure()?;
    let record = &measured.record;
    let view = clients::view(
        request_view(mapped, &request.jobs),
        &mapped.schedule,
        record,
    );
    print(record, &view, run, debug_text(mapped, run))?;
    let judged = fathom_studies::judge(record);
    if let Some(html) = &run.html {
        present::write_html(&judged, Some(Path::new(html)), &store)?;
    }
    if !run.results_only {
        tell_verdict(&judged);
        measured.complain();
    }
    Ok(exit_of(&judged, run.strict))
}

/// Progress goes to a terminal, elsewhere only when asked for.
fn output_of(run: &FioRun, store: StorePath) -> Output {
    let shown = match run.eta {
        FioEta::Always => true,
        FioEta::Never => false,
        FioEta::Auto => std::io::stderr().is_terminal(),
    };
    Output {
        quiet: run.quiet || !shown,
        strict: run.strict,
        store,
        ..Output::default()
    }
}

/// Results in each format that was asked for.
pub(super) fn text_of(record: &RunRecord, view: &FioView, run: &FioRun) -> String {
    let formats = match run.formats.is_empty() {
        true => &[FioFormat::Normal][..],
        false => &run.formats[..],
    };
    let mut text = String::new();
    for format in formats {
        text += &match format {
            FioFormat::Normal => output::normal(record, view),
            FioFormat::Terse => output::terse(record, view, u32::from(run.terse_version)),
            FioFormat::Json => output::json(record, view, false),
            FioFormat::JsonPlus => output::json(record, view, true),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// What `--debug=random` says: where the random numbers of each job begin.
fn debug_text(mapped: &FioMapped, run: &FioRun) -> String {
    let debug = run.debug.as_deref().unwrap_or_default();
    if !debug
        .split(',')
        .any(|part| part == "random" || part == "all")
    {
        return String::new();
    }
    let jobs = mapped.schedule.trials.iter().zip(1..);
    let lines = jobs.map(|(trial, number): (_, u32)| {
        format!(
            "random   {number} FIO_RAND_NR_OFFS=1\nrandom   {number} rand_seeds[0]={}\n",
            trial.seed
        )
    });
    lines.collect()
}

/// Prints results behind what was said `before`, and writes logs.
fn print(record: &RunRecord, view: &FioView, run: &FioRun, before: String) -> anyhow::Result<()> {
    let text = before + &text_of(record, view, run);
    let directory = outputs::directory(run);
    write_logs(&output::logs(record, view), directory)?;
    for log in output::iologs(record, view) {
        // A list of operations is not put where the logs go.
        let path = Path::new(log.name());
        present::admit(path, Mark::FioIoLog)?.write(|out| log.write(out))?;
        if log.missed() > 0 {
            present::complain(&format!(
                "{}: there was no room for the last {} operations",
                path.display(),
                log.missed()
            ));
        }
    }
    match &run.output {
        Some(path) => {
            present::write_file(&directory.join(path), Mark::FioResult, &text)?;
            Ok(())
        }
        None => present::write_stdout(&text),
    }
}

/// Files of jobs that ask for their removal after the run.
fn unlinked(mapped: &FioMapped) -> BTreeSet<PathBuf> {
    let jobs = mapped.jobs.iter().filter(|job| job.unlink);
    jobs.flat_map(|job| job.files.iter().cloned()).collect()
}

/// Removes them, as far as they are fathom's.
fn unlink(mapped: &FioMapped, store_path: &Path) {
    let made = MadeFiles::beside(store_path);
    let mut gone = Vec::new();
    for path in unlinked(mapped) {
        let Some(identity) = made.noted(&path) else {
            continue;
        };
        match remove_file_if(&path, &identity) {
            Ok(Found::Removed | Found::Missing) => gone.push(path),
            Ok(Found::Replaced) => present::complain(&format!(
                "{} is not the file that the job made any more; left alone",
                path.display()
            )),
            Err(error) => present::complain(&error.to_string()),
        }
    }
    let gone: Vec<PathBuf> = gone.iter().flat_map(std::path::absolute).collect();
    if let Ok(mut store) = Store::open(store_path) {
        // A note that stays only makes `fathom clean` look for the file.
        let _ = store.forget_files(gone.iter().map(PathBuf::as_path));
    }
}

/// Names what is not done as asked.
fn tell_left_out(account: &FioAccount) {
    let ignored: Vec<_> = account
        .left_out()
        .filter(|entry| matches!(entry.outcome, Outcome::Ignored(_)))
        .collect();
    for entry in ignored.iter().take(TOLD) {
        let place = entry
            .place
            .as_ref()
            .map_or(String::new(), |p| format!("{p}: "));
        let remark = entry.outcome.remark();
        present::complain(&format!("{place}{} is ignored: {remark}", entry.option));
    }
    if ignored.len() > TOLD {
        let more = ignored.len() - TOLD;
        present::complain(&format!(
            "{more} more options are ignored; --account lists them"
        ));
    }
}

/// fathom's verdict in a few lines.
fn tell_verdict(judged: &JudgedRun) {
    if let Some(reason) = &judged.run.reason {
        present::complain(reason);
    }
    if judged.run.state == RunState::Failed {
        return;
    }
    let word = match judged.verdict.validity {
        Validity::Trusted => "trusted",
        Validity::Caveats => "with caveats",
        Validity::NotDetermined => "not determined",
        Validity::NotTrusted => "not trusted",
    };
    present::complain(&format!(
        "{word}; limiter: {}; `fathom runs show {}` has the whole verdict",
        judged.verdict.limiter_evidence, judged.run.id
    ));
    let worst = judged.verdict.findings.iter().filter(|finding| {
        matches!(
            finding.status,
            FindingStatus::Caveat | FindingStatus::Invalid
        )
    });
    for finding in worst.take(3) {
        present::complain(&format!("{} {}", finding.id, finding.evidence));
    }
}

/// fio's statuses; fathom's own only where they are asked for.
fn exit_of(judged: &JudgedRun, strict: bool) -> Exit {
    match judged.run.state {
        RunState::Failed => FIO_FAILURE,
        RunState::Interrupted | RunState::Running => Exit::OfCommand(INTERRUPTED),
        RunState::Complete if strict => pipeline::exit_of(judged, true),
        RunState::Complete => Exit::Success,
    }
}
