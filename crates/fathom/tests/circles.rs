//! Circles of imports between the files of a crate.
//!
//! Files that import one another can only be understood together. A circle of
//! two or three, such as a type and its parts, is one idea; a larger one has no
//! beginning. `circles.txt` lists the larger ones that are left; it may only
//! shrink.
//!
//! Every path in the code is followed to the file that defines its item, through
//! re-exports. A module may name its own parts, as a folder's face does: only
//! paths that lead out of a module count, upward, sideways or to another folder.
//! Tests do not count.
//!
//! `FATHOM_TREE=DIR` looks at another checkout, for `scripts/house-numbers`.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree};

/// Files that may import one another.
const LARGEST_CIRCLE: usize = 3;

/// A module: where it is written, and what it contains.
#[derive(Default)]
struct Module {
    file: usize,
    parent: Option<usize>,
    children: HashMap<String, usize>,
    defined: BTreeSet<String>,
    /// Names that `use` brings in: the path each stands for.
    imported: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Every path that the code of the module writes.
    paths: BTreeSet<Vec<String>>,
}

#[derive(Default)]
struct Crate {
    modules: Vec<Module>,
    files: Vec<PathBuf>,
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

fn named_path(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|a| a.path().is_ident("path"))?;
    let syn::Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Collects the paths that code writes, in macros too.
#[derive(Default)]
struct Paths {
    found: BTreeSet<Vec<String>>,
}

impl Paths {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    colons = 0;
                    self.tokens(group.stream());
                }
                _ => {
                    self.end(&mut path);
                    colons = 0;
                }
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.found.insert(std::mem::take(path));
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words = path.segments.iter().map(|s| s.ident.to_string());
        if path.leading_colon.is_none() {
            self.found.insert(words.collect());
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes_of(item)) && !matches!(item, Item::Mod(_)) {
            syn::visit::visit_item(self, item);
        }
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn defined_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

impl Module {
    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |word: &syn::Ident| {
            let mut path = before.to_vec();
            path.push(word.to_string());
            path
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before);
                }
            }
            UseTree::Glob(_) => self.globs.push(before.to_vec()),
            UseTree::Name(name) if name.ident == "self" => {
                let last = before.last().cloned().unwrap_or_default();
                self.imported.insert(last, before.to_vec());
            }
            UseTree::Name(name) => {
                self.imported
                    .insert(name.ident.to_string(), with(&name.ident));
            }
            UseTree::Rename(rename) => {
                let path = match rename.ident == "self" {
                    true => before.to_vec(),
                    false => with(&rename.ident),
                };
                self.imported.insert(rename.rename.to_string(), path);
            }
        }
    }
}

impl Crate {
    fn read(root: &Path) -> Crate {
        let mut house = Crate::default();
        let folder = root.parent().unwrap().to_owned();
        house.file(root, None, &folder);
        house
    }

    /// Reads a file as a module; `folder` is where the files of its modules lie.
    fn file(&mut self, path: &Path, parent: Option<usize>, folder: &Path) -> usize {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        self.files.push(path.to_owned());
        let file = self.files.len() - 1;
        self.module(file, parent, &parsed.items, folder)
    }

    fn module(
        &mut self,
        file: usize,
        parent: Option<usize>,
        items: &[Item],
        folder: &Path,
    ) -> usize {
        let this = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            ..Module::default()
        });
        let mut paths = Paths::default();
        for item in items.iter().filter(|item| !is_test(attributes_of(item))) {
            self.modules[this].defined.extend(defined_name(item));
            match item {
                Item::Use(import) => self.modules[this].import(&import.tree, &[]),
                Item::Mod(module) => self.child(this, module, folder),
                other => paths.visit_item(other),
            }
        }
        self.modules[this].paths = paths.found;
        this
    }

    fn child(&mut self, parent: usize, module: &syn::ItemMod, folder: &Path) {
        let name = module.ident.to_string();
        let below = folder.join(&name);
        let file = self.modules[parent].file;
        let child = match (&module.content, named_path(&module.attrs)) {
            (Some((_, items)), _) => self.module(file, Some(parent), items, &below),
            (None, Some(named)) => {
                let beside = self.files[file].parent().unwrap().join(named);
                self.file(&beside, Some(parent), &below)
            }
            (None, None) => {
                let flat = folder.join(format!("{name}.rs"));
                let path = match flat.exists() {
                    true => flat,
                    false => below.join("mod.rs"),
                };
                self.file(&path, Some(parent), &below)
            }
        };
        self.modules[parent].children.insert(name, child);
    }

    /// The file that defines what a path written in a module stands for.
    fn target(&self, module: usize, path: &[String], depth: u32) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        // Re-exports that lead to themselves end here.
        if depth > 16 {
            return None;
        }
        match first.as_str() {
            "crate" => self.inside(0, rest, depth),
            "self" => self.inside(module, rest, depth),
            "super" => {
                let parent = self.modules[module].parent?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.target(parent, rest, depth + 1),
                    _ => self.inside(parent, rest, depth),
                }
            }
            _ => self.inside(module, path, depth),
        }
    }

    /// The file of a path below a module, whose names may come from elsewhere.
    fn inside(&self, module: usize, path: &[String], depth: u32) -> Option<usize> {
        let here = &self.modules[module];
        let Some((first, rest)) = path.split_first() else {
            return Some(here.file);
        };
        if let Some(child) = here.children.get(first) {
            return self.inside(*child, rest, depth);
        }
        if here.defined.contains(first) {
            return Some(here.file);
        }
        if let Some(full) = here.imported.get(first) {
            // A name of another crate that is called as it is here.
            if full.first() == Some(first) && !here.children.contains_key(first) {
                return None;
            }
            let mut full = full.clone();
            full.extend_from_slice(rest);
            return self.target(module, &full, depth + 1);
        }
        here.globs.iter().find_map(|glob| {
            let mut full = glob.clone();
            full.extend_from_slice(path);
            self.target(module, &full, depth + 1)
        })
    }

    /// The files of the modules below a module.
    fn files_below(&self, module: usize) -> BTreeSet<usize> {
        let mut below = BTreeSet::new();
        let mut open: Vec<usize> = self.modules[module].children.values().copied().collect();
        while let Some(child) = open.pop() {
            below.insert(self.modules[child].file);
            open.extend(self.modules[child].children.values());
        }
        below
    }

    /// Which files each file imports.
    fn imports(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut imports: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (number, module) in self.modules.iter().enumerate() {
            let mut targets: BTreeSet<usize> = BTreeSet::new();
            let globs = module.globs.iter();
            let paths = module
                .paths
                .iter()
                .chain(globs)
                .chain(module.imported.values());
            targets.extend(paths.filter_map(|path| self.target(number, path, 0)));
            targets.remove(&module.file);
            let below = self.files_below(number);
            targets.retain(|file| !below.contains(file));
            imports.entry(module.file).or_default().extend(targets);
        }
        imports
    }
}

/// Strongly connected files (Tarjan's algorithm), largest first.
fn circles(imports: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<Vec<usize>> {
    let reach = |from: usize| -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for next in imports.get(&file).into_iter().flatten() {
                if seen.insert(*next) {
                    open.push(*next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        imports.keys().map(|file| (*file, reach(*file))).collect();
    let mut left: BTreeSet<usize> = imports.keys().copied().collect();
    let mut circles = Vec::new();
    while let Some(file) = left.pop_first() {
        let together = reached[&file]
            .iter()
            .filter(|other| reached[other].contains(&file));
        let mut circle: Vec<usize> = together.copied().collect();
        for other in &circle {
            left.remove(other);
        }
        if circle.len() > 1 {
            circle.sort_unstable();
            circles.push(circle);
        }
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// Sizes of the circles that are too large, by crate; and what all circles
/// consist of, which `scripts/house-numbers` counts.
fn found() -> (BTreeMap<String, Vec<usize>>, String) {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = std::env::var_os("FATHOM_TREE").map_or_else(own, PathBuf::from);
    let crates = tree.join("crates");
    let mut sizes = BTreeMap::new();
    let mut told = String::new();
    let mut files = 0;
    for folder in fs::read_dir(crates).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let roots = ["lib.rs", "main.rs"].map(|root| folder.join("src").join(root));
        for root in roots.iter().filter(|root| root.exists()) {
            let house = Crate::read(root);
            files += house.files.len();
            for circle in &circles(&house.imports()) {
                writeln!(told, "{name}: {} files", circle.len()).unwrap();
                explain(&house, circle, &mut told);
                if circle.len() > LARGEST_CIRCLE {
                    let large: &mut Vec<usize> = sizes.entry(name.clone()).or_default();
                    large.push(circle.len());
                }
            }
        }
    }
    assert!(files > 1000, "the files were not found: {files}");
    (sizes, told)
}

/// Which file of a circle imports which.
fn explain(house: &Crate, circle: &[usize], told: &mut String) {
    let src = house.files[0].parent().unwrap();
    let shown = |file: usize| house.files[file].strip_prefix(src).unwrap().display();
    let imports = house.imports();
    for file in circle {
        let others = imports[file].iter().filter(|other| circle.contains(other));
        let others: Vec<String> = others.map(|other| shown(*other).to_string()).collect();
        writeln!(told, "  {} -> {}", shown(*file), others.join(", ")).unwrap();
    }
}

#[test]
fn circles_of_imports_only_shrink() {
    let (found, told) = found();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("circles.txt");
    fs::write(&out, &told).unwrap();
    let list = include_str!("circles.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let allowed: BTreeMap<String, Vec<usize>> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, sizes)| {
            let sizes = sizes.split(' ').map(|size| size.parse().unwrap());
            (name.to_owned(), sizes.collect())
        })
        .collect();
    assert_eq!(
        found,
        allowed,
        "circles.txt must say what there is, and may only shrink; what imports what is in {}",
        out.display()
    );
}
