//! Rules across keys: combinations that cannot run, or would measure
//! something else than they say.

mod conduct;
mod files;
mod geometry;
pub(crate) mod host_mode;
mod meaning;
mod objects;
mod vocabulary;

use fathom_model::workload::{CacheMode, EngineKind, Workload};

use crate::diagnostic::Problems;
use crate::keys::WorkloadKeys;
use crate::node::{Located, Span};
use crate::resolve::TargetShape;
use crate::spelling::Spelling;

/// Checks one resolved workload. `entry` is where the workload stands.
pub(crate) fn check(
    keys: &WorkloadKeys,
    workload: &Workload,
    shape: TargetShape,
    entry: Option<Span>,
    spelling: Spelling,
    problems: &mut Problems,
) {
    let context = Context {
        keys,
        workload,
        shape,
        entry,
        spelling,
    };
    if let Some(problem) = context.no_time() {
        problems.push(problem);
        return;
    }
    if workload.files_work().is_some() {
        if let Some(problem) = context.work_on_files() {
            problems.push(problem);
        }
        return;
    }
    if workload.requests().is_some() {
        if let Some(problem) = context.work_on_objects() {
            problems.push(problem);
        }
        for problem in context.of_other_requests() {
            problems.push(problem);
        }
        return;
    }
    let rules = [
        Context::without_meaning,
        Context::bound,
        Context::block,
        Context::direct_alignment,
        Context::misalignment,
        Context::depth_of_synchronous_engine,
        Context::buffers,
        Context::size,
        Context::file_size,
        Context::working_set,
        Context::stride,
        Context::rate_and_think_time,
        Context::mmap,
        Context::trim,
        Context::verify,
        Context::flush_without_writes,
        Context::ranges_and_flushes,
        Context::ranges_of_direct_writes,
        Context::poll,
        Context::think,
        Context::region,
        Context::runs,
        Context::pairs,
        Context::allocation,
        Context::kinds_with_rates,
        Context::zones,
        Context::verify_every,
    ];
    for rule in rules {
        if let Some(problem) = rule(&context) {
            problems.push(problem);
        }
    }
}

struct Context<'a> {
    keys: &'a WorkloadKeys,
    workload: &'a Workload,
    shape: TargetShape,
    entry: Option<Span>,
    spelling: Spelling,
}

fn at<T>(key: &Option<Located<T>>) -> Option<Span> {
    key.as_ref().and_then(|key| key.span)
}

impl Context<'_> {
    fn key(&self, name: &str) -> String {
        self.spelling.key(name)
    }

    /// The key's place, or the workload's where the default is at fault.
    fn place<T>(&self, key: &Option<Located<T>>) -> Option<Span> {
        at(key).or(self.entry)
    }

    fn is_direct(&self) -> bool {
        let real = !matches!(self.workload.engine, EngineKind::Null | EngineKind::Sim);
        real && self.workload.cache == CacheMode::Direct
    }
}
