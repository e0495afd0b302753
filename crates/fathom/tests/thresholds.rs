//! Thresholds are data, in the tables of `crates/rules`.
//!
//! A number in the code of a decision has no source that a reader can look up, and
//! `fathom explain` does not know it. So constants with a number of their own are
//! rejected in the crates that decide.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::visit::Visit;
use syn::{Attribute, Expr, Lit, Type};

/// The crates that decide.
const DECIDING: [&str; 4] = [
    "crates/analysis/src",
    "crates/compat/src/judge",
    "crates/diagnose/src",
    "crates/studies/src",
];

/// Numbers that judge nothing: units and sizes of formats, bounds of memory, of
/// searches and of what is printed, seeds and inputs of simulations.
const NO_DECISION: &[(&str, &[&str])] = &[
    ("crates/analysis/src/accuracy.rs", &["BLOCK_BYTES", "LEVEL"]),
    (
        "crates/analysis/src/charts.rs",
        &["CELLS_PER_DECADE", "MOST_COLUMNS", "MOST_ROWS"],
    ),
    ("crates/analysis/src/checks/company.rs", &["NAMED"]),
    ("crates/analysis/src/comparison/difference.rs", &["MOST"]),
    ("crates/analysis/src/comparison/paired.rs", &["FLIP_SEED"]),
    ("crates/analysis/src/comparison/standing.rs", &["NAMED"]),
    (
        "crates/analysis/src/coverage.rs",
        &[
            "LEVEL",
            "MEANS_EACH",
            "MEDIAN_NS",
            "NORMAL_975",
            "VARIATION",
            "WITHIN",
        ],
    ),
    ("crates/analysis/src/fleet/alike.rs", &["NAMED"]),
    ("crates/analysis/src/fold.rs", &["MOST_LABELS"]),
    (
        "crates/analysis/src/series.rs",
        &["FORGOTTEN", "ONE_IN_FIFTEEN", "ONE_IN_FIFTY", "STALL"],
    ),
    ("crates/analysis/src/set_sum.rs", &["NAMED", "SECOND_NS"]),
    (
        "crates/analysis/src/statistics/cells.rs",
        &["BOOTSTRAP_SEED"],
    ),
    (
        "crates/analysis/src/steadiness/words.rs",
        &["MOST_LEVELS", "SMALL_BLOCK_BYTES"],
    ),
    ("crates/diagnose/src/alarm/service.rs", &["LINES_MAX"]),
    ("crates/diagnose/src/anonymous.rs", &["DATE_DIGITS"]),
    ("crates/diagnose/src/cluster/anonymous.rs", &["VALUES_MAX"]),
    ("crates/diagnose/src/cluster/ceph.rs", &["OSDS_MAX"]),
    (
        "crates/diagnose/src/cluster/ceph_operations.rs",
        &["EVENTS_MAX", "OPERATIONS_MAX"],
    ),
    ("crates/diagnose/src/decide/evidence.rs", &["MOST_NAMED"]),
    ("crates/diagnose/src/recording.rs", &["MOST_VALUES_BYTES"]),
    ("crates/diagnose/src/stuck_tasks.rs", &["MOST_NAMED"]),
    (
        "crates/diagnose/src/stack/landing.rs",
        &["DEPTH_MAX", "WAYS_MAX"],
    ),
    ("crates/diagnose/src/who.rs", &["MOST_LINES"]),
    ("crates/studies/src/causal/judge.rs", &["MOST_LINES"]),
    ("crates/studies/src/scale/view.rs", &["PIECES"]),
    ("crates/studies/src/snia/view/plot.rs", &["MOST_POINTS"]),
];

/// Values that convert units, halve, double, bound or round, and percentiles that are
/// shown: by themselves they decide nothing.
const NEUTRAL: [f64; 22] = [
    0.0,
    0.5,
    1.0,
    2.0,
    8.0,
    10.0,
    60.0,
    100.0,
    1e3,
    1024.0,
    3600.0,
    1e6,
    1_048_576.0,
    1e9,
    1e12,
    1e-3,
    1e-6,
    1e-9,
    1e-12,
    50.0,
    99.0,
    99.9,
];

/// Files in which other numbers stand amid the code, and why.
const NO_DECISION_INLINE: &[(&str, &str)] = &[
    (
        "crates/analysis/src/accuracy.rs",
        "inputs of simulations, and what they must reach",
    ),
    ("crates/analysis/src/charts.rs", "geometry"),
    (
        "crates/analysis/src/comparison/runs.rs",
        "the normal distribution",
    ),
    (
        "crates/analysis/src/comparison/simulation.rs",
        "inputs of a simulation",
    ),
    (
        "crates/analysis/src/comparison/standing.rs",
        "digits that are shown",
    ),
    ("crates/analysis/src/coverage.rs", "inputs of simulations"),
    (
        "crates/analysis/src/intervals.rs",
        "percentiles that are stored",
    ),
    (
        "crates/analysis/src/network/evidence.rs",
        "digits that are shown",
    ),
    (
        "crates/analysis/src/network/limit.rs",
        "headers of packets, the formula of Mathis",
    ),
    ("crates/analysis/src/series.rs", "inputs of simulations"),
    (
        "crates/analysis/src/statistics/cells.rs",
        "spacing of a grid",
    ),
    ("crates/compat/src/judge/fio_number.rs", "units"),
    (
        "crates/compat/src/judge/identity.rs",
        "units, and digits that fio prints",
    ),
    (
        "crates/diagnose/src/cluster/ceph_readings.rs",
        "a percentile that is shown",
    ),
    ("crates/studies/src/curve/search.rs", "digits of a name"),
    (
        "crates/studies/src/curve/view/map.rs",
        "equal loads but for rounding",
    ),
    ("crates/studies/src/curve/view/plot.rs", "geometry"),
    (
        "crates/studies/src/scale/answers.rs",
        "digits that are shown",
    ),
    ("crates/studies/src/scale/law.rs", "a solver"),
    ("crates/studies/src/snia/view/plot.rs", "geometry"),
];

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// The Rust files below a folder.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Files of tests, which their modules leave out of the product.
fn is_test_file(path: &str) -> bool {
    let names = ["tests.rs", "/test_records.rs", "/judge_properties.rs"];
    names.iter().any(|name| path.ends_with(name))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        path.is_ident("test")
            || path.is_ident("cfg")
                && attribute
                    .parse_args::<TokenStream>()
                    .is_ok_and(|tokens| tokens.to_string().split(' ').any(|word| word == "test"))
    })
}

/// Names of constants of a number, with a literal in their value.
#[derive(Default)]
struct Numbers {
    found: Vec<String>,
}

impl Numbers {
    fn look(&mut self, name: &syn::Ident, ty: &Type, value: &Expr) {
        let mut literals = Literals::default();
        literals.visit_expr(value);
        if is_number(ty) && literals.any {
            self.found.push(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Numbers {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.look(&item.ident, &item.ty, &item.expr);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.look(&item.ident, &item.ty, &item.expr);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.look(&item.ident, &item.ty, &item.expr);
    }
}

#[derive(Default)]
struct Literals {
    any: bool,
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_lit(&mut self, literal: &'ast Lit) {
        self.any |= matches!(literal, Lit::Int(_) | Lit::Float(_));
    }
}

fn is_number(ty: &Type) -> bool {
    const NUMBERS: [&str; 14] = [
        "f64", "f32", "u8", "u16", "u32", "u64", "u128", "usize", "i16", "i32", "i64", "i128",
        "isize", "Duration",
    ];
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| NUMBERS.iter().any(|number| last.ident == number)),
        _ => false,
    }
}

fn numbers(text: &str) -> Vec<String> {
    let mut numbers = Numbers::default();
    numbers.visit_file(&syn::parse_file(text).unwrap());
    numbers.found
}

#[test]
fn numbers_that_decide_stand_in_the_tables() {
    let root = root();
    let mut files = Vec::new();
    for folder in DECIDING {
        rust_files(&root.join(folder), &mut files);
    }
    let allowed: BTreeMap<&str, &[&str]> = NO_DECISION.iter().copied().collect();
    let mut used = BTreeMap::new();
    for path in files {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy();
        if is_test_file(&name) {
            continue;
        }
        let found = numbers(&fs::read_to_string(&path).unwrap());
        let allowed = allowed.get(name.as_ref()).copied().unwrap_or_default();
        let (known, new): (Vec<String>, Vec<String>) = found
            .into_iter()
            .partition(|constant| allowed.contains(&constant.as_str()));
        assert!(
            new.is_empty(),
            "{name} has {} as constants of its own: numbers that decide are parameters of a rule \
             in crates/rules/tables",
            new.join(", ")
        );
        if !known.is_empty() {
            used.insert(name.to_string(), known.len());
        }
    }
    let listed = |(name, names): &(&str, &[&str])| ((*name).to_owned(), names.len());
    let listed: BTreeMap<String, usize> = NO_DECISION.iter().map(listed).collect();
    assert_eq!(used, listed, "shorten NO_DECISION");
}

/// Numbers amid the code of functions that are not neutral.
#[derive(Default)]
struct Inline {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Inline {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}

    fn visit_lit_float(&mut self, literal: &'ast syn::LitFloat) {
        let value: f64 = literal.base10_parse().unwrap();
        if !NEUTRAL.contains(&value) {
            self.found.push(literal.to_string());
        }
    }
}

fn inline(text: &str) -> Vec<String> {
    let mut inline = Inline::default();
    inline.visit_file(&syn::parse_file(text).unwrap());
    inline.found
}

#[test]
fn numbers_amid_the_code_decide_nothing() {
    let root = root();
    let mut files = Vec::new();
    for folder in DECIDING {
        rust_files(&root.join(folder), &mut files);
    }
    let mut with_numbers = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy();
        let found = inline(&fs::read_to_string(&path).unwrap());
        if is_test_file(&name) || found.is_empty() {
            continue;
        }
        assert!(
            NO_DECISION_INLINE.iter().any(|(file, _)| *file == name),
            "{name} has {}: numbers that decide are parameters of a rule in crates/rules/tables",
            found.join(", ")
        );
        with_numbers.push(name.to_string());
    }
    with_numbers.sort();
    let listed: Vec<&str> = NO_DECISION_INLINE.iter().map(|(file, _)| *file).collect();
    assert_eq!(with_numbers, listed, "shorten NO_DECISION_INLINE");
}

#[test]
fn numbers_amid_the_code_are_recognised() {
    for (text, count) in [
        ("fn a(x: f64) -> bool { x < 0.95 }", 1),
        ("fn a(x: f64) -> f64 { 3.0 * x.max(0.0) }", 1),
        ("impl A { fn a(x: f64) -> f64 { x / 1e9 } }", 0),
        ("const LEAST: f64 = 0.95;", 0),
        (
            "#[cfg(test)] mod tests { fn a(x: f64) -> bool { x < 0.95 } }",
            0,
        ),
    ] {
        assert_eq!(inline(text).len(), count, "{text}");
    }
}

#[test]
fn constants_of_numbers_are_recognised() {
    for (text, count) in [
        ("const LEAST: f64 = 0.5;", 1),
        ("pub(crate) const MOST: usize = LEAST + 2;", 1),
        ("fn a() { const HALF: f64 = 1.0 / 2.0; }", 1),
        (
            "impl A { const WAIT: std::time::Duration = Duration::from_secs(1); }",
            1,
        ),
        ("static LIMIT: u64 = 1 << 20;", 1),
        ("const LEAST: usize = check::v51::CAVEAT as usize;", 0),
        ("const NAMES: [&str; 2] = [\"a\", \"b\"];", 0),
        ("#[cfg(test)] mod tests { const LEAST: f64 = 0.5; }", 0),
    ] {
        assert_eq!(numbers(text).len(), count, "{text}");
    }
}
