//! Keys that mean nothing for the work of their workload.

use fathom_model::workload::{Work, Workload};

use super::Context;
use crate::diagnostic::{Problem, error};
use crate::keys::WorkloadKeys;
use crate::node::Span;
use crate::resolve::TargetShape;
use crate::section::{Key, Section, find};
use crate::works::Works;

/// What a workload acts on, as keys name it.
pub(super) fn works_of(workload: &Workload) -> Works {
    match &workload.work {
        Work::Blocks | Work::Connections(_) | Work::Pair(_) => Works::BLOCKS,
        Work::Files(_) => Works::FILES,
        Work::Objects(_) => Works::OBJECTS,
        Work::Recorded(_) => Works::RECORDED,
    }
}

impl Context<'_> {
    /// The first key that is set and means nothing for the work.
    pub(super) fn without_meaning(&self) -> Option<Problem> {
        let work = works_of(self.workload);
        // What draws blocks on other targets sends requests to a bucket.
        let open = work == Works::BLOCKS && self.shape == TargetShape::Unknown;
        let means = |key: &Key| key.works.holds(work) || open && key.works.holds(Works::OBJECTS);
        let mut places = self.keys.places().into_iter();
        let (key, place) = places.find_map(|(name, place)| {
            let key = find::<WorkloadKeys>(name)?;
            (!means(key)).then_some((key, place))
        })?;
        Some(match work {
            Works::FILES => self.no_effect(key, place, "on operations on many files"),
            Works::OBJECTS => self.no_effect(key, place, "on requests to a store"),
            Works::RECORDED => self.draws_nothing(key, place),
            _ => self.of_another_work(key, place),
        })
    }

    fn no_effect(&self, key: &Key, place: Option<Span>, whereupon: &str) -> Problem {
        let message = format!("{} has no effect {whereupon}", self.key(key.name));
        error("without_effect", place.or(self.entry), message).help("remove it")
    }

    fn draws_nothing(&self, key: &Key, place: Option<Span>) -> Problem {
        let message = format!(
            "{} has no effect: operations come from a list",
            self.key(key.name)
        );
        let list = self.keys.replay.as_ref().and_then(|list| list.span);
        error("replay_draws_nothing", place, message).relate(list, "the list")
    }

    /// A key of files, objects or a list in a workload that draws blocks.
    fn of_another_work(&self, key: &Key, place: Option<Span>) -> Problem {
        let (without, name, example) = match key.works {
            Works::RECORDED => ("a list", "replay", "FILE"),
            Works::OBJECTS => ("requests to a store", "request", "get"),
            _ => ("operations on many files", "operation", "create"),
        };
        let message = format!("{} has no effect without {without}", self.key(key.name));
        let code = match key.works {
            Works::RECORDED => "replay_without_list",
            _ => "without_effect",
        };
        let help = format!("add {}", self.spelling.pair(name, example));
        error(code, place.or(self.entry), message).help(help)
    }
}
