//! `random_distribution`: how random offsets are spread.

use super::{Wrong, not};

/// A spread of random offsets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Spread {
    Random,
    Zipf(f64),
    Pareto(f64),
    /// Standard deviation in percent.
    Normal(f64),
    /// Share of accesses and share of the range, both in percent, in the
    /// order of offsets.
    Zoned(Vec<(f64, f64)>),
    /// Share of accesses in percent, and size in bytes.
    ZonedAbsolute(Vec<(f64, u64)>),
    /// A fixed order of blocks.
    Sequence(Vec<u64>),
}

/// fio takes up to 256 zones.
const MAX_ZONES: usize = 256;
/// Blocks of a fixed order.
const MAX_BLOCKS: usize = 4096;

/// Reads `zipf:1.2`, `zoned:60/10:30/20:10/70`, …
pub(crate) fn read(text: &str) -> Result<Spread, Wrong> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    // A comma gives other kinds zones of their own, another colon a center.
    let number = |default: f64| match rest.split([':', ',']).next().unwrap_or("") {
        "" => Ok(default),
        text => match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
            _ => Err(not(text, "a number").right(word.len() + 1)),
        },
    };
    match word {
        "random" => Ok(Spread::Random),
        "zipf" => match number(1.1)? {
            theta if theta == 1.0 || theta <= 0.0 => Err(Wrong::new(
                word.len() + 1,
                "the exponent of zipf must be above 0 and not 1",
            )),
            theta => Ok(Spread::Zipf(theta)),
        },
        "pareto" => match number(0.2)? {
            h if h <= 0.0 || h >= 1.0 => Err(Wrong::new(
                word.len() + 1,
                "the skew of pareto must lie between 0 and 1",
            )),
            h => Ok(Spread::Pareto(h)),
        },
        "normal" | "gauss" => match number(50.0)? {
            d if d <= 0.0 || d > 100.0 => Err(Wrong::new(
                word.len() + 1,
                "the deviation must be above 0 and at most 100",
            )),
            d => Ok(Spread::Normal(d)),
        },
        "zoned" => zones(rest).map(Spread::Zoned),
        "zoned_abs" => absolute(rest),
        "sequence" => sequence(rest),
        _ => Err(not(
            text,
            "one of random, zipf, pareto, normal, zoned, zoned_abs",
        )),
    }
}

/// Reads `2,0,1`.
fn sequence(text: &str) -> Result<Spread, Wrong> {
    let numbers = text.split(',').map(|number| number.trim().parse().ok());
    match numbers.collect::<Option<Vec<u64>>>() {
        Some(blocks) if (1..=MAX_BLOCKS).contains(&blocks.len()) => Ok(Spread::Sequence(blocks)),
        _ => Err(not(text, "a list of up to 4096 blocks, for example 2,0,1")),
    }
}

fn parts(text: &str) -> Result<Vec<(&str, &str)>, Wrong> {
    let reads = text.split(',').next().unwrap_or("");
    let parts: Vec<(&str, &str)> = reads
        .split(':')
        .filter(|zone| !zone.is_empty())
        .map(|zone| zone.split_once('/').unwrap_or((zone, "")))
        .collect();
    match parts.len() {
        0 => Err(Wrong::new(
            0,
            "no zones are given, for example zoned:60/10:40/90",
        )),
        n if n > MAX_ZONES => Err(Wrong::new(0, format!("more than {MAX_ZONES} zones"))),
        _ => Ok(parts),
    }
}

fn share(text: &str) -> Result<Option<f64>, Wrong> {
    match text.trim().trim_end_matches('%') {
        "" => Ok(None),
        text => match text.parse::<f64>() {
            Ok(value) if (0.0..=100.0).contains(&value) => Ok(Some(value)),
            _ => Err(not(text, "a share from 0 to 100")),
        },
    }
}

/// What is not said shares what is left.
fn complete(given: &[Option<f64>], what: &str) -> Result<Vec<f64>, Wrong> {
    let sum: f64 = given.iter().flatten().sum();
    let open = given.iter().filter(|g| g.is_none()).count();
    if sum > 100.0 + 1e-9 {
        return Err(Wrong::new(
            0,
            format!("the shares of {what} add up to {sum} percent"),
        ));
    }
    if open == 0 && sum < 100.0 - 1e-9 {
        return Err(Wrong::new(
            0,
            format!("the shares of {what} add up to {sum} percent, not 100"),
        ));
    }
    let rest = (100.0 - sum) / open.max(1) as f64;
    Ok(given.iter().map(|g| g.unwrap_or(rest)).collect())
}

fn zones(text: &str) -> Result<Vec<(f64, f64)>, Wrong> {
    let parts = parts(text)?;
    let accesses: Result<Vec<_>, _> = parts.iter().map(|(a, _)| share(a)).collect();
    let sizes: Result<Vec<_>, _> = parts.iter().map(|(_, s)| share(s)).collect();
    let accesses = complete(&accesses?, "accesses")?;
    let sizes = complete(&sizes?, "sizes")?;
    Ok(accesses.into_iter().zip(sizes).collect())
}

fn absolute(text: &str) -> Result<Spread, Wrong> {
    let parts = parts(text)?;
    let accesses: Result<Vec<_>, _> = parts.iter().map(|(a, _)| share(a)).collect();
    let accesses = complete(&accesses?, "accesses")?;
    let units = super::Units { kb_base: 1024 };
    let sizes: Result<Vec<u64>, Wrong> = parts
        .iter()
        .map(|(_, size)| super::number::bytes(size, units))
        .collect();
    Ok(Spread::ZonedAbsolute(
        accesses.into_iter().zip(sizes?).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_read() {
        assert_eq!(read("random"), Ok(Spread::Random));
        assert_eq!(read("zipf:1.2"), Ok(Spread::Zipf(1.2)));
        assert_eq!(read("zipf:0.5"), Ok(Spread::Zipf(0.5)));
        assert_eq!(read("pareto"), Ok(Spread::Pareto(0.2)));
        assert_eq!(read("normal:10"), Ok(Spread::Normal(10.0)));
        assert_eq!(
            read("zoned:50/5:30/15:20/"),
            Ok(Spread::Zoned(vec![(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)]))
        );
        assert_eq!(
            read("zoned_abs:60/1g:40/2g"),
            Ok(Spread::ZonedAbsolute(vec![
                (60.0, 1 << 30),
                (40.0, 2 << 30)
            ]))
        );
        for text in [
            "zipf:1",
            "zipf:x",
            "pareto:2",
            "zoned",
            "zoned:60/10",
            "foo",
            "normal:0",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
