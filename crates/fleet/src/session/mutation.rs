//! Changes to messages that keep most of their form: numbers become extreme,
//! texts hostile, fields are missing or there twice, messages change places.

use fathom_model::rng::Rng;
use serde_json::{Value, json};

/// The messages as JSON texts, changed in one to four places.
pub(crate) fn mutate(messages: &[Value], paths: &[String], rng: &mut Rng) -> Vec<String> {
    let mut messages = messages.to_vec();
    let changes = 1 + rng.below(4);
    let mut duplicate = false;
    for _ in 0..changes {
        match rng.below(16) {
            0 => reorder(&mut messages, rng),
            1 => duplicate = true,
            _ => {
                // The greeting is rarely wrong: nothing would follow it.
                let first = u64::from(rng.below(50) > 0).min(messages.len() as u64 - 1);
                let at = first + rng.below(messages.len() as u64 - first);
                change(&mut messages[at as usize], paths, rng);
            }
        }
    }
    let mut texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    if duplicate {
        let at = rng.below(texts.len() as u64) as usize;
        texts[at] = with_a_field_twice(&texts[at], rng);
    }
    texts
}

fn reorder(messages: &mut Vec<Value>, rng: &mut Rng) {
    let (a, b) = (pick(messages.len(), rng), pick(messages.len(), rng));
    match rng.below(3) {
        0 => messages.swap(a, b),
        1 => messages.insert(a, messages[b].clone()),
        _ if messages.len() > 2 => drop(messages.remove(a)),
        _ => {}
    }
}

fn pick(of: usize, rng: &mut Rng) -> usize {
    rng.below(of as u64) as usize
}

/// Changes one value at a random place of a message.
fn change(value: &mut Value, paths: &[String], rng: &mut Rng) {
    let inner = match value {
        Value::Object(fields) if !fields.is_empty() && rng.below(12) > 0 => {
            let at = pick(fields.len(), rng);
            fields.iter_mut().nth(at).map(|(_, field)| field)
        }
        Value::Array(items) if !items.is_empty() && rng.below(6) > 0 => {
            let at = pick(items.len(), rng);
            items.get_mut(at)
        }
        _ => None,
    };
    match inner {
        Some(inner) => change(inner, paths, rng),
        None => replace(value, paths, rng),
    }
}

fn replace(value: &mut Value, paths: &[String], rng: &mut Rng) {
    match value {
        Value::Object(fields) => {
            let key = fields.keys().nth(pick(fields.len().max(1), rng)).cloned();
            match (key, rng.below(3)) {
                (Some(key), 0) => drop(fields.remove(&key)),
                (Some(key), 1) => drop(fields.insert(key, random(paths, rng))),
                _ => *value = random(paths, rng),
            }
        }
        Value::Array(items) => match (items.first().cloned(), rng.below(4)) {
            (Some(first), 0) => *items = vec![first; 1 + pick(5000, rng)],
            (_, 1) => items.clear(),
            (_, 2) => items.push(random(paths, rng)),
            _ => *value = random(paths, rng),
        },
        Value::Number(_) if rng.below(8) > 0 => *value = number(rng),
        Value::String(_) if rng.below(8) > 0 => *value = json!(text(paths, rng)),
        Value::Bool(given) if rng.below(8) > 0 => *value = json!(!*given),
        other => *other = random(paths, rng),
    }
}

fn random(paths: &[String], rng: &mut Rng) -> Value {
    match rng.below(6) {
        0 => Value::Null,
        1 => json!(rng.below(2) == 0),
        2 => number(rng),
        3 => json!(text(paths, rng)),
        4 => json!([]),
        _ => json!({}),
    }
}

/// Small, or beyond every bound: what lies between would only take memory and
/// time that a host has.
fn number(rng: &mut Rng) -> Value {
    let all = [
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(255),
        json!(256),
        json!(65_535),
        json!(i32::MAX),
        json!(u32::MAX),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1u64 << 52),
        json!(1u64 << 62),
        json!(1u64 << 63),
        json!(0.5),
        json!(-0.0),
        json!(1e300),
        json!(5e-324),
    ];
    all[pick(all.len(), rng)].clone()
}

fn text(paths: &[String], rng: &mut Rng) -> String {
    let own = [
        "",
        ".",
        "..",
        "../../etc/passwd",
        "/etc/passwd",
        "/dev/null",
        "/dev/zero",
        "/proc/self/mem",
        "a/../../b",
        "a\0b",
        "a\nb",
        "\u{1b}[2J",
        "null:",
        "sim:",
        "sim:ssd",
        "sim:ssd?iops=0",
        "sim:hdd?rpm=0",
        "sim:slc?drain_mibs=0",
        "s3://bucket/../other",
        "s3://other",
        "psync",
        "uring",
        "mmap",
        "libaio",
        "falloc",
        "ftruncate",
        "null",
        "meta",
        "net",
        "unlink",
        "random",
        "steady",
        "http://127.0.0.1:1",
        "file:///etc/passwd",
        "%s%n",
    ];
    match pick(own.len() + paths.len() + 1, rng) {
        at if at < own.len() => own[at].to_owned(),
        at if at < own.len() + paths.len() => paths[at - own.len()].clone(),
        _ => "x".repeat(1 + pick(100_000, rng)),
    }
}

/// The text with one of its fields a second time, with another value.
fn with_a_field_twice(text: &str, rng: &mut Rng) -> String {
    let names: Vec<(usize, &str)> = text
        .match_indices("\":")
        .filter_map(|(end, _)| {
            let start = text[..end].rfind('"')?;
            Some((start, &text[start..=end]))
        })
        .collect();
    if names.is_empty() {
        return text.to_owned();
    }
    let (at, name) = names[pick(names.len(), rng)];
    format!("{}{name}:{},{}", &text[..at], number(rng), &text[at..])
}
