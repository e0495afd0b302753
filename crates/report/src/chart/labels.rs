//! Where the words of a chart's guides stand: beside their lines, over no other words and
//! no point, and over as little of the lines as there is room for.
//!
//! Letters are taken to be as large as on a phone, where they are largest.

use fathom_model::view::plot::{Guide, Plot};

use super::svg;

/// Between a line and its words.
const GAP: f64 = 3.0;
/// What letters take above and below their base line.
const ABOVE: f64 = 12.0;
const BELOW: f64 = 4.0;
/// Half of what the marker of a point takes.
const MARKER: f64 = 4.5;
/// Between two places of a line that are looked at.
const STEP: f64 = 5.0;
/// How much worse it is to cover words than a point, and a point than a line.
const WORDS: usize = 10_000;
const POINT: usize = 100;
/// Shares of a slanted line at which its words may stand, the best first.
const ALONG: [f64; 6] = [1.0, 0.85, 0.7, 0.55, 0.4, 0.25];

/// Where words stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    pub(super) x: f64,
    /// Of their base line.
    pub(super) y: f64,
    /// Which part of the words is at `x`.
    pub(super) anchor: &'static str,
}

/// A part of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn around(x: f64, y: f64, half: f64) -> Area {
        Area {
            left: x - half,
            right: x + half,
            top: y - half,
            bottom: y + half,
        }
    }

    fn of(spot: Spot, width: f64) -> Area {
        let left = match spot.anchor {
            "start" => spot.x,
            "end" => spot.x - width,
            _ => spot.x - width / 2.0,
        };
        Area {
            left,
            right: left + width,
            top: spot.y - ABOVE,
            bottom: spot.y + BELOW,
        }
    }

    fn meets(&self, other: &Area) -> bool {
        let beside = self.right <= other.left || other.right <= self.left;
        let apart = self.bottom <= other.top || other.bottom <= self.top;
        !beside && !apart
    }

    fn is_inside(&self) -> bool {
        self.left >= svg::LEFT && self.right <= svg::WIDTH && self.top >= 0.0
    }
}

/// What is on a chart already.
pub(super) struct Labels {
    words: Vec<Area>,
    points: Vec<Area>,
    lines: Vec<Area>,
}

impl Labels {
    /// A chart with its data and guides, and no words yet.
    pub(super) fn of(plot: &Plot) -> Labels {
        let place = |x: f64, y: f64| (svg::x(&plot.x, x), svg::y(&plot.y, y));
        let mut found = Labels {
            words: Vec::new(),
            points: Vec::new(),
            lines: Vec::new(),
        };
        for series in &plot.series {
            for point in &series.points {
                let (x, y) = place(point.x, point.y);
                found.points.push(Area::around(x, y, MARKER));
                if let Some((low, high)) = point.interval {
                    let ends = [place(point.x, low), place(point.x, high)];
                    found.lines.extend(along(ends));
                }
            }
            for pair in series.points.windows(2) {
                let ends = [place(pair[0].x, pair[0].y), place(pair[1].x, pair[1].y)];
                found.lines.extend(along(ends));
            }
        }
        let guides = plot.guides.iter();
        found
            .lines
            .extend(guides.flat_map(|guide| along(ends(guide, plot))));
        found
    }

    /// The best place for the words of a guide, which then stand there.
    pub(super) fn place(&mut self, guide: &Guide, plot: &Plot) -> Spot {
        let width = guide.label.chars().count() as f64 * svg::WIDEST_LETTER + GAP;
        let spots = spots(guide, plot).into_iter();
        let inside = spots
            .clone()
            .filter(|spot| Area::of(*spot, width).is_inside());
        let inside: Vec<Spot> = inside.collect();
        let mut spots = spots.collect::<Vec<Spot>>();
        if !inside.is_empty() {
            spots = inside;
        }
        // Of places that are as good the first one is taken.
        let best = spots
            .iter()
            .copied()
            .min_by_key(|spot| self.cost(&Area::of(*spot, width)));
        let best = best.unwrap_or(Spot {
            x: svg::RIGHT,
            y: svg::TOP + ABOVE,
            anchor: "end",
        });
        self.words.push(Area::of(best, width));
        best
    }

    /// How bad it is to cover an area.
    fn cost(&self, area: &Area) -> usize {
        let met = |of: &[Area]| of.iter().filter(|other| area.meets(other)).count();
        WORDS * met(&self.words) + POINT * met(&self.points) + met(&self.lines)
    }
}

/// Where a guide begins and ends.
pub(super) fn ends(guide: &Guide, plot: &Plot) -> [(f64, f64); 2] {
    let at = |(x, y): (f64, f64)| (svg::x(&plot.x, x), svg::y(&plot.y, y));
    [at(guide.from), at(guide.to)]
}

/// Places of a line, close to one another.
fn along([from, to]: [(f64, f64); 2]) -> Vec<Area> {
    let (wide, high) = (to.0 - from.0, to.1 - from.1);
    let steps = (wide.hypot(high) / STEP).ceil().max(1.0);
    let areas = (0..=steps as u32).map(|step| {
        let share = f64::from(step) / steps;
        Area::around(from.0 + wide * share, from.1 + high * share, 0.5)
    });
    areas.collect()
}

/// The places at which the words of a guide may stand, the best first.
fn spots(guide: &Guide, plot: &Plot) -> Vec<Spot> {
    let [from, to] = ends(guide, plot);
    if guide.from.0 == guide.to.0 {
        return beside(to.0);
    }
    if guide.from.1 == guide.to.1 {
        return above_and_below(to.1);
    }
    let spots = ALONG.into_iter().map(|share| Spot {
        x: from.0 + (to.0 - from.0) * share - GAP,
        y: (from.1 + (to.1 - from.1) * share - GAP).max(svg::TOP + 8.0),
        anchor: "end",
    });
    spots.collect()
}

/// Beside an upright line, from the top down.
fn beside(x: f64) -> Vec<Spot> {
    let lines = ((svg::BOTTOM - svg::TOP) / svg::HIGHEST_LINE) as u32;
    let spots = (0..lines).flat_map(|line| {
        let y = svg::TOP + 10.0 + f64::from(line) * svg::HIGHEST_LINE;
        [(x + GAP, "start"), (x - GAP, "end")].map(|(x, anchor)| Spot { x, y, anchor })
    });
    spots.collect()
}

/// Above a level line, and below it: at its end, its begin and its middle.
fn above_and_below(y: f64) -> Vec<Spot> {
    let middle = (svg::LEFT + svg::RIGHT) / 2.0;
    let places = [
        (svg::RIGHT - GAP, "end"),
        (svg::LEFT + GAP, "start"),
        (middle, "middle"),
    ];
    let spots = [y - BELOW - 0.5, y + ABOVE + 0.5]
        .into_iter()
        .flat_map(|y| places.map(|(x, anchor)| Spot { x, y, anchor }));
    spots.collect()
}

#[cfg(test)]
mod tests {
    use fathom_model::view::axis::{Axis, Quantity};
    use fathom_model::view::plot::{LineKind, PlotPoint, PlotSeries, Sign};

    use super::*;

    fn plot(points: &[(f64, f64)]) -> Plot {
        let point = |(x, y): &(f64, f64)| PlotPoint {
            x: *x,
            y: *y,
            interval: None,
            sign: Sign::Plain,
            after_gap: false,
            hint: String::new(),
        };
        Plot {
            title: "p99 by load".to_owned(),
            x: Axis::linear(Quantity::Count, 100.0, 4),
            y: Axis::linear(Quantity::Count, 100.0, 4),
            x_title: "load",
            y_title: "p99".to_owned(),
            series: vec![PlotSeries {
                name: "p99",
                kind: LineKind::P99,
                points: points.iter().map(point).collect(),
            }],
            guides: Vec::new(),
        }
    }

    fn guide(from: (f64, f64), to: (f64, f64), label: &str) -> Guide {
        Guide {
            from,
            to,
            label: label.to_owned(),
            strong: true,
        }
    }

    #[test]
    fn words_cover_no_words_and_no_points() {
        // Close to one another at the top right, where the curve rises.
        let rising: Vec<(f64, f64)> = (0..20).map(|at| (70.0 + f64::from(at), 99.0)).collect();
        let mut plot = plot(&rising);
        plot.guides = vec![
            guide((0.0, 98.0), (100.0, 98.0), "p99<2ms"),
            guide((86.0, 0.0), (86.0, 100.0), "maximum"),
            guide((87.0, 0.0), (87.0, 100.0), "holds"),
        ];
        let mut labels = Labels::of(&plot);
        let spots: Vec<Spot> = plot
            .guides
            .iter()
            .map(|of| labels.place(of, &plot))
            .collect();
        for (at, words) in labels.words.iter().enumerate() {
            let mut others = labels.words.iter().enumerate().filter(|(i, _)| *i != at);
            assert!(!others.any(|(_, other)| words.meets(other)), "{spots:?}");
            let mut points = labels.points.iter();
            assert!(!points.any(|point| words.meets(point)), "{spots:?}");
            assert!(words.is_inside(), "{spots:?}");
        }
    }

    #[test]
    fn words_stand_at_the_top_and_the_right_where_that_is_free() {
        let mut plot = plot(&[(5.0, 5.0)]);
        plot.guides = vec![
            guide((50.0, 0.0), (50.0, 100.0), "knee 8"),
            guide((0.0, 60.0), (100.0, 60.0), "p99<2ms"),
        ];
        let mut labels = Labels::of(&plot);
        let knee = labels.place(&plot.guides[0], &plot);
        assert_eq!((knee.y, knee.anchor), (svg::TOP + 10.0, "start"));
        let bound = labels.place(&plot.guides[1], &plot);
        assert_eq!((bound.x, bound.anchor), (svg::RIGHT - GAP, "end"));
    }
}
