//! Each statistic has one definition, in `crates/stats`.
//!
//! A second median or deviation differs from the first where nobody looks: an even
//! number of values, a single one, none, NaN. So functions of plain numbers that are
//! named like a statistic are rejected outside that crate, and so is what such a
//! function is written with.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::visit::Visit;
use syn::{Attribute, FnArg, GenericArgument, PathArguments, Type, TypeParamBound};

/// Where statistics are defined.
const HOME: &str = "crates/stats/";

/// Words in the names of statistics.
const STATISTICS: [&str; 15] = [
    "autocorrelation",
    "bootstrap",
    "deviation",
    "mad",
    "mean",
    "median",
    "percentile",
    "quantile",
    "regression",
    "skewness",
    "slope",
    "std",
    "stddev",
    "stdev",
    "variance",
];

/// What a statistic is written with, without spaces: the factors between MAD and
/// standard deviation, squares around a mean, distributions.
const FORMULAS: [&str; 4] = ["1.4826", "0.6745", "-mean).powi(2)", "StudentsT"];

/// Definitions and formulas that are left elsewhere, by file. `model` is on the
/// floor of `stats` and cannot import it: it has the moments of a histogram, and the
/// line and the largest distance by which fio ends a job. The list may only shrink.
const ELSEWHERE: &[(&str, usize)] = &[
    ("crates/model/src/histogram.rs", 1),
    ("crates/model/src/settled.rs", 2),
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

/// Functions of plain numbers that are named like a statistic.
#[derive(Default)]
struct Definitions {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Definitions {
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

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let name = signature.ident.to_string();
        let named = name.split('_').any(|word| STATISTICS.contains(&word));
        // A method is a figure of its type, however that is computed.
        let of_numbers = matches!(signature.inputs.first(),
            Some(FnArg::Typed(first)) if is_list(&first.ty));
        if named && of_numbers {
            self.found.push(name);
        }
    }
}

/// A slice, vector or iterator of numbers or of tuples of numbers.
fn is_list(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_list(&reference.elem),
        Type::Slice(slice) => is_number(&slice.elem),
        Type::Array(array) => is_number(&array.elem),
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| {
                last.ident == "Vec" && arguments(&last.arguments).any(is_number)
            })
        }
        Type::ImplTrait(bounds) => bounds.bounds.iter().any(|bound| match bound {
            TypeParamBound::Trait(of) => of.path.segments.last().is_some_and(|last| {
                (last.ident == "Iterator" || last.ident == "IntoIterator")
                    && arguments(&last.arguments).any(is_number)
            }),
            _ => false,
        }),
        _ => false,
    }
}

fn is_number(ty: &Type) -> bool {
    const NUMBERS: [&str; 7] = ["f64", "f32", "u64", "u32", "i64", "u128", "usize"];
    match ty {
        Type::Reference(reference) => is_number(&reference.elem),
        Type::Tuple(tuple) => !tuple.elems.is_empty() && tuple.elems.iter().all(is_number),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            NUMBERS.iter().any(|number| last.ident == number)
                || last.ident == "Option" && arguments(&last.arguments).any(is_number)
        }),
        _ => false,
    }
}

/// Types between angle brackets.
fn arguments(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let list = match arguments {
        PathArguments::AngleBracketed(list) => Some(&list.args),
        _ => None,
    };
    list.into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            GenericArgument::AssocType(item) => Some(&item.ty),
            _ => None,
        })
}

/// `x.get(x.len() / 2)` and `x[x.len() / 2]`, in text without spaces: a median.
fn middles(text: &str) -> usize {
    let halves = text.match_indices(".len()/2").filter(|(at, mark)| {
        let before = &text[..*at];
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || "_.".contains(c)));
        let list = &before[start.map_or(0, |start| start + 1)..];
        let (open, after) = (
            &before[..before.len() - list.len()],
            &text[at + mark.len()..],
        );
        let got = open.ends_with(&format!("{list}.get(")) && after.starts_with(')');
        let indexed = open.ends_with(&format!("{list}[")) && after.starts_with(']');
        got || indexed
    });
    halves.count()
}

/// What a file defines: names of statistics, and formulas of others.
fn defined(text: &str) -> Vec<String> {
    let file = syn::parse_file(text).unwrap();
    let mut definitions = Definitions::default();
    definitions.visit_file(&file);
    let mut found = definitions.found;
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = shipped
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(str::split_whitespace)
        .collect();
    let code = code.concat();
    for formula in FORMULAS {
        found.extend(code.matches(formula).map(str::to_owned));
    }
    let median = "a value in the middle".to_owned();
    found.extend(std::iter::repeat_n(median, middles(&code)));
    found
}

#[test]
fn each_statistic_has_one_definition() {
    let root = root();
    let mut files = Vec::new();
    for folder in fs::read_dir(root.join("crates")).unwrap() {
        let sources = folder.unwrap().path().join("src");
        if sources.is_dir() {
            rust_files(&sources, &mut files);
        }
    }
    let mut found = BTreeMap::new();
    for path in files {
        let name = path
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        if name.starts_with(HOME) || name.ends_with("tests.rs") {
            continue;
        }
        let definitions = defined(&fs::read_to_string(&path).unwrap());
        if !definitions.is_empty() {
            found.insert(name, definitions);
        }
    }
    let left: BTreeMap<&str, usize> = ELSEWHERE.iter().copied().collect();
    for (name, definitions) in &found {
        assert!(
            left.get(name.as_str())
                .is_some_and(|most| definitions.len() <= *most),
            "{name} defines {}: use fathom-stats, or define it there",
            definitions.join(", ")
        );
    }
    let counts = found.iter().map(|(name, list)| (name.as_str(), list.len()));
    let counts: BTreeMap<&str, usize> = counts.collect();
    assert_eq!(counts, left, "fewer are left elsewhere: shorten ELSEWHERE");
}

#[test]
fn only_one_crate_uses_the_library_of_distributions() {
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let manifest = folder.unwrap().path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let uses = text.lines().any(|line| line.starts_with("statrs"));
        let home = manifest.ends_with("stats/Cargo.toml");
        assert_eq!(uses, home, "{}", manifest.display());
    }
}

#[test]
fn copies_are_recognised() {
    let copies = [
        ("fn median(values: &[f64]) -> f64 { 0.0 }", 1),
        ("fn median_of(mut times: Vec<u64>) -> u64 { 0 }", 1),
        ("impl A { fn std_dev(of: impl Iterator<Item = f64>) {} }", 1),
        ("fn slope(points: &[(f64, f64)]) {}", 1),
        ("fn median(&self, values: &[f64]) {}", 0),
        ("fn did_you_mean(name: &str) {}", 0),
        ("#[cfg(test)] mod tests { fn median(values: &[f64]) {} }", 0),
        ("fn a() { let m = times.get(times.len() / 2); }", 1),
        ("fn a() { self.times[self.times.len() / 2]; }", 1),
        (
            "fn a() { let half = times.len() / 2; times.truncate(times.len() / 2); }",
            0,
        ),
        ("fn a() { v.map(|v| (v - mean).powi(2)); 1.4826 * m; }", 2),
        ("// 1.4826\nfn a() {}", 0),
    ];
    for (text, count) in copies {
        let text = match text.contains("&self") {
            true => format!("impl A {{ {text} }}"),
            false => text.to_owned(),
        };
        assert_eq!(defined(&text).len(), count, "{text}");
    }
}
