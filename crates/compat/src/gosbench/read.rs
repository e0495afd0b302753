//! From the tree of a configuration to what it asks for, with GOSBench's own
//! checks and those that it lacks.

use std::collections::BTreeMap;

use super::keys::{self, ConfigurationMap, Fate};
use super::{
    GosbenchNumber, GosbenchParts, GosbenchSpread, GosbenchStore, GosbenchTest, GosbenchWeights,
};
use fathom_model::nearest::nearest;
use fathom_plan::Span;
use fathom_plan::yaml::{Node, NodeKind};
use fathom_plan::{Problem, Problems};

/// Tests of a file at most.
const MOST_TESTS: usize = 1000;
/// Parts that are in flight when nothing is said: what the SDK does.
const USUAL_PARTS_AT_ONCE: u64 = 5;

/// The values of a map by their names.
pub(super) struct MapFields<'n> {
    pub(super) span: Option<Span>,
    values: BTreeMap<&'static str, &'n Node>,
}

impl<'n> MapFields<'n> {
    /// Reads a map; tells keys that are unknown, dead or written twice.
    fn read(
        node: &'n Node,
        part: ConfigurationMap,
        problems: &mut Problems,
    ) -> Option<MapFields<'n>> {
        let NodeKind::Map(entries) = &node.kind else {
            let message = format!("expected keys with values, found {}", node.describe());
            problems.error("wrong_type", node.span, message);
            return None;
        };
        let mut values = BTreeMap::new();
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            let Some(row) = keys::find(part, name) else {
                let message = format!("`{name}` is not a key of GOSBench, which ignores it");
                let told = Problem::warning("unknown_key", key.span, message);
                problems.push(match nearest(name, keys::names(part)) {
                    Some(word) => told.help(format!("did you mean `{word}`?")),
                    None => told.help("remove it"),
                });
                continue;
            };
            if let Fate::Dead(why) = row.fate {
                let message = format!("`{name}` has no effect: {why}");
                problems.push(Problem::warning("dead_key", key.span, message));
            }
            if values.insert(row.name, value).is_some() {
                let message = format!("`{name}` is written twice");
                problems.error("repeated_key", key.span, message);
            }
        }
        Some(MapFields {
            span: node.span,
            values,
        })
    }

    fn get(&self, name: &str) -> Option<&'n Node> {
        let found = self.values.get(name).copied();
        found.filter(|node| !matches!(node.kind, NodeKind::Null) && node.text() != Some("null"))
    }

    /// Where a key's value is, else the map.
    pub(super) fn place(&self, name: &str) -> Option<Span> {
        self.get(name).and_then(|node| node.span).or(self.span)
    }

    fn text(&self, name: &str, problems: &mut Problems) -> String {
        let Some(node) = self.get(name) else {
            return String::new();
        };
        let text = node.text();
        if text.is_none() {
            let message = format!("`{name}` is a text, found {}", node.describe());
            problems.error("wrong_type", node.span, message);
        }
        text.unwrap_or_default().to_owned()
    }

    fn number(&self, name: &str, problems: &mut Problems) -> u64 {
        let Some(node) = self.get(name) else { return 0 };
        let number = node.text().and_then(|text| text.trim().parse().ok());
        let number: Option<u64> = number.filter(|number| *number <= 1 << 50);
        if number.is_none() {
            let message = format!("`{name}` is a whole number from 0 to 2^50");
            problems.error("bad_value", node.span, message);
        }
        number.unwrap_or(0)
    }

    fn switch(&self, name: &str, problems: &mut Problems) -> bool {
        let Some(node) = self.get(name) else {
            return false;
        };
        match node
            .text()
            .unwrap_or_default()
            .to_ascii_lowercase()
            .as_str()
        {
            "true" | "yes" | "on" | "y" => true,
            "false" | "no" | "off" | "n" => false,
            _ => {
                let message = format!("`{name}` is true or false");
                problems.error("bad_value", node.span, message);
                false
            }
        }
    }

    fn part(
        &self,
        name: &str,
        part: ConfigurationMap,
        problems: &mut Problems,
    ) -> Option<MapFields<'n>> {
        MapFields::read(self.get(name)?, part, problems)
    }
}

/// Stores and tests of a configuration; `None` where there is none.
pub(super) fn config(
    root: &Node,
    text: &str,
    problems: &mut Problems,
) -> Option<(Vec<GosbenchStore>, Vec<GosbenchTest>)> {
    let top = MapFields::read(root, ConfigurationMap::Top, problems)?;
    let mut stores = Vec::new();
    for name in ["s3_config", "s3_configs"] {
        for node in list(&top, name, problems) {
            let fields = MapFields::read(node, ConfigurationMap::Store, problems)?;
            stores.push(store(&fields, stores.first(), problems));
        }
    }
    if stores.is_empty() {
        let told = Problem::error("no_store", root.span, "the configuration names no store");
        problems.push(told.help("add s3_config with an endpoint"));
    }
    let nodes = list(&top, "tests", problems);
    if nodes.is_empty() {
        problems.error("no_test", root.span, "the configuration has no tests");
    }
    if nodes.len() > MOST_TESTS {
        let message = format!("more than {MOST_TESTS} tests");
        problems.error("limit", top.place("tests"), message);
        return None;
    }
    let mut tests = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let fields = MapFields::read(node, ConfigurationMap::Test, problems)?;
        let mut one = test(&fields, problems);
        if one.name.is_empty() {
            one.name = format!("test {}", at + 1);
        }
        let start = node.span.map_or(0, |span| span.range_in(text).start);
        let line = 1 + text[..start].bytes().filter(|b| *b == b'\n').count();
        one.line = u32::try_from(line).unwrap_or(u32::MAX);
        tests.push(one);
    }
    Some((stores, tests))
}

fn list<'n>(top: &MapFields<'n>, name: &str, problems: &mut Problems) -> &'n [Node] {
    let Some(node) = top.get(name) else {
        return &[];
    };
    match &node.kind {
        NodeKind::List(items) => items,
        _ => {
            let message = format!("`{name}` is a list, found {}", node.describe());
            problems.error("wrong_type", node.span, message);
            &[]
        }
    }
}

fn store(
    fields: &MapFields<'_>,
    first: Option<&GosbenchStore>,
    problems: &mut Problems,
) -> GosbenchStore {
    let read = GosbenchStore {
        access_key: fields.text("access_key", problems),
        secret_key: fields.text("secret_key", problems),
        region: fields.text("region", problems),
        endpoint: fields.text("endpoint", problems),
        skip_verify: fields.switch("skipSSLverify", problems),
        path_style: fields.switch("usePathStyle", problems),
    };
    if read.endpoint.contains(',') {
        let message = "an endpoint is one address";
        problems.error("bad_value", fields.place("endpoint"), message);
    }
    let Some(first) = first else { return read };
    let same = |a: &GosbenchStore| (a.region.clone(), a.skip_verify, a.path_style);
    if same(first) != same(&read) {
        let told = Problem::error(
            "unsupported",
            fields.span,
            "this store has another region or other switches than the first",
        );
        problems.push(told.help("give all endpoints the same; only their keys may differ"));
    }
    if first.endpoint.is_empty() || read.endpoint.is_empty() {
        let told = Problem::error(
            "bad_value",
            fields.span,
            "of several stores each has an endpoint",
        );
        problems.push(told);
    }
    read
}

fn test(fields: &MapFields<'_>, problems: &mut Problems) -> GosbenchTest {
    let objects = fields.part("objects", ConfigurationMap::Objects, problems);
    let buckets = fields.part("buckets", ConfigurationMap::Buckets, problems);
    let (mut size, mut count) = (GosbenchNumber::default(), GosbenchNumber::default());
    match &objects {
        Some(objects) => {
            size = spread(objects, "size", problems);
            count = spread(objects, "number", problems);
            let factor = unit(objects, problems);
            size.min = size.min.saturating_mul(factor);
            size.max = size.max.saturating_mul(factor);
        }
        None => missing(fields, "objects", problems),
    }
    let mut number = GosbenchNumber::default();
    match &buckets {
        Some(buckets) => number = spread(buckets, "number", problems),
        None => missing(fields, "buckets", problems),
    }
    let runtime_ns = runtime(fields, problems);
    let ops = Some(fields.number("stop_with_ops", problems)).filter(|ops| *ops > 0);
    let test = GosbenchTest {
        name: fields.text("name", problems),
        line: 0,
        size,
        objects: count,
        buckets: number,
        bucket_prefix: fields.text("bucket_prefix", problems),
        object_prefix: fields.text("object_prefix", problems),
        runtime_ns,
        ops,
        oneshot: fields.switch("oneshot", problems),
        workers: at_least_one(fields, "workers", problems),
        share_buckets: fields.switch("workers_share_buckets", problems),
        skip_prepare: fields.switch("skip_prepare", problems),
        clients: at_least_one(fields, "parallel_clients", problems),
        clean_after: fields.switch("clean_after", problems),
        weights: GosbenchWeights {
            read: fields.number("read_weight", problems),
            existing_read: fields.number("existing_read_weight", problems),
            write: fields.number("write_weight", problems),
            list: fields.number("list_weight", problems),
            delete: fields.number("delete_weight", problems),
        },
        write_parts: parts(fields, "write_option", problems),
        read_parts: parts(fields, "read_option", problems),
    };
    check(&test, fields, problems);
    test
}

/// What GOSBench checks as a whole, and what it leaves to chance.
fn check(test: &GosbenchTest, fields: &MapFields<'_>, problems: &mut Problems) {
    if test.runtime_ns.is_none() && test.ops.is_none() && !test.oneshot {
        let told = Problem::error("no_bound", fields.span, "this test has no end");
        problems.push(told.help("add stop_with_runtime, stop_with_ops or oneshot"));
    }
    if test.runtime_ns.is_some() && test.ops.is_some() {
        let message = "`stop_with_ops` has no effect beside stop_with_runtime";
        problems.push(Problem::warning(
            "dead_key",
            fields.place("stop_with_ops"),
            message,
        ));
    }
    let w = test.weights;
    let others = w.read + w.write + w.delete;
    if others + w.list + w.existing_read == 0 {
        let told = Problem::error("no_weight", fields.span, "every weight of this test is 0");
        problems.push(told.help("add read_weight, write_weight, list_weight or delete_weight"));
    }
    if w.existing_read > 0 && test.bucket_prefix.is_empty() {
        let message = "existing_read_weight needs a bucket_prefix";
        problems.error("bad_value", fields.place("existing_read_weight"), message);
    }
    if w.existing_read > 0 && others > 0 {
        let told = Problem::error(
            "unsupported",
            fields.place("existing_read_weight"),
            "objects that are there already are only read and listed, not mixed with others",
        );
        problems.push(told.help("make two tests of it"));
    }
    if test.skip_prepare && w.delete > 0 {
        let told = Problem::error(
            "unsupported",
            fields.place("skip_prepare"),
            "objects that are there already are never deleted",
        );
        problems.push(told.help("leave skip_prepare away: objects are made and deleted"));
    }
    if test.skip_prepare && w.write > 0 && w.read + w.list > 0 {
        let message = "what is there already is not mixed with what is written";
        problems.error("unsupported", fields.place("skip_prepare"), message);
    }
    let payload = fields.text("payload_generator", problems);
    match payload.as_str() {
        "" | "random" => {}
        "empty" => {
            let message = "`payload_generator: empty` has no effect: contents are random, as a \
                           store that compresses would otherwise be measured";
            problems.push(Problem::warning(
                "dead_key",
                fields.place("payload_generator"),
                message,
            ));
        }
        _ => {
            let message = "a payload is random or empty";
            problems.error("bad_value", fields.place("payload_generator"), message);
        }
    }
}

fn missing(fields: &MapFields<'_>, name: &str, problems: &mut Problems) {
    if fields.get(name).is_none() {
        let message = format!("this test has no `{name}`");
        problems.error("missing_key", fields.span, message);
    }
}

fn at_least_one(fields: &MapFields<'_>, name: &str, problems: &mut Problems) -> u64 {
    let number = fields.number(name, problems);
    if number == 0 {
        let told = Problem::error(
            "bad_value",
            fields.place(name),
            format!("`{name}` must be at least 1"),
        );
        problems.push(told.help("GOSBench takes 0 and then fails or hangs"));
    }
    number.max(1)
}

/// `<name>_min`, `<name>_max` and `<name>_distribution`.
fn spread(fields: &MapFields<'_>, name: &str, problems: &mut Problems) -> GosbenchNumber {
    let (min_key, max_key) = (format!("{name}_min"), format!("{name}_max"));
    let min = fields.number(&min_key, problems);
    let max = fields.number(&max_key, problems);
    let key = format!("{name}_distribution");
    let spread = match fields.text(&key, problems).as_str() {
        "constant" => GosbenchSpread::Constant,
        "random" => GosbenchSpread::Random,
        "sequential" => GosbenchSpread::Sequential,
        _ => {
            let message = format!("`{key}` is constant, random or sequential");
            problems.error("bad_value", fields.place(&key), message);
            GosbenchSpread::Constant
        }
    };
    if min == 0 {
        let message = format!("`{min_key}` must be at least 1");
        problems.error("bad_value", fields.place(&min_key), message);
    }
    if max == 0 && name == "size" {
        let message = format!("`{max_key}` must be at least 1");
        problems.error("bad_value", fields.place(&max_key), message);
    }
    if max < min && spread != GosbenchSpread::Constant {
        let message = format!("`{max_key}` is below `{min_key}`");
        problems.error("bad_value", fields.place(&max_key), message);
    }
    GosbenchNumber {
        min,
        max: max.max(min),
        spread,
    }
}

fn unit(fields: &MapFields<'_>, problems: &mut Problems) -> u64 {
    let unit = fields.text("unit", problems).to_ascii_uppercase();
    match unit.as_str() {
        "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        "T" | "TB" | "TIB" => 1 << 40,
        _ => {
            let told = Problem::error(
                "bad_value",
                fields.place("unit"),
                "`unit` is B, KB, MB, GB or TB",
            );
            problems.push(told.help("all of them are powers of 1,024"));
            1
        }
    }
}

fn parts(fields: &MapFields<'_>, name: &str, problems: &mut Problems) -> GosbenchParts {
    let Some(fields) = fields.part(name, ConfigurationMap::Parts, problems) else {
        return GosbenchParts::default();
    };
    let factor = unit(&fields, problems);
    let at_once = match fields.get("concurrency") {
        Some(_) => fields.number("concurrency", problems).max(1),
        None => USUAL_PARTS_AT_ONCE,
    };
    GosbenchParts {
        most: fields.number("max_upload_parts", problems),
        at_once,
        bytes: fields.number("chunk_size", problems).saturating_mul(factor),
    }
}

fn runtime(fields: &MapFields<'_>, problems: &mut Problems) -> Option<u64> {
    let node = fields.get("stop_with_runtime")?;
    let text = node.text().unwrap_or_default();
    let read = match text.parse::<u64>() {
        Ok(ns) => Some(ns),
        Err(_) => go_duration(text),
    };
    match read {
        Some(0) => None,
        Some(ns) => Some(ns),
        None => {
            let told = Problem::error(
                "bad_value",
                node.span,
                "`stop_with_runtime` is a time such as 60s, 1h30m or 500ms",
            );
            problems.push(told);
            Some(1)
        }
    }
}

/// A duration as Go writes it, in nanoseconds: `1h30m`, `1.5s`.
pub(super) fn go_duration(text: &str) -> Option<u64> {
    let mut rest = text.trim().strip_prefix('+').unwrap_or(text.trim());
    if rest == "0" {
        return Some(0);
    }
    let mut sum_ns = 0.0;
    while !rest.is_empty() || sum_ns == 0.0 {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let factor = match &rest[..end] {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        sum_ns += number * factor;
        rest = &rest[end..];
        if rest.is_empty() {
            break;
        }
    }
    (sum_ns < 1e18).then_some(sum_ns as u64)
}
