//! Many hosts beside one another: one is slow, one stalls, one slows down.

use fathom_model::fleet::{FleetHost, FleetReport, FleetWorkload, HostFigure, SlowHost};
use fathom_model::host_mode::HostMode;
use fathom_model::together::{ResultSet, SetSum};
use fathom_model::workload::OpMix;
use fathom_model::{Estimate, JudgedRun, OpKind, Unit};

use super::base::run;
use super::runs::{op, shape};
use super::trial::TrialSpec;

/// The rate of most hosts.
const RATE: f64 = 12_000.0;

/// A fleet of so many hosts under one workload.
pub(crate) fn fleet(hosts: u32, seconds: u32) -> JudgedRun {
    let trials = (0..hosts).map(|host| {
        let rate = match host {
            2 => RATE * 0.55,
            _ => RATE * (1.0 - 0.002 * f64::from(host % 9)),
        };
        let label = format!("randread-4k on node{:03}", host + 1);
        let workload = shape(OpMix::READ, false, 4096, 16);
        let mut spec = TrialSpec::new(host, &label, workload, vec![op(OpKind::Read, rate, 900.0)]);
        spec.seconds = seconds;
        spec.draws = if seconds > 600 { 20 } else { 60 };
        spec.speed = match host {
            1 => |second| if second % 410 == 17 { 0.0 } else { 1.0 },
            3 => |second| if second > 300 { 0.7 } else { 1.0 },
            _ => |_| 1.0,
        };
        let mut trial = spec.build();
        trial.host = Some(host);
        trial
    });
    let mut run = run("io", trials.collect());
    run.run.ended_unix_ns = Some(run.run.started_unix_ns + u64::from(seconds) * 1_000_000_000);
    run.sets = vec![together(&run)];
    for row in &mut run.rows {
        row.set = Some(0);
    }
    run.fleet = Some(report(&run, hosts));
    run
}

fn together(run: &JudgedRun) -> ResultSet {
    let ops = || run.rows.iter().map(|row| &row.ops[0]);
    let rate: f64 = ops().filter_map(|op| op.ops_per_second.value).sum();
    let known = |unit, value: f64| Estimate::known(unit, value, value * 0.99, value * 1.01, 50.0);
    ResultSet {
        label: "randread-4k".to_owned(),
        rows: (0..run.rows.len()).collect(),
        trials: vec![(0..run.trials.len()).collect()],
        sum: Some(SetSum {
            from_ns: 0,
            duration_ns: run.trials[0].summary.duration_ns,
            ops: Vec::new(),
            ops_per_second: known(Unit::OpsPerSecond, rate),
            bytes_per_second: known(Unit::BytesPerSecond, rate * 4096.0),
            service: run.rows[0].ops[0].service.clone(),
        }),
        note: None,
    }
}

fn report(run: &JudgedRun, hosts: u32) -> FleetReport {
    let figures = (0..hosts).map(|host| {
        let figure = run.rows[host as usize].ops[0].ops_per_second.clone();
        let share = figure.value.unwrap_or(0.0) / RATE;
        HostFigure {
            host,
            row: host as usize,
            figure,
            data_of: Vec::new(),
            slow: (share < 0.7).then(|| SlowHost {
                share,
                says: vec!["its device was busy 99 % of the time, others 61 %".to_owned()],
            }),
        }
    });
    let host = |host: u32| FleetHost {
        name: format!("node{:03}.storage.example.org", host + 1),
        tool_version: "0.1.0".to_owned(),
        ..FleetHost::default()
    };
    FleetReport {
        hosts: (0..hosts).map(host).collect(),
        differences: Vec::new(),
        workloads: vec![FleetWorkload {
            label: "randread-4k".to_owned(),
            hosts: figures.collect(),
            median: Some(RATE),
            turns: Vec::new(),
        }],
        slow_share: 0.7,
        mode: HostMode::default(),
    }
}
