//! Values of several parts: names between colons, three values between
//! commas, ranges, weights, CPUs.

use super::number::{self, SECOND_NS};
use super::{Units, Wrong, not};

/// Parts of one value; fio takes up to 64 block sizes and 20 percentiles.
const MAX_PARTS: usize = 10_000;
/// CPU numbers above this are a typing mistake.
const MAX_CPU: u32 = 8191;

/// Values for reads, writes and trims; `None` where nothing was said.
pub(crate) type Three<T> = [Option<T>; 3];

/// Cuts at a separator, each part with its character.
fn cut(text: &str, separator: char) -> Result<Vec<(usize, &str)>, Wrong> {
    let mut at = 0;
    let mut parts = Vec::new();
    for part in text.split(separator) {
        if parts.len() >= MAX_PARTS {
            return Err(Wrong::new(at, "there are too many parts"));
        }
        parts.push((at, part));
        at += part.chars().count() + 1;
    }
    Ok(parts)
}

/// Names between colons; `\:` is a colon and `\\` a backslash.
pub(crate) fn names(text: &str) -> Result<Vec<String>, Wrong> {
    let mut names = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next_if(|next| matches!(next, ':' | '\\')) {
                Some(escaped) => push(&mut names, escaped),
                None => push(&mut names, '\\'),
            },
            ':' => names.push(String::new()),
            '\0' => return Err(Wrong::new(0, "a name has a NUL")),
            c => push(&mut names, c),
        }
        if names.len() > MAX_PARTS {
            return Err(Wrong::new(
                0,
                format!("there are more than {MAX_PARTS} names"),
            ));
        }
    }
    let names: Vec<String> = names.iter().map(|n| n.trim().to_owned()).collect();
    let names: Vec<String> = names.into_iter().filter(|n| !n.is_empty()).collect();
    match names.iter().find(|name| name.len() > 4095) {
        Some(_) => Err(Wrong::new(0, "a name is longer than the system allows")),
        None if names.is_empty() => Err(Wrong::new(0, "it names nothing")),
        None => Ok(names),
    }
}

fn push(names: &mut [String], c: char) {
    if let Some(name) = names.last_mut() {
        name.push(c);
    }
}

/// Up to three values between commas. A last value without a comma after it
/// counts for the kinds that follow; an empty one leaves the default.
pub(crate) fn three<T: Clone>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Wrong>,
) -> Result<Three<T>, Wrong> {
    let parts = cut(text, ',')?;
    if parts.len() > 3 {
        let at = parts.get(3).map_or(0, |(at, _)| *at);
        return Err(Wrong::new(
            at,
            "there are at most three values: reads, writes, trims",
        ));
    }
    let mut values: Vec<Option<T>> = Vec::new();
    for (at, part) in &parts {
        values.push(match part.trim().is_empty() {
            true => None,
            false => Some(read(part).map_err(|wrong| wrong.right(*at))?),
        });
    }
    if values.iter().all(Option::is_none) {
        return Err(Wrong::new(0, "it needs a value"));
    }
    let last = values.last().cloned().flatten();
    values.resize(3, last);
    let [reads, writes, trims] = [values[0].clone(), values[1].clone(), values[2].clone()];
    Ok([reads, writes, trims])
}

/// `4k-16k` or `4k:16k` in bytes, the smaller first; one size is both ends.
pub(crate) fn range(text: &str, units: Units) -> Result<(u64, u64), Wrong> {
    let (low, high) = ends(text, |t| number::bytes(t, units))?;
    Ok((low.min(high), low.max(high)))
}

/// `5` or `5-10` in nanoseconds; a bare number counts seconds.
pub(crate) fn time_range(text: &str) -> Result<(u64, u64), Wrong> {
    let (low, high) = ends(text, |t| number::time_ns(t, SECOND_NS))?;
    Ok((low.min(high), low.max(high)))
}

fn ends<T: Copy>(text: &str, read: impl Fn(&str) -> Result<T, Wrong>) -> Result<(T, T), Wrong> {
    match text
        .char_indices()
        .skip(1)
        .find(|(_, c)| matches!(c, '-' | ':'))
    {
        Some((at, _)) => {
            let low = read(&text[..at])?;
            let shift = text[..at].chars().count() + 1;
            let high = read(&text[at + 1..]).map_err(|wrong| wrong.right(shift))?;
            Ok((low, high))
        }
        None => read(text).map(|both| (both, both)),
    }
}

/// `4k/60:64k/40` as bytes and percent. Sizes without a share have what is
/// left in equal parts.
pub(crate) fn split(text: &str, units: Units) -> Result<Vec<(u64, u32)>, Wrong> {
    let mut sizes: Vec<(u64, Option<u32>)> = Vec::new();
    for (at, part) in cut(text, ':')? {
        let (size, share) = match part.split_once('/') {
            Some((size, share)) => (size, Some(share.trim()).filter(|s| !s.is_empty())),
            None => (part, None),
        };
        let bytes = number::bytes(size, units).map_err(|wrong| wrong.right(at))?;
        let share = match share {
            None => None,
            Some(share) => match share.trim_end_matches('%').parse::<u32>() {
                Ok(share @ 0..=100) => Some(share),
                _ => return Err(not(share, "a share from 0 to 100").right(at)),
            },
        };
        sizes.push((bytes, share));
    }
    let given: u32 = sizes.iter().filter_map(|(_, share)| *share).sum();
    let open = u32::try_from(sizes.iter().filter(|(_, s)| s.is_none()).count()).unwrap_or(u32::MAX);
    if given > 100 {
        return Err(Wrong::new(
            0,
            format!("the shares add up to {given} percent"),
        ));
    }
    if open == 0 && given < 100 {
        let message = format!("the shares add up to {given} percent, not 100");
        return Err(Wrong::new(0, message));
    }
    let rest = (100 - given) / open.max(1);
    let sizes = sizes
        .into_iter()
        .map(|(bytes, s)| (bytes, s.unwrap_or(rest)));
    let sizes: Vec<(u64, u32)> = sizes.filter(|(_, share)| *share > 0).collect();
    match sizes.is_empty() {
        true => Err(Wrong::new(0, "no size has a share above 0")),
        false => Ok(sizes),
    }
}

/// Numbers between colons.
pub(crate) fn floats(text: &str) -> Result<Vec<f64>, Wrong> {
    let number = |(at, part): (usize, &str)| match part.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(not(part, "a number").right(at)),
    };
    cut(text, ':')?.into_iter().map(number).collect()
}

/// `0-3,8` as a list of CPUs.
pub(crate) fn cpus(text: &str) -> Result<Vec<u32>, Wrong> {
    let mut cpus = Vec::new();
    for (at, part) in cut(text, ',')? {
        let part = part.trim();
        let (low, high) = part.split_once(['-', ':']).unwrap_or((part, part));
        let number = |text: &str| match text.trim().parse::<u32>() {
            Ok(cpu) if cpu <= MAX_CPU => Ok(cpu),
            _ => Err(not(text, "the number of a CPU").right(at)),
        };
        let (low, high) = (number(low)?, number(high)?);
        if cpus.len() > MAX_CPU as usize {
            return Err(Wrong::new(at, "there are too many CPUs"));
        }
        cpus.extend(low.min(high)..=low.max(high));
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: Units = Units { kb_base: 1024 };

    #[test]
    fn names_between_colons() {
        assert_eq!(names("/dev/a:/dev/b").unwrap(), ["/dev/a", "/dev/b"]);
        assert_eq!(names(r"/dev/bsg/0\:0\:0\:0").unwrap(), ["/dev/bsg/0:0:0:0"]);
        assert_eq!(names(r"a\b").unwrap(), [r"a\b"]);
        assert_eq!(names("a::b:").unwrap(), ["a", "b"]);
        assert!(names(":").is_err());
        assert!(names(&":".repeat(20_000)).is_err());
    }

    #[test]
    fn three_values_follow_fios_rule_of_the_last_comma() {
        let read = |text| three(text, |t| number::bytes(t, UNITS)).unwrap();
        let k = |n: u64| Some(n << 10);
        assert_eq!(read("4k"), [k(4), k(4), k(4)]);
        assert_eq!(read("4k,8k"), [k(4), k(8), k(8)]);
        assert_eq!(read("4k,8k,"), [k(4), k(8), None]);
        assert_eq!(read(",8k"), [None, k(8), k(8)]);
        assert_eq!(read(",8k,"), [None, k(8), None]);
        let wrong = three("4k,x", |t| number::bytes(t, UNITS)).unwrap_err();
        assert_eq!(wrong.at, 3);
        assert!(three("1,2,3,4", |t| number::bytes(t, UNITS)).is_err());
        assert!(three(",,", |t| number::bytes(t, UNITS)).is_err());
    }

    #[test]
    fn ranges_weights_and_cpus() {
        assert_eq!(range("16k-4k", UNITS), Ok((4096, 16384)));
        assert_eq!(range("4k:16k", UNITS), Ok((4096, 16384)));
        assert_eq!(time_range("5-10"), Ok((5 * SECOND_NS, 10 * SECOND_NS)));
        assert_eq!(split("4k/10:64k/50:32k/40", UNITS).unwrap().len(), 3);
        assert_eq!(
            split("4k/50:8k:16k", UNITS).unwrap(),
            [(4096, 50), (8192, 25), (16384, 25)]
        );
        assert_eq!(split("64k/100:1024k/0", UNITS).unwrap(), [(65536, 100)]);
        assert!(split("4k/60:8k/60", UNITS).is_err());
        assert!(split("4k/60", UNITS).is_err());
        assert_eq!(cpus("0-2,5").unwrap(), [0, 1, 2, 5]);
        assert!(cpus("0-99999").is_err());
        assert_eq!(floats("99:99.9").unwrap(), [99.0, 99.9]);
        assert!(floats("99:x").is_err());
    }
}
