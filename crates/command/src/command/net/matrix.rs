//! All pairs of several hosts.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use fathom_analysis::network::{NetworkReport, judge_network};
use fathom_fleet::network::{Matrix, MatrixPlan};
use fathom_model::network::MatrixMode;
use fathom_report::network as pages;
use fathom_runs::network::{self, Keeper};

use super::{Net, NetFormat, Progress, exit_of, load_control};
use crate::exit::{self, CommandError, Exit};
use crate::present;

/// Flags of a matrix.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "All pairs of several hosts")]
pub(super) struct MatrixFlags {
    /// Which pairs run at the same time; may be given several times. Default:
    /// all of these.
    #[arg(long, value_enum, value_name = "WHICH")]
    mode: Vec<ModeChoice>,
}

/// Which pairs run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeChoice {
    /// Each pair alone, in rounds of pairs that share no host.
    Alone,
    /// All pairs at once.
    Together,
    /// All hosts to one, each in turn.
    Incast,
    /// One host to all, each in turn.
    Outcast,
}

impl From<ModeChoice> for MatrixMode {
    fn from(choice: ModeChoice) -> MatrixMode {
        match choice {
            ModeChoice::Alone => MatrixMode::Alone,
            ModeChoice::Together => MatrixMode::Together,
            ModeChoice::Incast => MatrixMode::Incast,
            ModeChoice::Outcast => MatrixMode::Outcast,
        }
    }
}

pub(super) fn run(
    net: &Net,
    hosts: &[(String, SocketAddr)],
    format: NetFormat,
) -> anyhow::Result<Exit> {
    let mut modes: Vec<MatrixMode> = Vec::new();
    for mode in net.matrix.mode.iter().map(|&mode| mode.into()) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    if modes.is_empty() {
        modes.extend(MatrixMode::ALL);
    }
    let mut load = net.load.spec(net.seconds);
    // Each way is measured by its own sender.
    load.direction = fathom_model::network::Direction::Forward;
    load.check().map_err(CommandError::usage)?;
    let plan = MatrixPlan { modes, load };
    let mut meta = network::meta("net, all pairs")?;
    let load_control = load_control(net.shown.is_quiet())?;
    let stop = Arc::clone(&load_control.stop);
    let progress = Progress::new(net.shown.is_quiet());
    progress.tell("reaching all hosts");
    let met = Matrix::meet(hosts, &plan, &load_control);
    let matrix = match met {
        Ok(matrix) => matrix,
        Err(errors) => {
            drop(progress);
            for error in &errors {
                exit::fail(&error.to_string());
            }
            return Ok(Exit::Failure);
        }
    };
    meta.hosts = matrix.hosts();
    meta.schedule.trials = matrix.schedule();
    let mut keeper = Keeper::new(&net.store, meta);
    let measured = matrix.measure(&mut |what| progress.tell(what), &mut |trials| {
        keeper.add(trials);
    });
    drop(progress);
    if let Err(unresponsive) = &measured {
        present::complain(&format!(
            "{unresponsive}; this is what was measured until then"
        ));
    }
    let record = keeper.finish(&stop);
    let Some(NetworkReport::Matrix(report)) = judge_network(&record) else {
        return Ok(Exit::Interrupted);
    };
    let text = match format {
        NetFormat::Json => pages::json(&report)?,
        NetFormat::Html => pages::matrix_html(&report)?,
        _ => pages::matrix_text(&report, net.shown.columns()),
    };
    net.shown.write(&text)?;
    net.page.write(|| pages::matrix_html(&report))?;
    let cells = report.rounds.iter().flat_map(|round| &round.cells);
    let failed = cells.filter(|cell| cell.error.is_some()).count();
    Ok(exit_of(failed > 0 || measured.is_err(), &stop))
}
