//! Results whose figures cannot all be true.

use super::*;

#[test]
fn figures_that_contradict_one_another_are_not_trusted() {
    let contradictions: [(&str, Fault); 7] = [
        ("V25", |r| read(r).negative = Some("iops".to_owned())),
        ("V25", |r| {
            read(r).rate_spread = Some(ResultSpread {
                min: 0.99 * IOPS,
                max: 1.01 * IOPS,
                mean: 0.1 * IOPS,
                ..ResultSpread::default()
            });
        }),
        ("V25", |r| {
            let options = &mut r.jobs[0].options;
            options.insert("rw".to_owned(), "randwrite".to_owned());
        }),
        ("V25", |r| {
            let latency = read(r).completion.as_mut().unwrap();
            latency.percentiles.iter_mut().for_each(|(percent, ns)| {
                if *percent == 50.0 {
                    *ns = 1e12;
                }
            });
        }),
        ("V25", |r| {
            read(r).completion.as_mut().unwrap().min_ns = Some(-5.0);
        }),
        ("V25", |r| {
            let latency = read(r).completion.as_mut().unwrap();
            latency.min_ns = Some(1_000.0);
            latency.mean_ns = Some(10.0);
        }),
        ("V20", |r| {
            let direction = read(r);
            for latency in [&mut direction.completion, &mut direction.total] {
                let latency = latency.as_mut().unwrap();
                latency.mean_ns = latency.mean_ns.map(|ns| 100.0 * ns);
                latency.max_ns = latency.max_ns.map(|ns| 100.0 * ns);
            }
        }),
    ];
    for (number, (id, falsify)) in contradictions.into_iter().enumerate() {
        let mut result = sound();
        falsify(&mut result);
        let found = status(&result, id);
        assert_eq!(found, Some(FindingStatus::Invalid), "{number} {id}");
        assert_eq!(opinion(&result).verdict.validity, Validity::NotTrusted);
    }
}

#[test]
fn reading_back_what_was_written_contradicts_nothing() {
    let mut result = sound();
    let options = &mut result.jobs[0].options;
    options.insert("rw".to_owned(), "randwrite".to_owned());
    options.insert("verify".to_owned(), "crc32c".to_owned());
    assert_ne!(status(&result, "V25"), Some(FindingStatus::Invalid));
}

#[test]
fn devices_that_keep_nothing_are_no_storage() {
    for path in ["/dev/null", "/dev/zero", "/data/f:/dev/null"] {
        let mut result = sound();
        let options = &mut result.jobs[0].options;
        options.insert("filename".to_owned(), path.to_owned());
        assert_eq!(
            status(&result, "V06"),
            Some(FindingStatus::Caveat),
            "{path}"
        );
        assert_eq!(opinion(&result).verdict.validity, Validity::Caveats);
    }
}

#[test]
fn a_negative_figure_is_named() {
    let text = r#"{"fio version":"fio-3.36","jobs":[{"jobname":"a","read":{"io_bytes":4096,
        "io_kbytes":4,"total_ios":1,"runtime":1000,"iops":-48000,"bw":4}}]}"#;
    let Ok(crate::results::ResultFile::Results(results)) =
        crate::results::read_results("a.json", text)
    else {
        panic!("it is a result of fio");
    };
    let judged = judge_results(&results);
    assert_eq!(judged.validity, Validity::NotTrusted);
    let findings = &judged.results[0].jobs[0].verdict.findings;
    let finding = findings.iter().find(|f| f.id == "V25").unwrap();
    assert_eq!(finding.evidence, "read: iops is negative");
}
