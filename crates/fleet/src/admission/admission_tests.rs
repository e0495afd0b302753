//! What is refused before anything is done with it, field by field.

use fathom_model::host_mode::HostPart;
use fathom_model::workload::{
    BlockSizes, Distribution, FileLayout, MetaTree, MetaWork, NamedFiles, ObjectSizes, ObjectStore,
    ObjectWork, Pattern, Peer, PeerProtocol, Rate, RateUnit, Work, Workload,
};
use fathom_model::{OpKind, ScheduledTrial};

use super::*;
use crate::test_trial::trial;

/// Makes a workload wrong.
type Change = fn(&mut Workload);

fn settings() -> RemoteSettings {
    RemoteSettings {
        run: "20261123-033000-abcd".to_owned(),
        place: 0,
        file_prefix: "fathom-test".to_owned(),
        destructive: false,
        keep_files: false,
        ceiling_ns: 9_000_000,
    }
}

fn check(change: impl FnOnce(&mut ScheduledTrial)) -> Result<(), String> {
    let mut spec = trial("/data".parse().unwrap());
    change(&mut spec);
    check_set(&[spec]).map_err(|error| error.to_string())
}

fn check_workload(change: impl FnOnce(&mut Workload)) -> Result<(), String> {
    check(|spec| change(&mut spec.workload))
}

#[test]
fn a_run_begins_with_names_that_lead_nowhere() {
    check_settings(&settings()).unwrap();
    for prefix in [
        "", ".", "..", "../x", "a/b", "/abs", ".hidden", "a\0b", "a\nb",
    ] {
        let mut settings = settings();
        settings.file_prefix = prefix.to_owned();
        let error = check_settings(&settings).unwrap_err().to_string();
        assert!(error.starts_with("file_prefix is"), "{error}");
    }
    let mut long = settings();
    long.file_prefix = "x".repeat(200);
    assert!(check_settings(&long).is_err());
    for run in ["", "../../etc", "a b", "ü"] {
        let mut settings = settings();
        settings.run = run.to_owned();
        let error = check_settings(&settings).unwrap_err().to_string();
        assert!(error.starts_with("run is"), "{error}");
    }
    let mut slow = settings();
    slow.ceiling_ns = u64::MAX;
    let error = check_settings(&slow).unwrap_err().to_string();
    assert!(error.starts_with("ceiling_ns is"), "{error}");
    let mut far = settings();
    far.place = u32::MAX;
    assert!(
        check_settings(&far)
            .unwrap_err()
            .to_string()
            .starts_with("place is")
    );
}

#[test]
fn usual_trials_pass() {
    check(|_| {}).unwrap();
    check(|spec| spec.target = "null:".parse().unwrap()).unwrap();
    check(|spec| spec.target = "sim:ssd".parse().unwrap()).unwrap();
    check_workload(|w| w.work = Work::files(tree_work())).unwrap();
    check(|spec| {
        spec.target = "s3://bucket/prefix".parse().unwrap();
        let endpoint = "http://localhost:9000".to_owned();
        let store = ObjectStore::new(vec![endpoint]);
        let work = ObjectWork::new([(OpKind::Put, 1)], 10, ObjectSizes::Fixed(4096));
        spec.workload.work = Work::objects(store, work);
    })
    .unwrap();
}

#[test]
fn a_region_is_no_part_of_an_address() {
    let region = |region: &str| {
        check(|spec| {
            spec.target = "s3://bucket".parse().unwrap();
            let mut store = ObjectStore::new(Vec::new());
            store.region = region.to_owned();
            let work = ObjectWork::new([(OpKind::Put, 1)], 10, ObjectSizes::Fixed(4096));
            spec.workload.work = Work::objects(store, work);
        })
    };
    for good in ["", "us-east-1", "RegionOne", "zone_2"] {
        region(good).unwrap();
    }
    for bad in ["x.example/", "x.example#", "a b", "a.b", "x@y"] {
        let error = region(bad).unwrap_err();
        assert!(error.starts_with("workload.store.region is"), "{error}");
    }
}

fn tree_work() -> MetaWork {
    MetaWork::new([(OpKind::Create, 1)], MetaTree::flat(10, 4096))
}

#[test]
fn numbers_out_of_bounds_are_refused_by_the_name_of_the_field() {
    let cases: [(&str, Change); 12] = [
        ("workload.workers is", |w| w.workers = u32::MAX),
        ("workload.workers is", |w| w.workers = 0),
        ("workload.queue_depth is", |w| w.queue_depth = u32::MAX),
        ("workload.files.count is", |w| {
            w.data_set.files = FileLayout {
                count: u32::MAX,
                shared: true,
            };
        }),
        ("workload.size_bytes is", |w| {
            w.data_set.size_bytes = Some(u64::MAX);
        }),
        ("workload.bounds.time_ns is", |w| {
            w.bounds.time_ns = Some(u64::MAX);
        }),
        ("workload.block is", |w| {
            w.block = BlockSizes::Fixed(u64::MAX);
        }),
        ("workload.block: the smallest is", |w| {
            w.block = BlockSizes::Range {
                min_bytes: 8192,
                max_bytes: 4096,
                step_bytes: 512,
            };
        }),
        ("workload.io_deadline_ns is", |w| w.io_deadline_ns = 0),
        ("workload.rate is", |w| {
            w.rate = Some(Rate {
                per_second: f64::NAN,
                unit: RateUnit::Ops,
                arrival: fathom_model::workload::Arrival::Constant,
            });
        }),
        ("workload.pattern.distribution is", |w| {
            w.pattern = Pattern::Random(Distribution::Zipf {
                theta: f64::INFINITY,
            });
        }),
        ("workload.mix is", |w| w.mix.write_percent = 255),
    ];
    for (expected, change) in cases {
        let error = check_workload(change).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = check_workload(|w| w.cpus = vec![0; 5000]).unwrap_err();
    assert!(error.starts_with("workload.cpus has 5000"), "{error}");
}

#[test]
fn trees_and_objects_have_bounds_too() {
    let tree = |change: fn(&mut MetaWork)| {
        let mut work = tree_work();
        change(&mut work);
        check_workload(|w| w.work = Work::files(work)).unwrap_err()
    };
    let error = tree(|work| work.tree.files = u64::MAX);
    assert!(error.starts_with("workload.meta.tree.files is"), "{error}");
    let error = tree(|work| work.tree.leaves = 11);
    assert!(error.contains("0 levels of 1 directories"), "{error}");
    let error = tree(|work| work.ops = Vec::new());
    assert!(error.starts_with("workload.meta.ops is 0"), "{error}");
    let mut object = ObjectWork::new([(OpKind::Put, 1)], 10, ObjectSizes::Fixed(4096));
    object.page_keys = 0;
    let store = ObjectStore::new(vec!["http://localhost:9000".to_owned()]);
    let error = check_workload(|w| w.work = Work::objects(store, object)).unwrap_err();
    assert!(
        error.starts_with("workload.object.page_keys is 0"),
        "{error}"
    );
    let error = check(|spec| spec.target = "s3://bucket".parse().unwrap()).unwrap_err();
    assert!(error.contains("store is missing"), "{error}");
}

#[test]
fn paths_are_absolute_and_lead_nowhere_else() {
    for path in ["data", "/data/../etc", "/data/a\nb"] {
        let error = check(|spec| spec.target = path.parse().unwrap()).unwrap_err();
        assert!(error.starts_with("target is"), "{path}: {error}");
    }
    let named = |path: &str| {
        let paths = vec![path.into()];
        check_workload(|w| {
            w.data_set.named = Some(NamedFiles {
                paths,
                create: true,
                ours: true,
            });
        })
    };
    named("own").unwrap();
    assert!(named("../own").unwrap_err().contains("no '..'"));
    let peer = |host: &str| {
        let host = host.to_owned();
        check_workload(|w| {
            w.work = Work::connections(Peer {
                protocol: PeerProtocol::Unix,
                listen: true,
                host,
                port: 0,
                nodelay: false,
                ping_pong: false,
                buffer_bytes: 0,
                mss_bytes: 0,
                interface: String::new(),
                ttl: 1,
            });
        })
    };
    peer("/data/socket").unwrap();
    assert!(peer("socket").unwrap_err().contains("workload.peer.host"));
}

#[test]
fn places_of_hosts_and_pauses_are_bounded() {
    let part = |number, of| {
        check(|spec| {
            spec.part = Some(HostPart {
                whose: 0,
                number,
                of,
                divided: true,
            });
        })
    };
    part(1, 2).unwrap();
    assert!(part(2, 2).unwrap_err().starts_with("part.number is 2"));
    assert!(part(0, 0).unwrap_err().starts_with("part.of is 0"));
    let error = check(|spec| spec.pause.ceiling_ns = u64::MAX).unwrap_err();
    assert!(error.starts_with("pause.ceiling_ns is"), "{error}");
    let error = check(|spec| spec.label = "a\u{1b}[2J".to_owned()).unwrap_err();
    assert!(error.starts_with("label is"), "{error}");
}

#[test]
fn a_set_has_no_more_threads_and_memory_than_a_host_can_give() {
    let mut spec = trial("null:".parse().unwrap());
    spec.workload.workers = 4096;
    let sets = vec![spec.clone(); 5];
    let SetError { place, error } = check_set(&sets).unwrap_err();
    let error = error.to_string();
    assert_eq!(place, 4, "{error}");
    assert!(error.contains("20480 over all trials"), "{error}");
    spec.workload.queue_depth = 4096;
    spec.workload.block = BlockSizes::Fixed(1 << 30);
    let error = check_set(std::slice::from_ref(&spec))
        .unwrap_err()
        .to_string();
    assert!(error.contains("bytes of buffers"), "{error}");
    spec.workload.block = BlockSizes::Fixed(512);
    spec.workload.data_set.files = FileLayout {
        count: 1_000_000,
        shared: false,
    };
    let error = check_set(&[spec]).unwrap_err().to_string();
    assert!(error.contains("bytes of memory"), "{error}");
}
