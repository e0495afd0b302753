//! Pages of networks, clusters, diagnoses and of the use of a host in a browser
//! (`scripts/page-tests`).

use std::path::Path;
use std::process::Command;

use fathom_report::diagnosis::{PageOrigin, Source};
use fathom_report::machine::PageMoment;
use fathom_report::{cluster, diagnosis, machine, network};

use crate::synthetic_documents as synthetic;

const MADE_UNIX_NS: u64 = 1_795_275_930_000_000_000;

#[test]
fn documents_pass_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let origin = PageOrigin {
        made_unix_ns: MADE_UNIX_NS,
        command: "fathom diagnose iostat.json --ceiling-iops 1000".to_owned(),
        recorded: None,
        source: Source::Recording("iostat.json".to_owned()),
    };
    let moment = PageMoment {
        unix_ns: MADE_UNIX_NS,
        command: "fathom use".to_owned(),
    };
    let pages = [
        ("matrix", network::matrix_html(&synthetic::matrix())),
        ("pair", network::pair_html(&synthetic::pair())),
        ("cluster", cluster::html(&synthetic::cluster())),
        (
            "diagnosis",
            diagnosis::html(&synthetic::diagnosis(), &origin),
        ),
        ("use", machine::html(&synthetic::machine(), &moment)),
    ];
    for (name, page) in pages {
        std::fs::write(folder.path().join(format!("{name}.html")), page.unwrap()).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/page-tests");
    let output = Command::new(script)
        .env("PAGES", folder.path())
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
    assert!(text.contains("matrix at 390x844"), "{text}");
}
