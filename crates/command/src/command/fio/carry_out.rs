//! Jobs are mapped, run, stored, judged, and shown in fio's formats.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use fathom_compat::fio::request::{
    FioAccount, FioAction, FioEta, FioMapped, FioRequest, FioRun, fio_random_words, map_fio,
};
use fathom_compat::fio::{mark_own_files, on_hosts, request_view};
use fathom_engine::object::give_credentials;
use fathom_fleet::{Interrupt, MadeFiles};
use fathom_model::conduct::InOrder;
use fathom_model::fleet::FleetHost;
use fathom_model::{JudgedRun, RunState, Schedule};
use fathom_runs::fio::{Interim, Machine, files};
use fathom_runs::leftovers;
use fathom_s3::Credentials;

use super::permission;
use super::{FIO_FAILURE, clients};
use crate::exit::{Exit, NothingMeasured};
use crate::output_flags::{Output, StorePath};
use crate::pipeline::{self, Request};
use crate::{present, run_identity};

/// What a shell says of a program that ended by an interrupt.
const INTERRUPTED: u8 = 130;

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
            present::write_stdout(&fathom_report::schedule::table(
                &mapped.schedule,
                fathom_console::columns(),
            ))?;
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
    let destructive = run.destructive || permission::may_destroy();
    if !run.clients.is_empty() {
        return run_on_clients(request, mapped, destructive, store);
    }
    if let Err(refused) = mark_own_files(mapped, &Machine, |path| made.is_ours(path), destructive) {
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
    files::admit(run, &view)?;
    let mut in_order = InOrder::new(&mapped.schedule);
    let id = run_identity::run_id(fathom_observe::unix_now_ns())?;
    let interim = Interim::begin(run, &store_path, &id, &view);
    let interrupt = Interrupt::new();
    let (conductor, unlinked) = (&mut in_order, unlinked(mapped));
    let measured = pipeline::Run::new(&pipeline_request)
        .conductor(conductor)
        .id(id)
        .interrupt(&interrupt)
        .unlinking(unlinked.clone())
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
    let before = before + &fio_random_words(&mapped.schedule, run);
    files::write(record, &view, run, before)?;
    leftovers::unlink(unlinked, &store_path);
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
        Err(error) => {
            present::complain(&error.to_string());
            return Ok(FIO_FAILURE);
        }
    };
    on_hosts::expect_strange_files(mapped, destructive);
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
    files::admit(run, &request_view(mapped, &request.jobs))?;
    let apart = |schedule: &Schedule, hosts: &[FleetHost]| {
        let mut many = fathom_fleet::on_hosts(schedule, hosts)?;
        on_hosts::keep_apart(&mut many, hosts, mapped, &request.jobs);
        Ok(many)
    };
    let on_clients = pipeline::Run::new(&pipeline_request).hosts(&hosts);
    let measured = on_clients.spread(&apart).measure()?;
    let record = &measured.record;
    let view = on_hosts::on_each_host(
        request_view(mapped, &request.jobs),
        &mapped.schedule,
        record,
    );
    files::write(record, &view, run, fio_random_words(&mapped.schedule, run))?;
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

/// Files of jobs that ask for their removal after the run.
fn unlinked(mapped: &FioMapped) -> BTreeSet<PathBuf> {
    let jobs = mapped.jobs.iter().filter(|job| job.unlink);
    jobs.flat_map(|job| job.files.iter().cloned()).collect()
}

/// Names what is not done as asked.
fn tell_left_out(account: &FioAccount) {
    for line in account.ignored() {
        present::complain(&line);
    }
}

/// fathom's verdict in a few lines.
fn tell_verdict(judged: &JudgedRun) {
    let lines = fathom_report::text::verdict_lines(judged);
    lines.iter().for_each(|line| present::complain(line));
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
