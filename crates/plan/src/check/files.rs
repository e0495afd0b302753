//! Rules about work on many files.

use fathom_model::workload::EngineKind;

use super::{Context, at};
use crate::diagnostic::{Problem, error};

impl Context<'_> {
    /// The first thing that is wrong about work on many files.
    pub(super) fn work_on_files(&self) -> Option<Problem> {
        let meta = self.workload.files_work()?;
        let keys = self.keys;
        if meta.ops.is_empty() {
            let message = "the engine meta needs an operation";
            let help = format!("add {}", self.spelling.pair("operation", "create"));
            return Some(error("no_operation", self.place(&keys.engine), message).help(help));
        }
        let engine = self.workload.engine;
        if !matches!(engine, EngineKind::Meta | EngineKind::Null) {
            let message = format!("the engine {} does no operations on files", engine.name());
            let help = format!("write {}", self.spelling.pair("engine", "meta"));
            return Some(error("conflict", self.place(&keys.engine), message).help(help));
        }
        if let Some(problem) = self.without_meaning() {
            return Some(problem);
        }
        if keys.direct.as_ref().is_some_and(|d| d.value.0) {
            let message = "operations on many files go through the page cache";
            let help = format!("remove {}", self.key("direct"));
            return Some(error("conflict", at(&keys.direct), message).help(help));
        }
        if crate::resolve::rate_counts_bytes(self.workload.rate.as_ref()) {
            let message = "a rate of operations on files is in operations";
            let help = format!("write {}", self.spelling.pair("rate", "1000/s"));
            return Some(error("rate_in_bytes", at(&keys.rate), message).help(help));
        }
        if let Some(problem) = self.verified_as_read() {
            return Some(problem);
        }
        let bounded = self.workload.bounds.time_ns.is_some() || self.workload.bounds.ops.is_some();
        if !bounded && (meta.phase().is_none() || meta.repeat) {
            let message = "this workload has no end";
            let help = format!(
                "add {}, or {}",
                self.spelling.pair("runtime", "30s"),
                self.spelling.pair("number_ios", "100k")
            );
            return Some(error("no_bound", self.place(&keys.runtime), message).help(help));
        }
        self.rate_and_think_time()
    }
}
