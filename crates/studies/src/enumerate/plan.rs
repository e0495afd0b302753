//! The plan of `fathom enumerate`: directories of growing size, each listed by
//! names alone and with the facts of each entry; or prefixes of a bucket.

use fathom_model::{OpKind, Target};
use fathom_plan::{Diagnostics, Plan, PlanBuilder};
use fathom_rules::method::enumeration::{ENTRIES_LISTED, LISTINGS_LEAST, LISTINGS_MOST, PAGE_KEYS};

/// Directories of `sizes` entries in `target`, with the caches of the host
/// dropped before each or not; in a bucket prefixes of so many keys.
///
/// # Errors
/// A size is out of its bounds.
pub fn enumeration_plan(
    target: Target,
    sizes: &[u64],
    drop_cache: bool,
) -> Result<Plan, Diagnostics> {
    let in_bucket = matches!(target, Target::Bucket(_));
    // Cold is only the first listing of a trial.
    let iterations = if drop_cache && !in_bucket { 3 } else { 1 };
    let plan = PlanBuilder::new("enumerate")
        .targets([target])
        .set("iterations", iterations)
        .pause("0s", "0s", false)
        .set("probe", false);
    let plan = sizes.iter().fold(plan, |plan, entries| {
        if in_bucket {
            return plan.workload(prefix(*entries));
        }
        [OpKind::Readdir, OpKind::ReaddirStat]
            .into_iter()
            .fold(plan, |plan, kind| {
                plan.workload(directory(kind, *entries, drop_cache))
            })
    });
    plan.build()
}

/// How often so many entries are listed.
fn listings(entries: u64) -> u64 {
    (ENTRIES_LISTED / entries.max(1)).clamp(LISTINGS_LEAST, LISTINGS_MOST)
}

/// A directory of empty files that is listed in one way.
fn directory(kind: OpKind, entries: u64, drop_cache: bool) -> Vec<(&'static str, String)> {
    let listings = if drop_cache { 1 } else { listings(entries) };
    let mut keys = vec![
        ("name", format!("{} {entries}", kind.name())),
        ("engine", "meta".to_owned()),
        ("operation", kind.name().to_owned()),
        ("nrfiles", entries.to_string()),
        ("file_size", "0".to_owned()),
        ("repeat", "true".to_owned()),
        ("number_ios", listings.to_string()),
        ("deadline", "1h".to_owned()),
    ];
    if drop_cache {
        keys.push(("drop_cache", "true".to_owned()));
    }
    keys
}

/// A prefix of objects of a byte, listed page by page from its first key to its
/// last.
fn prefix(entries: u64) -> Vec<(&'static str, String)> {
    let pages = entries.div_ceil(PAGE_KEYS).max(1);
    let requests = listings(entries).saturating_mul(pages);
    vec![
        ("name", format!("list {entries}")),
        ("engine", "s3".to_owned()),
        ("request", "list".to_owned()),
        ("objects", entries.to_string()),
        ("object_size", "1".to_owned()),
        ("page_keys", PAGE_KEYS.to_string()),
        ("repeat", "true".to_owned()),
        ("number_ios", requests.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_plan::ScheduleContext;

    #[test]
    fn each_size_is_listed_in_two_ways() {
        let plan = enumeration_plan(Target::Null, &[1000, 10_000_000], false).unwrap();
        let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
        let of = |at: usize| {
            let workload = &schedule.trials[at].workload;
            let meta = workload.files_work().unwrap();
            (meta.phase(), meta.tree.files, workload.bounds.ops)
        };
        assert_eq!(schedule.trials.len(), 4);
        assert_eq!(of(0), (Some(OpKind::Readdir), 1000, Some(200)));
        assert_eq!(of(3), (Some(OpKind::ReaddirStat), 10_000_000, Some(3)));
        let bucket = Target::Bucket("b/p".to_owned());
        let listed = enumeration_plan(bucket, &[1000, 25_000], false).unwrap();
        let listed = listed.schedule(&ScheduleContext::default()).unwrap();
        let workload = &listed.trials[1].workload;
        assert_eq!(workload.bounds.ops, Some(40 * 25));
        assert_eq!(workload.requests().unwrap().objects, 25_000);
        let cold = enumeration_plan(Target::Null, &[1000], true).unwrap();
        let cold = cold.schedule(&ScheduleContext::default()).unwrap();
        assert_eq!(cold.trials.len(), 6);
        assert!(cold.trials.iter().all(|trial| trial.workload.drop_cache));
    }
}
