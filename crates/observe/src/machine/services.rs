//! CPU of the services that alarms are about: metadata services and gateways
//! to object stores, by the name of their process (`comm` of proc(5)).

use std::collections::BTreeMap;

use super::Readings;
use crate::Sysroot;
use crate::kernel_calls::tick_ns;

/// Metadata services: Ceph, Virtuozzo Storage, Lustre has none in user space.
const METADATA: [&str; 4] = ["ceph-mds", "vstorage-mds", "mdsd", "mfsmaster"];
/// Gateways and servers of object stores.
const GATEWAYS: [&str; 8] = [
    "radosgw",
    "s3gw",
    "ostor-s3gw",
    "minio",
    "versitygw",
    "garage",
    "rustfs",
    "weed",
];
/// Processes that are looked at.
const PROCESSES_MAX: usize = 65_536;

/// Last CPU time by process.
#[derive(Debug, Default)]
pub(super) struct Services(BTreeMap<String, u64>);

impl Services {
    pub(super) fn advance(&mut self, sys: &Sysroot, out: &mut Readings) {
        let mut now = BTreeMap::new();
        let processes = sys.names("/proc").into_iter();
        let numbers = processes.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        for process in numbers.take(PROCESSES_MAX) {
            let Some(stat) = sys.text(format!("/proc/{process}/stat")) else {
                continue;
            };
            let Some((name, ticks)) = parse(&stat) else {
                continue;
            };
            let Some(quantity) = service_quantity(name) else {
                continue;
            };
            if let Some(last) = self.0.get(&process) {
                let ns = ticks.saturating_sub(*last).saturating_mul(tick_ns());
                let instance = format!("{name} ({process})");
                out.add(quantity, &instance, ns as f64 / 1e9 / out.seconds);
            }
            now.insert(process, ticks);
        }
        self.0 = now;
    }
}

/// Which quantity the CPU time of a process of this name is, if any.
pub fn service_quantity(command: &str) -> Option<&'static str> {
    match command {
        name if METADATA.contains(&name) => Some("metadata_cpu"),
        name if GATEWAYS.contains(&name) => Some("gateway_cpu"),
        _ => None,
    }
}

/// Name and CPU ticks: fields 2, 14 and 15. The name may hold anything.
fn parse(stat: &str) -> Option<(&str, u64)> {
    let (before, after) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once('(')?;
    let mut fields = after.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some((name, next()?.saturating_add(next()?)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn names_may_hold_anything() {
        let stat = "77 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0";
        assert_eq!(parse(stat), Some(("a) b (c", 42)));
        assert_eq!(parse("77 (x"), None);
    }
}
