//! Stores that confirm what is not so: listings that lag behind, and objects that
//! were never kept.

use fathom_model::run::KeptObjects;
use fathom_model::workload::{Rate, RateUnit};
use fathom_model::{Job, OpKind};
use fathom_s3::StoreServer;

use super::tests::{MS, job, object, run, server, store};
use super::{
    Removal, keep_objects_of_run, look_back, remove_objects_of_part, remove_objects_of_run,
};
use crate::prepare::{NoHooks, prepare};
use crate::{Error, Group};

const TARGET: &str = "bucket/some prefix";
const OTHERS: [&str; 2] = ["bucket/some prefix/other", "bucket/precious/1"];

fn putting(server: &StoreServer, tag: u64) -> Job {
    for key in OTHERS {
        server.plant(key, b"precious");
    }
    job(server, tag, &[(OpKind::Put, 1)])
}

fn remove(server: &StoreServer, tag: u64) -> Result<Removal, Error> {
    remove_objects_of_part(&store(server), TARGET, tag, "t", &mut NoHooks)
}

fn assert_only_own(server: &StoreServer, tag: u64) {
    let run = format!("{TARGET}/fathom-{tag:016x}/t/");
    let removals = server.removals();
    assert!(removals.iter().all(|key| key.starts_with(&run)));
    let keys = server.keys();
    assert!(OTHERS.iter().all(|key| keys.iter().any(|k| k == key)));
}

#[test]
fn what_the_store_does_not_list_is_removed_by_name() {
    for (fault, listed) in [("empty", 0), ("partial", 5)] {
        let server = server(&format!("WALK:{fault}"));
        let tag = 0x6001;
        run(&putting(&server, tag));
        assert_eq!(server.keys().len(), 42);
        let removed = remove(&server, tag).unwrap();
        assert_eq!(server.keys().len(), 2, "{fault}");
        assert_only_own(&server, tag);
        // A listing that shows a few more each time comes to its end by itself.
        if fault == "empty" {
            let told = format!("listed only {listed} of the 40 objects");
            assert!(removed.notes[0].contains(&told), "{:?}", removed.notes);
        }
    }
}

#[test]
fn what_is_neither_listed_nor_removed_is_told() {
    let server = server("WALK:empty,POST:pretend");
    let tag = 0x6002;
    run(&putting(&server, tag));
    let told = remove(&server, tag).unwrap_err().to_string();
    for part in [
        "40 of 40 that were looked at are still there",
        "some prefix/fathom-0000000000006002/t/",
        "tools of the store",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_only_own(&server, tag);
}

#[test]
fn what_cannot_be_shown_to_be_gone_is_told() {
    let server = server("WALK:empty,HEAD:403");
    let tag = 0x6003;
    run(&putting(&server, tag));
    let told = remove(&server, tag).unwrap_err().to_string();
    assert!(
        told.contains("40 of 40 that were looked at it cannot be shown"),
        "{told}"
    );
    assert_eq!(server.keys().len(), 2, "they are");
}

#[test]
fn versions_and_copies_that_are_not_listed_are_removed_by_name() {
    let server = server("WALK:empty,VERSIONS:empty");
    server.keep_versions();
    let tag = 0x6004;
    run(&putting(&server, tag));
    run(&job(&server, tag, &[(OpKind::Copy, 1)]));
    assert_eq!(server.keys().len(), 82);
    remove(&server, tag).unwrap();
    assert_eq!(server.keys().len(), 2);
    assert_only_own(&server, tag);
}

#[test]
fn a_listing_that_is_whole_costs_no_second_look() {
    for (number, kinds) in [
        &[(OpKind::Put, 1)][..],
        &[(OpKind::Get, 1)],
        &[(OpKind::Delete, 1)],
        &[(OpKind::Put, 2), (OpKind::Delete, 1), (OpKind::Get, 3)],
    ]
    .into_iter()
    .enumerate()
    {
        let server = server("PUT:503@7");
        let tag = 0x6010 + number as u64;
        let mut job = job(&server, tag, kinds);
        if kinds.len() > 1 {
            job.workload.bounds.ops = Some(500);
        }
        run(&job);
        let removed = remove(&server, tag).unwrap();
        assert!(server.keys().is_empty());
        assert!(removed.notes.is_empty(), "{:?}", removed.notes);
        // Nothing is asked to be removed twice.
        let mut asked = server.removals();
        let all = asked.len();
        asked.sort();
        asked.dedup();
        assert!(
            kinds[0].0 == OpKind::Delete || all == asked.len(),
            "{kinds:?}"
        );
    }
}

#[test]
fn what_a_load_drew_and_did_not_put_is_not_known() {
    // The end comes in the middle of a pass, with the next start in the future.
    for (number, rate) in [None, Some(500.0)].into_iter().enumerate() {
        let server = server("");
        let tag = 0x6020 + number as u64;
        let mut job = job(&server, tag, &[(OpKind::Put, 1)]);
        object(&mut job).objects = 100_000;
        job.workload.bounds.time_ns = Some(300 * MS);
        job.workload.rate = rate.map(|per_second| Rate {
            per_second,
            unit: RateUnit::Ops,
            arrival: Default::default(),
        });
        run(&job);
        remove(&server, tag).unwrap();
        assert!(server.keys().is_empty());
        let mut asked = server.removals();
        let all = asked.len();
        asked.sort();
        asked.dedup();
        assert_eq!(all, asked.len(), "at {rate:?}");
    }
}

#[test]
fn objects_of_a_preparation_that_failed_are_known_as_well() {
    let server = server("WALK:empty,PUT:403@30");
    let tag = 0x6005;
    let mut reading = job(&server, tag, &[(OpKind::Get, 1)]);
    object(&mut reading).objects = 100;
    prepare(&reading, &mut NoHooks).unwrap_err();
    assert!(!server.keys().is_empty());
    // Those that were under way when it ended are not known to be there.
    let left = remove_objects_of_run(&store(&server), TARGET, tag, &mut NoHooks);
    left.unwrap();
    assert!(server.keys().len() < 32, "{:?}", server.keys().len());
}

#[test]
fn a_note_that_was_not_kept_is_told() {
    let server = server("PUT:forget");
    let noted = keep_objects_of_run(&store(&server), TARGET, 0x6006, &NoHooks);
    let told = noted.unwrap_err().to_string();
    assert!(told.contains("it is not there; `fathom clean`"), "{told}");
}

fn looked(script: &str, kind: OpKind) -> Option<KeptObjects> {
    let server = server(script);
    let job = job(&server, 0x6100, &[(kind, 1)]);
    let prepared = prepare(&job, &mut NoHooks).unwrap();
    let mut group = Group::start(&job, &prepared).unwrap();
    group.go();
    group.finish();
    look_back(&prepared, &NoHooks)
}

#[test]
fn objects_that_were_confirmed_and_not_kept_are_found() {
    let good = KeptObjects {
        looked: 40,
        ..KeptObjects::default()
    };
    assert_eq!(looked("", OpKind::Put), Some(good.clone()));
    assert_eq!(looked("", OpKind::PutMultipart), Some(good.clone()));
    assert_eq!(looked("", OpKind::Copy), Some(good));
    let uncopied = looked("COPY:forget", OpKind::Copy).unwrap();
    assert_eq!((uncopied.looked, uncopied.missing), (40, 40));
    let example = uncopied.example.unwrap();
    assert!(example.contains("/copies/"), "{example}");
    assert_eq!(looked("", OpKind::Get), None);
    let lost = looked("PUT:forget@2", OpKind::Put).unwrap();
    assert_eq!((lost.looked, lost.missing, lost.wrong()), (40, 20, 20));
    let example = lost.example.unwrap();
    assert!(example.contains("some prefix/fathom-") && example.contains("is not there"));
    let short = looked("PUT:shorten", OpKind::Put).unwrap();
    assert_eq!((short.looked, short.other_size), (40, 40), "{short:?}");
    let other = looked("GET:corrupt@4", OpKind::Put).unwrap();
    assert!(other.other_content > 5, "{other:?}");
    let whole = looked("", OpKind::Delete).unwrap();
    assert_eq!((whole.looked, whole.removed_looked), (0, 40), "{whole:?}");
    for kind in [OpKind::Delete, OpKind::DeleteMany] {
        let stays = looked("POST:pretend,DELETE:pretend", kind).unwrap();
        assert_eq!((stays.removed_looked, stays.still_there), (40, 40));
        let example = stays.example.unwrap();
        assert!(example.ends_with("was removed and is there"), "{example}");
    }
    let silent = looked("GET:403", OpKind::Put).unwrap();
    assert_eq!((silent.looked, silent.unanswered), (0, 40), "{silent:?}");
}
