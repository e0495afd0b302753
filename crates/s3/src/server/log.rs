//! What the store in memory really did: the truth that tests measure against,
//! also where the host was too busy to keep to the script.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::lock;
use super::script::Action;

/// Methods that are told apart at most; requests invent names.
const MOST_METHODS: usize = 16;
/// Times of answers that are remembered of each method at most: the first ones.
const MOST_TIMES: usize = 1 << 20;
/// Removals that are remembered at most.
const MOST_REMOVALS: usize = 1 << 20;

/// What was done so far.
#[derive(Debug, Default)]
pub(super) struct Log {
    delivered: Mutex<BTreeMap<String, Vec<u64>>>,
    actions: Mutex<Vec<(Action, u64)>>,
    signers: Mutex<BTreeMap<String, u64>>,
    removals: Mutex<Vec<String>>,
}

impl Log {
    /// A request was answered.
    pub(super) fn delivered(&self, method: &str, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mut all = lock(&self.delivered);
        if let Some(known) = all.get_mut(method) {
            if known.len() < MOST_TIMES {
                known.push(ns);
            }
        } else if all.len() < MOST_METHODS {
            all.insert(method.to_owned(), vec![ns]);
        }
    }

    /// A request came that somebody had signed.
    pub(super) fn signed(&self, key_id: &str) {
        let mut all = lock(&self.signers);
        if let Some(count) = all.get_mut(key_id) {
            *count += 1;
        } else if all.len() < MOST_METHODS && !key_id.is_empty() {
            all.insert(key_id.to_owned(), 1);
        }
    }

    pub(super) fn signers(&self) -> BTreeMap<String, u64> {
        lock(&self.signers).clone()
    }

    /// A request to remove these, as `bucket/key`.
    pub(super) fn removes(&self, mut keys: Vec<String>) {
        let mut all = lock(&self.removals);
        keys.truncate(MOST_REMOVALS.saturating_sub(all.len()));
        all.append(&mut keys);
    }

    pub(super) fn removals(&self) -> Vec<String> {
        lock(&self.removals).clone()
    }

    /// The script did something to a request.
    pub(super) fn did(&self, action: Action) {
        let mut all = lock(&self.actions);
        match all.iter_mut().find(|(known, _)| *known == action) {
            Some((_, times)) => *times += 1,
            None => all.push((action, 1)),
        }
    }

    pub(super) fn of(&self, method: &str) -> Vec<u64> {
        lock(&self.delivered)
            .get(method)
            .cloned()
            .unwrap_or_default()
    }

    pub(super) fn times(&self, action: Action) -> u64 {
        let all = lock(&self.actions);
        let known = all.iter().find(|(known, _)| *known == action);
        known.map_or(0, |(_, times)| *times)
    }
}
