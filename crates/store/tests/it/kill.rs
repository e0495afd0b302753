//! `kill -9` at any moment: what was committed is there.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use fathom_model::RunState;
use fathom_model::rng::Rng;
use fathom_store::Store;

use crate::children::child;

/// What the child had said when it was killed.
#[derive(Default)]
struct Committed {
    run: Option<String>,
    /// Seconds by trial.
    seconds: Vec<u32>,
    ended: usize,
}

impl Committed {
    fn note(&mut self, line: &str) {
        let Some((_, words)) = line.split_once("said: ") else {
            return;
        };
        let mut words = words.split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some("run"), Some(id), None) => self.run = Some(id.to_owned()),
            (Some("second"), Some(trial), Some(second)) => {
                let trial: usize = trial.parse().unwrap();
                self.seconds.resize(trial + 1, 0);
                self.seconds[trial] = second.parse::<u32>().unwrap() + 1;
            }
            (Some("end"), Some(trial), None) => self.ended = trial.parse::<usize>().unwrap() + 1,
            other => panic!("the child said {other:?}"),
        }
    }
}

/// Starts a writer and kills it after `lines` lines and a moment more.
fn kill_after(path: &std::path::Path, lines: u64, moment: Duration) -> Committed {
    let mut writer = child(&[], "write until killed", path).spawn().unwrap();
    let mut committed = Committed::default();
    let mut heard = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut count = 0;
    while count < lines {
        let line = heard.next().expect("the child goes on").unwrap();
        count += u64::from(line.contains("said: "));
        committed.note(&line);
    }
    std::thread::sleep(moment);
    writer.kill().unwrap();
    // What it said until then is still in the pipe; the last line may be cut,
    // and what it claims was committed all the same.
    let mut rest: Vec<String> = heard.map_while(Result::ok).collect();
    rest.pop();
    for line in rest {
        committed.note(&line);
    }
    writer.wait().unwrap();
    committed
}

#[test]
fn everything_committed_survives_a_kill_at_any_moment() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    let mut rng = Rng::new(2026);
    let mut killed = Vec::new();
    for _ in 0..30 {
        let moment = Duration::from_micros(rng.below(6_000));
        let committed = kill_after(&path, 1 + rng.below(40), moment);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        let id = committed.run.clone().unwrap();
        let loaded = store.load(&id).unwrap();
        assert!(loaded.damage.is_empty(), "{:?}", loaded.damage);
        let run = loaded.record;
        assert_eq!(run.meta.state, RunState::Interrupted);
        assert!(run.meta.reason.is_some());
        assert!(run.trials.len() >= committed.seconds.len());
        for (at, trial) in run.trials.iter().enumerate() {
            let seconds: Vec<u32> = trial.samples.iter().map(|s| s.index).collect();
            let expected: Vec<u32> = (0..seconds.len() as u32).collect();
            assert_eq!(seconds, expected, "no second is missing or twice");
            assert_eq!(trial.observations.len(), seconds.len());
            let told = committed.seconds.get(at).copied().unwrap_or(0);
            assert!(seconds.len() as u32 >= told, "{seconds:?} of {told}");
            if at < committed.ended {
                assert_eq!(trial.state, RunState::Complete);
                assert!(trial.end.is_some());
            }
            assert_ne!(trial.state, RunState::Running);
        }
        killed.push(id);
        let left = store.leftovers().unwrap();
        assert_eq!(left.len(), killed.len(), "every killed run left a file");
    }
    // Nothing that happened later touched the earlier runs.
    let store = Store::open(&path).unwrap();
    let mut listed: Vec<String> = store
        .list(None)
        .unwrap()
        .into_iter()
        .map(|r| r.id)
        .collect();
    listed.sort();
    killed.sort();
    assert_eq!(listed, killed);
}

#[test]
fn a_kill_while_the_store_is_being_made_leaves_one_that_opens() {
    let mut rng = Rng::new(7);
    for _ in 0..12 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fathom.db");
        let mut writer = child(&[], "write until killed", &path).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(2_000 + rng.below(15_000)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        assert!(store.list(None).unwrap().len() <= 1);
    }
}
