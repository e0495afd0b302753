//! Stores that are wrong on purpose: nothing of somebody else's is removed, and
//! everything comes to an end.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fathom_model::{Job, OpKind};
use fathom_s3::StoreServer;

use super::tests::{job, object, run, server, store};
use super::{
    Removal, clean_bucket, keep_objects_of_run, remove_objects_of_part, remove_objects_of_run,
};
use crate::Error;
use crate::prepare::{CreationRefused, Hurry, NoHooks, PrepareHooks, PrepareProgress, prepare};

const TARGET: &str = "bucket/some prefix";
/// Much more than any of it takes, and less than for ever.
const SOON: Duration = Duration::from_secs(60);
/// Keys of others, some of which look like those of a run.
const FOREIGN: [&str; 6] = [
    "bucket/precious/1",
    "bucket/some prefix/other",
    "bucket/some prefix/fathom-notes",
    "bucket/some prefix/fathom-00000000000000ff/t/00c0ffee-0/w0/1",
    "bucket/fathom-0123456789abcdef/t/00c0ffee-0/w0/1",
    "bucket/elsewhere/1",
];

/// What is wrong with listings, and what is said of it when they are removed.
const FAULTS: [(&str, &str); 16] = [
    ("ignore-prefix", "keys outside of some prefix/fathom-"),
    ("other-prefix", "for example 'elsewhere/1'"),
    ("repeat-token", "not in order"),
    ("repeat-page", "not in order"),
    ("never-shrink", "still lists 5"),
    ("negative-sizes", "the size '-7'"),
    ("endless", "does not end"),
    ("empty-pages", "page after page is empty"),
    ("cut-off", "cut off"),
    ("huge", "longer than 16 MiB"),
    ("odd-keys", "were left alone"),
    ("unordered", "not in order"),
    ("encoded", "keys outside of"),
    ("html", "something else"),
    ("malformed", "malformed XML at byte"),
    ("bomb", "something else"),
];

/// Wants to stop after so many looks.
struct Hasty {
    looks: AtomicU64,
    most: u64,
}

impl Hasty {
    fn after(most: u64) -> Hasty {
        Hasty {
            looks: AtomicU64::new(0),
            most,
        }
    }
}

impl PrepareHooks for Hasty {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Ok(())
    }

    fn removed(&mut self, _: &Path) {}

    fn stop_requested(&self) -> bool {
        self.looks.fetch_add(1, Relaxed) >= self.most
    }
}

fn planted(script: &str) -> StoreServer {
    let server = server(script);
    for key in FOREIGN {
        server.plant(key, b"precious");
        server.plant_upload(key);
    }
    server
}

/// Everything that somebody else put is there, and nobody asked to remove it.
fn assert_foreign_is_safe(server: &StoreServer, run: &str, case: &str) {
    let keys = server.keys();
    for key in FOREIGN {
        assert!(
            keys.iter().any(|there| there == key),
            "{case}: {key} is gone"
        );
    }
    assert_eq!(server.uploads(), FOREIGN.len(), "{case}");
    for key in server.removals() {
        assert!(key.starts_with(run) && !key.contains(".."), "{case}: {key}");
    }
}

fn putting(server: &StoreServer, tag: u64) -> Job {
    let mut job = job(server, tag, &[(OpKind::Put, 1)]);
    object(&mut job).objects = 3;
    job
}

fn remove(server: &StoreServer, tag: u64) -> Result<Removal, Error> {
    remove_objects_of_part(&store(server), TARGET, tag, "t", &mut NoHooks)
}

#[test]
fn a_removal_takes_nothing_foreign_and_ends_whatever_is_listed() {
    let listings = ["WALK", "VERSIONS", "UPLOADS"];
    let mut tag = 0x5000;
    for (fault, told) in FAULTS {
        for listing in listings {
            tag += 1;
            let case = format!("{listing}:{fault}");
            let server = planted(&case);
            run(&putting(&server, tag));
            let begun = Instant::now();
            let text = match remove(&server, tag) {
                Err(error) => error.to_string(),
                Ok(removed) => format!("{removed:?}"),
            };
            assert!(begun.elapsed() < SOON, "{case}: {:?}", begun.elapsed());
            assert!(text.contains(told), "{case}: {text}");
            assert!(!text.chars().any(char::is_control), "{case}: {text:?}");
            let run = format!("{TARGET}/fathom-{tag:016x}/t/");
            assert_foreign_is_safe(&server, &run, &case);
        }
    }
}

#[test]
fn what_is_said_to_be_removed_and_stays_is_told_with_an_example() {
    let server = planted("POST:pretend,DELETE:pretend");
    run(&putting(&server, 0x5101));
    let error = remove(&server, 0x5101).unwrap_err().to_string();
    assert!(error.contains("still lists 6 objects"), "{error}");
    assert!(
        error.contains("some prefix/fathom-0000000000005101/t/"),
        "{error}"
    );
    assert!(error.contains("tools of the store"), "{error}");
    assert_eq!(server.keys().len(), FOREIGN.len() + 6);
    assert_foreign_is_safe(
        &server,
        "bucket/some prefix/fathom-0000000000005101/t/",
        "worm",
    );
}

#[test]
fn clean_takes_nothing_foreign_and_ends_whatever_is_listed() {
    for (number, (fault, _)) in FAULTS.into_iter().enumerate() {
        let tag = 0x5200 + number as u64;
        let server = planted(&format!("WALK:{fault}"));
        run(&putting(&server, tag));
        let begun = Instant::now();
        let answer = clean_bucket(
            &store(&server),
            TARGET,
            (true, false),
            &mut Hasty::after(2000),
        );
        assert!(begun.elapsed() < SOON, "{fault}: {:?}", begun.elapsed());
        // What cannot be removed, or is left alone, is always named.
        assert!(answer.is_err(), "{fault}: {answer:?}");
        let text = format!("{answer:?}");
        assert!(fault != "endless" || text.contains("interrupted"), "{text}");
        // What another run left is cleaned, too.
        let ours =
            |key: &str| super::own_keys::run_of(&key["bucket/".len()..], "some prefix/").is_some();
        for key in server.removals() {
            assert!(ours(&key), "{fault}: {key}");
        }
        let keys = server.keys();
        for key in FOREIGN.into_iter().filter(|key| !ours(key)) {
            assert!(
                keys.iter().any(|there| there == key),
                "{fault}: {key} is gone"
            );
        }
    }
}

#[test]
fn objects_that_were_there_are_not_believed_from_a_listing_that_is_wrong() {
    for (number, (fault, _)) in FAULTS.into_iter().enumerate() {
        let server = planted(&format!("WALK:{fault}"));
        let mut job = job(&server, 0x5300 + number as u64, &[(OpKind::Get, 1)]);
        object(&mut job).existing = true;
        let begun = Instant::now();
        let ready = prepare(&job, &mut Hasty::after(2000));
        assert!(begun.elapsed() < SOON, "{fault}: {:?}", begun.elapsed());
        let harmless = matches!(fault, "never-shrink" | "odd-keys");
        assert_eq!(ready.is_ok(), harmless, "{fault}: {:?}", ready.err());
        assert!(server.removals().is_empty(), "{fault}");
    }
}

#[test]
fn a_store_that_lists_what_it_was_not_asked_for_is_refused_before_anything_is_made() {
    for fault in [
        "ignore-prefix",
        "other-prefix",
        "html",
        "cut-off",
        "huge",
        "malformed",
    ] {
        let server = planted(&format!("LIST:{fault}"));
        let refused = prepare(&putting(&server, 0x5401), &mut NoHooks).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("cannot be listed"), "{fault}: {text}");
        assert_eq!(server.keys().len(), FOREIGN.len(), "{fault}");
    }
}

#[test]
fn nobody_waits_for_a_store_that_hangs_once_the_user_wants_to_stop() {
    for script in ["LIST:hang=600s", "LIST:drip=200ms", "POST:hang=600s"] {
        let server = planted("");
        run(&putting(&server, 0x5501));
        drop(server);
        let server = planted(script);
        server.plant(
            "bucket/some prefix/fathom-0000000000005501/t/00c0ffee-0/w0/1",
            b"x",
        );
        let begun = Instant::now();
        let hooks = &mut Hasty::after(10);
        let run = remove_objects_of_run(&store(&server), TARGET, 0x5501, hooks);
        let text = run.unwrap_err().to_string();
        assert!(
            text.contains("interrupted") && text.contains("fathom clean"),
            "{text}"
        );
        let found = clean_bucket(&store(&server), TARGET, (true, true), &mut Hasty::after(10));
        assert!(found.unwrap_err().to_string().contains("interrupted"));
        // Twice the patience of a removal would be 40 s.
        assert!(begun.elapsed() < Duration::from_secs(15), "{script}");
    }
}

#[test]
fn tls_to_a_port_without_tls_fails_soon_and_says_why() {
    let server = planted("");
    let mut store = store(&server);
    store.endpoints = vec![format!("https://{}", server.address())];
    store.unverified = true;
    let begun = Instant::now();
    let mut job = putting(&server, 0x5601);
    *job.workload.store_mut().unwrap() = store.clone();
    let refused = prepare(&job, &mut NoHooks).unwrap_err().to_string();
    assert!(refused.contains("write http:// in --endpoint"), "{refused}");
    let kept = keep_objects_of_run(&store, TARGET, 0x5601, &NoHooks)
        .unwrap_err()
        .to_string();
    assert!(kept.contains("write http://"), "{kept}");
    assert!(
        begun.elapsed() < Duration::from_secs(18),
        "{:?}",
        begun.elapsed()
    );
}

/// Wants to stop once something is told of. Somebody waits for the end.
#[derive(Default)]
struct Listening {
    told: Mutex<Vec<String>>,
    hurry: bool,
}

impl PrepareHooks for Listening {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Ok(())
    }

    fn removed(&mut self, _: &Path) {}

    fn waiting(&self, text: &str) {
        self.told.lock().unwrap().push(text.to_owned());
    }

    fn stop_requested(&self) -> bool {
        !self.told.lock().unwrap().is_empty()
    }

    fn hurries(&self) -> Hurry {
        match self.hurry {
            true => Hurry::LastTry,
            false => Hurry::No,
        }
    }
}

impl Listening {
    fn said(&self) -> String {
        self.told.lock().unwrap().join("; ")
    }
}

#[test]
fn a_store_that_hangs_while_objects_are_made_or_removed_is_told_of() {
    let server = planted("PUT:hang=600s");
    let hooks = &mut Listening::default();
    let made = prepare(&job(&server, 0x5601, &[(OpKind::Get, 1)]), hooks);
    assert!(matches!(made, Err(Error::Stopped)), "{made:?}");
    let wanted = "making the objects: 32 operations outstanding, none answered for 2 s";
    assert!(hooks.said().starts_with(wanted), "{}", hooks.said());
    assert!(hooks.said().contains(&server.endpoint()));
    let below = "bucket/some prefix/fathom-0000000000005602/t/00c0ffee-0/w0/1";
    for (script, wanted) in [
        ("POST:hang=600s", "a request to remove objects (waited 2 s)"),
        (
            "DELETE:hang=600s",
            "a request to give up an upload (waited 2 s)",
        ),
    ] {
        let server = planted(script);
        server.plant(below, b"x");
        server.plant_upload(below);
        let hooks = &mut Listening::default();
        let removed = remove_objects_of_run(&store(&server), TARGET, 0x5602, hooks);
        assert!(removed.unwrap_err().to_string().contains("interrupted"));
        assert!(hooks.said().contains(wanted), "{}", hooks.said());
    }
}

#[test]
fn a_store_that_kept_the_load_waiting_is_given_a_moment_only() {
    let server = planted("LIST:hang=600s");
    let begun = Instant::now();
    let hooks = &mut Listening {
        hurry: true,
        ..Listening::default()
    };
    let removed = remove_objects_of_run(&store(&server), TARGET, 0x5603, hooks);
    let text = removed.unwrap_err().to_string();
    assert!(text.contains("fathom clean"), "{text}");
    assert_eq!(hooks.said(), "");
    // Its patience would be 10 s otherwise.
    assert!(begun.elapsed() < Duration::from_secs(8));
}
