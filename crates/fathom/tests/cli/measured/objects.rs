//! Latencies of a scripted store, found again by eight hosts together.

use super::{expect_mostly, near};
use crate::bench::Bench;
use crate::objects_fleet::{agents_of_bucket, memory, on, percentile_ns, sum};

const TOLERANCE: f64 = 0.03;

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_tail_of_the_store_is_in_what_eight_hosts_measured_together() {
    expect_mostly("the tail of a store", || {
        let bench = Bench::new();
        // One GET in 250 waits, so that the 99.9th percentile is one of these on
        // every host. The load lasts as long on each: one whose GETs were spared
        // would end a bounded amount before the first of the others' delays is over.
        let server = memory("GET:delay=600ms@250");
        let agents = agents_of_bucket(&bench, 8, &server);
        let output = on(
            &bench,
            &agents,
            &[
                "s3",
                "get",
                "s3://bench/tail",
                "--endpoint",
                &server.endpoint(),
                "--anonymous",
                "--objects",
                "500",
                "--object-size",
                "256",
                "--iodepth",
                "2",
                "--runtime",
                "5s",
                "--json",
            ],
        );
        output.expect_measured();
        let result = output.json();
        assert_eq!(result["trials"].as_array().unwrap().len(), 8);
        let mut truth = fathom_model::Histogram::new();
        server
            .delivered("GET")
            .into_iter()
            .for_each(|ns| truth.record(ns));
        let all = sum(&result, "get");
        // The sum is over the time in which all of them worked, the truth over all
        // of it. Ten of the delayed ones make the 99.9th percentile one of them.
        assert!(all["ops"].as_u64() > Some(2500), "{all}");
        assert!(truth.count() >= all["ops"].as_u64().unwrap(), "{all}");
        let found = percentile_ns(all, 99.9);
        let delivered = truth.quantile(0.999).unwrap() as f64;
        // Nothing is seen earlier than it happened, but for the buckets.
        assert!(found > 600e6 * (1.0 - 0.004), "{found}");
        near("p99.9", found, delivered, TOLERANCE)
    });
}
