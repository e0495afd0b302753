//! The Helm chart of the agents and the plugin for krew: options that fathom has, a
//! manifest whose digests are those of its archives. `scripts/kubernetes-tests` holds
//! the chart against the schemas of Kubernetes where helm is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::Bench;

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(packaging().join(path)).unwrap()
}

#[test]
fn the_chart_starts_agents_with_options_that_they_have() {
    let bench = Bench::new();
    let help = bench.fathom(["agent", "--help-all"]).stdout;
    let set = text("chart/fathom/templates/daemonset.yaml");
    let options: Vec<&str> = set
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- --"))
        .map(|line| line.split('=').next().unwrap())
        .collect();
    assert!(
        options.contains(&"token-file") && options.len() >= 5,
        "{options:?}"
    );
    for option in options {
        assert!(
            help.contains(&format!("--{option}")),
            "--{option} is none of agent's"
        );
    }
    // Every value that the templates use is there, and the other way round.
    let values = text("chart/fathom/values.yaml");
    let templates = set + &text("chart/fathom/templates/NOTES.txt");
    let names = values
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    for name in names.filter_map(|line| line.split(':').next()) {
        assert!(
            templates.contains(&format!(".Values.{name}")),
            "{name} does nothing"
        );
    }
    for used in templates.split(".Values.").skip(1) {
        let name = used
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap();
        assert!(
            values.contains(&format!("\n{name}:")),
            "{name} has no default"
        );
    }
    let version = format!("appVersion: \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text("chart/fathom/Chart.yaml").contains(&version));
}

#[test]
fn a_plugin_for_krew_has_the_digests_of_its_archives() {
    let bench = Bench::new();
    let out = bench.path().join("krew");
    std::fs::create_dir(&out).unwrap();
    let binary = bench.path().join("binary");
    std::fs::write(&binary, "a binary").unwrap();
    let made = Command::new(packaging().join("krew/archives.py"))
        .arg(&out)
        .args(["0.1.0", "https://example.com/releases"])
        .arg(format!("x86_64={}", binary.display()))
        .arg(format!("aarch64={}", binary.display()))
        .env("SOURCE_DATE_EPOCH", "1")
        .status();
    let Ok(made) = made else {
        println!("skipped: python3 is missing");
        return;
    };
    assert!(made.success());
    let manifest = std::fs::read_to_string(out.join("fathom.yaml")).unwrap();
    for architecture in ["x86_64", "aarch64"] {
        let name = format!("kubectl-fathom-0.1.0-{architecture}.tar.gz");
        assert!(
            manifest.contains(&format!("https://example.com/releases/{name}")),
            "{manifest}"
        );
        let digest = Command::new("sha256sum")
            .arg(out.join(&name))
            .output()
            .unwrap();
        let digest = String::from_utf8(digest.stdout).unwrap();
        let digest = digest.split(' ').next().unwrap();
        assert!(
            manifest.contains(&format!("sha256: {digest}")),
            "{manifest}"
        );
        let listed = Command::new("tar")
            .arg("-tzf")
            .arg(out.join(&name))
            .output()
            .unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert_eq!(listed, "LICENSE\nkubectl-fathom\n");
    }
}
