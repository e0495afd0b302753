//! Results whose figures cannot all be true.

use super::*;

#[test]
fn figures_that_contradict_one_another_are_not_trusted() {
    let contradictions: [(&str, Fault); 4] = [
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
