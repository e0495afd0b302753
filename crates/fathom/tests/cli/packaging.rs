//! What `scripts/release` publishes, as far as a debug build shows it: services, the
//! files of the packages, the image, the SBOM. A file of a few bytes stands for the
//! static binary. `scripts/package-tests` installs the real packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::Bench;

/// More than this of 10, `systemd-analyze security` does not count as well protected.
const EXPOSURE_MAX: &str = "--threshold=20";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// What a successful command prints.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {stdout}{stderr}");
    stdout
}

fn services() -> Vec<(PathBuf, String)> {
    let folder = fs::read_dir(root().join("packaging/systemd")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    paths
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

/// A variable of the unit's own, as systemd puts it into the command.
fn variable(unit: &str, name: &str) -> String {
    let start = format!("Environment=\"{name}=");
    let line = unit.lines().find_map(|line| line.strip_prefix(&start));
    line.unwrap().trim_end_matches('"').to_owned()
}

#[test]
fn services_start_fathom_with_options_that_it_has() {
    let bench = Bench::new();
    for (path, unit) in services() {
        let start = unit
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart="));
        let words = start.unwrap().split(' ').flat_map(|word| {
            let value = word.strip_prefix('$').map(|name| variable(&unit, name));
            let text = value.unwrap_or_else(|| word.to_owned());
            text.split(' ').map(str::to_owned).collect::<Vec<_>>()
        });
        let words: Vec<String> = words.collect();
        assert_eq!(words[0], "/usr/bin/fathom", "{}", path.display());
        // An option that is not known is rejected before help is printed.
        let arguments = words[1..].iter().map(String::as_str).chain(["--help"]);
        bench.fathom(arguments).expect_status(0);
        assert!(!unit.contains("\nUser=root"), "{}", path.display());
    }
}

#[test]
fn services_are_valid_and_keep_intruders_out() {
    if !there("systemd-analyze") {
        return;
    }
    let bench = Bench::new();
    for (path, unit) in services() {
        printed(
            Command::new("systemd-analyze")
                .args(["security", "--offline=true"])
                .args([
                    EXPOSURE_MAX.as_ref(),
                    "--no-pager".as_ref(),
                    path.as_os_str(),
                ]),
        );
        // With a program that is there.
        let copy = bench.path().join(path.file_name().unwrap());
        fs::write(
            &copy,
            unit.replace("/usr/bin/fathom", env!("CARGO_BIN_EXE_fathom")),
        )
        .unwrap();
        let verify = ["verify", "--man=no", "--recursive-errors=no"];
        printed(Command::new("systemd-analyze").args(verify).arg(&copy));
    }
}

/// Packages of a stand-in for the static binary, whose pages the debug build writes.
fn packaged(bench: &Bench, name: &str) -> PathBuf {
    let binary = bench.path().join("stand-in");
    fs::write(&binary, "#!/bin/sh\n").unwrap();
    let folder = bench.path().join(name);
    let mut package = Command::new(root().join("scripts/package"));
    package
        .env("FATHOM_PACKAGE_FAST", "1")
        .env("SOURCE_DATE_EPOCH", "1700000000");
    package.args([binary.as_os_str(), "x86_64".as_ref(), folder.as_os_str()]);
    let said = printed(package.arg(env!("CARGO_BIN_EXE_fathom")));
    said.lines()
        .filter(|line| line.starts_with("skipped: "))
        .for_each(|line| println!("{line}"));
    folder
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

/// What has to be in every package; pages of manual beside.
const INSTALLED: [&str; 13] = [
    "usr/bin/fathom",
    "usr/lib/systemd/system/fathom-agent.service",
    "usr/lib/systemd/system/fathom-net-server.service",
    "usr/lib/systemd/system/fathom-record.service",
    "usr/lib/sysusers.d/fathom.conf",
    "usr/lib/tmpfiles.d/fathom.conf",
    "usr/share/bash-completion/completions/fathom",
    "usr/share/doc/fathom/CHANGELOG.md.gz",
    "usr/share/doc/fathom/NOTICES.gz",
    "usr/share/doc/fathom/README.md",
    "usr/share/doc/fathom/copyright",
    "usr/share/fish/vendor_completions.d/fathom.fish",
    "usr/share/zsh/vendor-completions/_fathom",
];

#[test]
fn packages_hold_what_they_should_and_are_the_same_twice() {
    if !there("dpkg-deb") || !there("xz") {
        return;
    }
    let bench = Bench::new();
    let first = packaged(&bench, "first");
    for (one, other) in files(&first).iter().zip(files(&packaged(&bench, "second"))) {
        let same = fs::read(one).unwrap() == fs::read(other).unwrap();
        assert!(same, "{} differs when it is made again", one.display());
    }
    let of_kind = |kind: &str| {
        let found = files(&first)
            .into_iter()
            .find(|path| path.extension() == Some(kind.as_ref()));
        found.unwrap()
    };
    let list = printed(Command::new("dpkg-deb").arg("-c").arg(of_kind("deb")));
    let lines = list.lines().filter(|line| !line.starts_with('d'));
    let paths: BTreeSet<&str> = lines.filter_map(|line| line.split("./").nth(1)).collect();
    let is_page = |path: &&str| path.starts_with("usr/share/man/man1/fathom");
    let pages = paths.iter().copied().filter(is_page).count();
    let others: Vec<&str> = paths.into_iter().filter(|path| !is_page(path)).collect();
    assert_eq!(others, INSTALLED);
    assert!(pages > 50, "{pages} pages of the manual");
    let list = printed(Command::new("tar").arg("-tf").arg(of_kind("xz")));
    for file in [
        "fathom",
        "LICENSE",
        "NOTICES",
        "man/fathom-quick.1",
        "completions/_fathom",
    ] {
        let ends = format!("-x86_64-linux/{file}");
        assert!(
            list.lines().any(|line| line.ends_with(&ends)),
            "{file}: {list}"
        );
    }
}

#[test]
fn the_image_is_a_layout_whose_blobs_are_what_they_are_called() {
    if !there("python3") {
        return;
    }
    let bench = Bench::new();
    let binary = bench.path().join("stand-in");
    fs::write(&binary, "stand-in").unwrap();
    let image = bench.path().join("image.tar");
    let written = || {
        let words = ["0.0.0".to_owned(), "commit".to_owned()];
        let binaries = ["amd64", "arm64"].map(|name| format!("{name}={}", binary.display()));
        let mut python = Command::new("python3");
        python
            .env("SOURCE_DATE_EPOCH", "1700000000")
            .arg(root().join("packaging/oci.py"));
        printed(python.arg(&image).args(words).args(binaries));
        fs::read(&image).unwrap()
    };
    assert!(
        written() == written(),
        "the image differs when it is made again"
    );
    let layout = bench.path().join("layout");
    fs::create_dir(&layout).unwrap();
    printed(
        Command::new("tar")
            .arg("-xf")
            .arg(&image)
            .arg("-C")
            .arg(&layout),
    );
    let blobs = layout.join("blobs/sha256");
    for blob in files(&blobs) {
        let sum = printed(Command::new("sha256sum").arg(&blob));
        assert_eq!(sum.split(' ').next(), blob.file_name().unwrap().to_str());
    }
    let read = |path: &Path| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let below = |node: &Value| {
        let digest = node["digest"].as_str().unwrap();
        read(&blobs.join(digest.trim_start_matches("sha256:")))
    };
    let index = below(&read(&layout.join("index.json"))["manifests"][0]);
    let images = index["manifests"].as_array().unwrap();
    let architectures = images
        .iter()
        .map(|image| image["platform"]["architecture"].as_str());
    assert!(architectures.eq([Some("amd64"), Some("arm64")]));
    for image in images {
        let config = below(&below(image)["config"]);
        assert_eq!(config["config"]["User"], "65532:65532");
    }
}

#[test]
fn the_sbom_lists_every_package_with_its_version_and_no_folder_of_this_host() {
    let tool = root().join("target/tools/bin/cargo-cyclonedx");
    if !tool.exists() {
        println!("skipped: cargo-cyclonedx is not in target/tools; scripts/release installs it");
        return;
    }
    let bench = Bench::new();
    let file = bench.path().join("bom.json");
    printed(Command::new(root().join("scripts/sbom")).arg(&file));
    let text = fs::read_to_string(file).unwrap();
    assert!(!text.contains("file:///tmp"), "{text}");
    let sbom: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(sbom["bomFormat"], "CycloneDX");
    let components = sbom["components"].as_array().unwrap();
    for component in components {
        for key in ["name", "version", "purl", "licenses"] {
            assert!(!component[key].is_null(), "{key} of {component}");
        }
    }
    assert!(
        components
            .iter()
            .any(|component| component["name"] == "rustls")
    );
}
