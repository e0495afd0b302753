//! The quick test of an object store: large and small objects, deep and
//! shallow, written, read, asked for and listed.

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
pub(super) fn workloads(seconds: u32) -> Vec<Vec<(&'static str, String)>> {
    let rows = GRID.into_iter();
    rows.map(|(name, request, bytes, depth, objects)| {
        vec![
            ("name", name.to_owned()),
            ("request", request.to_owned()),
            ("object_size", bytes.to_string()),
            ("objects", objects.to_string()),
            ("iodepth", depth.to_string()),
            ("numjobs", "1".to_owned()),
            ("runtime", format!("{seconds}s")),
            ("warmup", "1s".to_owned()),
        ]
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use fathom_plan::ScheduleContext;

    use crate::quick::{QuickOptions, ReadExtent, quick};

    #[test]
    fn a_bucket_has_a_grid_of_requests() {
        let plan = quick(&QuickOptions {
            target: "s3://bucket".parse().unwrap(),
            seconds: 2,
            size_bytes: 1 << 30,
            read_extent: ReadExtent::Part,
            sustained: false,
            read_only: false,
            seed: 1,
        })
        .unwrap();
        let read = fathom_plan::parse("quick", &plan.to_yaml()).unwrap();
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
