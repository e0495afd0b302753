//! What is not the same on both sides, field by field.

use std::collections::BTreeMap;

use fathom_model::comparison::Difference;
use fathom_model::fingerprint::{DeviceFacts, Fingerprint, TargetFingerprint};
use fathom_model::judged::JudgedTrial;
use fathom_model::{Target, Workload};
use serde_json::Value;

/// Fields by name, as text.
pub(crate) type Fields = BTreeMap<String, String>;

/// Differences that are listed at most.
const MOST: usize = 64;

/// What differs between two sets of fields. A field that one side does not
/// know differs; one that neither knows does not.
pub(crate) fn differences(a: &Fields, b: &Fields) -> Vec<Difference> {
    let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
    names.sort();
    names.dedup();
    let text = |side: &Fields, name: &str| side.get(name).cloned().unwrap_or_else(none);
    let each = names.into_iter().map(|name| Difference {
        field: name.clone(),
        a: text(a, name),
        b: text(b, name),
    });
    each.filter(|d| d.a != d.b).take(MOST).collect()
}

fn none() -> String {
    "none".to_owned()
}

/// The fields of a workload, as they are named in results. Its name is none
/// of them.
pub(crate) fn workload_fields(workload: &Workload) -> Fields {
    let mut fields = Fields::new();
    if let Ok(value) = serde_json::to_value(workload) {
        flatten("workload", &value, &mut fields);
    }
    fields.remove("workload.name");
    fields
}

fn flatten(name: &str, value: &Value, into: &mut Fields) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                flatten(&format!("{name}.{key}"), value, into);
            }
        }
        Value::Null => {}
        Value::String(text) => {
            into.insert(name.to_owned(), text.clone());
        }
        other => {
            into.insert(name.to_owned(), other.to_string());
        }
    }
}

/// What two planned trials declare as different.
pub fn declared(a: (&Target, &Workload), b: (&Target, &Workload)) -> Vec<Difference> {
    let fields = |(target, workload): (&Target, &Workload)| {
        let mut fields = workload_fields(workload);
        fields.insert("target".to_owned(), target.to_string());
        fields
    };
    differences(&fields(a), &fields(b))
}

/// Facts of a host that can set a result. What changes by itself from moment
/// to moment is left out.
pub(crate) fn host_fields(host: &Fingerprint) -> Fields {
    let mut fields = Fields::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            fields.insert(format!("host.{name}"), value);
        }
    };
    put("hostname", Some(host.hostname.clone()));
    put("os", host.os.clone());
    put("kernel", Some(host.kernel.clone()));
    put("architecture", Some(host.architecture.clone()));
    put("cpu_model", host.cpu_model.clone());
    put("cpus", Some(host.cpus.to_string()));
    put("memory_bytes", Some(host.memory_bytes.to_string()));
    put("clocksource", host.clocksource.clone());
    put("virtualization", host.virtualization.clone());
    put("cpu_governor", host.cpu_governor.clone());
    put("root", Some(host.root.to_string()));
    for (name, value) in &host.facts {
        put(name, Some(value.clone()));
    }
    fields
}

/// How a target is configured (`settings`) and which one it is (`identity`).
/// Another target has another identity, that follows; another setting does
/// not.
pub(crate) struct TargetFields {
    pub(crate) settings: Fields,
    pub(crate) identity: Fields,
}

/// The fields of a trial's target, and of how the engine really worked.
pub(crate) fn target_fields(trial: &JudgedTrial) -> TargetFields {
    let mut fields = TargetFields {
        settings: Fields::new(),
        identity: Fields::new(),
    };
    let engine = trial.summary.engine.map(|engine| engine.name().to_owned());
    if let Some(engine) = engine {
        let direct = trial.summary.direct.to_string();
        fields.settings.insert("engine.used".to_owned(), engine);
        fields.settings.insert("engine.direct".to_owned(), direct);
    }
    if let Some(target) = &trial.target_before {
        add_target(target, &mut fields);
    }
    fields
}

fn add_target(target: &TargetFingerprint, fields: &mut TargetFields) {
    if let Some(fs) = &target.filesystem {
        let settings = [
            ("filesystem.kind", fs.kind.clone()),
            ("filesystem.options", fs.options.join(",")),
        ];
        let identity = [
            ("filesystem.mount_point", fs.mount_point.clone()),
            ("filesystem.source", fs.source.clone()),
            ("filesystem.total_bytes", fs.total_bytes.to_string()),
        ];
        put_all(&mut fields.settings, settings);
        put_all(&mut fields.identity, identity);
    }
    for (position, device) in target.devices.iter().enumerate() {
        // By place in the stack: names differ between targets.
        let name = match position {
            0 => "device".to_owned(),
            n => format!("device{n}"),
        };
        add_device(&name, device, fields);
    }
}

fn put_all<const N: usize>(into: &mut Fields, list: [(&str, String); N]) {
    for (name, value) in list {
        into.insert(name.to_owned(), value);
    }
}

fn add_device(name: &str, device: &DeviceFacts, fields: &mut TargetFields) {
    let put = |into: &mut Fields, field: &str, value: Option<String>| {
        if let Some(value) = value {
            into.insert(format!("{name}.{field}"), value);
        }
    };
    let number = |value: Option<u64>| value.map(|v| v.to_string());
    let settings = &mut fields.settings;
    put(settings, "scheduler", device.scheduler.clone());
    put(settings, "queue_requests", number(device.queue_requests));
    put(
        settings,
        "read_ahead_bytes",
        number(device.read_ahead_bytes),
    );
    put(settings, "write_cache", device.write_cache.clone());
    let identity = &mut fields.identity;
    put(identity, "name", Some(device.name.clone()));
    put(identity, "kind", Some(device.kind.clone()));
    put(identity, "size_bytes", Some(device.size_bytes.to_string()));
    put(identity, "model", device.model.clone());
    put(identity, "serial", device.serial.clone());
    put(identity, "firmware", device.firmware.clone());
    put(
        identity,
        "rotational",
        device.rotational.map(|r| r.to_string()),
    );
    put(
        identity,
        "logical_block_bytes",
        number(device.logical_block_bytes),
    );
    put(
        identity,
        "physical_block_bytes",
        number(device.physical_block_bytes),
    );
    put(
        identity,
        "discard_max_bytes",
        number(device.discard_max_bytes),
    );
    // Wear and temperature are never the same twice.
    let moving = ["health", "temperature"];
    let lasting = device
        .facts
        .iter()
        .filter(|(fact, _)| !moving.iter().any(|m| fact.starts_with(m)));
    for (fact, value) in lasting {
        put(identity, fact, Some(value.clone()));
    }
}
