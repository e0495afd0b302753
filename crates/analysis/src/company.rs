//! The other trials of a set: what they did to the same devices at the same
//! time.
//!
//! Counters of a device, and of the host, do not tell one trial's I/O from
//! another's. Wherever a check compares them with a trial, it compares them
//! with all trials of the set that load the same devices, on the time axis of
//! the trial.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use fathom_model::fingerprint::{BOOT_ID, Fingerprint};
use fathom_model::op::OpKind;
use fathom_model::workload::SyncOpen;

use crate::trial::Trial;

/// All trials of a set that load the same devices as one of them, itself
/// included.
#[derive(Debug, Default)]
pub(crate) struct Company {
    /// How many they are.
    pub(crate) loads: usize,
    /// Whether any of them writes or discards.
    pub(crate) modifies: bool,
    /// Whether any of them goes through the page cache.
    pub(crate) buffered: bool,
    /// Whether any of them goes past it.
    pub(crate) direct: bool,
    /// Whether any of them opens its files for synchronous writes.
    pub(crate) synchronous: bool,
    /// Bytes that all of them can have in flight.
    pub(crate) in_flight_bytes: f64,
    /// What they did, from the opening of the set's gate.
    pieces: Vec<Piece>,
    /// What each agent's process caused to be fetched, from the opening of the
    /// set's gate; `None` where one does not know.
    fetched: BTreeMap<Option<u32>, Option<Vec<Fetched>>>,
}

/// Bytes that a process caused to be fetched in one stretch of time.
#[derive(Debug, Clone, Copy)]
struct Fetched {
    start_ns: i64,
    duration_ns: u64,
    bytes: f64,
}

/// What was done in one stretch of time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Piece {
    /// Start, on the axis of whoever asks.
    pub(crate) start_ns: i64,
    pub(crate) duration_ns: u64,
    /// Past the page cache.
    pub(crate) direct: Done,
    /// Through the page cache.
    pub(crate) buffered: Done,
}

/// Operations and bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    pub(crate) reads: f64,
    pub(crate) read_bytes: f64,
    pub(crate) writes: f64,
    pub(crate) written_bytes: f64,
    pub(crate) syncs: f64,
}

impl Done {
    fn add(&mut self, other: Done) {
        self.reads += other.reads;
        self.read_bytes += other.read_bytes;
        self.writes += other.writes;
        self.written_bytes += other.written_bytes;
        self.syncs += other.syncs;
    }
}

impl Piece {
    /// Both ways together.
    pub(crate) fn all(&self) -> Done {
        let mut all = self.direct;
        all.add(self.buffered);
        all
    }
}

impl Company {
    /// What they did, on the axis of a trial of the set.
    pub(crate) fn pieces_of(&self, trial: &Trial<'_>) -> impl Iterator<Item = Piece> + '_ {
        let began_ns = signed(trial.record.load_started_ns());
        self.pieces.iter().map(move |piece| Piece {
            start_ns: piece.start_ns.saturating_sub(began_ns),
            ..*piece
        })
    }

    /// Bytes that the other agents on the machine caused to be fetched in a
    /// window on the axis of a trial; `None` where one does not know.
    pub(crate) fn fetched_by_others(&self, trial: &Trial<'_>, window: (i64, i64)) -> Option<f64> {
        let began_ns = signed(trial.record.load_started_ns());
        let own = trial.record.spec.host;
        let others = self.fetched.iter().filter(|(host, _)| **host != own);
        let bytes = others.map(|(_, stretches)| {
            let stretches = stretches.as_ref()?.iter().map(|stretch| {
                let start_ns = stretch.start_ns.saturating_sub(began_ns);
                stretch.bytes * overlap(start_ns, stretch.duration_ns, window)
            });
            Some(stretches.sum::<f64>())
        });
        bytes.sum()
    }
}

/// What one trial did, on its own axis.
pub(crate) fn own_pieces(trial: &Trial<'_>) -> Vec<Piece> {
    let direct = trial.direct();
    let of_second = |second: &crate::trial::Second<'_>| {
        let sum = |kind: OpKind, field: fn(&fathom_model::OpSample) -> u64| -> f64 {
            second.ops(kind).map(|op| field(op) as f64).sum()
        };
        let done = Done {
            reads: sum(OpKind::Read, |op| op.ops),
            read_bytes: sum(OpKind::Read, |op| op.bytes),
            writes: sum(OpKind::Write, |op| op.ops),
            written_bytes: sum(OpKind::Write, |op| op.bytes),
            // Write-back of a range commits nothing.
            syncs: match trial.workload.sync.ranges {
                None => sum(OpKind::Sync, |op| op.ops),
                Some(_) => 0.0,
            },
        };
        let (direct, buffered) = match direct {
            true => (done, Done::default()),
            false => (Done::default(), done),
        };
        Piece {
            start_ns: signed(second.start_ns),
            duration_ns: second.duration_ns,
            direct,
            buffered,
        }
    };
    trial.seconds.iter().map(of_second).collect()
}

/// Places of the trials of a run in turns: one that ran alone, or those of a
/// set, which are consecutive and have the same number.
pub fn turns(trials: &[Trial<'_>]) -> Vec<Range<usize>> {
    let number = |at: usize| trials[at].record.spec.together;
    let mut turns = Vec::new();
    let mut from = 0;
    for at in 1..=trials.len() {
        let ends = at == trials.len() || number(at) != number(from) || number(from).is_none();
        if ends {
            turns.push(from..at);
            from = at;
        }
    }
    turns
}

/// Those of the turns in which several ran.
pub(crate) fn sets(trials: &[Trial<'_>]) -> Vec<Range<usize>> {
    let mut turns = turns(trials);
    turns.retain(|turn| turn.len() > 1);
    turns
}

/// Tells every trial of a set who else was at its devices.
pub(crate) fn introduce(trials: &mut [Trial<'_>]) {
    for set in sets(trials) {
        let members = &mut trials[set];
        let devices: Vec<Vec<&str>> = members.iter().map(Trial::device_names).collect();
        // A device of the same name on another machine is another device.
        let hosts: Vec<Machine<'_>> = members.iter().map(machine).collect();
        let mut known: BTreeMap<(Machine<'_>, &[&str]), Rc<Company>> = BTreeMap::new();
        let companies: Vec<Rc<Company>> = devices
            .iter()
            .zip(&hosts)
            .map(|(own, host)| {
                let company = known.entry((*host, own.as_slice())).or_insert_with(|| {
                    let same = devices.iter().zip(members.iter());
                    let same = same.filter(|(theirs, trial)| {
                        machine(trial) == *host && theirs.iter().any(|d| own.contains(d))
                    });
                    Rc::new(gather(same.map(|(_, trial)| trial)))
                });
                Rc::clone(company)
            })
            .collect();
        let size = members.len();
        let labels = members.iter().map(|m| m.record.spec.label.as_str());
        let labels: Rc<[&str]> = labels.collect();
        for (member, company) in members.iter_mut().zip(companies) {
            member.set_size = size;
            member.set_labels = Rc::clone(&labels);
            member.company = (company.loads > 1).then_some(company);
        }
    }
}

/// The machine whose devices a trial loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Machine<'a> {
    /// By the running kernel, which gives each device its name once: several
    /// agents may work on one machine.
    Kernel(&'a str),
    /// By the host's place, where the kernel is not known.
    Place(Option<u32>),
}

fn machine<'a>(trial: &Trial<'a>) -> Machine<'a> {
    let host: &'a Fingerprint = trial.host;
    match host.facts.get(BOOT_ID) {
        Some(id) => Machine::Kernel(id),
        None => Machine::Place(trial.record.spec.host),
    }
}

fn gather<'t, 'a: 't>(trials: impl Iterator<Item = &'t Trial<'a>>) -> Company {
    let mut company = Company::default();
    let mut pieces: BTreeMap<(i64, u64), Piece> = BTreeMap::new();
    for trial in trials {
        let workload = trial.workload;
        company.loads += 1;
        company.modifies |= workload.mix.modifies();
        company.direct |= trial.direct();
        company.buffered |= !trial.direct();
        company.synchronous |= workload.sync.open != SyncOpen::No;
        company.in_flight_bytes += trial.total_depth() as f64 * workload.block.max_bytes() as f64;
        let began_ns = signed(trial.record.load_started_ns());
        let host = trial.record.spec.host;
        company
            .fetched
            .entry(host)
            .or_insert_with(|| fetched(trial));
        for own in own_pieces(trial) {
            let start_ns = own.start_ns.saturating_add(began_ns);
            let piece = pieces.entry((start_ns, own.duration_ns));
            let piece = piece.or_insert(Piece {
                start_ns,
                duration_ns: own.duration_ns,
                ..Piece::default()
            });
            piece.direct.add(own.direct);
            piece.buffered.add(own.buffered);
        }
    }
    company.pieces = pieces.into_values().collect();
    company
}

/// What the process of a trial caused to be fetched, from the opening of the
/// set's gate.
fn fetched(trial: &Trial<'_>) -> Option<Vec<Fetched>> {
    let began_ns = signed(trial.record.load_started_ns());
    let observations = trial.record.observations.iter();
    let stretches = observations.map(|seen| {
        Some(Fetched {
            start_ns: seen.start_ns.saturating_add(began_ns),
            duration_ns: seen.duration_ns,
            bytes: seen.own?.storage_read_bytes? as f64,
        })
    });
    stretches.collect()
}

/// Share of an interval that lies in the window.
pub(crate) fn overlap(start_ns: i64, duration_ns: u64, window: (i64, i64)) -> f64 {
    let start = start_ns as f64;
    let end = start + duration_ns as f64;
    let inside = end.min(window.1 as f64) - start.max(window.0 as f64);
    match duration_ns {
        0 => 0.0,
        length => (inside / length as f64).clamp(0.0, 1.0),
    }
}

fn signed(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "company_tests.rs"]
mod tests;
