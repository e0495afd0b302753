//! From a test of GOSBench to a plan, and what is different by design.

use fathom_model::workload::{EngineKind, KeyLayout, MetaShare, ObjectSizes};
use fathom_model::{OpKind, Target};

use super::{Gosbench, GosbenchNumber, GosbenchSpread, GosbenchTest};
use fathom_plan::Located;
use fathom_plan::Plan;
use fathom_plan::StoreFlags;
use fathom_plan::keys::{PauseKeys, PlanKeys, WorkloadKeys};
use fathom_plan::value::{
    Count, EndpointsValue, KeyLayoutValue, Name, ObjectSizesValue, OnErrorChoice, RequestsValue,
    Seconds, Size, Switch, Targets, Time,
};
use fathom_plan::{Diagnostics, Problems, Source};
use fathom_plan::{Spelling, ToolOptions};

/// Prefix of keys where the configuration has none: the root of a bucket is
/// not fathom's.
const USUAL_PREFIX: &str = "gosbench";

fn some<T>(value: T) -> Option<Located<T>> {
    Some(Located::new(value))
}

/// How messages name the keys of this tool's files.
const OPTIONS: ToolOptions = ToolOptions {
    keys: &[
        ("objects", "`objects: number_max`"),
        ("object_size", "`objects: size_max`"),
        ("numjobs", "`workers`"),
        ("iodepth", "`parallel_clients`"),
        ("runtime", "`stop_with_runtime`"),
        ("number_ios", "`stop_with_ops`"),
    ],
    pairs: &[],
};

impl GosbenchNumber {
    /// The number that stands for one draw.
    fn middle(&self) -> u64 {
        match self.spread {
            GosbenchSpread::Constant => self.min,
            GosbenchSpread::Random => self.min + (self.max - self.min) / 2,
            GosbenchSpread::Sequential => 1,
        }
    }
}

impl GosbenchTest {
    /// Buckets that GOSBench would use.
    pub fn bucket_count(&self) -> u64 {
        self.buckets.middle().max(1)
    }

    /// Objects of a worker in all of its buckets.
    pub fn objects_of_worker(&self) -> u64 {
        let buckets = self.bucket_count();
        match self.objects.spread {
            // It counts up from bucket to bucket.
            GosbenchSpread::Sequential => {
                let grows = buckets.min(self.objects.max);
                let rest = (buckets - grows).saturating_mul(self.objects.max);
                (grows * (grows + 1) / 2).saturating_add(rest).max(1)
            }
            _ => self.objects.middle().saturating_mul(buckets).max(1),
        }
    }

    /// Whether it works on objects that are there already.
    pub fn reads_existing(&self) -> bool {
        let w = self.weights;
        w.existing_read > 0 || (self.skip_prepare && w.write + w.delete == 0)
    }

    /// The bucket that it works in, as GOSBench names the first one.
    pub fn bucket(&self) -> String {
        let worker = if self.share_buckets { "" } else { "w0" };
        format!("{worker}{}0", self.bucket_prefix)
    }

    /// What is measured where nothing else is named.
    pub fn target(&self) -> Target {
        let bucket = self.bucket();
        // Objects of others are read from the whole bucket.
        if self.reads_existing() {
            return Target::Bucket(bucket);
        }
        let prefix = self.object_prefix.trim_matches('/');
        let prefix = if prefix.is_empty() {
            USUAL_PREFIX
        } else {
            prefix
        };
        Target::Bucket(format!("{bucket}/{prefix}"))
    }

    fn sizes(&self) -> ObjectSizes {
        let size = self.size;
        match size.spread {
            GosbenchSpread::Random if size.max > size.min => ObjectSizes::Range {
                min_bytes: size.min,
                max_bytes: size.max,
            },
            GosbenchSpread::Sequential => ObjectSizes::Range {
                min_bytes: 1,
                max_bytes: self.objects_of_worker().min(size.max).max(1),
            },
            _ => ObjectSizes::Fixed(size.min),
        }
    }

    fn requests(&self) -> Vec<MetaShare> {
        let w = self.weights;
        let get = match self.read_parts.bytes {
            0 => OpKind::Get,
            _ => OpKind::GetParallel,
        };
        let put = match self.write_parts.most {
            0 | 1 => OpKind::Put,
            _ => OpKind::PutMultipart,
        };
        let all = [
            (get, w.read.saturating_add(w.existing_read)),
            (put, w.write),
            (OpKind::List, w.list),
            (OpKind::Delete, w.delete),
        ];
        let used = all.into_iter().filter(|(_, weight)| *weight > 0);
        used.map(|(kind, weight)| MetaShare {
            kind,
            weight: u32::try_from(weight).unwrap_or(u32::MAX),
        })
        .collect()
    }

    /// What this run does otherwise than GOSBench, and why.
    pub fn differences(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut say = |text: String| all.push(text);
        let w = self.weights;
        if self.bucket_count() > 1 {
            say(format!(
                "{} buckets are as many prefixes of one bucket: only below a prefix of its own \
                 does fathom change anything",
                self.bucket_count()
            ));
        }
        if self.size.spread == GosbenchSpread::Random {
            say("a random size may be the largest, too; GOSBench never reaches it".to_owned());
        }
        if self.size.spread == GosbenchSpread::Sequential {
            say("sizes that grow by a byte from 1 on are as many random sizes".to_owned());
        }
        if self.requests().len() > 1 {
            say("requests are drawn by their weights, not dealt in a fixed turn".to_owned());
        }
        if w.list > 0 {
            say(
                "a listing brings one key and goes on behind it; GOSBench asks for one key by \
                 its whole name"
                    .to_owned(),
            );
        }
        if w.delete > 0 {
            say(
                "objects are made before the load only; GOSBench makes those that it deleted \
                 again, one by one, within the measured time"
                    .to_owned(),
            );
        }
        all
    }

    fn keys(&self, all: &Gosbench, workers: u64) -> WorkloadKeys {
        let on = |given: bool| given.then(|| Located::new(Switch(true)));
        let named = |text: &str| (!text.is_empty()).then(|| Located::new(Name(text.to_owned())));
        let first = all.stores.first().cloned().unwrap_or_default();
        let endpoints = all.stores.iter().map(|s| s.endpoint.as_str());
        let requests = self.requests();
        let mixes = requests.len() > 1;
        let objects = self.objects_of_worker();
        let ops = match (self.runtime_ns, self.ops) {
            (Some(_), _) => None,
            (None, Some(ops)) => Some(ops),
            // A mix has no end of its own.
            (None, None) => mixes.then_some(objects),
        };
        let part_bytes = self.write_parts.bytes.max(self.read_parts.bytes);
        let at_once = self.write_parts.at_once.max(self.read_parts.at_once);
        let lists = self.weights.list > 0;
        WorkloadKeys {
            name: some(Name(self.name.clone())),
            engine: some(EngineKind::S3),
            request: some(RequestsValue(requests)),
            objects: some(Count(objects)),
            object_size: some(ObjectSizesValue(self.sizes())),
            key_layout: (self.bucket_count() > 1).then(|| {
                Located::new(KeyLayoutValue(KeyLayout::Tree {
                    depth: 1,
                    fan_out: u32::try_from(self.bucket_count()).unwrap_or(u32::MAX),
                }))
            }),
            page_keys: lists.then(|| Located::new(Count(1))),
            part_size: (part_bytes > 0).then(|| Located::new(Size(part_bytes))),
            parts_at_once: (at_once > 0).then(|| Located::new(Count(at_once.min(64)))),
            existing: on(self.reads_existing()),
            endpoint: (!first.endpoint.is_empty())
                .then(|| Located::new(EndpointsValue::of(endpoints))),
            s3_region: named(&first.region),
            virtual_host: on(!first.path_style && !is_address(&first.endpoint)),
            unverified_tls: on(first.skip_verify),
            numjobs: some(Count(workers)),
            iodepth: some(Count(self.clients)),
            runtime: self.runtime_ns.map(|ns| Located::new(Seconds(ns))),
            number_ios: ops.map(|ops| Located::new(Count(ops.saturating_mul(workers)))),
            repeat: some(Switch(self.runtime_ns.is_some() || self.ops.is_some())),
            // It counts what fails and goes on.
            on_error: some(OnErrorChoice::Continue),
            ..WorkloadKeys::default()
        }
    }
}

/// Whether the host of an endpoint is a number: buckets cannot stand before it.
fn is_address(endpoint: &str) -> bool {
    let host = endpoint
        .split_once("://")
        .map_or(endpoint, |(_, rest)| rest);
    let host = host.trim_end_matches('/');
    host.parse::<std::net::SocketAddr>().is_ok()
        || host.parse::<std::net::IpAddr>().is_ok()
        || host.starts_with('[')
        || host.split(':').next() == Some("localhost")
}

impl Gosbench {
    /// The plan of a test on `target`, its workers spread over `hosts` (1 is
    /// this host); what `reached` says of the store takes the place of what the
    /// configuration says. One iteration, no pauses.
    ///
    /// # Errors
    /// Workers that cannot be spread evenly, and every value out of its bounds.
    pub fn to_plan(
        &self,
        test: &GosbenchTest,
        target: Target,
        (hosts, reached): (u64, &StoreFlags),
    ) -> Result<Plan, Diagnostics> {
        let source = Source::new(&test.name, "");
        let mut problems = Problems::default();
        let hosts = hosts.max(1);
        if !test.workers.is_multiple_of(hosts) {
            let message = format!(
                "the {} workers of test '{}' (line {}) cannot be spread over {hosts} hosts evenly",
                test.workers, test.name, test.line
            );
            problems.error("bad_value", None, message);
            return Err(problems.finish(&source));
        }
        let zero = || some(Time(0));
        let keys = reached.over(test.keys(self, test.workers / hosts));
        let plan = PlanKeys {
            targets: some(Targets(vec![Located::new(target)])),
            iterations: some(Count(1)),
            keep_files: (!test.clean_after && !test.reads_existing())
                .then(|| Located::new(Switch(true))),
            pause: some(PauseKeys {
                floor: zero(),
                ceiling: zero(),
                until_quiet: some(Switch(false)),
            }),
            probe: some(Switch(false)),
            ..Plan::build(&test.name, vec![keys])
        };
        Plan::checked(plan, source, Spelling::Tool(&OPTIONS), problems)
    }
}
