use clap::{FromArgMatches, Parser};
use fathom_model::workload::{CacheMode, Distribution, EngineKind, Pattern, Precondition};
use fathom_model::{OpKind, Workload};
use proptest::prelude::*;

use super::*;
use fathom_plan::ScheduleContext;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: AtIoIops,
}

fn read(line: &str) -> Result<AtIoIops, String> {
    let words = std::iter::once("at_io_iops").chain(line.split_whitespace());
    let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
    Ok(line.options)
}

fn workload(line: &str) -> Workload {
    let plan = read(line).unwrap().to_plan(Path::new("/mnt/a")).unwrap();
    assert!(plan.keep_files());
    let read_back = fathom_plan::parse("at_io_iops", &plan.to_yaml()).unwrap();
    assert_eq!(read_back, plan);
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    assert_eq!(schedule.trials.len(), 1);
    schedule.trials[0].workload.clone()
}

/// The command lines that the guide prints.
const GUIDE: [&str; 5] = [
    "--read --seq -s 16M --mbs -p 4 -t 30 -u 16G -S --cached -f /mnt/a",
    "--write --seq -s 16M --mbs -p 4 -t 30 -u 16G -S --cached -f /mnt/a",
    "--read --rand -s 4K --iops -p 16 -t 30 -u 16G -S --cached -f /mnt/a",
    "--fdatasync --rand -s 4K --iops -p 16 -t 30 -u 16G -S --cached -f /mnt/a",
    "--fsync --rand -s 4K -q 32 --iops -p 16 -t 30 -u 16G -S --cached -f /mnt/a",
];

#[test]
fn the_guides_command_lines_mean_what_it_says() {
    let all: Vec<Workload> = GUIDE.iter().map(|line| workload(line)).collect();
    for workload in &all {
        assert_eq!(workload.data_set.size_bytes, Some(16 << 30));
        assert_eq!(workload.bounds.time_ns, Some(30_000_000_000));
        assert_eq!(workload.cache, CacheMode::Buffered);
        assert_eq!(workload.engine, EngineKind::Psync);
        assert_eq!(workload.data_set.precondition, Precondition::Written);
        assert!(!workload.sync.final_flush, "-S");
        assert!(!workload.data_set.files.shared);
        assert_eq!(
            (workload.data_set.files.count, workload.queue_depth),
            (1, 1)
        );
    }
    let shape = |w: &Workload| (w.mix.read_percent, w.pattern.is_random(), w.workers);
    let shapes: Vec<_> = all.iter().map(shape).collect();
    let expected = [
        (100, false, 4),
        (0, false, 4),
        (100, true, 16),
        (0, true, 16),
        (0, true, 16),
    ];
    assert_eq!(shapes, expected);
    assert_eq!(all[2].pattern, Pattern::Random(Distribution::Uniform));
    let syncs: Vec<u32> = all.iter().map(|w| w.sync.every_writes).collect();
    assert_eq!(syncs, [0, 0, 0, 1, 32]);
    let units = GUIDE.map(|line| read(line).unwrap().unit().name());
    assert_eq!(units, ["MB/s", "MB/s", "iops", "sync/s", "sync/s"]);
    let _ = OpKind::Sync;
}

#[test]
fn files_are_for_each_thread_or_for_all() {
    let own = workload("--read --seq -p 4 -u 16G");
    assert!(!own.data_set.files.shared);
    let same = workload("--read --seq -p 4 -n 4 -u 16G");
    assert!(!same.data_set.files.shared);
    let shared = workload("--read --seq -p 4 -n 2 -u 16G");
    assert!(shared.data_set.files.shared);
    assert_eq!(shared.data_set.files.count, 2);
    // Three files of whole blocks.
    let odd = read("--read --seq -p 3 -u 16G").unwrap();
    assert_eq!(odd.file_bytes() % (16 << 20), 0);
    assert!(odd.file_bytes() * 3 <= 16 << 30);
}

#[test]
fn the_end_waits_for_a_sync_unless_told_not_to() {
    assert!(workload("--write --seq").sync.final_flush);
    assert!(!workload("--write --seq -S").sync.final_flush);
    assert!(!workload("--read --seq").sync.final_flush);
    assert_eq!(workload("--write --rand -q 8").sync.every_writes, 8);
    let uncached = workload("--write --rand --uncached");
    assert_eq!(uncached.cache, CacheMode::Direct);
}

#[test]
fn a_place_is_a_directory_or_the_beginning_of_names() {
    let options = read("--read --seq -f /mnt/a/temp").unwrap();
    let is_dir = |path: &Path| path == Path::new("/mnt/a");
    let (dir, prefix) = options.place(is_dir);
    assert_eq!((dir, prefix.as_str()), (PathBuf::from("/mnt/a"), "temp"));
    let options = read("--read --seq -f /mnt/a").unwrap();
    let (dir, prefix) = options.place(is_dir);
    assert_eq!((dir, prefix.as_str()), ("/mnt/a".into(), "at_io_iops"));
    let options = read("--read --seq -f temp").unwrap();
    let (dir, prefix) = options.place(|path| path == Path::new("."));
    assert_eq!((dir, prefix.as_str()), (".".into(), "temp"));
    let options = read("--read --seq -f /nowhere/temp").unwrap();
    assert_eq!(options.place(|_| false).0, Path::new("/nowhere/temp"));
}

#[test]
fn settings_are_printed_as_the_tool_prints_them() {
    let line = "--read --seq -s 16M --mbs -p 1 -n 1 -t 60 --cached -u 16G -S";
    let text = read(line).unwrap().settings(line, "9", "x");
    assert!(text.contains("Time:           60 sec\n"), "{text}");
    let testcase = "create/open 1 file(s) of total size 16384.00 MB named x, start 1 thread(s) \
                    and do cached sequential read by 16384KB blocks";
    assert!(text.contains(testcase), "{text}");
}

#[test]
fn mistakes_are_told() {
    for (line, part) in [
        ("--rand", "--read"),
        ("--read", "--seq"),
        ("--read --write --seq", "cannot be used"),
        ("--read --seq -s 4Q", "not a size"),
        ("--read --seq --cached --uncached", "cannot be used"),
        ("--reed --seq", "--read"),
        ("--read --seq -p 0", "-p"),
    ] {
        let told = read(line).unwrap_err();
        assert!(told.contains(part), "{line}: {told}");
    }
    let small = read("--read --seq -u 16M -p 4").unwrap();
    let told = small.to_plan(Path::new("/a")).unwrap_err().to_string();
    assert!(told.contains("less than a block"), "{told}");
}

proptest! {
    #[test]
    fn no_command_line_breaks_the_reader(
        words in proptest::collection::vec("(-[a-zA-Z]{1,3}|--[a-z]{2,9}|[0-9]{1,20}[KMGT]?|.{0,6})", 0..12)
    ) {
        let line = std::iter::once("x".to_owned()).chain(words);
        if let Ok(line) = Line::try_parse_from(line) {
            let _ = line.options.to_plan(Path::new("/a"));
            let _ = line.options.settings("", "", "");
        }
    }

    #[test]
    fn no_size_breaks_the_reader(text in ".{0,30}") {
        if let Ok(bytes) = parse_size(&text) {
            prop_assert!((1..=1 << 60).contains(&bytes));
        }
    }
}

#[test]
fn flags_and_struct_are_one() {
    let command = AtIoIops::augment_args(clap::Command::new("x"));
    let matches = command.get_matches_from(["x", "--read", "--seq"]);
    let options = AtIoIops::from_arg_matches(&matches).unwrap();
    assert!(options.read && options.seq && !options.write);
}
