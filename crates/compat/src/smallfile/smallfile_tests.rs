use fathom_model::OpKind;
use fathom_model::workload::{FileSizes, MetaPaths};
use proptest::prelude::*;

use super::*;
use fathom_plan::ScheduleContext;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn parse(line: &str) -> Result<Smallfile, String> {
    let none = |_: &str| Err(io::ErrorKind::NotFound.into());
    Smallfile::parse(&words(line), &none).map_err(|error| error.to_string())
}

fn with_yaml(line: &str, yaml: &str) -> Result<Smallfile, String> {
    let read = |_: &str| Ok(yaml.to_owned());
    Smallfile::parse(&words(line), &read).map_err(|error| error.to_string())
}

#[test]
fn the_command_line_of_the_gluster_post_is_a_plan() {
    let asked = parse(
        "--top /mnt/p66.b --threads 8 --files 5000 --file-size 64 --record-size 64 \
         --fsync N --operation read",
    )
    .unwrap();
    assert!(asked.notes.is_empty(), "{:?}", asked.notes);
    let plan = asked.to_plan(&asked.tops[0]).unwrap();
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    let workload = &schedule.trials[0].workload;
    let meta = workload.files_work().unwrap();
    assert_eq!(meta.phase(), Some(OpKind::ReadFile));
    assert_eq!((workload.workers, meta.tree.files), (8, 5000));
    assert_eq!(meta.tree.sizes, FileSizes::Fixed(65536));
    assert_eq!(meta.tree.record_bytes, 65536);
    assert_eq!((meta.tree.leaves, meta.tree.fan_out), (50, 10));
    assert_eq!(meta.paths, MetaPaths::Whole);
    assert!(workload.verify.is_some() && meta.stop_with_first);
    assert!(schedule.keep_files);
}

#[test]
fn every_operation_has_its_kind_and_a_plan() {
    assert_eq!(SmallfileOperation::all().count(), 21);
    for operation in SmallfileOperation::all() {
        let line = format!(
            "--operation {} --xattr-size 8 --xattr-count 3",
            operation.name()
        );
        let asked = parse(&line).unwrap();
        assert_eq!(asked.operation, operation);
        let plan = asked.to_plan(&asked.tops[0]);
        assert_eq!(
            plan.is_ok(),
            operation.kind().is_some(),
            "{}",
            operation.name()
        );
    }
}

#[test]
fn defaults_and_forced_rules_are_those_of_the_original() {
    let asked = parse("").unwrap();
    assert!(asked.operation.is_cleanup());
    assert!(asked.finish, "cleanup does everything");
    let few = parse("--operation stat --files 9").unwrap();
    assert!(!few.stonewall);
    let paused = parse("--operation read --pause 100 --threads 1").unwrap();
    assert_eq!(paused.pause_us, 0);
    let paused = parse("--operation read --pause 100").unwrap();
    assert_eq!(paused.pause_us, 100);
    let told = |line: &str| parse(line).unwrap_err();
    assert_eq!(
        told("--operation read --record-size 65"),
        "record size cannot exceed file size"
    );
    assert!(told("--operation raed").contains("did you mean read?"));
    assert!(told("--hash-into-dirs Y --operation readdir").contains("readdir"));
    assert!(told("--files 0").contains("at least 1"));
    assert!(told("--stonewall maybe").contains("y|yes"));
    assert!(told("read").contains("not an option"));
    assert!(
        told("--file 5").contains("--files or --file"),
        "{}",
        told("--file 5")
    );
    assert!(told("--threads").contains("takes a value"));
    assert!(told("--slave x").contains("another"));
    assert_eq!(parse("--thr=4 --operation stat").unwrap().threads, 4);
}

#[test]
fn what_has_no_effect_is_named() {
    let asked = parse("--operation stat --prefix abc --auto-pause Y --launch-by-daemon N").unwrap();
    assert_eq!(asked.notes.len(), 2, "{:?}", asked.notes);
    assert!(asked.notes[0].starts_with("--prefix has no effect: "));
    assert!(asked.notes[1].starts_with("--auto-pause has no effect: "));
}

#[test]
fn a_yaml_file_takes_the_place_of_the_line() {
    let yaml = "operation: create\nfiles: 30\nthreads: 3\ntop: /data/a,/data/b\nfsync: y\n\
                file-size-distribution: exponential\nhost-set: h1,h2\n";
    let asked = with_yaml("--yaml-input-file smf.yaml --files 7 --file-size 4", yaml).unwrap();
    assert_eq!((asked.files, asked.threads, asked.tops.len()), (30, 3, 2));
    assert!(asked.exponential && asked.fsync);
    assert_eq!(asked.host_set.as_deref(), Some("h1,h2"));
    let meta = asked.to_plan(&asked.tops[0]).unwrap();
    let schedule = meta.schedule(&ScheduleContext::default()).unwrap();
    let meta = schedule.trials[0].workload.files_work().unwrap();
    let sizes = FileSizes::Exponential {
        mean_bytes: 4096,
        max_bytes: 8 * 4096,
    };
    assert_eq!(meta.tree.sizes, sizes);
    let told = |yaml: &str| with_yaml("--yaml-input-file smf.yaml", yaml).unwrap_err();
    assert_eq!(
        told("operation: read\nfiels: 3\n"),
        "smf.yaml:2: fiels is not a key of smallfile; did you mean files?"
    );
    assert!(told("files: -3").starts_with("smf.yaml:1: files: "));
    assert!(told("yaml-input-file: x").contains("cannot name another"));
    assert!(told("slave: x").contains("command line"));
    assert!(told("- a").contains("expected keys"));
    assert!(with_yaml("--yaml-input-file smf.yaml", "").is_ok());
}

proptest! {
    #[test]
    fn no_command_line_breaks_the_parser(line in proptest::collection::vec(any::<String>(), 0..8)) {
        let _ = Smallfile::parse(&line, &|_| Ok(String::new()));
    }

    #[test]
    fn no_value_breaks_the_plan(
        option in 0..options::OPTIONS.len(),
        value in "[a-z0-9YN,./ -]{0,12}",
        number in any::<u64>(),
        operation in 0..21usize,
    ) {
        let name = options::OPTIONS[option].name;
        let operation = SmallfileOperation::all().nth(operation).unwrap();
        for value in [value, number.to_string(), (number % 100).to_string()] {
            let line = [
                format!("--{name}"),
                value,
                "--operation".to_owned(),
                operation.name().to_owned(),
            ];
            if let Ok(asked) = Smallfile::parse(&line, &|_| Ok(String::new())) {
                let _ = asked.to_plan(std::path::Path::new("/x"));
            }
        }
    }

    #[test]
    fn no_text_breaks_the_reader_of_yaml(text in any::<String>()) {
        let _ = with_yaml("--yaml-input-file f", &text);
        let _ = with_yaml("--yaml-input-file f", &format!("files: {text}"));
    }
}
