//! The plan of `fathom enumerate`: directories of growing size, each listed by
//! names alone and with the facts of each entry; or prefixes of a bucket.

use fathom_model::workload::{FileSizes, MetaShare, ObjectSizes};
use fathom_model::{OpKind, Target};

use crate::diagnostic::{Diagnostics, Problems, Source};
use crate::keys::{PauseKeys, PlanKeys, WorkloadKeys};
use crate::node::Located;
use crate::plan::Plan;
use crate::spelling::Spelling;
use crate::value::{
    Count, EngineChoice, FileSizesValue, Name, ObjectSizesValue, OperationsValue, RequestsValue,
    Switch, Targets, Time,
};

/// Entries that are listed in all for each size, within these listings.
const ENTRIES_LISTED: u64 = 1_000_000;
const LISTINGS: (u64, u64) = (3, 200);
/// Keys of a page: the most that a store gives at once.
const PAGE_KEYS: u64 = 1000;

fn some<T>(value: T) -> Option<Located<T>> {
    Some(Located::new(value))
}

/// Directories of `sizes` entries in `target`, with the caches of the host
/// dropped before each or not.
///
/// # Errors
/// A size is out of its bounds.
pub fn enumeration_plan(
    target: Target,
    sizes: &[u64],
    drop_cache: bool,
) -> Result<Plan, Diagnostics> {
    if let Target::Bucket(_) = &target {
        return in_bucket(target, sizes);
    }
    let kinds = [OpKind::Readdir, OpKind::ReaddirStat];
    let workloads = sizes.iter().flat_map(|entries| {
        kinds.map(|kind| {
            let listings = (ENTRIES_LISTED / (*entries).max(1)).clamp(LISTINGS.0, LISTINGS.1);
            WorkloadKeys {
                name: some(Name(format!("{} {entries}", kind.name()))),
                engine: some(EngineChoice::Meta),
                operation: some(OperationsValue(vec![MetaShare { kind, weight: 1 }])),
                nrfiles: some(Count(*entries)),
                file_size: some(FileSizesValue(FileSizes::Fixed(0))),
                repeat: some(Switch(true)),
                // Cold is only the first listing.
                number_ios: some(Count(if drop_cache { 1 } else { listings })),
                drop_cache: drop_cache.then(|| Located::new(Switch(true))),
                deadline: some(Time(3_600_000_000_000)),
                ..WorkloadKeys::default()
            }
        })
    });
    checked(target, workloads.collect(), if drop_cache { 3 } else { 1 })
}

/// Prefixes of `sizes` keys, each listed page by page from its first key to its
/// last.
fn in_bucket(target: Target, sizes: &[u64]) -> Result<Plan, Diagnostics> {
    let workloads = sizes.iter().map(|entries| {
        let listings = (ENTRIES_LISTED / (*entries).max(1)).clamp(LISTINGS.0, LISTINGS.1);
        let pages = entries.div_ceil(PAGE_KEYS).max(1);
        WorkloadKeys {
            name: some(Name(format!("list {entries}"))),
            engine: some(EngineChoice::S3),
            request: some(RequestsValue(vec![MetaShare {
                kind: OpKind::List,
                weight: 1,
            }])),
            objects: some(Count(*entries)),
            object_size: some(ObjectSizesValue(ObjectSizes::Fixed(1))),
            page_keys: some(Count(PAGE_KEYS)),
            repeat: some(Switch(true)),
            number_ios: some(Count(listings.saturating_mul(pages))),
            ..WorkloadKeys::default()
        }
    });
    checked(target, workloads.collect(), 1)
}

fn checked(
    target: Target,
    workloads: Vec<WorkloadKeys>,
    iterations: u64,
) -> Result<Plan, Diagnostics> {
    let zero = || some(Time(0));
    let plan = PlanKeys {
        targets: some(Targets(vec![Located::new(target)])),
        iterations: some(Count(iterations)),
        pause: some(PauseKeys {
            floor: zero(),
            ceiling: zero(),
            until_quiet: some(Switch(false)),
        }),
        probe: some(Switch(false)),
        ..Plan::build("enumerate", workloads)
    };
    let source = Source::new("command line", "");
    Plan::checked(plan, source, Spelling::Flags, Problems::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScheduleContext;

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
