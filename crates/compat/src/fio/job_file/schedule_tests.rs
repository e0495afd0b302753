//! Whole schedules as job files.

use fathom_model::Schedule;

use super::tests::{facts, target, trial, with};
use super::*;
use fathom_plan::ScheduleContext;

#[test]
fn a_schedule_is_walled_trial_by_trial() {
    let text = "plan: 1\ntargets: /data\niterations: 2\ndefaults: {size: 1g, runtime: 5s}\n\
                workloads: [{rw: randread}, {rw: randwrite, iodepth: 8}]\n";
    let plan = fathom_plan::parse("two.yaml", text).unwrap();
    let schedule: Schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    let facts = facts();
    let export = FioExport {
        facts: &facts,
        files: FioFiles::Own("test"),
    };
    let text = export_fio(&schedule, &export).unwrap();
    assert_eq!(text.matches("stonewall").count(), 3, "{text}");
    assert_eq!(text.matches("[randread-4k q1 j1]").count(), 1, "{text}");
    assert_eq!(text.matches("[randwrite-4k q8 j1 #2]").count(), 1, "{text}");
    assert_eq!(
        text.matches("size=1073741824").count(),
        1,
        "in [global]: {text}"
    );
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
}

#[test]
fn a_set_runs_at_the_same_time_and_is_reported_trial_by_trial() {
    let make = |index: u32, name: &str| {
        let mut made = trial(target("/data"), with(|w| w.name = name.to_owned()));
        (made.index, made.row) = (index, index);
        made
    };
    let mut trials = [
        make(0, "alone"),
        make(1, "first"),
        make(2, "beside"),
        make(3, "after"),
    ];
    for member in &mut trials[1..] {
        member.together = Some(7);
        member.file_set = member.index;
    }
    trials[2].start_delay_ns = 500_000_000;
    trials[2].ends_others = true;
    trials[3].follows = Some(1);
    let plan = fathom_plan::parse(
        "t.yaml",
        "plan: 1\ntargets: /data\nworkloads: [{runtime: 1s}]\n",
    );
    let mut schedule = plan.unwrap().schedule(&ScheduleContext::default()).unwrap();
    schedule.trials = trials.to_vec();
    let facts = facts();
    let export = FioExport {
        facts: &facts,
        files: FioFiles::Own("test"),
    };
    let text = export_fio(&schedule, &export).unwrap();
    assert_eq!(text.matches("stonewall").count(), 1, "{text}");
    assert_eq!(text.matches("new_group").count(), 2, "{text}");
    for line in [
        "startdelay=500ms",
        "exitall=1",
        "wait_for=first",
        "filename_format=test-3.$jobnum",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}: {text}");
    }
}
