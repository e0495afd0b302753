//! What synthetic runs have in common: host, target, verdicts, the run itself.

use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts, TargetFingerprint};
use fathom_model::judged::{ResultRow, RunSummary};
use fathom_model::schedule::{Purpose, TrialRole};
use fathom_model::verdict::FindingStatus;
use fathom_model::{
    Finding, Fingerprint, JudgedRun, JudgedTrial, Limiter, RunState, Validity, Verdict,
};

use super::trial::STARTED;

/// One finding: id, name, outcome, and its evidence and remedy.
pub(crate) fn finding(id: &str, name: &str, status: FindingStatus, words: (&str, &str)) -> Finding {
    Finding {
        id: id.to_owned(),
        name: name.to_owned(),
        status,
        measured: (status != FindingStatus::NotMeasured).then_some(0.998),
        threshold: Some(0.95),
        evidence: words.0.to_owned(),
        remedy: words.1.to_owned(),
    }
}

/// A verdict without objections.
pub(crate) fn trusted() -> Verdict {
    use FindingStatus::{Info, NotMeasured, Pass};
    Verdict {
        validity: Validity::Trusted,
        limiter: Limiter::Device,
        limiter_evidence: "the queue was full (99 % of depth) while the CPU of the generator was \
             21 % busy and its ceiling is 15 times higher"
            .to_owned(),
        findings: vec![
            finding(
                "V10",
                "FRESH_OUT_OF_BOX",
                Info,
                ("the range was written 1.0 times since it was created", ""),
            ),
            finding(
                "V35",
                "LINK",
                NotMeasured,
                ("the PCIe link is not visible in this virtual machine", ""),
            ),
            finding(
                "V01",
                "APP_VS_DEVICE_BYTES",
                Pass,
                ("devices moved 0.998 times the bytes of the workload", ""),
            ),
            finding(
                "V22",
                "GENERATOR_CEILING",
                Pass,
                ("the result is 6.7 % of the generator's ceiling", ""),
            ),
            finding("V26", "IO_ERRORS", Pass, ("no operation failed", "")),
        ],
        fitness: None,
    }
}

/// A verdict with the given objections before the other findings.
pub(crate) fn objected(objections: Vec<Finding>, limiter: (Limiter, &str)) -> Verdict {
    let mut verdict = trusted();
    let worst = objections.iter().map(|f| f.status).max();
    verdict.validity = match worst {
        Some(FindingStatus::Invalid) => Validity::NotTrusted,
        Some(FindingStatus::Caveat) => Validity::Caveats,
        _ => Validity::Trusted,
    };
    verdict.findings.splice(0..0, objections);
    (verdict.limiter, verdict.limiter_evidence) = (limiter.0, limiter.1.to_owned());
    verdict
}

/// What lies under `/data`.
pub(crate) fn device_target() -> TargetFingerprint {
    TargetFingerprint {
        target: "/data".to_owned(),
        filesystem: Some(FilesystemFacts {
            kind: "ext4".to_owned(),
            mount_point: "/data".to_owned(),
            source: "/dev/nvme0n1p2".to_owned(),
            options: vec!["rw".to_owned(), "relatime".to_owned()],
            total_bytes: 983_350_071_296,
            available_bytes: 512_000_000_000,
            virtual_kind: false,
            ..FilesystemFacts::default()
        }),
        devices: vec![
            DeviceFacts {
                name: "nvme0n1p2".to_owned(),
                kind: "partition".to_owned(),
                below: vec!["nvme0n1".to_owned()],
                size_bytes: 999_000_000_000,
                ..DeviceFacts::default()
            },
            DeviceFacts {
                name: "nvme0n1".to_owned(),
                kind: "nvme".to_owned(),
                size_bytes: 1_000_204_886_016,
                model: Some("Example NVMe 980 PRO 1TB".to_owned()),
                serial: Some("S5GXNF0R000000".to_owned()),
                firmware: Some("5B2QGXA7".to_owned()),
                rotational: Some(false),
                scheduler: Some("none".to_owned()),
                queue_requests: Some(1023),
                read_ahead_bytes: Some(131_072),
                write_cache: Some("write back".to_owned()),
                logical_block_bytes: Some(512),
                physical_block_bytes: Some(512),
                optimal_io_bytes: Some(0),
                discard_max_bytes: Some(2_199_023_255_040),
                facts: [("pcie_link".to_owned(), "16.0 GT/s x4".to_owned())].into(),
                ..DeviceFacts::default()
            },
        ],
    }
}

fn host() -> Fingerprint {
    Fingerprint {
        hostname: "bench01".to_owned(),
        os: Some("Debian GNU/Linux 13 (trixie)".to_owned()),
        kernel: "6.12.41+deb13-amd64".to_owned(),
        architecture: "x86_64".to_owned(),
        cpu_model: Some("AMD EPYC 7313P".to_owned()),
        cpus: 32,
        memory_bytes: 134_900_000_000,
        clocksource: Some("tsc".to_owned()),
        clock_read_ns: Some(21.4),
        virtualization: None,
        cpu_governor: Some("performance".to_owned()),
        memlock_bytes: Some(8 << 20),
        open_files_limit: 1024,
        root: false,
        facts: [("transparent_hugepage".to_owned(), "madvise".to_owned())].into(),
    }
}

/// A run of these trials; rows are made of trials with the same `row`.
pub(crate) fn run(name: &str, trials: Vec<JudgedTrial>) -> JudgedRun {
    let mut rows: Vec<ResultRow> = Vec::new();
    for (i, trial) in trials.iter().enumerate() {
        match rows.iter_mut().find(|r| r.row == trial.row) {
            Some(row) => row.trials.push(i),
            None => rows.push(ResultRow {
                role: TrialRole::Measure,
                row: trial.row,
                label: trial.label.clone(),
                target: trial.target.clone(),
                set: None,
                trials: vec![i],
                ops: trial.summary.ops.clone(),
                verdict: trial.verdict.clone(),
            }),
        }
    }
    let verdict = trials
        .iter()
        .map(|t| &t.verdict)
        .max_by_key(|v| v.validity)
        .cloned()
        .unwrap_or_else(trusted);
    JudgedRun {
        schema: fathom_model::RUN_SCHEMA.to_owned(),
        run: RunSummary {
            id: "20261121-154530-k3f9".to_owned(),
            name: name.to_owned(),
            started_unix_ns: STARTED,
            ended_unix_ns: Some(STARTED + 62_000_000_000),
            state: RunState::Complete,
            reason: None,
            label: None,
            tool_version: "0.1.0".to_owned(),
            command_line: vec!["fathom".to_owned(), name.to_owned(), "/data".to_owned()],
            plan_yaml: format!(
                "plan: 1\nname: {name}\ntargets: [/data]\nworkloads:\n  - name: w\n"
            ),
            seed: 7_046_029_254_386_353_131,
            planned_trials: trials.len() as u32,
            purpose: Purpose::Measure,
        },
        host: host(),
        rows,
        trials,
        sets: Vec::new(),
        fleet: None,
        enumeration: None,
        verdict,
        comparison: None,
        curve: None,
        scale: None,
        view: None,
        snia: None,
        disks: None,
    }
}
