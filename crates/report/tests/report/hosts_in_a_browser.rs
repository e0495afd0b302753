//! The page of a run of 84 hosts in a browser (`scripts/page-tests`).

use std::path::Path;
use std::process::Command;

use fathom_report::html;

use crate::synthetic;

const HOSTS: u32 = 84;

#[test]
fn many_hosts_pass_in_a_browser() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hosts.html");
    std::fs::write(&file, html::render(&synthetic::fleet(HOSTS, 600)).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/page-tests");
    let output = Command::new(script)
        .env("PAGE", &file)
        .env("HOSTS", HOSTS.to_string())
        .output()
        .unwrap();
    let text = format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let mut lines = text.lines();
    let skipped = lines.find_map(|line| line.strip_prefix("page-tests: skipped: "));
    if let Some(reason) = skipped {
        println!("skipped: {reason}");
        return;
    }
    assert!(output.status.success(), "{text}");
    assert!(text.contains("one screen shows all"), "{text}");
}
