//! Orders of offsets and spreads of random ones.

use fathom_model::nearest::did_you_mean;
use fathom_model::workload::{Distribution, Pattern, SteadyFill};
use schemars::{Schema, json_schema};

use super::number::{parse_signed_size, signed_size_text, size_text};
use super::{Size, Value, zones};
use crate::node::Out;

/// Spread of random offsets.
#[derive(Debug, Clone, PartialEq)]
pub struct DistributionValue(pub Distribution);

const DISTRIBUTIONS: &str = "each_once, uniform, zipf:1.2, pareto:0.2, normal:10, hot:80/20, zoned:60/10:40/90 or \
     steady_fill:15";

const DISTRIBUTION_NAMES: [&str; 10] = [
    "each_once",
    "uniform",
    "zipf",
    "pareto",
    "normal",
    "hot",
    "zoned",
    "steady_fill",
    "sequence",
    "sequence_on",
];

const PATTERN_NAMES: [&str; 5] = ["sequential", "backwards", "strided", "skipping", "random"];

impl Value for DistributionValue {
    const KIND: &'static str = "distribution";

    fn from_text(text: &str) -> Result<Self, String> {
        let unknown = || {
            let name = text.split(':').next().unwrap_or(text);
            let meant = did_you_mean(name, DISTRIBUTION_NAMES);
            format!("'{text}' is not a known distribution; write {DISTRIBUTIONS}{meant}")
        };
        let lower = text.trim().to_ascii_lowercase();
        let (name, parameter) = match lower.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (lower.as_str(), None),
        };
        let number = |low: f64, high: f64| {
            let number = parameter.and_then(|p| p.trim().parse::<f64>().ok());
            number.filter(|n| *n > low && *n < high).ok_or_else(|| {
                format!(
                    "'{text}' needs a number above {low} and below {high}; write {DISTRIBUTIONS}"
                )
            })
        };
        Ok(DistributionValue(match (name, parameter) {
            ("each_once" | "each-once" | "random", None) => Distribution::EachOnce,
            ("uniform", None) => Distribution::Uniform,
            ("zipf", _) => Distribution::Zipf {
                theta: number(0.0, 10.0)?,
            },
            ("pareto", _) => Distribution::Pareto {
                h: number(0.0, 1.0)?,
            },
            ("normal", Some(parameter)) if parameter.contains(':') => {
                normal(parameter).ok_or_else(unknown)?
            }
            ("normal", _) => Distribution::Normal {
                deviation_percent: number(0.0, 100.0)?,
                center_percent: 50.0,
            },
            ("hot", Some(parameter)) => hot(parameter).ok_or_else(unknown)?,
            ("zoned", Some(parameter)) => Distribution::Zoned(zones::percent(parameter)?),
            ("sequence", Some(list)) => Distribution::Sequence {
                blocks: blocks(list).ok_or_else(unknown)?,
                advances: false,
            },
            ("sequence_on", Some(list)) => Distribution::Sequence {
                blocks: blocks(list).ok_or_else(unknown)?,
                advances: true,
            },
            ("steady_fill", Some(parameter)) => steady_fill(parameter).ok_or_else(unknown)?,
            ("zoned_abs", Some(parameter)) => Distribution::Zoned(zones::bytes(parameter)?),
            _ => return Err(unknown()),
        }))
    }

    fn to_out(&self) -> Out {
        Out::Text(match &self.0 {
            Distribution::EachOnce => "each_once".to_owned(),
            Distribution::Uniform => "uniform".to_owned(),
            Distribution::Zipf { theta } => format!("zipf:{theta}"),
            Distribution::Pareto { h } => format!("pareto:{h}"),
            Distribution::Normal {
                deviation_percent,
                center_percent,
            } => match *center_percent == 50.0 {
                true => format!("normal:{deviation_percent}"),
                false => format!("normal:{deviation_percent}:{center_percent}"),
            },
            Distribution::Zoned(zones) => zones::text(zones),
            Distribution::Sequence { blocks, advances } => {
                let list: Vec<String> = blocks.iter().map(u64::to_string).collect();
                let on = if *advances { "_on" } else { "" };
                format!("sequence{on}:{}", list.join(","))
            }
            Distribution::SteadyFill(fill) => steady_fill_text(fill),
            Distribution::HotSpot {
                access_percent,
                size_percent,
            } => format!("hot:{access_percent}/{size_percent}"),
        })
    }

    fn example() -> &'static str {
        "zipf:1.2"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "each_once (every block once per pass), uniform, zipf:THETA, pareto:H, normal:DEVIATION, normal:DEVIATION:CENTER, hot:ACCESSES/SIZE, zoned:ACCESSES/SIZE:… in percent, zoned_abs:ACCESSES/SIZE:… with sizes such as 10g, sequence:BLOCK,BLOCK,… (sequence_on goes on behind them each time), or steady_fill:PERCENT, steady_fill:PERCENT/REGIONS, steady_fill:PERCENT/REGIONS/later (one filling after which an SSD with that over-provisioning is as long random writing leaves it).",
            "type": "string",
            "pattern": "^(each_once|each-once|random|uniform|zipf:[0-9.]+|pareto:[0-9.]+|normal:[0-9.]+(:[0-9.]+)?|hot:[0-9.]+/[0-9.]+|zoned:[0-9./:]+|zoned_abs:.+|sequence(_on)?:[0-9]+(,[0-9]+)*|steady_fill:[0-9.]+(/[0-9]+(/later)?)?)$"
        })
    }
}

/// `10:25`: deviation and place of the middle, in percent.
fn normal(parameter: &str) -> Option<Distribution> {
    let (deviation, center) = parameter.split_once(':')?;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    Some(Distribution::Normal {
        deviation_percent: number(deviation).filter(|d| *d > 0.0 && *d < 100.0)?,
        center_percent: number(center).filter(|c| (0.0..=100.0).contains(c))?,
    })
}

/// Regions of a filling, where nothing is said.
const REGIONS: u32 = 100;
const MOST_REGIONS: u32 = 1_000_000;

/// `15`, `15/400` or `15/400/later`: over-provisioning in percent, regions,
/// whether rewrites wait for one region.
fn steady_fill(parameter: &str) -> Option<Distribution> {
    let mut parts = parameter.split('/').map(str::trim);
    let percent = parts.next()?.parse::<f64>().ok();
    let over_provisioning_percent = percent.filter(|p| *p > 0.0 && *p < 100.0)?;
    let regions = match parts.next() {
        Some(text) => text.parse().ok()?,
        None => REGIONS,
    };
    let later = match parts.next() {
        Some("later") => true,
        None => false,
        Some(_) => return None,
    };
    let whole = (1..=MOST_REGIONS).contains(&regions) && parts.next().is_none();
    whole.then_some(Distribution::SteadyFill(SteadyFill {
        over_provisioning_percent,
        regions,
        later,
    }))
}

fn steady_fill_text(fill: &SteadyFill) -> String {
    let percent = fill.over_provisioning_percent;
    match (fill.regions, fill.later) {
        (REGIONS, false) => format!("steady_fill:{percent}"),
        (regions, false) => format!("steady_fill:{percent}/{regions}"),
        (regions, true) => format!("steady_fill:{percent}/{regions}/later"),
    }
}

/// Blocks of a given order.
const MOST_BLOCKS: usize = 4096;

/// `2,0,1`.
fn blocks(list: &str) -> Option<Vec<u64>> {
    let numbers = list.split(',').map(|number| number.trim().parse().ok());
    let blocks: Vec<u64> = numbers.collect::<Option<_>>()?;
    (1..=MOST_BLOCKS).contains(&blocks.len()).then_some(blocks)
}

fn hot(parameter: &str) -> Option<Distribution> {
    let (access, size) = parameter.split_once('/')?;
    let percent = |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number.filter(|n| *n > 0.0 && *n < 100.0)
    };
    Some(Distribution::HotSpot {
        access_percent: percent(access)?,
        size_percent: percent(size)?,
    })
}

/// Order of offsets as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternValue {
    /// One block after the other.
    Sequential,
    /// From the end to the beginning.
    Backwards,
    /// One block each so many bytes.
    Strided(u64),
    /// So many bytes left out after each block.
    Skipping(i64),
    /// As the distribution says.
    Random,
}

impl PatternValue {
    pub(crate) fn pattern(self, distribution: Distribution) -> Pattern {
        match self {
            PatternValue::Sequential => Pattern::Sequential,
            PatternValue::Backwards => Pattern::Backwards,
            PatternValue::Strided(stride_bytes) => Pattern::Strided { stride_bytes },
            PatternValue::Skipping(skip_bytes) => Pattern::Skipping { skip_bytes },
            PatternValue::Random => Pattern::Random(distribution),
        }
    }
}

impl Value for PatternValue {
    const KIND: &'static str = "pattern";

    fn from_text(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        match lower.as_str() {
            "sequential" | "seq" => return Ok(PatternValue::Sequential),
            "backwards" | "backward" => return Ok(PatternValue::Backwards),
            "random" | "rand" => return Ok(PatternValue::Random),
            _ => {}
        }
        if let Some(stride) = lower.strip_prefix("strided:") {
            return Size::from_text(stride).map(|Size(bytes)| PatternValue::Strided(bytes));
        }
        if let Some(skip) = lower.strip_prefix("skipping:") {
            return match parse_signed_size(skip)? {
                0 => Err("a skip of 0 is the pattern sequential".to_owned()),
                skip => Ok(PatternValue::Skipping(skip)),
            };
        }
        Err(format!(
            "'{text}' is not a known pattern; write sequential, backwards, strided:64k, \
             skipping:4k or random{}",
            did_you_mean(lower.split(':').next().unwrap_or(&lower), PATTERN_NAMES)
        ))
    }

    fn to_out(&self) -> Out {
        Out::Text(match self {
            PatternValue::Sequential => "sequential".to_owned(),
            PatternValue::Backwards => "backwards".to_owned(),
            PatternValue::Strided(bytes) => format!("strided:{}", size_text(*bytes)),
            PatternValue::Skipping(bytes) => format!("skipping:{}", signed_size_text(*bytes)),
            PatternValue::Random => "random".to_owned(),
        })
    }

    fn example() -> &'static str {
        "backwards"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "sequential, backwards, strided:DISTANCE, skipping:GAP or random.",
            "type": "string",
            "pattern": "^(sequential|seq|backwards?|strided:.+|skipping:-?.+|random|rand)$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back_as_written() {
        for text in [
            "each_once",
            "uniform",
            "zipf:1.2",
            "pareto:0.2",
            "normal:10",
            "hot:80/20",
            "steady_fill:15",
            "steady_fill:21.5/400",
            "steady_fill:7/100/later",
        ] {
            assert_eq!(DistributionValue::from_text(text).unwrap().to_text(), text);
        }
        for text in ["sequential", "backwards", "strided:64k", "random"] {
            assert_eq!(PatternValue::from_text(text).unwrap().to_text(), text);
        }
    }

    #[test]
    fn parameters_are_bounded() {
        for text in [
            "zipf",
            "zipf:0",
            "zipf:nan",
            "pareto:1",
            "normal:-1",
            "hot:80",
            "hot:0/20",
            "steady_fill",
            "steady_fill:0",
            "steady_fill:15/0",
            "steady_fill:15/100/soon",
        ] {
            assert!(DistributionValue::from_text(text).is_err(), "{text}");
        }
    }
}
