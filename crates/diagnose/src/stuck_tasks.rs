//! Processes that sleep in one call of the kernel and are not reached any more.
//!
//! A frozen file system, or a request that a device never completes, holds up whatever
//! touches it, while all devices are idle or serve others: neither queue nor pressure
//! shows it. What shows it is a process that has not been switched for seconds.

use fathom_rules::diagnosis::stuck_task;

use crate::recording::{Recording, StuckTask};

/// Processes that are named.
const MOST_NAMED: usize = 3;

/// How functions of the kernel begin in which a process waits for storage: a file system
/// that is frozen, a page, a buffer, a journal, a request.
const OF_STORAGE: &[&str] = &[
    "__blkdev",
    "__bread",
    "__iomap",
    "__percpu_down_read",
    "__wait_on_buffer",
    "bio_",
    "blk_",
    "blkdev_",
    "btrfs_",
    "dio_",
    "do_get_write_access",
    "ext4_",
    "folio_wait",
    "io_schedule",
    "iomap_",
    "jbd2_",
    "percpu_rwsem_wait",
    "rq_qos_wait",
    "submit_bio_wait",
    "wait_on_buffer",
    "wait_on_page",
    "xfs_",
];
/// Where a process sleeps like that for other reasons: its group was frozen, it waits for
/// the program that it starts, or writes what is left of it.
const OF_OTHERS: &[&str] = &[
    "__refrigerator",
    "do_coredump",
    "do_freezer_trap",
    "kernel_clone",
    "wait_for_vfork",
];

/// Processes that slept to the end of the recording, and longer than the rule allows.
pub(crate) struct Stuck {
    /// In one line.
    pub(crate) line: String,
    /// One of them waits for storage, by the function in which it sleeps.
    pub(crate) is_storage: bool,
}

pub(crate) fn find(recording: &Recording) -> Option<Stuck> {
    let last = recording.moments.last()?;
    let mut tasks: Vec<&StuckTask> = last.stuck.iter().filter(|task| is_long(task)).collect();
    tasks.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let longest = tasks.first()?;
    let names: Vec<&str> = tasks
        .iter()
        .take(MOST_NAMED)
        .map(|task| task.name.as_str())
        .collect();
    let more = match tasks.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if tasks.len() == 1 { "has" } else { "have" };
    Some(Stuck {
        line: format!(
            "{}{more} {verb} slept in one call of the kernel for {:.0} s and longer, where no signal reaches \
             them: a frozen file system, or a request that never comes back",
            names.join(", "),
            longest.seconds.min(tasks.last()?.seconds)
        ),
        is_storage: tasks.iter().any(|task| begins(task, OF_STORAGE)),
    })
}

fn is_long(task: &StuckTask) -> bool {
    task.seconds >= stuck_task::THRESHOLD && !begins(task, OF_OTHERS)
}

fn begins(task: &StuckTask, functions: &[&str]) -> bool {
    let sleeps_in = task.name.rsplit_once(" in ").map(|(_, function)| function);
    sleeps_in.is_some_and(|function| functions.iter().any(|name| function.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Moment;

    fn recording(tasks: &[(&str, f64)]) -> Recording {
        let stuck = tasks.iter().map(|(name, seconds)| StuckTask {
            name: (*name).to_owned(),
            seconds: *seconds,
        });
        let moment = Moment {
            stuck: stuck.collect(),
            ..Moment::default()
        };
        Recording {
            moments: vec![Moment::default(), moment],
            ..Recording::default()
        }
    }

    #[test]
    fn a_process_on_a_frozen_file_system_waits_for_storage() {
        let found = find(&recording(&[("7 cp in percpu_rwsem_wait", 12.0)])).unwrap();
        assert!(found.is_storage);
        assert!(
            found
                .line
                .starts_with("7 cp in percpu_rwsem_wait has slept"),
            "{}",
            found.line
        );
    }

    #[test]
    fn one_in_another_call_is_doubt_and_no_proof() {
        let found = find(&recording(&[("7 cp in rwsem_down_write_slowpath", 30.0)])).unwrap();
        assert!(!found.is_storage);
        assert!(find(&recording(&[("7 cp in jbd2_log_wait_commit", 2.0)])).is_none());
        assert!(find(&recording(&[("7 sh in __refrigerator", 60.0)])).is_none());
        assert!(find(&Recording::default()).is_none());
    }
}
