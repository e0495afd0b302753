//! A histogram between two processes: non-empty buckets as gaps, with their
//! counts and the exact fields. What comes in is checked, whoever sent it.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BUCKETS, Histogram, LAYOUT_VERSION};

/// No histogram holds more values: at 100 million operations per second this
/// is a month.
const MAX_COUNT: u64 = 1 << 48;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    /// Version of the bucket layout.
    layout: u8,
    /// The first non-empty bucket, then the distance from each to the next.
    steps: Vec<u16>,
    counts: Vec<u64>,
    sum: u128,
    min: u64,
    max: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    squares: Option<u128>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut before = 0;
        let mut text = Text {
            layout: LAYOUT_VERSION,
            steps: Vec::new(),
            counts: Vec::new(),
            sum: self.sum(),
            min: self.min().unwrap_or(0),
            max: self.max().unwrap_or(0),
            squares: self.squares(),
        };
        for (bucket, count) in self.buckets() {
            // There are fewer than 65,536 buckets.
            text.steps.push((bucket - before) as u16);
            text.counts.push(count);
            before = bucket;
        }
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
        let text = Text::deserialize(deserializer)?;
        checked(text).ok_or_else(|| D::Error::custom("a histogram contradicts itself"))
    }
}

fn checked(text: Text) -> Option<Histogram> {
    let sizes_fit = text.steps.len() == text.counts.len() && text.steps.len() <= BUCKETS;
    if text.layout != LAYOUT_VERSION || !sizes_fit {
        return None;
    }
    let mut total = 0u64;
    for count in &text.counts {
        total = total.checked_add(*count).filter(|sum| *sum <= MAX_COUNT)?;
    }
    let least = u128::from(text.min) * u128::from(total);
    let most = u128::from(text.max) * u128::from(total);
    if text.sum < least || text.sum > most {
        return None;
    }
    let mut bucket = 0usize;
    let mut buckets = Vec::with_capacity(text.steps.len());
    for (at, (step, count)) in text.steps.iter().zip(&text.counts).enumerate() {
        if at > 0 && *step == 0 {
            return None;
        }
        bucket += usize::from(*step);
        buckets.push((bucket, *count));
    }
    let histogram = Histogram::from_parts(buckets, text.sum, text.min, text.max)?;
    Some(match text.squares {
        Some(squares) => histogram.with_squares(squares),
        None => histogram,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Histogram, serde_json::Error> {
        serde_json::from_str(text)
    }

    proptest! {
        #[test]
        fn comes_back_as_it_was(values in prop::collection::vec(any::<u64>(), 0..200)) {
            let mut histogram = Histogram::new();
            for value in values {
                histogram.record(value);
            }
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(read(&text).unwrap(), histogram);
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let text = |steps: &str, counts: &str, sum: &str| {
            let exact = format!("\"sum\":{sum},\"min\":5,\"max\":7");
            format!("{{\"layout\":1,\"steps\":{steps},\"counts\":{counts},{exact}}}")
        };
        assert_eq!(read(&text("[5,2]", "[1,1]", "12")).unwrap().count(), 2);
        for wrong in [
            text("[5]", "[1,1]", "12"),
            text("[5,0]", "[1,1]", "12"),
            text("[5,2]", "[1,0]", "12"),
            text("[5,3]", "[1,1]", "12"),
            text("[5,65535]", "[1,1]", "12"),
            text("[5,2]", "[1,1]", "15"),
            text("[5,2]", "[1,1]", "9"),
            text("[5,2]", "[1,18446744073709551615]", "12"),
            text("[5,2]", "[1,1]", "12").replace("\"layout\":1", "\"layout\":2"),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }
}
