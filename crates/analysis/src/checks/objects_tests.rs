use fathom_model::OpKind;
use fathom_model::op::ErrorClass;
use fathom_model::run::KeptObjects;
use fathom_model::verdict::FindingStatus::{Caveat, Info, Invalid, NotMeasured, Pass};
use fathom_model::workload::{
    EndpointReport, EngineKind, KeySource, ObjectOrder, ObjectSizes, ObjectStore, ObjectWork,
    OpMix, Work,
};
use fathom_model::{Target, host_load::HostLoad, host_load::LinkLoad};

use crate::test_records::RecordBuilder;

/// GETs of 4 KiB objects, each once a pass.
fn gets(objects: u64) -> RecordBuilder {
    let builder = RecordBuilder::reads().buffered().with(|b| {
        b.target = Target::Bucket("bucket/p".to_owned());
        b.fingerprint = None;
        b.workload.engine = EngineKind::S3;
        b.workload.mix = OpMix::READ;
        let store = ObjectStore {
            keys: KeySource::Anonymous,
            ..ObjectStore::new(vec!["http://store:9000".to_owned()])
        };
        let requests = ObjectWork {
            repeat: true,
            ..ObjectWork::new([(OpKind::Get, 1)], objects, ObjectSizes::Fixed(4096))
        };
        b.workload.work = Work::objects(store, requests);
    });
    let builder = builder.with_end(|end| {
        end.engine.requested = Some(EngineKind::S3);
        end.engine.used = Some(EngineKind::S3);
        end.data.cached_share = None;
        end.data.active_bytes = 0;
    });
    builder.edit(|trial| {
        trial.spec.workload.mix = OpMix::NONE;
        for op in trial.samples.iter_mut().flat_map(|sample| &mut sample.ops) {
            op.kind = OpKind::Get;
        }
    })
}

fn endpoint(number: u32, requests: u64) -> EndpointReport {
    EndpointReport {
        endpoint: format!("http://h{number}"),
        requests,
        p99_ns: u64::from(number) * 1_000_000,
        ..EndpointReport::default()
    }
}

#[test]
fn a_result_to_quote_takes_a_quarter_of_an_hour() {
    assert_eq!(gets(1_000_000).status("V83"), Some(Info));
    let long = gets(1_000_000).with(|b| b.seconds = 900);
    assert_eq!(long.status("V83"), Some(Pass));
    assert_eq!(RecordBuilder::reads().status("V83"), None);
    let null = gets(1_000_000).with(|b| b.target = Target::Null);
    assert_eq!(null.status("V83"), None);
}

#[test]
fn an_endpoint_that_lags_is_named() {
    let with = |requests: &[u64]| {
        let all: Vec<EndpointReport> = (1..).zip(requests).map(|(n, r)| endpoint(n, *r)).collect();
        gets(1_000_000).with_end(move |end| end.engine.endpoints = all)
    };
    assert_eq!(with(&[1000, 980, 1010]).status("V84"), Some(Pass));
    assert_eq!(with(&[1000, 500, 1010]).status("V84"), Some(Caveat));
    assert_eq!(with(&[0, 1000]).status("V84"), Some(Caveat));
    assert_eq!(with(&[30, 60]).status("V84"), Some(NotMeasured));
    assert_eq!(with(&[1000]).status("V84"), None);
}

#[test]
fn a_store_that_does_not_keep_what_was_put_is_not_believed() {
    let with = |kept: KeptObjects| gets(1000).with_end(move |end| end.data.kept = Some(kept));
    let whole = KeptObjects {
        looked: 48,
        ..KeptObjects::default()
    };
    assert_eq!(gets(1000).status("V85"), None, "nothing was put");
    assert_eq!(with(whole.clone()).status("V85"), Some(Pass));
    let lost = with(KeptObjects {
        missing: 1,
        ..whole.clone()
    });
    assert_eq!(lost.status("V85"), Some(Invalid));
    let short = with(KeptObjects {
        other_size: 2,
        ..whole.clone()
    });
    assert_eq!(short.status("V85"), Some(Invalid));
    let refused = with(KeptObjects {
        unanswered: 48,
        ..KeptObjects::default()
    });
    assert_eq!(refused.status("V85"), Some(NotMeasured));
}

#[test]
fn a_store_that_does_not_remove_what_it_says_is_not_believed() {
    let with = |still_there: u64| {
        gets(1000).with_end(move |end| {
            end.data.kept = Some(KeptObjects {
                removed_looked: 48,
                still_there,
                ..KeptObjects::default()
            });
        })
    };
    assert_eq!(with(0).status("V85"), Some(Pass));
    assert_eq!(with(1).status("V85"), Some(Invalid));
    let refused = with(1).edit(|trial| {
        let op = &mut trial.samples[3].ops[0];
        op.kind = OpKind::Delete;
        op.errors.add_many(ErrorClass::Io, 1);
    });
    assert_eq!(refused.status("V85"), Some(Pass), "one removal was refused");
}

/// A thousand objects a second for 60 s: three passes over 20,000.
#[test]
fn a_second_pass_that_a_cache_answers_is_seen() {
    assert_eq!(gets(20_000).status("V08"), Some(Pass));
    let cached = gets(20_000).edit(|trial| {
        for sample in trial
            .samples
            .iter_mut()
            .filter(|s| s.start_ns >= 20_000_000_000)
        {
            for op in &mut sample.ops {
                (op.ops, op.bytes) = (op.ops * 2, op.bytes * 2);
            }
        }
    });
    assert_eq!(cached.status("V08"), Some(Caveat));
    assert_eq!(gets(1_000_000).status("V08"), Some(NotMeasured));
    let zipf = gets(20_000).with(|b| {
        if let Some(object) = b.workload.requests_mut() {
            object.order = ObjectOrder::Zipf { theta: 1.1 };
        }
    });
    assert_eq!(zipf.status("V08"), Some(NotMeasured));
}

#[test]
fn the_client_itself_can_be_the_limit() {
    let fast = |share: f64| {
        gets(1_000_000).with(move |b| {
            let rate = b.ops_per_second as f64;
            if let Some(ceiling) = b.end.as_mut().and_then(|end| end.ceiling.as_mut()) {
                ceiling.ops_per_second = rate / share;
            }
        })
    };
    assert_eq!(fast(0.2).status("V22"), Some(Pass));
    assert_eq!(fast(0.6).status("V22"), Some(Caveat));
    let busy = fast(0.2).edit(|trial| {
        for sample in &mut trial.samples {
            sample.busiest_worker_cpu_ns = sample.duration_ns;
        }
    });
    assert_eq!(busy.status("V22"), Some(Caveat));
}

#[test]
fn a_full_link_in_front_of_the_store_is_named() {
    let with = |bytes: u64| {
        gets(1_000_000).with_end(move |end| {
            end.host = Some(HostLoad {
                duration_ns: 10_000_000_000,
                links: vec![LinkLoad {
                    interface: "eth0".to_owned(),
                    speed_bits: Some(10_000_000_000),
                    received_bytes: bytes,
                    ..LinkLoad::default()
                }],
                ..HostLoad::default()
            });
        })
    };
    let found = |builder: &RecordBuilder| {
        let judged = crate::judge(&builder.run());
        judged
            .verdict
            .findings
            .iter()
            .find(|f| f.id == "V42")
            .map(|f| f.status)
    };
    assert_eq!(found(&with(11_800_000_000)), Some(Caveat));
    assert_eq!(found(&with(1_000_000)), Some(Pass));
    let local = with(11_800_000_000).with(|b| {
        if let Some(store) = b.workload.store_mut() {
            store.endpoints = vec!["http://127.0.0.1:9000".to_owned()];
        }
    });
    assert_eq!(found(&local), None);
}
