//! A table as Rust.

use std::fmt::Write as _;

use crate::schema::{Number, Parameter, Rule, Table};

/// The module of a table: each rule, its numbers, its id, and all of them.
pub(crate) fn module(name: &str, about: &str, table: &Table) -> String {
    // A number of a table may come near one of mathematics.
    let mut text = format!(
        "#[doc = {about:?}]\n#[allow(clippy::approx_constant)]\npub mod {name} {{\n\
         use crate::rule::*;\n"
    );
    for rule in &table.rules {
        let (constant, module) = names(&rule.id);
        let _ = writeln!(
            text,
            "#[doc = {title:?}]\npub const {constant}: &Rule = &{};\n\
             #[doc = {numbers:?}]\npub mod {module} {{\n{}}}",
            literal(rule, name),
            constants(rule),
            title = rule.title,
            numbers = format!("The numbers of `{}`.", rule.id),
        );
    }
    text += "/// Ids, to compare with those of findings.\npub mod id {\n";
    for rule in &table.rules {
        let (constant, _) = names(&rule.id);
        let _ = writeln!(
            text,
            "#[doc = {:?}]\npub const {constant}: &str = {:?};",
            rule.title, rule.id
        );
    }
    let rules: Vec<String> = table.rules.iter().map(|rule| names(&rule.id).0).collect();
    let _ = writeln!(
        text,
        "}}\n/// All of them.\npub static TABLE: Table = Table {{ name: {name:?}, title: {about:?}, version: {}, \
         rules: &[{}], missing: &[",
        table.version,
        rules.join(", ")
    );
    for missing in &table.missing {
        let (what, reason) = (&missing.what, &missing.reason);
        let _ = writeln!(text, "Missing {{ what: {what:?}, reason: {reason:?} }},");
    }
    text + "] };\n}\n"
}

/// All tables.
pub(crate) fn list(names: &[&str]) -> String {
    let tables: Vec<String> = names.iter().map(|name| format!("&{name}::TABLE")).collect();
    format!(
        "/// All tables.\npub static TABLES: [&Table; {}] = [{}];\n",
        names.len(),
        tables.join(", ")
    )
}

/// Of the constant and the module of a rule.
fn names(id: &str) -> (String, String) {
    let words = id.replace('-', "_");
    (words.to_ascii_uppercase(), words.to_ascii_lowercase())
}

/// The numbers of a rule, each as a constant.
fn constants(rule: &Rule) -> String {
    let mut text = String::new();
    let thresholds = [
        ("INFO", "From here on worth knowing", rule.info),
        ("CAVEAT", "From here on a caveat", rule.caveat),
        ("INVALID", "From here on invalid", rule.invalid),
        ("UPPER", "The upper end of what is good", rule.upper),
        ("THRESHOLD", "From here on it speaks", rule.threshold),
    ];
    for (name, about, value) in thresholds {
        if let Some(value) = value {
            let about = format!("{about}, in {}.", rule.unit);
            let _ = writeln!(
                text,
                "#[doc = {about:?}]\npub const {name}: f64 = {value:?};"
            );
        }
    }
    if rule.for_seconds > 0 {
        let _ = writeln!(
            text,
            "/// For how long it must hold, in seconds.\npub const FOR_SECONDS: u64 = {};",
            rule.for_seconds
        );
    }
    for (name, parameter) in &rule.parameters {
        let name = name.to_ascii_uppercase();
        let (number, ty) = match &parameter.value {
            Number::Real(value) => (format!("{value:?}"), "f64"),
            Number::Whole(value) => (
                value.to_string(),
                parameter.integer.as_deref().unwrap_or("usize"),
            ),
        };
        let about = format!("{}, in {}.", parameter.means, parameter.unit);
        let _ = writeln!(
            text,
            "#[doc = {about:?}]\npub const {name}: {ty} = {number};"
        );
    }
    text
}

/// The rule as a value of its type.
fn literal(rule: &Rule, table: &str) -> String {
    let kinds: Vec<String> = rule
        .required
        .iter()
        .map(|kind| variant("TargetKind", kind))
        .collect();
    let parameters: Vec<String> = rule
        .parameters
        .iter()
        .map(|(name, parameter)| parameter_literal(name, parameter, rule))
        .collect();
    let prometheus = rule.prometheus.as_ref().map(|prometheus| {
        format!(
            "PrometheusRule {{ exporter: {:?}, expr: {:?} }}",
            prometheus.exporter, prometheus.expr
        )
    });
    let axis = rule.axis.as_ref().map(|axis| variant("Axis", axis));
    let severity = rule
        .severity
        .as_ref()
        .map(|severity| variant("Severity", severity));
    let fields = [
        ("table", format!("{table:?}")),
        ("id", format!("{:?}", rule.id)),
        (
            "name",
            format!("{:?}", rule.name.as_ref().unwrap_or(&rule.id)),
        ),
        ("title", format!("{:?}", rule.title)),
        ("axis", option(axis)),
        ("severity", option(severity)),
        ("detects", format!("{:?}", rule.detects)),
        ("method", format!("{:?}", rule.method)),
        ("unit", format!("{:?}", rule.unit)),
        ("below", rule.below.to_string()),
        ("info", format!("{:?}", rule.info)),
        ("caveat", format!("{:?}", rule.caveat)),
        ("invalid", format!("{:?}", rule.invalid)),
        ("upper", format!("{:?}", rule.upper)),
        ("threshold", format!("{:?}", rule.threshold)),
        ("for_seconds", rule.for_seconds.to_string()),
        ("parameters", format!("&[{}]", parameters.join(", "))),
        ("required", format!("&[{}]", kinds.join(", "))),
        ("needs", format!("{:?}", rule.needs)),
        ("source", format!("{:?}", rule.source)),
        ("remedy", format!("{:?}", rule.remedy)),
        ("other_tools", format!("{:?}", rule.other_tools)),
        ("since", format!("{:?}", rule.since)),
        ("quantity", format!("{:?}", rule.quantity)),
        ("read_from", format!("&{:?}", rule.read_from)),
        ("prometheus", option(prometheus)),
    ];
    let fields: Vec<String> = fields
        .iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    format!("Rule {{ {} }}", fields.join(",\n"))
}

fn parameter_literal(name: &str, parameter: &Parameter, rule: &Rule) -> String {
    let value = match &parameter.value {
        Number::Real(value) => format!("{value:?}"),
        Number::Whole(value) => format!("{value}.0"),
    };
    let grade = parameter
        .grade
        .as_ref()
        .map(|grade| variant("Grade", grade));
    format!(
        "Parameter {{ name: {name:?}, value: {value}, unit: {:?}, grade: {}, means: {:?}, \
         source: {:?} }}",
        parameter.unit,
        option(grade),
        parameter.means,
        parameter.source.as_ref().unwrap_or(&rule.source)
    )
}

fn option(value: Option<String>) -> String {
    value.map_or("None".to_owned(), |value| format!("Some({value})"))
}

/// `TargetKind::ObjectStore` of `object_store`. An unknown one does not compile.
fn variant(of: &str, word: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let words: String = word.split('_').map(capital).collect();
    format!("{of}::{words}")
}
