//! Source files that nothing compiles: no `mod` leads to them from the root of a
//! library, program, test, example or build script. They look alive and rot.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Expr, ItemMod, Lit, Meta};

/// What is found from one file: the files of its modules and of `include!`.
struct Reached<'a> {
    file: &'a Path,
    /// Where the files of this file's modules lie.
    folder: PathBuf,
    found: Vec<PathBuf>,
}

impl<'ast> Visit<'ast> for Reached<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let name = module.ident.to_string();
        let named = module.attrs.iter().find_map(|attribute| {
            let Meta::NameValue(pair) = &attribute.meta else {
                return None;
            };
            match &pair.value {
                Expr::Lit(value) if pair.path.is_ident("path") => text(&value.lit),
                _ => None,
            }
        });
        if module.content.is_some() {
            let outer = self.folder.clone();
            self.folder = outer.join(named.unwrap_or(name));
            syn::visit::visit_item_mod(self, module);
            self.folder = outer;
        } else if let Some(named) = named {
            self.found.push(self.file.parent().unwrap().join(named));
        } else {
            let flat = self.folder.join(format!("{name}.rs"));
            self.found.push(flat);
            self.found.push(self.folder.join(name).join("mod.rs"));
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.is_ident("include")
            && let Ok(literal) = call.parse_body::<Lit>()
            && let Some(name) = text(&literal)
        {
            self.found.push(self.file.parent().unwrap().join(name));
        }
    }
}

fn text(literal: &Lit) -> Option<String> {
    match literal {
        Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// Adds a file and everything that its modules lead to.
fn follow(file: &Path, is_root: bool, reached: &mut BTreeSet<PathBuf>) {
    let Ok(file) = file.canonicalize() else {
        return;
    };
    if !reached.insert(file.clone()) {
        return;
    }
    let parsed = syn::parse_file(&fs::read_to_string(&file).unwrap());
    let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parent = file.parent().unwrap();
    let is_face = is_root || file.ends_with("mod.rs");
    let mut found = Reached {
        file: &file,
        folder: if is_face {
            parent.to_owned()
        } else {
            parent.join(file.file_stem().unwrap())
        },
        found: Vec::new(),
    };
    found.visit_file(&parsed);
    for next in found.found {
        follow(&next, false, reached);
    }
}

/// The Rust files below a folder, without what building leaves there.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path.canonicalize().unwrap());
        }
    }
}

/// The files from which a package is compiled: where cargo looks, and what the
/// manifest names.
fn roots(package: &Path) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ["src/lib.rs", "src/main.rs", "build.rs"]
        .map(|name| package.join(name))
        .into();
    for folder in ["src/bin", "tests", "examples", "benches"] {
        for entry in fs::read_dir(package.join(folder)).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                roots.push(path.join("main.rs"));
            } else if path.extension().is_some_and(|e| e == "rs") {
                roots.push(path);
            }
        }
    }
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let named = manifest.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let is_root = ["path", "build"].contains(&key.trim()) && value.ends_with(".rs");
        is_root.then(|| package.join(value))
    });
    roots.extend(named);
    roots
}

#[test]
fn every_source_file_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut packages = vec![root.join("fuzz")];
    for folder in ["crates", "benches"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let package = entry.unwrap().path();
            if package.join("Cargo.toml").exists() {
                packages.push(package);
            }
        }
    }
    let mut all = Vec::new();
    let mut reached = BTreeSet::new();
    for package in &packages {
        rust_files(package, &mut all);
        for file in roots(package) {
            follow(&file, true, &mut reached);
        }
    }
    let dead: Vec<String> = all
        .iter()
        .filter(|file| !reached.contains(*file))
        .map(|file| file.display().to_string())
        .collect();
    assert!(all.len() > 1000, "the files were not found: {}", all.len());
    assert!(
        dead.is_empty(),
        "nothing compiles these files; a `mod` is missing, or they can go:\n{}",
        dead.join("\n")
    );
}
