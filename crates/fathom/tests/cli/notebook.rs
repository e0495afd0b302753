//! The notebook among the examples runs, on files made as it says.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::bench::Bench;
use crate::python::environment;

const PACKAGES: [&str; 2] = ["pandas==2.2.3", "matplotlib==3.9.2"];

/// Runs the cells of a notebook one after the other, without a kernel.
const RUN_CELLS: &str = "\
import json, sys
names = {}
for cell in json.load(open(sys.argv[1]))['cells']:
    if cell['cell_type'] == 'code':
        exec(compile(''.join(cell['source']), cell['id'], 'exec'), names)
";

fn examples() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn the_notebook_draws_its_graphs() {
    let bench = Bench::new();
    let Some(bin) = environment(bench.path(), &PACKAGES) else {
        return;
    };
    let files = bench.path();
    let diagnosed = |inputs: &[&str], to: &str| {
        let inputs = inputs
            .iter()
            .map(|name| examples().join("iostat").join(name));
        let args = ["diagnose".into()].into_iter().chain(inputs);
        let output = bench.fathom(args.chain(["--json".into()]));
        output.expect_status(0);
        fs::write(files.join(to), output.stdout).unwrap();
    };
    diagnosed(&["ticket.json", "uptime.txt"], "real.json");
    diagnosed(&["test-load.json"], "test.json");
    let record = [
        "record",
        "--for",
        "2s",
        "--every",
        "200ms",
        "--output",
        "host.frec",
        "--quiet",
    ];
    bench.fathom(record).expect_status(0);
    let csv = bench.fathom(["record", "export", "host.frec", "--csv"]);
    csv.expect_status(0);
    fs::write(files.join("host.csv"), csv.stdout).unwrap();
    let output = Command::new(bin.join("python"))
        .args(["-c", RUN_CELLS])
        .arg(examples().join("notebook/is-it-the-disk.ipynb"))
        .env("NOTEBOOK_FILES", files)
        .env("MPLBACKEND", "Agg")
        .output()
        .unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{said}\n{wrong}");
    assert!(said.contains("sda: peaks at 240 of "), "{said}");
    assert!(said.contains("the busiest device is "), "{said}");
    for picture in ["operations.png", "host.png"] {
        let bytes = fs::read(files.join(picture)).unwrap();
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000,
            "{picture}"
        );
    }
}
