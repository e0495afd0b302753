use fathom_model::host_load::HostLoad;
use fathom_model::verdict::FindingStatus::{Caveat, Info, NotMeasured, Pass};

use crate::test_records::RecordBuilder;

fn host(governor: &str, facts: &[(&str, &str)]) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.host.cpu_governor = Some(governor.to_owned());
        for (name, value) in facts {
            b.host.facts.insert((*name).to_owned(), (*value).to_owned());
        }
    })
}

fn load(load: HostLoad) -> RecordBuilder {
    RecordBuilder::reads().with_end(|end| end.host = Some(load))
}

#[test]
fn a_performing_host_passes_and_an_unknown_one_is_not_measured() {
    assert_eq!(host("performance", &[]).status("V36"), Some(Pass));
    assert_eq!(RecordBuilder::reads().status("V36"), Some(NotMeasured));
}

#[test]
fn power_saving_is_information_and_throttling_a_caveat() {
    let slow = host("powersave", &[("cpu_scaling_driver", "acpi-cpufreq")]);
    assert_eq!(slow.status("V36"), Some(Info));
    let own = host("powersave", &[("cpu_scaling_driver", "intel_pstate")]);
    assert_eq!(own.status("V36"), Some(Pass));
    let battery = host("performance", &[("power_source", "battery")]);
    assert_eq!(battery.status("V36"), Some(Info));
    let sleepy = host("performance", &[("cpu_idle_latency_us", "890")]);
    assert_eq!(
        sleepy.status("V36"),
        Some(Pass),
        "at depth 32 it does not sleep"
    );
    let alone = sleepy.with(|b| b.workload.queue_depth = 1);
    assert_eq!(alone.status("V36"), Some(Info));
    let hot = load(HostLoad {
        core_throttles: Some(3),
        ..HostLoad::default()
    });
    assert_eq!(hot.status("V36"), Some(Caveat));
    let cool = load(HostLoad {
        core_throttles: Some(0),
        ..HostLoad::default()
    });
    assert_eq!(cool.status("V36"), Some(Pass));
}

#[test]
fn swapping_is_graded_by_its_rate() {
    let swapped = |bytes| {
        load(HostLoad {
            duration_ns: 60_000_000_000,
            swap_in_bytes: Some(bytes),
            swap_out_bytes: Some(0),
            ..HostLoad::default()
        })
    };
    assert_eq!(swapped(0).status("V39"), Some(Pass));
    assert_eq!(swapped(40_960).status("V39"), Some(Info));
    assert_eq!(swapped(1 << 30).status("V39"), Some(Caveat));
    assert_eq!(RecordBuilder::reads().status("V39"), Some(NotMeasured));
    assert_eq!(load(HostLoad::default()).status("V39"), Some(NotMeasured));
}
