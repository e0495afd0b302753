//! Reports of simulated runs in a browser: the first screen, phone, paper, keyboard and
//! accessibility (`scripts/page-tests`).

use std::path::Path;
use std::process::Command;

#[test]
fn reports_pass_in_a_browser() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/page-tests");
    let output = Command::new(script)
        .arg(env!("CARGO_BIN_EXE_fathom"))
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
    assert!(text.contains("first screen"), "{text}");
}
