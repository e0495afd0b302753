//! From the end of a load to the end of its trial.

use fathom_engine::{EndReason, GroupEnd};
use fathom_model::run::EngineReport;

use crate::agent::EarlyEnd;
use crate::agent::member::Member;
use crate::agent::runner::Ending;
use crate::agent::target_facts::paths_of;

/// How long operations in flight may take to come back after the user asked
/// to end, before they are called stuck.
pub(crate) const WIND_DOWN_NS: u64 = 30_000_000_000;

/// Turns the end of a group into the end of its trial.
pub(crate) fn conclude(
    ending: Option<Ending>,
    group_end: GroupEnd,
    member: &mut Member,
) -> Result<(), EarlyEnd> {
    let end = &mut member.end;
    end.engine = group_end.report;
    end.final_flush_ns = group_end.final_flush_ns;
    match (ending, group_end.end_reason) {
        (Some(Ending::Stuck), _) => Err(EarlyEnd::interrupted(
            "operations were still outstanding when it ended; they are listed with their age"
                .to_owned(),
        )),
        (_, EndReason::Error) => Err(EarlyEnd::failed(first_error(&end.engine))),
        (Some(Ending::Failed(fault)), _) => Err(EarlyEnd::failed(fault)),
        (Some(Ending::ByWish(why)), _) => Err(EarlyEnd::interrupted(why)),
        (Some(Ending::WithSet(reason)), _) => Err(EarlyEnd::interrupted(reason)),
        (Some(Ending::ByRule(reason) | Ending::ByOther(reason)), _) => {
            end.reason = Some(match end.load_started_ns {
                Some(_) => reason,
                None => format!("did not begin: {reason}"),
            });
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// What a buffered load left in memory that nothing flushed at its end.
pub(crate) fn unflushed(member: &Member, group_end: &GroupEnd) -> Option<u64> {
    let workload = &member.job.workload;
    let lasts = group_end.report.direct || group_end.final_flush_ns.is_some();
    if workload.mix.write_percent == 0 || lasts {
        return None;
    }
    let paths = paths_of(member.prepared.as_ref()?);
    fathom_observe::unflushed_bytes(&paths)
}

fn first_error(report: &EngineReport) -> String {
    match report.errors.first() {
        Some(error) => format!("an operation failed: {}", error.message),
        None => "the engine failed without naming an operation".to_owned(),
    }
}
