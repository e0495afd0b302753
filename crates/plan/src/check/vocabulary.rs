//! Rules about pauses, parts of workers, runs and pairs.

use fathom_model::OpKind;
use fathom_model::workload::{Allocation, Content, EngineKind, Sequencer, WorkerRegion};

use super::{Context, at};
use crate::diagnostic::{Problem, error, warning};
use crate::resolve::TargetShape;

impl Context<'_> {
    pub(super) fn think(&self) -> Option<Problem> {
        let workload = self.workload;
        let every = at(&self.keys.think_every);
        let spin = at(&self.keys.think_spin);
        let pause = at(&self.keys.think_time);
        if workload.think_every_ops > 0 && workload.think_ns == 0 {
            let message = format!("{} has no effect without a pause", self.key("think_every"));
            let help = format!("add {}", self.spelling.pair("think_time", "1ms"));
            return Some(error("think_without_time", every, message).help(help));
        }
        if workload.think_spin_ns > 0 && workload.think_every_ops == 0 {
            let message = format!(
                "{} needs pauses of the whole worker",
                self.key("think_spin")
            );
            let help = format!("add {}", self.spelling.pair("think_every", "1"));
            return Some(error("spin_without_pause", spin, message).help(help));
        }
        if workload.think_spin_ns > workload.think_ns {
            let message = format!("{} is longer than the pause", self.key("think_spin"));
            let problem = error("spin_beyond_pause", spin, message);
            return Some(problem.relate(pause, "the pause"));
        }
        None
    }

    pub(super) fn kinds_with_rates(&self) -> Option<Problem> {
        let rates = &self.workload.rate_by_kind;
        let key = self.keys.rate_by_kind.as_ref()?;
        let kinds = [OpKind::Read, OpKind::Write, OpKind::Trim];
        let wrong = kinds
            .into_iter()
            .find(|kind| self.workload.may_do(*kind) != rates.get(*kind).is_some())?;
        let message = match rates.get(wrong) {
            None => format!(
                "{} has no rate for {}s",
                self.key("rate_by_kind"),
                wrong.name()
            ),
            Some(_) => format!(
                "{} has a rate for {}s, which this workload does not do",
                self.key("rate_by_kind"),
                wrong.name()
            ),
        };
        let help = "give a rate for each kind that is done: reads, writes, trims in this order";
        Some(error("rates_and_kinds", key.span, message).help(help))
    }

    pub(super) fn zones(&self) -> Option<Problem> {
        let walk = self.workload.zone_walk.as_ref()?;
        let message = crate::value::zone_fault(walk, self.workload.max_block_bytes())?;
        Some(error("zone_too_small", at(&self.keys.zones), message))
    }

    pub(super) fn verify_every(&self) -> Option<Problem> {
        let every = self.keys.verify_every.as_ref()?;
        if self.workload.verify.is_some() && self.workload.mix.write_percent > 0 {
            return None;
        }
        let message = format!(
            "{} needs writes that are verified",
            self.key("verify_every")
        );
        let help = format!("add {}", self.spelling.pair("verify", "after"));
        Some(error("verify_every_without_effect", every.span, message).help(help))
    }

    pub(super) fn region(&self) -> Option<Problem> {
        let keys = self.keys;
        let staggered = matches!(
            self.workload.data_set.region,
            WorkerRegion::Staggered { .. }
        );
        if staggered && let Some(region) = &keys.region {
            let message = format!(
                "{} and {} both say which part a worker uses",
                self.key("region"),
                self.key("offset_increment")
            );
            let problem = error("conflict", region.span, message);
            let other = at(&keys.offset_increment);
            return Some(
                problem
                    .relate(other, "the other one")
                    .help("remove one of the two"),
            );
        }
        if let Some(size) = keys.region_size.as_ref().filter(|_| !staggered) {
            let message = format!(
                "{} has no effect without {}",
                self.key("region_size"),
                self.key("offset_increment")
            );
            return Some(error("region_size_alone", size.span, message));
        }
        let own_files = matches!(
            self.shape,
            TargetShape::Directory | TargetShape::Unknown | TargetShape::Null
        ) && !self.workload.data_set.files.shared;
        if self.workload.data_set.region == WorkerRegion::Whole
            && own_files
            && self.workload.workers > 1
        {
            let message = format!(
                "{} has no effect: each worker has files of its own",
                self.key("region")
            );
            let help = format!("add {}", self.spelling.pair("shared_files", "true"));
            return Some(warning("region_without_effect", at(&keys.region), message).help(help));
        }
        None
    }

    pub(super) fn runs(&self) -> Option<Problem> {
        let keys = self.keys;
        let drawn = Sequencer {
            each_kind: self.workload.sequencer.each_kind,
            ..Sequencer::default()
        };
        if self.workload.pattern.is_random() || self.workload.sequencer == drawn {
            return None;
        }
        let (name, place) = match at(&keys.draw_every) {
            Some(place) => ("draw_every", Some(place)),
            None => ("random_share", at(&keys.random_share)),
        };
        let message = format!("{} has no effect on offsets in sequence", self.key(name));
        let help = format!("write {} or the like", self.spelling.pair("rw", "randread"));
        Some(error("runs_not_random", place.or(self.entry), message).help(help))
    }

    /// The keys that say how contents are verified.
    pub(super) fn verify_details(&self) -> Option<Problem> {
        let keys = self.keys;
        let details = at(&keys.verify_earlier).or(at(&keys.verify_by));
        let Some(verify) = self.workload.verify else {
            let given = keys.verify_earlier.is_some() || keys.verify_by.is_some();
            let message = "nothing is verified";
            let help = format!("add {}", self.spelling.pair("verify", "on_read"));
            return given.then(|| error("verify_nothing", details, message).help(help));
        };
        if verify.earlier && !verify.on_read {
            let message = format!("{} checks what is read", self.key("verify_earlier"));
            let help = format!("write {}", self.spelling.pair("verify", "on_read"));
            return Some(error("verify_nothing", at(&keys.verify), message).help(help));
        }
        if !verify.on_read && !verify.after && self.workload.mix.write_percent == 0 {
            let message = "nothing is written that could be marked";
            return Some(error("verify_nothing", at(&keys.verify), message));
        }
        if verify.by_content && self.workload.payload.content == Content::Random {
            let message = "random contents cannot be compared byte by byte";
            let help = format!(
                "write a content that repeats, for example {}, or leave {} out",
                self.spelling.pair("content", "0xdeadbeef"),
                self.key("verify_by")
            );
            let place = at(&keys.verify_by);
            return Some(error("verify_random_content", place, message).help(help));
        }
        None
    }

    pub(super) fn allocation(&self) -> Option<Problem> {
        let short = matches!(
            self.workload.data_set.allocation,
            Allocation::None | Allocation::KeepSize
        );
        if !short || self.workload.engine != EngineKind::Mmap {
            return None;
        }
        let message = "the engine mmap needs files of their full length";
        let help = format!("write {}", self.spelling.pair("allocation", "truncate"));
        Some(error("allocation_mmap", at(&self.keys.allocation), message).help(help))
    }

    pub(super) fn pairs(&self) -> Option<Problem> {
        if !self.workload.trim_first || self.workload.block_by_kind.is_empty() {
            return None;
        }
        let message = "a block is trimmed and then written: both have one size";
        Some(error("pairs_of_sizes", at(&self.keys.bs), message).help("write one block size"))
    }
}
