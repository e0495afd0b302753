//! How the host saves power: sleep states of idle CPUs, turbo, battery
//! (Documentation/admin-guide/pm/cpuidle.rst, cpufreq.rst, intel_pstate.rst).

use std::collections::BTreeMap;

use crate::Sysroot;
use crate::block_link::insert;

/// Adds `cpu_idle_latency_us` (time to wake from the deepest state that is
/// enabled on CPU 0), `cpu_turbo` and `power_source`.
pub(crate) fn add_power_facts(sys: &Sysroot, facts: &mut BTreeMap<String, String>) {
    insert(facts, "cpu_idle_latency_us", deepest_latency_us(sys));
    insert(facts, "cpu_turbo", turbo(sys).map(str::to_owned));
    insert(facts, "power_source", power_source(sys).map(str::to_owned));
}

fn deepest_latency_us(sys: &Sysroot) -> Option<String> {
    let folder = "/sys/devices/system/cpu/cpu0/cpuidle";
    let states = sys.names(folder);
    let enabled = states.iter().filter_map(|state| {
        let disabled = sys.number(format!("{folder}/{state}/disable"))?;
        let latency = sys.number(format!("{folder}/{state}/latency"))?;
        (disabled == 0).then_some(latency)
    });
    enabled.max().map(|latency| latency.to_string())
}

fn turbo(sys: &Sysroot) -> Option<&'static str> {
    let cpu = "/sys/devices/system/cpu";
    let on = match sys.number(format!("{cpu}/intel_pstate/no_turbo")) {
        Some(off) => off == 0,
        None => sys.number(format!("{cpu}/cpufreq/boost"))? == 1,
    };
    Some(if on { "on" } else { "off" })
}

fn power_source(sys: &Sysroot) -> Option<&'static str> {
    let folder = "/sys/class/power_supply";
    let supplies = sys.names(folder);
    let kind = |name: &String| sys.text(format!("{folder}/{name}/type"));
    let mut mains = supplies
        .iter()
        .filter(|name| kind(name).as_deref() == Some("Mains"))
        .peekable();
    mains.peek()?;
    let plugged = mains.any(|name| sys.number(format!("{folder}/{name}/online")) == Some(1));
    Some(if plugged { "mains" } else { "battery" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join("sys").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut facts = BTreeMap::new();
        add_power_facts(&Sysroot::at(root.path()), &mut facts);
        facts
    }

    #[test]
    fn a_laptop_shows_its_power_saving() {
        let idle = "devices/system/cpu/cpu0/cpuidle";
        let found = facts(&[
            (&format!("{idle}/state1/latency"), "2\n"),
            (&format!("{idle}/state1/disable"), "0\n"),
            (&format!("{idle}/state2/latency"), "890\n"),
            (&format!("{idle}/state2/disable"), "1\n"),
            ("devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("class/power_supply/AC/type", "Mains\n"),
            ("class/power_supply/AC/online", "0\n"),
            ("class/power_supply/BAT0/type", "Battery\n"),
        ]);
        assert_eq!(found["cpu_idle_latency_us"], "2");
        assert_eq!(found["cpu_turbo"], "on");
        assert_eq!(found["power_source"], "battery");
    }

    #[test]
    fn a_guest_shows_nothing() {
        assert!(facts(&[]).is_empty());
    }
}
