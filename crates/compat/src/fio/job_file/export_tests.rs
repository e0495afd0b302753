use std::collections::BTreeMap;

use fathom_model::workload::{
    Arrival, BlockSizes, Bounds, CacheMode, Content, Distribution, EngineKind, FileLayout, OnError,
    OpMix, Pattern, Payload, Precondition, Rate, RateUnit, SyncCall, SyncOpen, SyncPolicy, Until,
    Verify, WeightedSize,
};
use fathom_model::{ScheduledTrial, Target, Workload};

use super::*;
use fathom_plan::{ScheduleContext, TargetKind};

/// A directory, a file of 1 GiB and a device of unknown size.
pub(super) fn facts() -> BTreeMap<Target, TargetFacts> {
    let facts = |kind, size_bytes| TargetFacts {
        kind: Some(kind),
        size_bytes,
        ..TargetFacts::default()
    };
    BTreeMap::from([
        (target("/data"), facts(TargetKind::Directory, None)),
        (target("/data/file"), facts(TargetKind::File, Some(1 << 30))),
        (target("/dev/unknown"), facts(TargetKind::Device, None)),
    ])
}

pub(super) fn target(text: &str) -> Target {
    text.parse().unwrap()
}

pub(super) fn trial(target: Target, workload: Workload) -> ScheduledTrial {
    let text = "plan: 1\ntargets: /data\niterations: 1\nworkloads: [{runtime: 1s}]\n";
    let plan = fathom_plan::parse("t.yaml", text).unwrap();
    let mut trial = plan.schedule(&ScheduleContext::default()).unwrap().trials[0].clone();
    trial.label = workload.name.clone();
    trial.target = target;
    trial.workload = workload;
    trial
}

pub(super) fn with(change: impl FnOnce(&mut Workload)) -> Workload {
    let mut workload = Workload::example("w");
    change(&mut workload);
    workload
}

pub(super) fn on(path: &str, change: impl FnOnce(&mut Workload)) -> Result<FioTrial, Vec<Refusal>> {
    given(path, FioFiles::Own("test"), change)
}

fn given(
    path: &str,
    files: FioFiles<'_>,
    change: impl FnOnce(&mut Workload),
) -> Result<FioTrial, Vec<Refusal>> {
    let facts = facts();
    let export = FioExport {
        facts: &facts,
        files,
    };
    export_trial(&trial(target(path), with(change)), &export)
}

/// The value of an option in every section, which must be the same.
pub(super) fn value(trial: &FioTrial, name: &str) -> Option<String> {
    let of = |section: &FioSection| {
        let found = section.options.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.clone())
    };
    let first = of(&trial.sections[0]);
    assert!(
        trial.sections.iter().all(|s| of(s) == first),
        "{name}: {trial:?}"
    );
    first
}

fn values(change: impl FnOnce(&mut Workload), names: &[&str]) -> Vec<String> {
    let done = on("/data", change).unwrap();
    let text = |name: &&str| value(&done, name).unwrap_or_else(|| "-".to_owned());
    names.iter().map(text).collect()
}

fn refused(change: impl FnOnce(&mut Workload)) -> Vec<&'static str> {
    let refusals = on("/data", change).unwrap_err();
    assert!(
        refusals
            .iter()
            .all(|r| r.label == "w" && !r.reason.is_empty())
    );
    refusals.iter().map(|r| r.key).collect()
}

const GIB: u64 = 1 << 30;

#[test]
fn the_base_is_what_it_says() {
    let names = [
        "ioengine",
        "rw",
        "bs",
        "size",
        "direct",
        "runtime",
        "time_based",
        "invalidate",
    ];
    let expected = [
        "io_uring",
        "randread",
        "4096",
        "1073741824",
        "1",
        "10s",
        "1",
        "1",
    ];
    assert_eq!(values(|_| {}, &names), expected);
    let names = [
        "directory",
        "filename_format",
        "numjobs",
        "iodepth",
        "nrfiles",
        "offset",
    ];
    assert_eq!(
        values(|_| {}, &names),
        ["/data", "test.$jobnum", "-", "-", "-", "-"]
    );
}

#[test]
fn sizes_are_shared_out_over_jobs_and_files() {
    let own = |w: &mut Workload| {
        w.workers = 4;
        w.data_set.files.count = 2;
        w.data_set.offset_bytes = 1 << 20;
    };
    let names = ["filename_format", "nrfiles", "numjobs", "size", "offset"];
    // Eight files of 128 MiB, of which each job has two, from 1 MiB on.
    let size = (2 * ((128 << 20) - (1 << 20))).to_string();
    let expected = ["test.$jobnum.$filenum", "2", "4", size.as_str(), "1048576"];
    assert_eq!(values(own, &names), expected);
    let shared = |w: &mut Workload| {
        own(w);
        w.data_set.files.shared = true;
    };
    let size = (2 * ((512 << 20) - (1 << 20))).to_string();
    let expected = ["test.$filenum", "2", "4", size.as_str(), "1048576"];
    assert_eq!(values(shared, &names), expected);
    let set = |w: &mut Workload| w.data_set.working_set_bytes = Some(1 << 20);
    let done = on("/data", set).unwrap();
    assert_eq!(value(&done, "size").unwrap(), "1048576");
    assert!(
        done.differences
            .iter()
            .any(|d| d.contains("end with the accessed range"))
    );
}

#[test]
fn files_that_exist_are_named_one_by_one() {
    let own = |w: &mut Workload| {
        w.workers = 2;
        w.data_set.files.count = 3;
    };
    let done = given("/data", FioFiles::Given("t"), own).unwrap();
    let files: Vec<&str> = done
        .sections
        .iter()
        .flat_map(|s| &s.options)
        .filter(|(name, _)| name == "filename")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(files, ["t.0:t.1:t.2", "t.3:t.4:t.5"]);
    assert_eq!(value(&done, "allow_file_create").unwrap(), "0");
    assert_eq!(value(&done, "numjobs"), None);
    let done = given("/data", FioFiles::Given("t"), |w| w.workers = 2).unwrap();
    assert_eq!(value(&done, "filename_format").unwrap(), "t.$jobnum");
    let many = |w: &mut Workload| w.data_set.files.count = 2000;
    let refusals = given("/data", FioFiles::Given("prefix"), many).unwrap_err();
    assert_eq!(refusals[0].key, "nrfiles");
}

#[test]
fn workers_in_order_have_regions_of_their_own() {
    let walk = |w: &mut Workload| {
        w.pattern = Pattern::Sequential;
        w.workers = 4;
        w.data_set.size_bytes = None;
    };
    let done = on("/data/file", walk).unwrap();
    let quarter = (GIB / 4).to_string();
    assert_eq!(value(&done, "filename").unwrap(), "/data/file");
    assert_eq!(value(&done, "size").unwrap(), quarter);
    assert_eq!(value(&done, "offset_increment").unwrap(), quarter);
    let unknown = on("/dev/unknown", walk).unwrap_err();
    assert_eq!(unknown[0].key, "size");
    let shared = |files: u32| {
        move |w: &mut Workload| {
            w.pattern = Pattern::Sequential;
            w.workers = 4;
            w.data_set.files = FileLayout {
                count: files,
                shared: true,
            };
        }
    };
    let done = on("/data", shared(8)).unwrap();
    assert_eq!(done.sections.len(), 4);
    assert!(
        done.sections[3]
            .options
            .contains(&("filename".to_owned(), "test.6:test.7".to_owned()))
    );
    let done = on("/data", shared(2)).unwrap();
    assert_eq!(done.sections.len(), 2);
    assert_eq!(value(&done, "numjobs").unwrap(), "2");
    assert_eq!(value(&done, "size").unwrap(), (GIB / 4).to_string());
    assert_eq!(refused(shared(3)), ["nrfiles"]);
}

#[test]
fn rates_are_those_of_each_job_and_direction() {
    let rate = |per_second, unit, arrival| {
        Some(Rate {
            per_second,
            unit,
            arrival,
        })
    };
    let mixed = |w: &mut Workload| {
        w.workers = 4;
        w.mix = OpMix {
            read_percent: 70,
            write_percent: 30,
            trim_percent: 0,
        };
        w.rate = rate(4000.0, RateUnit::Ops, Arrival::Poisson);
    };
    assert_eq!(
        values(mixed, &["rw", "rwmixread", "rate_iops", "rate_process"]),
        ["randrw", "70", "700,300", "poisson"]
    );
    let bytes = |w: &mut Workload| {
        w.workers = 2;
        w.rate = rate(1e6, RateUnit::Bytes, Arrival::Constant);
    };
    assert_eq!(values(bytes, &["rate", "rate_process"]), ["500000", "-"]);
    assert_eq!(
        refused(|w| {
            w.workers = 64;
            w.rate = rate(10.0, RateUnit::Ops, Arrival::Constant);
        }),
        ["rate"]
    );
    assert_eq!(
        refused(|w| {
            w.block = BlockSizes::Range {
                min_bytes: 4096,
                max_bytes: 8192,
                step_bytes: 4096,
            };
            w.rate = rate(1000.0, RateUnit::Ops, Arrival::Constant);
        }),
        ["rate"]
    );
}

#[test]
fn blocks_have_fios_forms() {
    let range = |w: &mut Workload| {
        w.block = BlockSizes::Range {
            min_bytes: 4096,
            max_bytes: 65536,
            step_bytes: 4096,
        };
    };
    assert_eq!(
        values(range, &["bs", "bsrange", "bs_unaligned"]),
        ["-", "4096-65536", "-"]
    );
    let weighted = |weights: [u32; 2]| {
        move |w: &mut Workload| {
            let sizes = [4096, 65536].into_iter().zip(weights);
            let sizes = sizes.map(|(bytes, weight)| WeightedSize { bytes, weight });
            w.block = BlockSizes::Weighted(sizes.collect());
        }
    };
    assert_eq!(values(weighted([7, 3]), &["bssplit"]), ["4096/70:65536/30"]);
    assert_eq!(refused(weighted([2, 1])), ["bs"]);
    let align = |w: &mut Workload| w.align_bytes = 512;
    assert_eq!(values(align, &["blockalign"]), ["512"]);
}

#[test]
fn orders_have_fios_words() {
    let rw = |pattern: Pattern| values(|w| w.pattern = pattern, &["rw"]).remove(0);
    assert_eq!(rw(Pattern::Sequential), "read");
    assert_eq!(rw(Pattern::Backwards), "read:-8192");
    assert_eq!(
        rw(Pattern::Strided {
            stride_bytes: 65536
        }),
        "read:61440"
    );
    let spread = |distribution| {
        let names = ["norandommap", "random_distribution"];
        values(|w| w.pattern = Pattern::Random(distribution), &names)
    };
    assert_eq!(spread(Distribution::EachOnce), ["-", "-"]);
    assert_eq!(spread(Distribution::Uniform), ["1", "-"]);
    assert_eq!(spread(Distribution::Zipf { theta: 1.2 }), ["1", "zipf:1.2"]);
    assert_eq!(spread(Distribution::Pareto { h: 0.2 }), ["1", "pareto:0.2"]);
    let hot = |access_percent| Distribution::HotSpot {
        access_percent,
        size_percent: 20.0,
    };
    assert_eq!(spread(hot(80.0)), ["1", "zoned:80/20:20/80"]);
    for odd in [hot(80.5), hot(100.0), Distribution::Zipf { theta: 1.0 }] {
        assert_eq!(
            refused(|w| w.pattern = Pattern::Random(odd)),
            ["distribution"]
        );
    }
    let trims = OpMix {
        read_percent: 50,
        write_percent: 25,
        trim_percent: 25,
    };
    assert_eq!(refused(|w| w.mix = trims), ["mix"]);
}

#[test]
fn durability_cache_and_bounds_are_kept() {
    let sync = |w: &mut Workload| {
        w.mix = OpMix::WRITE;
        w.engine = EngineKind::Psync;
        w.cache = CacheMode::Buffered;
        w.sync = SyncPolicy {
            every_writes: 32,
            call: SyncCall::Fdatasync,
            open: SyncOpen::Dsync,
            final_flush: true,
            ..SyncPolicy::default()
        };
    };
    assert_eq!(
        values(
            sync,
            &[
                "fdatasync",
                "fsync",
                "sync",
                "end_fsync",
                "direct",
                "invalidate"
            ]
        ),
        ["32", "-", "dsync", "1", "0", "0"]
    );
    let bounds = |w: &mut Workload| {
        w.workers = 4;
        w.warmup_ns = 1_500_000_000;
        w.bounds = Bounds {
            time_ns: Some(20_000_000_000),
            bytes: None,
            ops: Some(4000),
        };
    };
    assert_eq!(
        values(
            bounds,
            &[
                "ramp_time",
                "runtime",
                "time_based",
                "io_size",
                "number_ios"
            ]
        ),
        ["1500ms", "20s", "-", "4096000", "-"]
    );
    let until = on("/data", |w| w.until = Some(Until::Steady)).unwrap();
    assert!(until.differences.iter().any(|d| d.contains("steady")));
}

#[test]
fn contents_are_kept_or_refused() {
    let payload = |content, compress_percent, duplicate_percent| {
        move |w: &mut Workload| {
            w.mix = OpMix::WRITE;
            w.payload = Payload {
                content,
                compress_percent,
                duplicate_percent,
            };
        }
    };
    let names = [
        "zero_buffers",
        "buffer_pattern",
        "buffer_compress_percentage",
    ];
    let zeros = values(payload(Content::Zeros, 0, 0), &names);
    assert_eq!(zeros, ["1", "-", "-"]);
    let bytes = values(payload(Content::Bytes(vec![1, 0xab, 0x20]), 0, 0), &names);
    assert_eq!(bytes, ["-", "0x01ab20", "-"]);
    let half = values(payload(Content::Random, 50, 0), &names);
    assert_eq!(half, ["-", "-", "50"]);
    assert_eq!(refused(payload(Content::Zeros, 50, 0)), ["payload"]);
    assert_eq!(
        refused(payload(Content::Bytes(vec![1; 1000]), 0, 0)),
        ["payload"]
    );
    let verify = |on_read, after| {
        Some(Verify {
            on_read,
            after,
            ..Verify::default()
        })
    };
    assert_eq!(refused(|w| w.verify = verify(true, false)), ["verify"]);
    let after = |w: &mut Workload| {
        w.mix = OpMix::WRITE;
        w.verify = verify(false, true);
    };
    assert_eq!(values(after, &["verify"]), ["crc32c"]);
}

#[test]
fn a_precondition_is_a_job_before() {
    let fill = |w: &mut Workload| {
        w.data_set.precondition = Precondition::RandomFill;
        w.data_set.files.count = 2;
        w.workers = 2;
    };
    let done = on("/data", fill).unwrap();
    assert_eq!(done.before.len(), 2);
    assert!(
        done.before[0]
            .options
            .contains(&("size".to_owned(), (GIB / 2).to_string()))
    );
    let text = fio_job_file(&done);
    assert_eq!(text.matches("stonewall").count(), 2, "{text}");
}

#[test]
fn what_exists_in_fathom_alone_is_refused() {
    let refusals = on("sim:ssd", |w| w.engine = EngineKind::Sim).unwrap_err();
    let keys: Vec<&str> = refusals.iter().map(|r| r.key).collect();
    assert_eq!(keys, ["engine", "targets"]);
    let odd = on("/data;x", |_| {}).unwrap_err();
    assert_eq!(odd[0].key, "targets");
    assert!(refusals[0].to_string().starts_with("w: engine: "));
}

#[test]
fn fields_that_change_nothing_or_little_are_kept_quiet_or_told() {
    let slo = on("/data", |w| w.slo = "p99<2ms".parse().ok()).unwrap();
    assert_eq!(slo, on("/data", |_| {}).unwrap());
    let rest = |w: &mut Workload| {
        w.on_error = OnError::Continue;
        w.huge_pages = true;
        w.io_deadline_ns = 5_000_000_000;
        w.cpus = vec![0, 2];
        w.think_ns = 500_000;
    };
    let names = [
        "continue_on_error",
        "max_latency",
        "cpus_allowed",
        "thinktime",
    ];
    assert_eq!(values(rest, &names), ["all", "5000000us", "0,2", "500"]);
    assert_eq!(refused(|w| w.think_ns = 1200), ["think_time"]);
}
