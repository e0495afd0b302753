use fathom_model::workload::{KeyLayout, ObjectSizes, OnError};
use fathom_model::{OpKind, Target};
use proptest::prelude::*;

use super::*;
use fathom_plan::{ScheduleContext, StoreFlags};

const CONFIG: &str = "
s3_config:
  - access_key: AKEXAMPLE
    secret_key: topsecret/+=
    region: us-east-1
    endpoint: http://127.0.0.1:7070
    timeout: 30s
    usePathStyle: true
  - {access_key: AKEXAMPLE, secret_key: topsecret/+=, region: us-east-1, endpoint: 'http://127.0.0.1:7071', usePathStyle: true}
grafana_config:
  endpoint: http://grafana
tests:
  - name: small mix
    read_weight: 60
    write_weight: 30
    delete_weight: 10
    objects: {size_min: 4, size_max: 16, size_distribution: random, unit: KB, number_min: 20, number_max: 20, number_distribution: constant, part_size: 5}
    buckets: {number_min: 3, number_max: 3, number_distribution: constant}
    bucket_prefix: perf-
    object_prefix: obj
    stop_with_runtime: 1m30s
    workers: 4
    parallel_clients: 8
    clean_after: true
  - name: reread
    existing_read_weight: 1
    objects: {size_min: 1, size_max: 1, size_distribution: constant, unit: mb, number_min: 1, number_distribution: constant}
    buckets: {number_min: 1, number_distribution: constant}
    bucket_prefix: perf-
    workers_share_buckets: true
    stop_with_ops: 500
    workers: 2
    parallel_clients: 1
";

fn told(text: &str) -> String {
    Gosbench::parse("gos.yaml", text).unwrap_err().render(false)
}

#[test]
fn a_configuration_becomes_plans() {
    let read = Gosbench::parse("gos.yaml", CONFIG).unwrap();
    assert_eq!(read.keys(), [Some(("AKEXAMPLE", "topsecret/+=")); 2]);
    let [mix, reread] = read.tests.as_slice() else {
        panic!("{:?}", read.tests)
    };
    assert_eq!((mix.name.as_str(), mix.line), ("small mix", 13));
    assert_eq!(mix.runtime_ns, Some(90_000_000_000));
    let target = mix.target();
    assert_eq!(target, Target::Bucket("w0perf-0/obj".to_owned()));
    let plan = read
        .to_plan(mix, target, (1, &StoreFlags::default()))
        .unwrap();
    assert!(!plan.keep_files());
    let yaml = plan.to_yaml();
    assert!(!yaml.contains("topsecret"), "{yaml}");
    assert_eq!(fathom_plan::parse("again", &yaml).unwrap(), plan);
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    let workload = &schedule.trials[0].workload;
    assert_eq!((workload.workers, workload.queue_depth), (4, 8));
    assert_eq!(workload.on_error, OnError::Continue);
    let object = workload.requests().unwrap();
    assert_eq!(object.objects, 60);
    let shares: Vec<_> = object.ops.iter().map(|o| (o.kind, o.weight)).collect();
    let expected = [(OpKind::Get, 60), (OpKind::Put, 30), (OpKind::Delete, 10)];
    assert_eq!(shares, expected);
    assert_eq!(
        object.sizes,
        ObjectSizes::Range {
            min_bytes: 4096,
            max_bytes: 16_384
        }
    );
    assert_eq!(
        object.keys,
        KeyLayout::Tree {
            depth: 1,
            fan_out: 3
        }
    );
    let store = workload.store().unwrap();
    assert_eq!(
        store.endpoints,
        ["http://127.0.0.1:7070", "http://127.0.0.1:7071"]
    );
    assert!(!store.virtual_host && store.region == "us-east-1");

    assert_eq!(reread.target(), Target::Bucket("perf-0".to_owned()));
    let plan = read
        .to_plan(reread, reread.target(), (2, &StoreFlags::default()))
        .unwrap();
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    let workload = &schedule.trials[0].workload;
    assert_eq!((workload.workers, workload.bounds.ops), (1, Some(500)));
    assert!(workload.requests().unwrap().existing);
    assert!(
        read.to_plan(mix, mix.target(), (3, &StoreFlags::default()))
            .is_err()
    );
}

#[test]
fn dead_and_unknown_keys_are_told_at_their_places() {
    let text = CONFIG.replace("region: us-east-1\n", "region: us-east-1\n    regin: x\n");
    let read = Gosbench::parse("gos.yaml", &text).unwrap();
    let all: Vec<_> = read
        .warnings
        .items()
        .iter()
        .map(|item| {
            (
                item.id,
                item.place.unwrap().line,
                item.place.unwrap().column,
            )
        })
        .collect();
    let expected = [
        ("unknown_key", 6, 5),
        ("dead_key", 8, 5),
        ("dead_key", 11, 1),
        ("dead_key", 18, 142),
    ];
    assert_eq!(all, expected);
    let shown = read.warnings.render(false);
    assert!(shown.contains("did you mean `region`?"), "{shown}");
}

#[test]
fn json_is_read_with_tabs_and_shows_no_secret() {
    let text = "{\n\t\"s3_config\": [{\"access_key\": \"AKEXAMPLE\", \"secret_key\": \"topsecret\", \"endpoint\": \"http://h:1\", \"timout\": 3}],\n\t\"tests\": [{\"name\": \"a\", \"write_weight\": 1, \"stop_with_runtime\": 2000000000, \"workers\": 1, \"parallel_clients\": 2, \"bucket_prefix\": \"b\",\n\t\t\"objects\": {\"size_min\": 1, \"size_max\": 9, \"size_distribution\": \"sequential\", \"unit\": \"B\", \"number_min\": 5, \"number_max\": 5, \"number_distribution\": \"constant\"},\n\t\t\"buckets\": {\"number_min\": 1, \"number_distribution\": \"constant\"}}]\n}\n";
    let read = Gosbench::parse("gos.json", text).unwrap();
    let shown = format!("{read:?}{}", read.warnings.render(false));
    assert!(shown.contains("timout"), "{shown}");
    assert!(
        !shown.contains("topsecret") && !shown.contains("AKEXAMPLE"),
        "{shown}"
    );
    let test = &read.tests[0];
    assert_eq!(test.runtime_ns, Some(2_000_000_000));
    let plan = read
        .to_plan(test, test.target(), (1, &StoreFlags::default()))
        .unwrap();
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    let object = schedule.trials[0].workload.requests().cloned().unwrap();
    assert_eq!(
        object.sizes,
        ObjectSizes::Range {
            min_bytes: 1,
            max_bytes: 5
        }
    );
    // A name, not an address: the bucket stands in the host.
    assert!(schedule.trials[0].workload.store().unwrap().virtual_host);
    let broken = Gosbench::parse("gos.json", &text[..text.len() - 4]).unwrap_err();
    let shown = broken.render(false);
    assert!(!shown.contains("topsecret"), "{shown}");
}

#[test]
fn keys_of_forks_are_meant() {
    let text = "
s3_configs: [{name: a, endpoint: 'http://h:1'}]
report_config: {format: csv}
global_config: {client_gateway_colocation: true}
tests:
  - write_weight: 1
    oneshot: true
    workers: 1
    parallel_clients: 1
    write_option: {max_upload_parts: 10, concurrency: 3, chunk_size: 8, unit: MiB}
    payload_generator: empty
    objects: {size_min: 64, size_max: 64, size_distribution: constant, unit: MB, number_min: 2, number_distribution: constant}
    buckets: {number_min: 1, number_distribution: constant}
";
    let read = Gosbench::parse("fork.yaml", text).unwrap();
    assert_eq!(read.warnings.items().len(), 4);
    let test = &read.tests[0];
    assert_eq!(test.name, "test 1");
    let plan = read
        .to_plan(test, test.target(), (1, &StoreFlags::default()))
        .unwrap();
    assert!(plan.keep_files());
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    let object = schedule.trials[0].workload.requests().cloned().unwrap();
    assert_eq!(object.phase(), Some(OpKind::PutMultipart));
    assert_eq!((object.part_bytes, object.parts_at_once), (8 << 20, 3));
    assert!(!object.repeat);
}

#[test]
fn what_cannot_run_is_told_at_its_place() {
    for (from, to, expected) in [
        ("workers: 4", "workers: 0", "gos.yaml:22:14"),
        ("unit: KB", "unit: XB", "`unit` is B, KB"),
        (
            "size_distribution: random",
            "size_distribution: normal",
            "constant, random or",
        ),
        ("size_min: 4,", "size_min: 99,", "is below"),
        (
            "stop_with_runtime: 1m30s",
            "stop_with_runtime: soon",
            "a time such as",
        ),
        ("    stop_with_runtime: 1m30s\n", "", "no end"),
        (
            "existing_read_weight: 1",
            "existing_read_weight: 0",
            "every weight",
        ),
        (
            "existing_read_weight: 1",
            "{existing_read_weight: 1",
            "gos.yaml",
        ),
        (
            "workers: 2",
            "workers: 2\n    delete_weight: 1",
            "make two tests",
        ),
        (
            "http://127.0.0.1:7071'",
            "http://127.0.0.1:7071', skipSSLverify: true",
            "same",
        ),
    ] {
        assert!(CONFIG.contains(from), "{from}");
        let shown = told(&CONFIG.replace(from, to));
        assert!(shown.contains(expected), "{to}: {shown}");
        assert!(!shown.contains("topsecret"), "{shown}");
    }
    assert!(told("a: 1").contains("no store"));
    assert!(told("").contains("expected keys"));
    assert!(told("[1]").contains("expected keys"));
}

#[test]
fn durations_are_those_of_go() {
    for (text, ns) in [
        ("60s", 60_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("1.5s", 1_500_000_000),
        ("250us", 250_000),
        ("0", 0),
    ] {
        assert_eq!(read::go_duration(text), Some(ns), "{text}");
    }
    for bad in ["", "5", "s", "1x", "1s2", "-1s", "9999999999h"] {
        assert_eq!(read::go_duration(bad), None, "{bad}");
    }
}

#[test]
fn numbers_that_vary_have_a_middle() {
    let number = |spread| GosbenchNumber {
        min: 2,
        max: 6,
        spread,
    };
    let test = |objects, buckets| GosbenchTest {
        objects: number(objects),
        buckets: number(buckets),
        ..GosbenchTest::default()
    };
    use GosbenchSpread::{Constant, Random, Sequential};
    assert_eq!(test(Constant, Constant).objects_of_worker(), 4);
    assert_eq!(test(Random, Constant).objects_of_worker(), 8);
    assert_eq!(test(Sequential, Random).objects_of_worker(), 10);
    assert_eq!(test(Constant, Sequential).bucket_count(), 1);
}

proptest! {
    #[test]
    fn no_text_panics_or_shows_a_secret(
        cut in 0_usize..CONFIG.len(),
        insert in "[ -~\n]{0,12}",
        json in any::<bool>(),
    ) {
        let mut text = CONFIG.to_owned();
        text.insert_str(cut, &insert);
        let name = if json { "x.json" } else { "x.yaml" };
        let shown = match Gosbench::parse(name, &text) {
            Ok(read) => {
                for test in &read.tests {
                    let _ = read.to_plan(test, test.target(), (1, &StoreFlags::default()));
                    let _ = test.differences();
                }
                format!("{read:?}{}", read.warnings.render(false))
            }
            Err(told) => told.render(false),
        };
        let in_secret = text.matches("topsecret").count() < 2
            || text.matches("secret_key: topsecret").count() < 2;
        prop_assert!(in_secret || !shown.contains("topsecret"), "{}", shown);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,400}") {
        let _ = Gosbench::parse("x.yaml", &text);
        let _ = Gosbench::parse("x.json", &text);
        let _ = read::go_duration(&text);
    }
}
