//! What jobs become.

use std::path::PathBuf;

use fathom_model::workload::{
    BlockSizes, CacheMode, Distribution, EngineKind, Pattern, SyncCall, WorkerRegion,
};
use fathom_model::{ScheduledTrial, Target};

use super::{FioListed, FioMapped, FioPath, FixedSurroundings, OptionOutcome, map_fio, read_fio};

fn machine(text: &str) -> FixedSurroundings {
    let mut machine = FixedSurroundings::default();
    machine.files.insert("job.fio".to_owned(), text.to_owned());
    let device = PathBuf::from("/dev/sdz");
    machine.paths.insert(device, FioPath::Device(1 << 40));
    machine
}

fn line(arguments: &[&str], text: &str) -> Result<FioMapped, String> {
    let machine = machine(text);
    let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
    let request = read_fio(&arguments, &machine).map_err(|p| p.to_string())?;
    map_fio(&request, &machine, 7).1.map_err(|p| p.to_string())
}

fn mapped(text: &str) -> FioMapped {
    line(&["job.fio"], text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn one(options: &str) -> ScheduledTrial {
    let mapped = mapped(&format!("[a]\nsize=1m\n{options}"));
    assert_eq!(mapped.schedule.trials.len(), 1);
    mapped.schedule.trials[0].clone()
}

#[test]
fn what_nobody_says_is_as_fio_has_it() {
    let trial = one("");
    let w = &trial.workload;
    assert_eq!(w.engine, EngineKind::Psync);
    assert_eq!((w.mix.read_percent, w.queue_depth, w.workers), (100, 1, 1));
    assert_eq!(w.pattern, Pattern::Sequential);
    assert_eq!(w.block, BlockSizes::Fixed(4096));
    assert_eq!(w.cache, CacheMode::Buffered);
    assert_eq!(w.bounds.time_ns, None);
    assert_eq!(w.each_worker.passes, Some(1));
    let named = w.data_set.named.as_ref().unwrap();
    assert_eq!(named.paths, [PathBuf::from("a.0.0")]);
    assert!(named.create);
    assert_eq!(trial.target, Target::Path(PathBuf::from(".")));
    assert_eq!(one("").seed, one("").seed, "randrepeat is the default");
    assert_ne!(one("").seed, one("randseed=5").seed);
}

#[test]
fn files_are_named_and_sized_as_fio_does() {
    let of = |text: &str| {
        let mapped = mapped(text);
        let trial = &mapped.schedule.trials[0].workload;
        let named = trial.data_set.named.clone().unwrap().paths;
        let named = named.iter().map(|p| p.display().to_string());
        (
            named.collect::<Vec<_>>().join(" "),
            trial.data_set.size_bytes,
        )
    };
    let m = |n: u64| Some(n << 20);
    assert_eq!(
        of("[a]\nsize=4m\nnrfiles=2\n"),
        ("a.0.0 a.0.1".to_owned(), m(4))
    );
    assert_eq!(
        of("[a]\nfilesize=1m\nnrfiles=2\n"),
        ("a.0.0 a.0.1".to_owned(), m(2))
    );
    assert_eq!(of("[a]\nsize=4m\noffset=1m\n"), ("a.0.0".to_owned(), m(5)));
    assert_eq!(
        of("[a]\nsize=4m\ndirectory=/x\n"),
        ("/x/a.0.0".to_owned(), m(4))
    );
    let format = "[a]\nsize=4m\nfilename_format=$jobname-$filenum\n";
    assert_eq!(of(format), ("a-0".to_owned(), m(4)));
    // fio adds a job's names to the inherited ones.
    let added = "[global]\nfilename=g\n[a]\nsize=4m\nfilename=x:y\n";
    assert_eq!(
        of(added),
        ("g x y".to_owned(), Some((4 << 20) / 3 / 4096 * 4096 * 3))
    );
    assert_eq!(of("[/dev/sdz]\nsize=4m\n"), ("/dev/sdz".to_owned(), m(4)));
    assert_eq!(
        of("[a]\nfilename=/dev/sdz\nsize=50%\n"),
        ("/dev/sdz".to_owned(), Some(1 << 39))
    );
    assert_eq!(
        of("[a]\nfilename=/dev/sdz\n"),
        ("/dev/sdz".to_owned(), Some(1 << 40))
    );
}

#[test]
fn clones_are_one_trial_where_fio_reports_them_together() {
    let apart = mapped("[a]\nsize=1m\nnumjobs=3\n");
    assert_eq!(apart.schedule.trials.len(), 3);
    assert_eq!(apart.schedule.trials[2].together, Some(0));
    assert_eq!(apart.jobs[2].files, [PathBuf::from("a.2.0")]);
    let joined = mapped("[a]\nsize=1m\nnumjobs=3\ngroup_reporting\n");
    let trial = &joined.schedule.trials[0];
    assert_eq!(
        (joined.schedule.trials.len(), trial.workload.workers),
        (1, 3)
    );
    assert_eq!(trial.together, None);
    assert_eq!(
        trial.workload.data_set.named.as_ref().unwrap().paths.len(),
        3
    );
    let logged = mapped("[a]\nsize=1m\nnumjobs=3\ngroup_reporting\nwrite_bw_log\n");
    assert_eq!(logged.schedule.trials.len(), 3, "a log for each");
    let shared = mapped(
        "[a]\nfilename=/dev/sdz\nsize=1m\nnumjobs=2\ngroup_reporting\noffset_increment=1g\n",
    );
    let w = &shared.schedule.trials[0].workload;
    assert!(w.data_set.files.shared);
    assert!(
        matches!(w.data_set.region, WorkerRegion::Staggered { step_bytes, .. } if step_bytes == 1 << 30)
    );
}

#[test]
fn stages_waits_and_groups_follow_fio() {
    let text = "[global]\nsize=1m\n[a]\n[b]\nstartdelay=5\n[c]\nstonewall\n[d]\nwait_for=c\nexitall\n[e]\nnew_group\n";
    let mapped = mapped(text);
    let trials = &mapped.schedule.trials;
    let sets: Vec<_> = trials.iter().map(|t| t.together).collect();
    assert_eq!(sets, [Some(0), Some(0), Some(1), Some(1), Some(1)]);
    assert_eq!(trials[1].start_delay_ns, 5_000_000_000);
    assert_eq!((trials[3].follows, trials[3].ends_others), (Some(2), true));
    let groups: Vec<_> = mapped.jobs.iter().map(|j| j.group).collect();
    assert_eq!(groups, [0, 0, 1, 1, 2]);
    let wrong = line(&["job.fio"], "[a]\nsize=1m\nwait_for=b\n[b]\nsize=1m\n").unwrap_err();
    assert!(wrong.contains("does not come before"), "{wrong}");
}

fn flushes_follow_the_depth() {
    let undrained = |options: &str| one(&format!("rw=write\n{options}")).workload.sync.undrained;
    assert!(undrained("ioengine=libaio\niodepth=8\nfsync=4\n"));
    assert!(undrained("ioengine=io_uring\niodepth=2\nfdatasync=1\n"));
    for options in [
        "ioengine=libaio\nfsync=4\n",
        "ioengine=libaio\niodepth=8\n",
        // This engine does one operation at a time, whatever the depth.
        "ioengine=psync\niodepth=8\nfsync=4\n",
    ] {
        assert!(!undrained(options), "{options}");
    }
}

#[test]
fn a_flush_at_depth_is_explained_in_the_account() {
    let account = |text: &str| {
        let machine = machine(&format!("[a]\nsize=1m\nrw=write\nioengine=libaio\n{text}"));
        let request = read_fio(&["job.fio".to_owned()], &machine).unwrap();
        map_fio(&request, &machine, 7).0.render()
    };
    let shown = account("iodepth=8\nfdatasync=4\n");
    let line = shown.lines().find(|line| line.contains("fdatasync=4"));
    let line = line.unwrap();
    assert!(
        line.contains("does not wait for the writes in flight"),
        "{line}"
    );
    assert!(!account("fdatasync=4\n").contains("does not wait"));
}

#[test]
fn ranges_are_written_back_and_nothing_is_flushed() {
    for value in [
        "write:8",
        "wait_before:8",
        "wait_after:1",
        "wait_before,write,wait_after:64",
    ] {
        let job = one(&format!("rw=write\nsync_file_range={value}\nend_fsync=1\n"));
        let sync = job.workload.sync;
        assert_eq!(sync.ranges.unwrap().to_string(), value);
        assert_eq!((sync.every_writes, sync.final_flush), (0, true));
    }
    let none = one("rw=write\nsync_file_range=write:0\nfsync=1\n");
    assert_eq!(none.workload.sync.ranges, None);
    let wrong = |options: &str| {
        let text = format!("[a]\nsize=1m\nrw=write\nsync_file_range={options}\n");
        line(&["job.fio"], &text).unwrap_err()
    };
    let nonsense = wrong("nonsense:8");
    assert!(nonsense.starts_with("job.fio:4:"), "{nonsense}");
    assert!(nonsense.contains("for example write:8"), "{nonsense}");
    for flush in ["fsync=2", "fdatasync=8"] {
        let both = wrong(&format!("write:8\n{flush}"));
        assert!(both.starts_with("job.fio:4:"), "{both}");
        assert!(both.contains("remove one of them"), "{both}");
    }
}

#[test]
fn operations_become_what_fio_means() {
    let w = one("rw=randrw\nrwmixwrite=30\nbs=4k,8k\nnorandommap\n").workload;
    assert_eq!((w.mix.read_percent, w.mix.write_percent), (70, 30));
    assert_eq!(w.block_by_kind.write, Some(BlockSizes::Fixed(8192)));
    assert_eq!(w.pattern, Pattern::Random(Distribution::Uniform));
    let w = one("rw=read:-8k\n").workload;
    assert_eq!(w.pattern, Pattern::Skipping { skip_bytes: -8192 });
    let w = one("rw=randread:8\nrw_sequencer=identical\n").workload;
    assert_eq!(w.sequencer.draw_every_ops, 8);
    let w = one("rw=randwrite\nfsync=8\nfdatasync=4\nend_fsync=1\n").workload;
    assert_eq!((w.sync.every_writes, w.sync.call), (8, SyncCall::Fsync));
    assert_eq!((w.sync.other_every_writes, w.sync.final_flush), (4, true));
    flushes_follow_the_depth();
    let w = one("rw=randtrimwrite\n").workload;
    assert!(w.trim_first && w.mix.trim_percent == 50);
    let w = one("rw=randwrite\nrate_iops=100\nrate_process=poisson\n").workload;
    assert_eq!(w.rate.unwrap().per_second, 100.0);
    let w = one("rw=write\nverify=crc32c\n").workload;
    assert!(w.verify.unwrap().read_back.is_some());
    let w = one("rw=read\nverify=crc32c\n").workload;
    assert!(w.verify.unwrap().earlier);
    let w = one("runtime=5\ntime_based\nramp_time=2\n").workload;
    assert_eq!(
        (w.bounds.time_ns, w.warmup_ns),
        (Some(5_000_000_000), 2_000_000_000)
    );
    assert!(!w.each_worker.is_bounded());
    let w = one("io_size=4m\nloops=2\n").workload;
    assert_eq!(w.each_worker.bytes, Some(8 << 20));
    let w = one("number_ios=10\n").workload;
    assert_eq!(w.each_worker.ops, Some(10));
    let w = one("ioengine=sync\niodepth=16\n").workload;
    assert_eq!((w.engine, w.queue_depth), (EngineKind::Psync, 1));
}

#[test]
fn every_option_is_accounted_for() {
    let text = "[a]\nsize=1m\nioengine=posixaio\nnice=5\niodepth=4\natomic=0\nthread\n";
    let account = mapped(text).account;
    let words: Vec<_> = account
        .entries
        .iter()
        .map(|e| (e.option.as_str(), e.outcome.word()))
        .collect();
    let wanted = [
        ("size", "run"),
        ("ioengine", "mapped"),
        ("nice", "ignored"),
        ("iodepth", "run"),
        ("atomic", "run"),
        ("thread", "mapped"),
    ];
    assert_eq!(words, wanted);
    let place = account.entries[2].place.as_ref().unwrap().to_string();
    assert_eq!(place, "job.fio:4:1");
    let strict = line(&["--strict", "job.fio"], text).unwrap_err();
    assert!(strict.contains("nice would be ignored"), "{strict}");
}

#[test]
fn what_cannot_be_run_says_what_to_do() {
    for (options, wanted) in [
        (
            "ioengine=http\nhttp_object_mode=range\n",
            "each block is an object",
        ),
        ("ioengine=nfs\n", "mount the share"),
        ("ioengine=nonsense\n", "--enghelp"),
        ("zonemode=zbd\n", "zoned devices are not supported"),
        ("exec_prerun=true\n", "run it before fathom"),
        ("rw=write\nreadonly=1\n", "fio has no option 'readonly'"),
        ("numjobs=0\n", "0 clones"),
        ("bs=2m\n", "less than one block"),
    ] {
        let told = line(&["job.fio"], &format!("[a]\nsize=1m\n{options}")).unwrap_err();
        assert!(told.contains(wanted), "{options}: {told}");
    }
    let told = line(&["job.fio"], "[a]\nrw=read\n").unwrap_err();
    assert!(told.contains("it needs a size"), "{told}");
    let told = line(&["--readonly", "job.fio"], "[a]\nrw=write\nsize=1m\n").unwrap_err();
    assert!(told.contains("--readonly"), "{told}");
}

#[test]
fn the_command_line_is_read_as_fio_reads_it() {
    let text = "[job]\nrw=read\nsize=1m\n";
    let both = line(
        &[
            "--group_reporting",
            "--filename=/a",
            "--filename=/b",
            "job.fio",
        ],
        text,
    );
    assert_eq!(
        both.unwrap().jobs[0].files,
        [PathBuf::from("/a"), PathBuf::from("/b")]
    );
    let two = line(
        &[
            "--size", "1m", "-bs=8k", "--name=a", "--rw", "write", "--name=b", "--thread",
        ],
        "",
    );
    let two = two.unwrap();
    assert_eq!(two.schedule.trials.len(), 2);
    assert_eq!(
        two.schedule.trials[1].workload.block,
        BlockSizes::Fixed(8192)
    );
    assert!(two.jobs[0].modifies && !two.jobs[1].modifies);
    let section = line(&["--section=b", "job.fio"], "[a]\nsize=1m\n[b]\nsize=1m\n").unwrap();
    assert_eq!(section.jobs.len(), 1);
    let told = line(&["--sectoin=b", "job.fio"], text).unwrap_err();
    assert!(told.contains("--section"), "{told}");
    let told = line(&["--server"], "").unwrap_err();
    assert!(told.contains("no server is needed"), "{told}");
    let told = line(&["--name=a", "--size"], "").unwrap_err();
    assert!(told.contains("size: it needs a value"), "{told}");
}

/// The job files of the cluster guide, as they are printed there.
const GUIDES: [(&str, &str); 7] = [
    (
        "fio.write.single.randwrite",
        include_str!("guides/fio.write.single.randwrite"),
    ),
    (
        "fio.write.single.seqwrite",
        include_str!("guides/fio.write.single.seqwrite"),
    ),
    ("fio.write.all", include_str!("guides/fio.write.all")),
    ("fiio.read.random", include_str!("guides/fiio.read.random")),
    (
        "fiio.write.random",
        include_str!("guides/fiio.write.random"),
    ),
    ("fiio.read.seq", include_str!("guides/fiio.read.seq")),
    ("fiio.write.seq", include_str!("guides/fiio.write.seq")),
];

#[test]
fn job_files_of_the_guides_run_and_the_misspelt_one_is_told() {
    for (name, text) in GUIDES {
        let arguments = [
            "--group_reporting",
            "--filename=/mnt/d/test/file",
            "job.fio",
        ];
        let result = line(&arguments, text);
        if name == "fiio.write.seq" {
            let told = result.unwrap_err();
            assert_eq!(
                told,
                "job.fio:8:1: fio has no option 'fdatsync'; did you mean 'fdatasync'?"
            );
            let lenient =
                line(&["--lenient", arguments[0], arguments[1], "job.fio"], text).unwrap();
            let entry = lenient.account.left_out().next().unwrap().clone();
            assert_eq!(
                (entry.option.as_str(), entry.job.as_str()),
                ("fdatsync", "job")
            );
            assert!(matches!(entry.outcome, OptionOutcome::Ignored(_)));
            continue;
        }
        let mapped = result.unwrap_or_else(|told| panic!("{name}: {told}"));
        let w = &mapped.schedule.trials[0].workload;
        assert_eq!(mapped.schedule.trials.len(), 1, "{name}");
        assert_eq!(
            (w.workers, w.engine, w.cache),
            (16, EngineKind::Libaio, CacheMode::Direct)
        );
        assert_eq!(
            (w.sync.every_writes, w.data_set.size_bytes),
            (32, Some(8 << 30)),
            "{name}"
        );
        assert_eq!(mapped.account.left_out().count(), 0, "{name}");
    }
}

/// What a job with a recorded list becomes, on a machine that has the list.
fn replayed(options: &str) -> Result<FioMapped, String> {
    let mut machine = machine(&format!("[a]\nread_iolog=log\nrw=write\n{options}"));
    let listed = FioListed {
        names: vec!["f1".to_owned(), "/d/f2".to_owned()],
        reach_bytes: 10_000,
    };
    machine.lists.insert("log".into(), listed);
    machine.paths.insert("pipe".into(), FioPath::Other);
    let request = read_fio(&["job.fio".to_owned()], &machine).map_err(|p| p.to_string())?;
    map_fio(&request, &machine, 7).1.map_err(|p| p.to_string())
}

#[test]
fn the_names_in_a_recorded_list_are_the_files() {
    let files = |options: &str| {
        let mapped = replayed(options).unwrap();
        let data_set = &mapped.schedule.trials[0].workload.data_set;
        (mapped.jobs[0].files.clone(), data_set.size_bytes)
    };
    let named = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    // Each as long as the list reaches, in whole blocks.
    assert_eq!(files(""), (named(&["f1", "/d/f2"]), Some(2 * 12_288)));
    assert_eq!(files("directory=x").0, named(&["x/f1", "/d/f2"]));
    assert_eq!(files("size=1m"), (named(&["f1", "/d/f2"]), Some(1 << 20)));
    assert_eq!(files("replay_redirect=r"), (named(&["r"]), Some(12_288)));
    assert_eq!(files("filename=g"), (named(&["g"]), Some(12_288)));
    assert_eq!(files("filename=/dev/sdz").1, Some(1 << 40));
}

#[test]
fn a_recorded_list_that_cannot_be_read_ends_the_job_before_it_begins() {
    let refusal = |options: &str| replayed(options).unwrap_err();
    assert!(refusal("read_iolog=elsewhere").contains("there is no such file"));
    assert!(refusal("read_iolog=pipe").contains("read only once"));
    // Nothing has to be read beforehand.
    replayed("read_iolog=pipe\nfilename=g\nsize=1m").unwrap();
}
