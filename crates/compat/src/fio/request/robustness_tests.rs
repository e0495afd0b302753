//! No input breaks the reader or the mapping, and none takes long.

use std::path::PathBuf;

use proptest::prelude::*;

use super::{FioPath, FixedSurroundings, fio_options, map_fio, read_fio};

fn machine(text: &str) -> FixedSurroundings {
    let mut machine = FixedSurroundings::default();
    machine.files.insert("job.fio".to_owned(), text.to_owned());
    machine
        .files
        .insert("more.fio".to_owned(), "include job.fio\nbs=8k\n".to_owned());
    machine.variables.insert("V".to_owned(), "4k".to_owned());
    let device = PathBuf::from("/dev/sdz");
    machine.paths.insert(device, FioPath::Device(1 << 40));
    machine
}

/// Reads and maps a job file; true when both gave trials.
fn runs(text: &str) -> bool {
    let machine = machine(text);
    let Ok(request) = read_fio(&["job.fio".to_owned()], &machine) else {
        return false;
    };
    let (account, mapped) = map_fio(&request, &machine, 7);
    let settings = request.jobs.jobs.iter().map(|job| job.settings.len());
    assert!(account.entries.len() >= settings.max().unwrap_or(0).min(1));
    assert!(account.render().lines().count() == account.entries.len());
    mapped.is_ok()
}

fn told(text: &str) -> String {
    match read_fio(&["job.fio".to_owned()], &machine(text)) {
        Ok(_) => String::new(),
        Err(problems) => problems.to_string(),
    }
}

/// Inputs at which parsers of job files have crashed: values that are missing,
/// names that are too long, lists that grow and shrink, keywords at the end.
#[test]
fn inputs_that_crashed_another_parser_are_answered() {
    assert!(told("[write-heavy]\nfdp_pli\n").contains("plids: it needs a value"));
    assert!(told("[a]\nbuffer_pattern\n").contains("buffer_pattern: it needs a value"));
    assert!(told("[a]\ninclude").contains("include names no file"));
    assert!(told("[a]\ninclude \n").contains("include names no file"));
    assert!(runs(
        "[global]\nfilename=a:b:c\nsize=1m\n[job]\nnrfiles=1\nfilename=x\n"
    ));
    assert!(runs("[t]\ndescription=$ncpus_\nsize=1m\n"));
    assert!(runs("[t]\nsize=$pagesize$pagesize\nnumjobs=$ncpus\n"));
    let long = "@".repeat(5000);
    assert!(told(&format!("[t]\nfilename={long}")).contains("more than 4096 bytes"));
    let nearly = "d".repeat(4000);
    let text = format!("[t]\ndirectory={nearly}\nsize=1m\nfilename=f\n");
    assert!(runs(&text), "too long a path is for the system to refuse");
    assert!(told(&format!("[{}]\n", "n".repeat(300))).contains("too long"));
    assert!(told("[tkip error dump\nfallocate=none\n").contains("no ']'"));
    assert!(told("[\n").contains("no ']'"));
    assert!(told("[]\n").contains("has no name"));
    assert!(told("bs=4k\n[a]\n").contains("before the first section"));
    assert!(told("[a]\ninclude job.fio\n").contains("includes itself"));
    assert!(told("[a]\ninclude more.fio\n").contains("includes itself"));
    assert!(told("[a]\nbssplit=4k/x\n").contains("share"));
    assert!(told("[a]\nrandom_distribution=zoned:::::\n").contains("no zones"));
}

#[test]
fn a_huge_file_ends_early() {
    let jobs = "[j]\nsize=1m\n".repeat(12_000);
    assert!(told(&jobs).contains("too many options"));
    let jobs = "[j]\n".repeat(5000);
    assert!(told(&jobs).contains("more than 4096 jobs"));
    let wrong = "[j]\nnonsense=1\n".repeat(3000);
    assert!(told(&wrong).lines().count() <= 101);
    assert!(
        !runs("[a]\nsize=1m\nnumjobs=4096\nnrfiles=1000000\n"),
        "too many files"
    );
}

/// Real shapes of job files, to be mutated.
const SEEDS: [&str; 5] = [
    "[global]\nrw=randrw\nbs=4k,8k\nsize=64m\nrwmixread=70\nrate=1m,500k\n[a]\nnumjobs=3\n[b]\nstonewall\nstartdelay=5-9\n",
    "[a]\nfilename=/dev/sdz:/dev/sdz\nsize=50%\noffset=10%\noffset_increment=1g\nnumjobs=4\nbssplit=4k/60:64k/40,8k\n",
    "[a]\nsize=(4+4)*1m\nbsrange=4k-64k\nrandom_distribution=zoned:60/10:40/90\nzonemode=strided\nverify=crc32c\nverify_pattern=0xdeadbeef\n",
    "[x]\nread_iolog=log\nreplay_skip=read,sync\nsize=1m\nwait_for=x\nthinktime=10ms\nthinktime_blocks=4\n",
    "[global]\nkb_base=1000\ninclude more.fio\n[a]\nrw=read:-8k\nsize=${V}\nsteadystate=iops:10%\ncpus_allowed=0-3\nloops=3\nfill_device=1\n",
];

/// A job file of real options and values that may be anything.
fn file() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = fio_options().iter().map(|o| o.name).collect();
    let value = prop_oneof![
        "[0-9]{1,20}[kmgtpzsbi%]{0,3}",
        "[0-9:,/.%-]{0,30}",
        "[a-z_]{1,12}(:[0-9.]{1,5}){0,3}",
        any::<String>(),
        Just(String::new()),
    ];
    let line =
        (prop::sample::select(names), value).prop_map(|(name, value)| format!("{name}={value}"));
    let section = prop::collection::vec(line, 0..8)
        .prop_map(|lines| format!("[job]\nsize=1m\n{}\n", lines.join("\n")));
    prop::collection::vec(section, 1..4).prop_map(|sections| sections.concat())
}

proptest! {
    #[test]
    fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        runs(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_values_break_it(text in file()) {
        runs(&text);
    }

    #[test]
    fn no_mutation_breaks_it(
        seed in 0..SEEDS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..12),
    ) {
        let mut bytes = SEEDS[seed].as_bytes().to_vec();
        for (place, byte, how) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => {
                    bytes.remove(at);
                }
                _ => {
                    let tail = bytes[at..].to_vec();
                    bytes.extend(tail);
                    bytes.truncate(4000);
                }
            }
        }
        runs(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_command_line_breaks_it(arguments in prop::collection::vec(
        prop_oneof![
            "--[a-z_-]{0,14}(=[a-z0-9:,.%-]{0,12})?",
            Just("--name=a".to_owned()),
            Just("job.fio".to_owned()),
            any::<String>(),
        ],
        0..10,
    )) {
        let machine = machine(SEEDS[0]);
        if let Ok(request) = read_fio(&arguments, &machine) {
            let (account, _) = map_fio(&request, &machine, 7);
            prop_assert!(account.entries.len() < 10_000);
        }
    }
}
