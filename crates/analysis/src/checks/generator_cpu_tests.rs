use fathom_model::host_load::{BusiestThread, DeviceInterrupts, HostLoad, QuotaUse};
use fathom_model::observation::InterruptCpu;
use fathom_model::run::TrialRecord;
use fathom_model::verdict::FindingStatus::{Caveat, Pass};
use fathom_model::verdict::Limiter;

use crate::test_records::RecordBuilder;

fn with_load(load: HostLoad) -> RecordBuilder {
    RecordBuilder::reads().with_end(|end| end.host = Some(load))
}

fn evidence(builder: &RecordBuilder) -> String {
    let judged = crate::judge(&builder.run());
    judged.trials[0].verdict.limiter_evidence.clone()
}

#[test]
fn the_thread_that_computes_is_named() {
    let load = HostLoad {
        busiest_thread: Some(BusiestThread {
            name: "fathom-w3".to_owned(),
            cpu: Some(5),
            cpu_ns: 59,
            duration_ns: 60,
        }),
        ..HostLoad::default()
    };
    let calm = with_load(load.clone());
    assert_eq!(calm.status("V22"), Some(Pass));
    let busy = with_load(load).edit(|t| {
        let samples = t.samples.iter_mut();
        samples.for_each(|s| s.busiest_worker_cpu_ns = 980_000_000);
    });
    assert_eq!(busy.limiter(), Limiter::GeneratorCpu);
    let text = evidence(&busy);
    assert!(text.contains("fathom-w3, last on CPU 5"), "{text}");
}

#[test]
fn a_quota_that_stopped_the_load_is_named() {
    let quota = |throttled_periods| {
        with_load(HostLoad {
            cpu_quota: Some(QuotaUse {
                group: "/pod".to_owned(),
                periods: 600,
                throttled_periods,
                throttled_ns: 9_000_000_000,
            }),
            ..HostLoad::default()
        })
    };
    assert_eq!(quota(400).limiter(), Limiter::GeneratorCpu);
    assert_eq!(quota(400).status("V22"), Some(Caveat));
    assert!(evidence(&quota(400)).contains("/pod"));
    assert_eq!(quota(30).limiter(), Limiter::Unknown);
}

fn interrupted(trial: &mut TrialRecord) {
    for observation in &mut trial.observations {
        if let Some(cpu) = &mut observation.cpu {
            cpu.interrupt_cpu = Some(InterruptCpu {
                cpu: 2,
                interrupt_ns: 900_000_000,
                all_ns: 1_000_000_000,
            });
        }
    }
}

#[test]
fn one_cpu_full_of_interrupts_is_named() {
    let bound = with_load(HostLoad {
        interrupts: vec![DeviceInterrupts {
            device: "nvme0n1".to_owned(),
            total: 1_000_000,
            busiest_cpu: 2,
            on_busiest_cpu: 990_000,
        }],
        ..HostLoad::default()
    })
    .edit(interrupted);
    assert_eq!(bound.limiter(), Limiter::GeneratorCpu);
    let text = evidence(&bound);
    assert!(
        text.contains("CPU 2 spent 90 %") && text.contains("nvme0n1"),
        "{text}"
    );
    let moving = bound.edit(|t| {
        let cpu = t.observations[7].cpu.as_mut().unwrap();
        cpu.interrupt_cpu.as_mut().unwrap().cpu = 3;
    });
    assert_eq!(moving.limiter(), Limiter::Unknown, "the work moves");
}
