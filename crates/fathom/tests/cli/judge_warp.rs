//! Files of single requests of warp, judged.

use crate::bench::Bench;

#[test]
fn requests_of_warp_are_judged_with_their_real_percentiles() {
    let bench = Bench::new();
    let mut text = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\t\
        first_byte\tlast_byte\tend\tduration_ns\tcat\n"
        .to_owned();
    for n in 0..5000_u32 {
        // 100 requests a second for 50 s; one in 100 takes 200 ms instead of 4.
        let (second, centi) = (n / 100, n % 100);
        let took_ms = if n % 100 == 7 { 200 } else { 4 };
        let time = |ms: u32| {
            let all = second * 1000 + centi * 10 + ms;
            format!("2026-05-01T12:00:{:02}.{:03}Z", all / 1000, all % 1000)
        };
        let error = if n % 1000 == 3 { "timeout" } else { "" };
        let (start, end) = (time(0), time(took_ms));
        text += &format!(
            "{n}\t{}\tGET\tc\t1\t4096\thttp://h:9000\tf\t{error}\t{start}\t{end}\t{end}\t{end}\t{}\t\n",
            n % 8,
            took_ms * 1_000_000
        );
    }
    let file = bench.path().join("warp-get.csv");
    std::fs::write(&file, text).unwrap();
    let output = bench.fathom(["judge", file.to_str().unwrap(), "--verbose"]);
    for words in ["warp", "GET", "V26", "first byte after"] {
        assert!(output.stdout.contains(words), "{words}: {}", output.stdout);
    }
    let (_, json) = bench.json(["judge", file.to_str().unwrap()]);
    let figures = &json["results"][0]["jobs"][0]["figures"][0];
    assert_eq!(figures["ops"], 4995);
    let percentile = |percent: f64| {
        let all = figures["percentiles"].as_array().unwrap();
        let found = all.iter().find(|p| p["percent"] == percent).unwrap();
        (
            found["stated_ns"].as_f64().unwrap(),
            found["supported"].as_bool().unwrap(),
        )
    };
    assert!((percentile(50.0).0 / 4e6 - 1.0).abs() < 0.01);
    assert!((percentile(99.9).0 / 200e6 - 1.0).abs() < 0.01);
    assert!(percentile(99.0).1, "4,995 requests carry a p99");
    assert!(!percentile(99.99).1, "and no p99.99");
}
