//! Second opinions as text.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::opinion::{
    Aspect, Holds, JobOpinion, MissingFact, Opinion, ResultOpinion, Stand, StatedFigures,
    StatedPercentile,
};
use fathom_model::verdict::{Finding, FindingStatus, Limiter, Validity, Verdict};
use fathom_report::opinion::render;
use fathom_report::table::display_width;
use fathom_report::text::TextOptions;

fn verdict(validity: Validity, findings: Vec<Finding>) -> Verdict {
    Verdict {
        fitness: None,
        validity,
        limiter: Limiter::Cache,
        limiter_evidence: "V01: the devices saw 12 requests for 3,270,000 operations".to_owned(),
        findings,
    }
}

fn result(jobs: Vec<JobOpinion>, validity: Validity) -> Opinion {
    Opinion {
        schema: fathom_model::OPINION_SCHEMA.to_owned(),
        validity,
        results: vec![ResultOpinion {
            source: "warm.json".to_owned(),
            tool: Some("fio-3.33".to_owned()),
            written_unix_s: Some(1_795_286_978),
            remarks: vec!["87 bytes of text stand beside the JSON".to_owned()],
            jobs,
            missing: vec![MissingFact {
                fact: "how the rate changed over time".to_owned(),
                supplied_by: "write_iops_log=NAME and log_avg_msec=1000".to_owned(),
            }],
            verdict: verdict(validity, Vec::new()),
        }],
    }
}

/// A cached read with a percentile that nothing carries.
pub(crate) fn doubted() -> Opinion {
    let finding = Finding {
        id: "V01".to_owned(),
        name: "APP_VS_DEVICE_BYTES".to_owned(),
        status: FindingStatus::Invalid,
        measured: Some(0.001),
        threshold: Some(0.8),
        evidence: "read: the devices saw 12 requests for 3,270,000 operations (0.0 %)".to_owned(),
        remedy: "Read with direct=1.".to_owned(),
    };
    let percentile = |percent, stated_ns, ops_needed, supported| StatedPercentile {
        percent,
        stated_ns,
        ops_needed,
        supported,
    };
    let job = JobOpinion {
        name: "warm\u{1b}[31m".to_owned(),
        host: Some("node7".to_owned()),
        workload: "randread, 4 KiB blocks, psync, depth 1, buffered, on /data/t.dat".to_owned(),
        duration_ns: Some(4_001_000_000),
        figures: vec![StatedFigures {
            direction: "read".to_owned(),
            ops: Some(3_270_000),
            bytes: Some(13_393_920_000),
            ops_per_second: Estimate::known(Unit::OpsPerSecond, 818_000.0, 800e3, 836e3, 40.0),
            bytes_per_second: Estimate::point(Unit::BytesPerSecond, 3.35e9, "no log"),
            latency_kind: Some("total".to_owned()),
            stated_mean_ns: Some(933.0),
            stated_max_ns: Some(8.13e6),
            percentile_kind: Some("completion".to_owned()),
            percentiles: vec![
                percentile(50.0, 772.0, 6.0, true),
                percentile(99.99, 41_700.0, 36_887.0, false),
            ],
        }],
        stands: vec![
            Stand {
                aspect: Aspect::Throughput,
                holds: Holds::No,
                checks: vec!["V01".to_owned()],
            },
            Stand {
                aspect: Aspect::QueueDepth,
                holds: Holds::Yes,
                checks: Vec::new(),
            },
        ],
        verdict: verdict(Validity::NotTrusted, vec![finding]),
    };
    result(vec![job], Validity::NotTrusted)
}

/// Nothing but a name.
pub(crate) fn bare() -> Opinion {
    let job = JobOpinion {
        name: "x".to_owned(),
        host: None,
        workload: String::new(),
        duration_ns: None,
        figures: Vec::new(),
        stands: Vec::new(),
        verdict: verdict(Validity::Trusted, Vec::new()),
    };
    result(vec![job.clone(), job], Validity::Trusted)
}

#[test]
fn a_doubted_result() {
    insta::assert_snapshot!(render(&doubted(), &TextOptions::default()));
}

#[test]
fn several_bare_jobs() {
    insta::assert_snapshot!(render(&bare(), &TextOptions::default()));
}

#[test]
fn lines_fit_and_control_characters_stay_out() {
    for width in [40, 80, 120] {
        let options = TextOptions {
            width,
            ..TextOptions::default()
        };
        let text = render(&doubted(), &options);
        assert!(!text.contains('\u{1b}'));
        for line in text.lines().skip(1) {
            assert!(display_width(line) <= width, "{line}");
        }
    }
}
