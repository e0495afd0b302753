//! The quick test of an object store: large and small objects, deep and
//! shallow, written, read, asked for and listed.

use crate::keys::WorkloadKeys;
use crate::node::Located;
use crate::value::{Count, Name, ObjectSizesValue, RequestsValue, Seconds, Value};

use fathom_model::workload::ObjectSizes;

const WARMUP_NS: u64 = 1_000_000_000;

/// One row: name, request, bytes, depth, objects.
const GRID: [(&str, &str, u64, u64, u64); 8] = [
    ("PUT 1M Q8", "put", 1 << 20, 8, 256),
    ("GET 1M Q8", "get", 1 << 20, 8, 256),
    ("GET 1M Q1", "get", 1 << 20, 1, 256),
    ("PUT 4K Q32", "put", 4096, 32, 2000),
    ("GET 4K Q32", "get", 4096, 32, 2000),
    ("GET 4K Q1", "get", 4096, 1, 2000),
    ("HEAD 4K Q32", "head", 4096, 32, 2000),
    ("LIST 4K Q1", "list", 4096, 1, 2000),
];

/// The rows of the test, each of so many seconds.
pub(crate) fn workloads(seconds: u32) -> Vec<WorkloadKeys> {
    let time_ns = u64::from(seconds.clamp(1, 86_400)) * 1_000_000_000;
    let row = |(name, request, bytes, depth, objects): (&str, &str, u64, u64, u64)| WorkloadKeys {
        name: Some(Located::new(Name(name.to_owned()))),
        request: RequestsValue::from_text(request).ok().map(Located::new),
        object_size: Some(Located::new(ObjectSizesValue(ObjectSizes::Fixed(bytes)))),
        objects: Some(Located::new(Count(objects))),
        iodepth: Some(Located::new(Count(depth))),
        numjobs: Some(Located::new(Count(1))),
        runtime: Some(Located::new(Seconds(time_ns))),
        warmup: Some(Located::new(Seconds(WARMUP_NS))),
        ..WorkloadKeys::default()
    };
    GRID.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use crate::{QuickOptions, ScheduleContext, quick};

    #[test]
    fn a_bucket_has_a_grid_of_requests() {
        let plan = quick(&QuickOptions {
            target: "s3://bucket".parse().unwrap(),
            seconds: 2,
            size_bytes: 1 << 30,
            sustained: false,
            read_only: false,
            seed: 1,
        });
        let read = crate::parse("quick", &plan.to_yaml()).unwrap();
        assert_eq!(read, plan);
        let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
        assert_eq!(schedule.trials.len(), super::GRID.len());
        let object = |n: usize| schedule.trials[n].workload.requests().cloned().unwrap();
        // Reads use what was put before.
        assert_eq!(
            (&object(3).sizes, object(3).objects),
            (&object(4).sizes, object(4).objects)
        );
    }
}
