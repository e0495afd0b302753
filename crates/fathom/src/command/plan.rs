//! `fathom plan`: templates, checks and the schedule of a plan.

use std::path::Path;

use anyhow::Context;
use fathom_model::{Schedule, unit};
use fathom_plan::CostAssumptions;
use fathom_report::table::{Align, Table};

use crate::cli::{Color, Plan};
use crate::command::run::{read_plan, schedule};
use crate::exit::Exit;
use crate::{present, surroundings};

pub(crate) fn run(plan: Plan) -> anyhow::Result<Exit> {
    match plan {
        Plan::New { purpose } => new(purpose.as_deref()),
        Plan::Check { plan } => check(&plan),
        Plan::Show { plan, json } => show(&plan, json),
        Plan::Schema => {
            present::write_stdout(&fathom_plan::schema())?;
            Ok(Exit::Success)
        }
    }
}

fn new(purpose: Option<&str>) -> anyhow::Result<Exit> {
    let templates = fathom_plan::templates();
    let Some(purpose) = purpose else {
        let mut text = String::from("Purposes (fathom plan new PURPOSE > plan.yaml):\n\n");
        for template in templates {
            text += &format!("  {:<10} {}\n", template.name, template.purpose);
        }
        present::write_stdout(&text)?;
        return Ok(Exit::Success);
    };
    match templates.iter().find(|template| template.name == purpose) {
        Some(template) => {
            present::write_stdout(template.text)?;
            Ok(Exit::Success)
        }
        None => {
            let names: Vec<&str> = templates.iter().map(|template| template.name).collect();
            present::complain(&format!(
                "there is no template '{purpose}'; there are {}",
                names.join(", ")
            ));
            Ok(Exit::Usage)
        }
    }
}

fn check(path: &Path) -> anyhow::Result<Exit> {
    let Some(plan) = read_plan(path, Color::Auto, false)? else {
        return Ok(Exit::Usage);
    };
    let Some(schedule) = schedule(&plan, false) else {
        return Ok(Exit::Usage);
    };
    let surroundings = surroundings::of(&plan);
    let assumptions = CostAssumptions {
        facts: surroundings.facts,
        ..CostAssumptions::default()
    };
    let cost = fathom_plan::cost(&schedule, &assumptions);
    present::write_stdout(&format!("{}\n", cost.text))?;
    Ok(Exit::Success)
}

fn show(path: &Path, json: bool) -> anyhow::Result<Exit> {
    let Some(plan) = read_plan(path, Color::Auto, false)? else {
        return Ok(Exit::Usage);
    };
    let Some(schedule) = schedule(&plan, false) else {
        return Ok(Exit::Usage);
    };
    if json {
        let text = serde_json::to_string_pretty(&schedule).context("cannot write the schedule")?;
        present::write_stdout(&(text + "\n"))?;
        return Ok(Exit::Success);
    }
    present::write_stdout(&table_of(&schedule).render())?;
    Ok(Exit::Success)
}

/// The trials in order. Those that run at the same time are marked with the
/// number of their set and, where one waits, with its delay.
fn table_of(schedule: &Schedule) -> Table {
    let sets = schedule.trials.iter().any(|t| t.together.is_some());
    let delays = schedule.trials.iter().any(|t| t.start_delay_ns > 0);
    let mut head = vec![("#", Align::Right)];
    head.extend(sets.then_some(("set", Align::Right)));
    head.extend([
        ("workload", Align::Left),
        ("iteration", Align::Right),
        ("target", Align::Left),
        ("engine", Align::Left),
    ]);
    head.extend(delays.then_some(("begins after", Align::Right)));
    head.push(("time", Align::Right));
    let mut table = Table::new(head);
    for trial in &schedule.trials {
        let workload = &trial.workload;
        let mut cells = vec![(trial.index + 1).to_string()];
        let set = trial
            .together
            .map_or(String::new(), |set| (set + 1).to_string());
        cells.extend(sets.then_some(set));
        cells.extend([
            trial.label.clone(),
            (trial.iteration + 1).to_string(),
            trial.target.to_string(),
            workload.engine.name().to_owned(),
        ]);
        let delay = match trial.start_delay_ns {
            0 => String::new(),
            ns => unit::span(ns),
        };
        cells.extend(delays.then_some(delay));
        cells.push(
            workload
                .bounds
                .time_ns
                .map_or("until done".to_owned(), |ns| {
                    unit::span(ns + workload.warmup_ns)
                }),
        );
        table.row(cells);
    }
    table
}
