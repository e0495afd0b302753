//! A schedule as a table.

use fathom_model::{Schedule, unit};

use crate::table::{Align, Table};

/// The trials in order. Those that run at the same time are marked with the
/// number of their set and, where one waits, with its delay.
pub fn table(schedule: &Schedule, width: usize) -> String {
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
    table.fit(width)
}
