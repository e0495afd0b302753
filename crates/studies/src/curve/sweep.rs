//! Which point comes next, for each kind of sweep.

use std::collections::VecDeque;

use fathom_model::curve::{CurvePoint, Sweep};
use fathom_model::unit;
use fathom_rules::check::v21::INFO as RISE;
use fathom_rules::method::curve::{
    CEILING, FLAT_DOUBLINGS, LEAST_SLOTS, MOST_SLOTS, PASSES, SLOTS,
};

use super::arrange::{self, CurveOptions, Setting, interleaved};
use super::holds;
use super::search::{self, Next};

/// Loads of a load curve, shares of the ceiling in percent.
const LOADS: [u32; 12] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100, 105];
/// Loads of a mix map, shares of the highest ceiling in percent.
const MIX_LOADS: [u32; 8] = [10, 20, 35, 50, 65, 80, 95, 110];
/// Shares of reads of a mix map.
const MIXES: [u8; 5] = [100, 75, 50, 25, 0];

/// Chooses points.
pub(super) trait Plan: Send {
    /// The next trial, given all points so far; `None` ends the curve.
    fn next(&mut self, points: &[CurvePoint]) -> Option<Setting>;

    /// What is expected beforehand.
    fn expected(&self) -> Vec<Setting>;

    /// Whether the points decide.
    fn looks(&self) -> bool {
        true
    }

    /// Why the curve ended as it did.
    fn reason(&self) -> Option<String> {
        None
    }
}

/// The plan of a curve.
pub(super) fn plan(options: &CurveOptions) -> Box<dyn Plan> {
    let base = &options.base;
    match options.sweep {
        Sweep::Depth => Box::new(DepthPlan::new(options)),
        Sweep::Load => Box::new(LoadPlan {
            options: options.clone(),
            scan: DepthPlan::new(options),
            stage: Stage::Scan,
            searched: 0,
        }),
        Sweep::Mix => Box::new(MixPlan::new(options)),
        Sweep::Block => Box::new(Listed::once(
            options.bytes.iter().map(|b| arrange::block(base, *b)),
        )),
        Sweep::WorkingSet => Box::new(Listed::passes(
            options.bytes.iter().map(|b| arrange::working_set(base, *b)),
        )),
        Sweep::Position => {
            let zone = options.zone_bytes;
            let offsets = options.bytes.iter();
            let all: Vec<Setting> = offsets.map(|b| arrange::position(base, *b, zone)).collect();
            let order = interleaved(all.len());
            Box::new(Listed::passes(order.into_iter().map(|i| all[i].clone())))
        }
    }
}

/// Points that are known beforehand.
struct Listed {
    left: VecDeque<Setting>,
}

impl Listed {
    fn once(settings: impl Iterator<Item = Setting>) -> Listed {
        Listed {
            left: settings.collect(),
        }
    }

    /// There and back, so that a drift cancels out.
    fn passes(settings: impl Iterator<Item = Setting>) -> Listed {
        let forward: Vec<Setting> = settings.collect();
        let mut left = VecDeque::new();
        for pass in 0..PASSES {
            match pass % 2 {
                0 => left.extend(forward.iter().cloned()),
                _ => left.extend(forward.iter().rev().cloned()),
            }
        }
        Listed { left }
    }
}

impl Plan for Listed {
    fn next(&mut self, _points: &[CurvePoint]) -> Option<Setting> {
        self.left.pop_front()
    }

    fn expected(&self) -> Vec<Setting> {
        self.left.iter().cloned().collect()
    }

    fn looks(&self) -> bool {
        false
    }
}

/// 1, 2, 4 … until throughput no longer rises.
struct DepthPlan {
    options: CurveOptions,
    next_depth: u64,
    reason: Option<String>,
}

impl DepthPlan {
    fn new(options: &CurveOptions) -> DepthPlan {
        DepthPlan {
            options: options.clone(),
            next_depth: 1,
            reason: None,
        }
    }

    fn depths(&self) -> impl Iterator<Item = u64> {
        let most = self.options.most_depth.max(1);
        (0..40)
            .map(|power| 1u64 << power)
            .take_while(move |depth| *depth <= most)
    }
}

impl Plan for DepthPlan {
    fn next(&mut self, points: &[CurvePoint]) -> Option<Setting> {
        let mut closed: Vec<&CurvePoint> = points
            .iter()
            .filter(|p| p.offered_per_second.is_none())
            .collect();
        closed.sort_by_key(|p| p.depth);
        if flat(&closed) {
            let rate = closed.iter().filter_map(|p| p.ops_per_second.value);
            self.reason = Some(format!(
                "throughput no longer rose above {} ops/s",
                unit::count(rate.fold(0.0, f64::max))
            ));
            return None;
        }
        let depth = self.next_depth;
        if depth > self.options.most_depth.max(1) {
            return None;
        }
        self.next_depth = depth.saturating_mul(2);
        Some(arrange::depth(&self.options.base, depth))
    }

    fn expected(&self) -> Vec<Setting> {
        self.depths()
            .map(|d| arrange::depth(&self.options.base, d))
            .collect()
    }

    fn reason(&self) -> Option<String> {
        self.reason.clone()
    }
}

/// Whether the last doublings gave no more.
fn flat(closed: &[&CurvePoint]) -> bool {
    let rates: Vec<f64> = closed
        .iter()
        .map(|p| p.ops_per_second.value.unwrap_or(0.0))
        .collect();
    let Some(from) = rates.len().checked_sub(FLAT_DOUBLINGS + 1) else {
        return false;
    };
    let before = rates[..=from].iter().copied().fold(0.0, f64::max);
    rates[from + 1..]
        .iter()
        .all(|rate| *rate <= before * (1.0 + RISE))
}

/// Where a load curve is.
enum Stage {
    /// Looking for the depth of the ceiling.
    Scan,
    /// The ceiling itself has been handed out.
    Ceiling { depth: u64 },
    /// Loads, and which is next.
    Grid {
        ceiling: f64,
        slots: u64,
        next: usize,
    },
    /// The search for the target, and then nothing.
    Search { ceiling: f64, slots: u64 },
    /// The ceiling could not be measured.
    Lost,
}

/// Depth scan, ceiling, loads, and the search for the target.
struct LoadPlan {
    options: CurveOptions,
    scan: DepthPlan,
    stage: Stage,
    searched: u32,
}

fn slots(depth: u64) -> u64 {
    depth.saturating_mul(SLOTS).clamp(LEAST_SLOTS, MOST_SLOTS)
}

/// The least depth that gives as much as any.
fn ceiling_depth(points: &[CurvePoint]) -> Option<u64> {
    let closed = || points.iter().filter(|p| p.offered_per_second.is_none());
    let most = closed()
        .filter_map(|p| p.ops_per_second.value)
        .fold(0.0, f64::max);
    closed()
        .filter(|p| {
            p.ops_per_second
                .value
                .is_some_and(|v| v >= CEILING * most && v > 0.0)
        })
        .map(|p| p.depth)
        .min()
}

impl LoadPlan {
    fn load(&self, per_second: f64, slots: u64) -> Setting {
        arrange::load(&self.options.base, per_second, slots, self.options.arrival)
    }

    fn ceiling_setting(&self, depth: u64) -> Setting {
        arrange::depth(&self.options.base, depth).named(&format!("ceiling at depth {depth}"))
    }
}

impl Plan for LoadPlan {
    fn next(&mut self, points: &[CurvePoint]) -> Option<Setting> {
        if let Stage::Scan = self.stage {
            if let Some(setting) = self.scan.next(points) {
                return Some(setting.probe());
            }
            let Some(depth) = ceiling_depth(points) else {
                self.stage = Stage::Lost;
                return None;
            };
            self.stage = Stage::Ceiling { depth };
            return Some(self.ceiling_setting(depth));
        }
        if let Stage::Ceiling { depth } = self.stage {
            let measured = points
                .iter()
                .find(|p| p.offered_per_second.is_none() && !p.probe);
            let rate = measured.and_then(|p| p.ops_per_second.value);
            self.stage = match rate.filter(|r| *r > 0.0) {
                Some(ceiling) => Stage::Grid {
                    ceiling,
                    slots: slots(depth),
                    next: 0,
                },
                None => Stage::Lost,
            };
        }
        if let Stage::Grid {
            ceiling,
            slots,
            next,
        } = self.stage
        {
            if let Some(percent) = LOADS.get(next) {
                self.stage = Stage::Grid {
                    ceiling,
                    slots,
                    next: next + 1,
                };
                return Some(self.load(ceiling * f64::from(*percent) / 100.0, slots));
            }
            self.stage = Stage::Search { ceiling, slots };
        }
        let Stage::Search { ceiling, slots } = self.stage else {
            return None;
        };
        self.options.base.slo.as_ref()?;
        let candidates = holds::candidates(Sweep::Load, points, self.options.base.mix.read_percent);
        let next = search::next(&candidates, ceiling, self.searched, true);
        self.searched += 1;
        let load = match next {
            Next::Try(load) => load,
            Next::Repeat(row) => {
                let point = points.iter().find(|p| p.row == row)?;
                point.offered_per_second?
            }
            Next::Done => return None,
        };
        Some(self.load(load, slots))
    }

    fn expected(&self) -> Vec<Setting> {
        // Most drives are saturated at a few dozen operations.
        let scan = self.scan.depths().take(7);
        let mut all: Vec<Setting> = scan
            .map(|d| arrange::depth(&self.options.base, d).probe())
            .collect();
        all.push(self.ceiling_setting(32));
        let loads = LOADS.len() + self.options.base.slo.as_ref().map_or(0, |_| 9);
        all.extend((1..=loads).map(|i| self.load(1000.0 * i as f64, LEAST_SLOTS)));
        all
    }

    fn reason(&self) -> Option<String> {
        match self.stage {
            Stage::Lost => {
                Some("the closed loop completed nothing, so there is no load to offer".to_owned())
            }
            _ => None,
        }
    }
}

/// Ceilings of each mix, then loads for each, then confirmation.
struct MixPlan {
    options: CurveOptions,
    ceilings: VecDeque<Setting>,
    /// Mix and load that come next.
    next_cell: (usize, usize),
    searched: u32,
}

impl MixPlan {
    fn new(options: &CurveOptions) -> MixPlan {
        let depth = options.base.total_depth().max(1);
        let closed = arrange::depth(&options.base, depth);
        MixPlan {
            ceilings: MIXES
                .iter()
                .map(|mix| arrange::mix(closed.clone(), *mix))
                .collect(),
            next_cell: (0, 0),
            options: options.clone(),
            searched: 0,
        }
    }

    fn cell(&self, mix: u8, load: f64) -> Setting {
        let slots = slots(self.options.base.total_depth());
        arrange::mix(
            arrange::load(&self.options.base, load, slots, self.options.arrival),
            mix,
        )
    }

    /// The next cell. A mix ends at its first saturated load: further ones
    /// would only be saturated more.
    fn next_cell(&mut self, points: &[CurvePoint]) -> Option<Setting> {
        let closed = || points.iter().filter(|p| p.offered_per_second.is_none());
        let most = closed()
            .filter_map(|p| p.ops_per_second.value)
            .fold(0.0, f64::max);
        let saturated = |mix: u8| points.iter().any(|p| p.read_percent == mix && p.saturated);
        loop {
            let (at, step) = self.next_cell;
            let mix = *MIXES.get(at)?;
            match MIX_LOADS.get(step) {
                Some(percent) if !saturated(mix) && most > 0.0 => {
                    self.next_cell = (at, step + 1);
                    return Some(self.cell(mix, most * f64::from(*percent) / 100.0));
                }
                _ => self.next_cell = (at + 1, 0),
            }
        }
    }
}

impl Plan for MixPlan {
    fn next(&mut self, points: &[CurvePoint]) -> Option<Setting> {
        if let Some(setting) = self.ceilings.pop_front() {
            return Some(setting);
        }
        if let Some(setting) = self.next_cell(points) {
            return Some(setting);
        }
        self.options.base.slo.as_ref()?;
        for mix in MIXES {
            let candidates = holds::candidates(Sweep::Mix, points, mix);
            let next = search::next(&candidates, 0.0, self.searched, false);
            if let Next::Repeat(row) = next {
                self.searched += 1;
                let point = points.iter().find(|p| p.row == row)?;
                return Some(self.cell(mix, point.offered_per_second?));
            }
        }
        None
    }

    fn expected(&self) -> Vec<Setting> {
        let mut all: Vec<Setting> = self.ceilings.iter().cloned().collect();
        for mix in MIXES {
            let cells = (1..=MIX_LOADS.len()).map(|i| self.cell(mix, 1000.0 * i as f64));
            all.extend(cells);
        }
        all
    }
}
