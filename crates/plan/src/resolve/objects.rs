//! Work on an object store, from its keys.

use fathom_model::OpKind;
use fathom_model::limits::MAX_OBJECTS;
use fathom_model::workload::{
    BlockSizes, Bounds, CacheMode, DataSet, Distribution, EngineKind, KeyLayout, KeySource,
    MetaShare, ObjectOrder, ObjectProtocol, ObjectSizes, ObjectStore, ObjectWork, OpMix, Pattern,
    Verify, Work, Workload,
};

use crate::diagnostic::Problems;
use crate::keys::WorkloadKeys;
use crate::limits::within;
use crate::node::Located;
use crate::spelling::Spelling;
use crate::value::{Count, EndpointsValue, Name, Size, VerifyChoice};

const DEFAULT_OBJECTS: u64 = 1000;
const DEFAULT_PART_BYTES: u64 = 5 << 20;
const DEFAULT_PARTS_AT_ONCE: u32 = 4;
const DEFAULT_PAGE_KEYS: u32 = 1000;
const DEFAULT_BATCH: u32 = 100;
/// A request is given at least so long.
const LEAST_TIMEOUT_NS: u64 = 1_000_000;
const DEFAULT_TIMEOUT_NS: u64 = 30_000_000_000;
const DEFAULT_BACKOFF_NS: u64 = 100_000_000;

/// Resolves the work on objects of one workload.
pub(super) fn resolve(
    keys: &WorkloadKeys,
    name: &str,
    engine: EngineKind,
    spelling: Spelling,
    problems: &mut Problems,
) -> Workload {
    let workers = within("numjobs", keys.numjobs.as_ref(), 1, spelling, problems);
    let rate = super::rate(keys, spelling, problems);
    let bounds = Bounds {
        time_ns: keys.runtime.as_ref().map(|t| t.value.0),
        bytes: None,
        ops: keys.number_ios.as_ref().map(|n| n.value.0),
    };
    let sizes = sizes(keys);
    let goes_on = bounds.time_ns.is_some() || bounds.ops.is_some() || rate.is_some();
    let requests = work(keys, &sizes, workers, goes_on, spelling, problems);
    Workload {
        engine,
        mix: OpMix::NONE,
        cache: CacheMode::Buffered,
        workers,
        queue_depth: within("iodepth", keys.iodepth.as_ref(), 1, spelling, problems),
        block: BlockSizes::Fixed(sizes.mean_bytes().clamp(1.0, f64::from(1 << 30)) as u64),
        align_bytes: 1,
        warmup_ns: keys.warmup.as_ref().map_or(0, |t| t.value.0),
        think_ns: keys.think_time.as_ref().map_or(0, |t| t.value.0),
        cpus: super::cpus(keys),
        verify: verify(keys),
        on_error: super::on_error(keys),
        io_deadline_ns: super::deadline_ns(keys).max(2 * DEFAULT_TIMEOUT_NS),
        slo: keys.slo.as_ref().map(|slo| slo.value.0.clone()),
        fail_if: super::fail_if(keys),
        until: keys.until.as_ref().map(|u| u.value.0),
        bounds,
        rate,
        work: Work::objects(store(keys), requests),
        data_set: DataSet {
            size_bytes: None,
            ..DataSet::example()
        },
        ..Workload::example(name)
    }
}

fn text(key: Option<&Located<Name>>) -> Option<String> {
    key.map(|name| name.value.0.clone())
}

/// How the store is reached.
pub(crate) fn store(keys: &WorkloadKeys) -> ObjectStore {
    let told = keys.endpoint.as_ref().map(|e| e.value.clone());
    let own_keys = told.as_ref().is_some_and(EndpointsValue::names_keys);
    let all = told.map_or_else(Vec::new, |told| told.0);
    let (endpoints, endpoint_keys): (_, Vec<_>) = all.into_iter().unzip();
    ObjectStore {
        protocol: ObjectProtocol::S3,
        endpoints,
        endpoint_keys: if own_keys { endpoint_keys } else { Vec::new() },
        region: text(keys.s3_region.as_ref()).unwrap_or_default(),
        virtual_host: super::switch(keys.virtual_host.as_ref(), false),
        keys: match super::switch(keys.anonymous.as_ref(), false) {
            true => KeySource::Anonymous,
            false => KeySource::Usual {
                file: text(keys.credentials_file.as_ref()),
                profile: text(keys.profile.as_ref()),
            },
        },
        ca_file: text(keys.ca_file.as_ref()),
        unverified: super::switch(keys.unverified_tls.as_ref(), false),
        sign_payload: super::switch(keys.sign_payload.as_ref(), false),
        checksum: keys.checksum.as_ref().map(|c| c.value.checksum()),
        checksum_trailing: super::switch(keys.checksum_trailing.as_ref(), false),
        storage_class: text(keys.storage_class.as_ref()),
        sse_customer_algorithm: None,
        timeout_ns: keys
            .request_timeout
            .as_ref()
            .map_or(DEFAULT_TIMEOUT_NS, |t| t.value.0.max(LEAST_TIMEOUT_NS)),
        no_keep_alive: !super::switch(keys.keep_alive.as_ref(), true),
    }
}

fn work(
    keys: &WorkloadKeys,
    sizes: &ObjectSizes,
    workers: u32,
    goes_on: bool,
    spelling: Spelling,
    problems: &mut Problems,
) -> ObjectWork {
    let ops = match &keys.request {
        Some(request) => request.value.0.clone(),
        None => from_rw(keys, spelling, problems),
    };
    let mut number = |name: &str, key: Option<&Located<Count>>, default, most: u64| {
        let Some(key) = key else { return default };
        if !(1..=most).contains(&key.value.0) {
            let message = format!("{} must be 1 to {most}", spelling.key(name));
            problems.error("limit", key.span, message);
        }
        key.value.0.clamp(1, most)
    };
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let by_size = keys.size.as_ref().map_or(DEFAULT_OBJECTS, |size| {
        let each = sizes.mean_bytes().max(1.0) * f64::from(workers.max(1));
        ((size.value.0 as f64 / each) as u64).max(1)
    });
    let objects = number("objects", keys.objects.as_ref(), by_size, MAX_OBJECTS);
    let parts = u64::from(DEFAULT_PARTS_AT_ONCE);
    let parts = number("parts_at_once", keys.parts_at_once.as_ref(), parts, 64);
    let page = u64::from(DEFAULT_PAGE_KEYS);
    let page = number("page_keys", keys.page_keys.as_ref(), page, 1000);
    let batch = u64::from(DEFAULT_BATCH);
    let batch = number("delete_batch", keys.delete_batch.as_ref(), batch, 1000);
    let versions = number("versions", keys.versions.as_ref(), 1, 1000);
    let bytes = |key: Option<&Located<Size>>, default| key.map_or(default, |s| s.value.0);
    ObjectWork {
        order: order(keys, spelling, problems),
        ops,
        objects,
        sizes: sizes.clone(),
        keys: keys
            .key_layout
            .as_ref()
            .map_or(KeyLayout::Flat, |k| k.value.0),
        range_bytes: bytes(keys.range_size.as_ref(), 0),
        part_bytes: bytes(keys.part_size.as_ref(), DEFAULT_PART_BYTES).max(1),
        parts_at_once: small(parts),
        page_keys: small(page),
        delimiter: super::switch(keys.list_delimiter.as_ref(), false),
        delete_batch: small(batch),
        versions: small(versions),
        existing: super::switch(keys.existing.as_ref(), false),
        repeat: super::switch(keys.repeat.as_ref(), goes_on),
        shift: within("shift", keys.shift.as_ref(), 0, spelling, problems),
        retries: within("retries", keys.retries.as_ref(), 0, spelling, problems),
        backoff_ns: keys
            .backoff
            .as_ref()
            .map_or(DEFAULT_BACKOFF_NS, |t| t.value.0),
    }
}

/// Reads are GETs, writes PUTs, trims DELETEs.
fn from_rw(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> Vec<MetaShare> {
    let mix = super::mix(keys, None, spelling, problems);
    let kinds = [
        (OpKind::Get, mix.read_percent),
        (OpKind::Put, mix.write_percent),
        (OpKind::Delete, mix.trim_percent),
    ];
    let used = kinds.into_iter().filter(|(_, percent)| *percent > 0);
    used.map(|(kind, percent)| MetaShare {
        kind,
        weight: u32::from(percent),
    })
    .collect()
}

/// The sizes of objects: their own, else those of blocks.
fn sizes(keys: &WorkloadKeys) -> ObjectSizes {
    if let Some(size) = &keys.object_size {
        return size.value.0.clone();
    }
    let (block, _) = super::blocks::blocks(keys, OpMix::READ, CacheMode::Buffered);
    match block {
        BlockSizes::Fixed(bytes) => ObjectSizes::Fixed(bytes),
        other => ObjectSizes::Range {
            min_bytes: other.min_bytes(),
            max_bytes: other.max_bytes(),
        },
    }
}

fn order(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) -> ObjectOrder {
    let told = keys.rw.is_some() || keys.pattern.is_some() || keys.distribution.is_some();
    if !told && keys.norandommap.is_none() {
        return ObjectOrder::EachOnce;
    }
    match super::operations::pattern(keys, spelling, problems) {
        Pattern::Random(Distribution::Zipf { theta }) => ObjectOrder::Zipf { theta },
        Pattern::Random(Distribution::EachOnce) => ObjectOrder::EachOnce,
        Pattern::Random(_) => ObjectOrder::Uniform,
        _ => ObjectOrder::AsMade,
    }
}

fn verify(keys: &WorkloadKeys) -> Option<Verify> {
    let choice = keys.verify.as_ref()?.value;
    (choice != VerifyChoice::No).then(|| Verify {
        on_read: true,
        ..Verify::default()
    })
}
