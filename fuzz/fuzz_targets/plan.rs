//! Plans in YAML: read, written and read again unchanged, and expanded.
#![no_main]

use fathom_plan::{CostAssumptions, ScheduleContext, cost, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let plan = match parse("any.yaml", text) {
        Ok(plan) => plan,
        Err(problems) => {
            assert!(!problems.render(false).is_empty());
            return;
        }
    };
    let again = parse("any.yaml", &plan.to_yaml());
    assert_eq!(again.expect("what was written can be read"), plan);
    let context = ScheduleContext::default();
    let _ = plan.lint(&context).has_errors();
    if let Ok(schedule) = plan.schedule(&context) {
        let cost = cost(&schedule, &CostAssumptions::default());
        assert!(cost.bytes_written_min <= cost.bytes_written_max);
    }
});
