//! What the workers of a group share of a store and their work on it.

use std::sync::Arc;

use fathom_model::run::Finishers;
use fathom_model::workload::{EndpointReport, KeyLayout, ObjectSizes, ObjectWork};
use fathom_model::{Histogram, OpKind, Workload};
use fathom_s3::{Access, Connected, StoreServer};

use super::fault::Fault;
use super::names::ObjectNames;
use super::shelf::{Range, Taken};
use super::versions::{MOST_VERSIONS, Versions};
use crate::Error;
use crate::worker::{FirstDone, Reached};

/// Objects of a worker at most.
const MAX_OBJECTS: u64 = 1 << 38;
/// Bytes of an object at most: what S3 allows.
const MAX_OBJECT_BYTES: u64 = 5 << 40;
/// Parts of one object in flight at most.
const MAX_PARTS_AT_ONCE: u32 = 64;
/// Versions of an object that are made first at most.
const MOST_VERSIONS_MADE: u32 = 1000;
/// Parts of an object at most: what S3 allows.
const MAX_PARTS: u64 = 10_000;

/// A store and the work on it.
#[derive(Debug)]
pub(crate) struct StoreWork {
    pub(crate) work: Arc<ObjectWork>,
    pub(crate) access: Arc<Access>,
    pub(crate) names: ObjectNames,
    /// `None` where nothing is kept: the null target.
    pub(crate) shelf: Option<Taken>,
    /// Where the objects of each rank ended before the load.
    pub(super) tails: Vec<u64>,
    /// Where they began.
    pub(super) heads: Vec<u64>,
    /// Objects that were there: their paths and sizes.
    pub(crate) existing: Vec<(Vec<u8>, u64)>,
    pub(crate) workers: u32,
    pub(crate) verifies: bool,
    /// What stands for the store on the null target.
    pub(crate) null_server: Option<StoreServer>,
    pub(crate) first_done: Arc<FirstDone>,
}

/// How far a worker came.
#[derive(Debug, Default)]
pub(crate) struct StoreProgress {
    pub(crate) reached: Reached,
    pub(crate) endpoints: Vec<EndpointTally>,
}

/// What one worker saw of one endpoint in the measure phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndpointTally {
    report: EndpointReport,
    connect_ns: u64,
    handshakes: u64,
    handshake_ns: u64,
    latency: Histogram,
}

impl EndpointTally {
    pub(crate) fn connected(&mut self, made: &Connected) {
        self.report.connections += 1;
        self.connect_ns += made.connect_ns;
        if made.handshake_ns > 0 {
            self.handshakes += 1;
            self.handshake_ns += made.handshake_ns;
        }
    }

    pub(crate) fn succeeded(&mut self, bytes: u64, latency_ns: u64) {
        self.report.requests += 1;
        self.report.bytes += bytes;
        self.latency.record(latency_ns);
    }

    pub(crate) fn failed(&mut self, fault: &Fault) {
        self.report.failed += 1;
        let slow = fault.class == fathom_model::ErrorClass::SlowDown;
        self.report.slow_downs += u64::from(slow);
    }

    /// The checksum of an answer was compared.
    pub(crate) fn compared(&mut self) {
        self.report.checksums_compared += 1;
    }

    pub(crate) fn retried(&mut self) {
        self.report.retries += 1;
    }

    fn merge(&mut self, other: &EndpointTally) {
        let (mine, theirs) = (&mut self.report, &other.report);
        mine.requests += theirs.requests;
        mine.bytes += theirs.bytes;
        mine.failed += theirs.failed;
        mine.slow_downs += theirs.slow_downs;
        mine.retries += theirs.retries;
        mine.checksums_compared += theirs.checksums_compared;
        mine.connections += theirs.connections;
        self.connect_ns += other.connect_ns;
        self.handshakes += other.handshakes;
        self.handshake_ns += other.handshake_ns;
        self.latency.merge(&other.latency);
    }

    fn finish(mut self, name: &str, keys: &str) -> EndpointReport {
        let mean = |sum: u64, count: u64| sum.checked_div(count).unwrap_or(0);
        let quantile = |q| self.latency.quantile(q).unwrap_or(0);
        self.report.endpoint = name.to_owned();
        self.report.keys = keys.to_owned();
        self.report.connect_mean_ns = mean(self.connect_ns, self.report.connections);
        self.report.handshake_mean_ns = mean(self.handshake_ns, self.handshakes);
        self.report.p50_ns = quantile(0.5);
        self.report.p99_ns = quantile(0.99);
        self.report.max_ns = self.latency.max().unwrap_or(0);
        self.report
    }
}

impl StoreWork {
    pub(crate) fn new(
        work: &ObjectWork,
        access: Access,
        names: ObjectNames,
        shelf: Option<Taken>,
        existing: Vec<(Vec<u8>, u64)>,
        workload: &Workload,
    ) -> StoreWork {
        StoreWork {
            work: Arc::new(work.clone()),
            access: Arc::new(access),
            names,
            shelf,
            tails: Vec::new(),
            heads: Vec::new(),
            existing,
            workers: workload.workers,
            verifies: workload.verify.is_some(),
            null_server: None,
            first_done: Arc::default(),
        }
    }

    /// The rank on whose objects a worker works.
    pub(crate) fn rank_of(&self, worker: u32) -> u32 {
        let workers = u64::from(self.workers.max(1));
        ((u64::from(worker) + u64::from(self.work.shift)) % workers) as u32
    }

    /// What there is of a rank.
    pub(crate) fn range(&self, rank: u32) -> Range {
        if self.work.existing {
            let (all, workers) = (self.existing.len() as u64, u64::from(self.workers.max(1)));
            let more = u64::from(u64::from(rank) < all % workers);
            return Range {
                tail: all / workers + more,
                ..Range::default()
            };
        }
        match &self.shelf {
            Some(shelf) => shelf.range(rank),
            None => Range {
                tail: match self.work.phase() {
                    Some(OpKind::Put | OpKind::PutMultipart) => 0,
                    _ => self.work.objects,
                },
                versions: Versions::of_null(),
                ..Range::default()
            },
        }
    }

    /// Writes the path of an object, and gives its bytes.
    pub(crate) fn path(&self, out: &mut Vec<u8>, rank: u32, number: u64) -> u64 {
        if !self.work.existing {
            self.names.path(out, rank, number);
            return self.names.bytes_of(rank, number);
        }
        let at = number * u64::from(self.workers.max(1)) + u64::from(rank);
        out.clear();
        self.existing.get(at as usize).map_or(0, |(path, bytes)| {
            out.extend_from_slice(path);
            *bytes
        })
    }

    /// Connections of each operation of a worker.
    pub(crate) fn lanes_of_slot(&self) -> usize {
        let parts = self.work.does(OpKind::PutMultipart) || self.work.does(OpKind::GetParallel);
        match parts {
            true => self.work.parts_at_once.clamp(1, MAX_PARTS_AT_ONCE) as usize,
            false => 1,
        }
    }

    /// Versions that a rank remembers at most.
    pub(crate) fn most_versions(&self) -> usize {
        (MOST_VERSIONS / self.workers.max(1) as usize).max(1)
    }

    /// The kinds that are recorded.
    pub(crate) fn kinds(&self) -> Vec<OpKind> {
        let parts = self.lanes_of_slot() > 1 || self.work.does(OpKind::PutMultipart);
        let extra = |kind| match kind {
            OpKind::Part => parts || self.work.does(OpKind::GetParallel),
            OpKind::Connect | OpKind::FirstByte | OpKind::Transfer => true,
            OpKind::Handshake => self.access.endpoints.iter().any(|endpoint| endpoint.tls),
            OpKind::Retry => self.work.retries > 0,
            _ => false,
        };
        OpKind::ALL
            .into_iter()
            .filter(|kind| self.work.does(*kind) || extra(*kind))
            .collect()
    }
}

/// First and last finisher, and what each endpoint did.
pub(crate) fn results(
    work: &StoreWork,
    ends: &[&StoreProgress],
    origin_ns: u64,
) -> (Option<Finishers>, Vec<EndpointReport>) {
    let mut all = vec![EndpointTally::default(); work.access.endpoints.len()];
    for end in ends {
        for (sum, one) in all.iter_mut().zip(&end.endpoints) {
            sum.merge(one);
        }
    }
    let access = &work.access;
    let each = access.endpoints.iter().zip(&access.keys);
    let endpoints = each
        .zip(all)
        .map(|((endpoint, keys), tally)| tally.finish(&endpoint.name, &keys.place))
        .collect();
    let reached: Vec<_> = ends.iter().map(|end| end.reached).collect();
    let finishers = work.first_done.finishers(&reached, origin_ns);
    (finishers, endpoints)
}

/// Refuses work that is out of bounds.
pub(crate) fn check(workload: &Workload) -> Result<(), Error> {
    let Some(work) = workload.requests() else {
        return Ok(());
    };
    let largest = work.sizes.max_bytes();
    let parts = largest.div_ceil(work.part_bytes.max(1));
    let multipart = work.does(OpKind::PutMultipart);
    let tree = |depth: u32, fan_out: u32| !(1..=16).contains(&depth) || fan_out == 0;
    let refused = if work.ops.is_empty() {
        Some("names no operation".to_owned())
    } else if let Some(share) = work.ops.iter().find(|share| !share.kind.is_object()) {
        Some(format!(
            "{} is not a request to an object store",
            share.kind.name()
        ))
    } else if !(1..=MAX_OBJECTS).contains(&work.objects) {
        Some(format!("objects per worker must be 1 to {MAX_OBJECTS}"))
    } else if largest > MAX_OBJECT_BYTES {
        Some(format!("objects have at most {MAX_OBJECT_BYTES} bytes"))
    } else if multipart && parts > MAX_PARTS {
        Some(format!(
            "an object would have {parts} parts; S3 takes {MAX_PARTS}"
        ))
    } else if work.part_bytes == 0 {
        Some("parts must have at least 1 byte".to_owned())
    } else if !(1..=1000).contains(&work.page_keys) {
        Some("a page of a listing has 1 to 1000 keys".to_owned())
    } else if !(1..=1000).contains(&work.delete_batch) {
        Some("a batch delete names 1 to 1000 objects".to_owned())
    } else if !(1..=MAX_PARTS_AT_ONCE).contains(&work.parts_at_once) {
        Some(format!("1 to {MAX_PARTS_AT_ONCE} parts can be in flight"))
    } else if work.existing && !work.only_reads() {
        Some("objects that were there already are only read".to_owned())
    } else if work.existing && work.ops.iter().any(|share| share.kind.is_of_version()) {
        Some("versions are known of objects that fathom made itself, and of no others".to_owned())
    } else if !(1..=MOST_VERSIONS_MADE).contains(&work.versions) {
        Some(format!(
            "1 to {MOST_VERSIONS_MADE} versions of an object can be made first"
        ))
    } else if matches!(&work.sizes, ObjectSizes::Weighted(all) if all.iter().all(|s| s.1 == 0)) {
        Some("sizes need weights".to_owned())
    } else if matches!(work.keys, KeyLayout::Tree { depth, fan_out } if tree(depth, fan_out)) {
        Some("a tree of keys has 1 to 16 levels and at least 1 prefix in each".to_owned())
    } else if workload.bounds.bytes.is_some() {
        Some("work on objects is bounded by time or operations, not by bytes".to_owned())
    } else {
        None
    };
    refused.map_or(Ok(()), |text| {
        Err(Error::Workload(format!(
            "workload {}: {text}",
            workload.name
        )))
    })
}
