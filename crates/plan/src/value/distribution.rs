//! Orders of offsets and spreads of random ones.

use fathom_model::workload::{Distribution, Pattern};
use schemars::{Schema, json_schema};

use super::number::size_text;
use super::{Size, Value};
use crate::node::Out;

/// Spread of random offsets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DistributionValue(pub(crate) Distribution);

const DISTRIBUTIONS: &str = "each_once, uniform, zipf:1.2, pareto:0.2, normal:10 or hot:80/20";

impl Value for DistributionValue {
    const KIND: &'static str = "distribution";

    fn from_text(text: &str) -> Result<Self, String> {
        let unknown = || format!("'{text}' is not a known distribution; write {DISTRIBUTIONS}");
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
            ("normal", _) => Distribution::Normal {
                deviation_percent: number(0.0, 100.0)?,
            },
            ("hot", Some(parameter)) => hot(parameter).ok_or_else(unknown)?,
            ("zoned" | "zoned_abs", _) => {
                return Err(format!(
                    "'{text}' is not supported; hot:80/20 sends 80 % of accesses to the first 20 %"
                ));
            }
            _ => return Err(unknown()),
        }))
    }

    fn to_out(&self) -> Out {
        Out::Text(match self.0 {
            Distribution::EachOnce => "each_once".to_owned(),
            Distribution::Uniform => "uniform".to_owned(),
            Distribution::Zipf { theta } => format!("zipf:{theta}"),
            Distribution::Pareto { h } => format!("pareto:{h}"),
            Distribution::Normal { deviation_percent } => format!("normal:{deviation_percent}"),
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
            "description": "each_once (every block once per pass), uniform, zipf:THETA, pareto:H, normal:PERCENT or hot:ACCESSES/SIZE.",
            "type": "string",
            "pattern": "^(each_once|each-once|random|uniform|zipf:[0-9.]+|pareto:[0-9.]+|normal:[0-9.]+|hot:[0-9.]+/[0-9.]+)$"
        })
    }
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
pub(crate) enum PatternValue {
    Sequential,
    Backwards,
    Strided(u64),
    Random,
}

impl PatternValue {
    pub(crate) fn pattern(self, distribution: Distribution) -> Pattern {
        match self {
            PatternValue::Sequential => Pattern::Sequential,
            PatternValue::Backwards => Pattern::Backwards,
            PatternValue::Strided(stride_bytes) => Pattern::Strided { stride_bytes },
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
        match lower.strip_prefix("strided:") {
            Some(stride) => Size::from_text(stride).map(|Size(bytes)| PatternValue::Strided(bytes)),
            None => Err(format!(
                "'{text}' is not a known pattern; write sequential, backwards, strided:64k or random"
            )),
        }
    }

    fn to_out(&self) -> Out {
        Out::Text(match self {
            PatternValue::Sequential => "sequential".to_owned(),
            PatternValue::Backwards => "backwards".to_owned(),
            PatternValue::Strided(bytes) => format!("strided:{}", size_text(*bytes)),
            PatternValue::Random => "random".to_owned(),
        })
    }

    fn example() -> &'static str {
        "backwards"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "sequential, backwards, strided:DISTANCE or random.",
            "type": "string",
            "pattern": "^(sequential|seq|backwards?|strided:.+|random|rand)$"
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
        ] {
            assert!(DistributionValue::from_text(text).is_err(), "{text}");
        }
    }
}
