//! The notebook among the examples runs, on files made as it says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::Bench;
use crate::python::environment;

const PACKAGES: [&str; 2] = ["pandas==2.2.3", "matplotlib==3.9.2"];

/// Runs the cells of a notebook one after the other, without a kernel, for the
/// files of each folder.
const RUN_CELLS: &str = "\
import json, os, sys
for folder in sys.argv[2:]:
    os.environ['NOTEBOOK_FILES'] = folder
    print('folder', folder)
    names = {}
    for cell in json.load(open(sys.argv[1]))['cells']:
        if cell['cell_type'] == 'code':
            exec(compile(''.join(cell['source']), cell['id'], 'exec'), names)
    names['plt'].close('all')
";

const FILES: [&str; 3] = ["real.json", "test.json", "host.csv"];

fn examples() -> PathBuf {
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
    let said = run(&bin, &[files.to_owned()]);
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

#[test]
fn a_file_that_is_missing_leaves_out_its_graph() {
    let bench = Bench::new();
    let Some(bin) = environment(bench.path(), &PACKAGES) else {
        return;
    };
    let files = bench.path();
    for (name, input) in [
        ("real.json", "ticket.json"),
        ("test.json", "test-load.json"),
    ] {
        let input = examples().join("iostat").join(input);
        let output = bench.fathom(["diagnose".into(), input, "--json".into()]);
        output.expect_status(0);
        fs::write(files.join(name), output.stdout).unwrap();
    }
    // As it is written for a host without devices.
    let host = "at,kind,name,field,value\n\
                2026-11-23T12:00:01Z,cpu,all,user_ticks_per_second,10\n\
                2026-11-23T12:00:01Z,cpu,all,idle_ticks_per_second,90\n\
                2026-11-23T12:00:02Z,cpu,all,user_ticks_per_second,20\n\
                2026-11-23T12:00:02Z,cpu,all,idle_ticks_per_second,80\n";
    fs::write(files.join("host.csv"), host).unwrap();
    let subsets = (0..8_usize).map(|subset| {
        let folder = files.join(format!("subset-{subset}"));
        fs::create_dir(&folder).unwrap();
        for (bit, name) in FILES.iter().enumerate() {
            if subset >> bit & 1 == 1 {
                fs::copy(files.join(name), folder.join(name)).unwrap();
            }
        }
        folder
    });
    let subsets: Vec<PathBuf> = subsets.collect();
    let said = run(&bin, &subsets);
    let parts: Vec<&str> = said.split("folder ").skip(1).collect();
    assert_eq!(parts.len(), subsets.len(), "{said}");
    for (subset, (folder, said)) in subsets.iter().zip(parts).enumerate() {
        for (bit, name) in FILES.iter().enumerate() {
            let missing = said.contains(&format!("{name}: not there, its graph is left out"));
            assert_eq!(missing, subset >> bit & 1 == 0, "{subset}: {said}");
        }
        assert_eq!(folder.join("operations.png").exists(), subset & 3 != 0);
        assert_eq!(folder.join("host.png").exists(), subset & 4 != 0);
    }
}

/// Runs the notebook for the files of these folders; what it prints.
fn run(bin: &Path, folders: &[PathBuf]) -> String {
    let output = Command::new(bin.join("python"))
        .args(["-c", RUN_CELLS])
        .arg(examples().join("notebook/is-it-the-disk.ipynb"))
        .args(folders)
        .env("MPLBACKEND", "Agg")
        .output()
        .unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{said}\n{wrong}");
    said
}
