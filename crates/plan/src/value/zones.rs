//! Zones of a zoned distribution: `60/10:30/20:10/70`, accesses and size each.

use fathom_model::workload::{Zone, ZoneSize};

use super::number::size_text;
use super::{Size, Value};

/// At most this many zones.
const MAX_ZONES: usize = 256;
/// How far the accesses may be from 100 in total, for thirds and the like.
const SLACK_PERCENT: f64 = 0.01;

/// Zones with sizes in percent of the accessed range.
pub(super) fn percent(text: &str) -> Result<Vec<Zone>, String> {
    let mut parts = parts(text)?;
    share_out(&mut parts, |part| &mut part.0);
    share_out(&mut parts, |part| &mut part.1);
    let total: f64 = parts.iter().filter_map(|(_, size)| *size).sum();
    if total > 100.0 + SLACK_PERCENT {
        return Err(format!(
            "the zones of '{text}' take {total} % of the target, more than there is"
        ));
    }
    let zones = parts.into_iter().map(|(access, size)| Zone {
        access_percent: access.unwrap_or(0.0),
        size: ZoneSize::Percent(size.unwrap_or(0.0)),
    });
    check(text, zones.collect())
}

/// Zones with sizes in bytes.
pub(super) fn bytes(text: &str) -> Result<Vec<Zone>, String> {
    let zones = split(text)?.map(|part| {
        let (access, size) = part.split_once('/').ok_or_else(|| explain(part))?;
        Ok(Zone {
            access_percent: number(access).ok_or_else(|| explain(part))?,
            size: ZoneSize::Bytes(Size::from_text(size)?.0),
        })
    });
    check(text, zones.collect::<Result<_, String>>()?)
}

/// As it is written in a plan.
pub(super) fn text(zones: &[Zone]) -> String {
    let in_bytes = zones.iter().any(|z| matches!(z.size, ZoneSize::Bytes(_)));
    let parts = zones.iter().map(|zone| match zone.size {
        ZoneSize::Percent(size) => format!("{}/{size}", zone.access_percent),
        ZoneSize::Bytes(bytes) => format!("{}/{}", zone.access_percent, size_text(bytes)),
    });
    let name = if in_bytes { "zoned_abs" } else { "zoned" };
    format!("{name}:{}", parts.collect::<Vec<_>>().join(":"))
}

fn explain(part: &str) -> String {
    format!(
        "'{part}' is not a zone; write accesses/size in percent, for example \
         zoned:60/10:30/20:10/70"
    )
}

fn split(text: &str) -> Result<impl Iterator<Item = &str>, String> {
    if text.split(':').count() > MAX_ZONES {
        return Err(format!("more than {MAX_ZONES} zones"));
    }
    Ok(text.split(':').map(str::trim))
}

fn number(text: &str) -> Option<f64> {
    let number = text.trim().trim_end_matches('%').parse::<f64>().ok();
    number.filter(|n| (0.0..=100.0).contains(n))
}

/// Accesses and size of a zone, where they are given.
type Written = (Option<f64>, Option<f64>);

fn parts(text: &str) -> Result<Vec<Written>, String> {
    split(text)?
        .map(|part| {
            let (access, size) = part.split_once('/').unwrap_or((part, ""));
            let read = |text: &str| match text.trim() {
                "" => Ok(None),
                text => number(text).map(Some).ok_or_else(|| explain(part)),
            };
            Ok((read(access)?, read(size)?))
        })
        .collect()
}

/// What was left out gets equal parts of what is left of 100.
fn share_out(parts: &mut [Written], field: impl Fn(&mut Written) -> &mut Option<f64>) {
    let (mut given, mut missing) = (0.0, 0u32);
    for part in parts.iter_mut() {
        match field(part) {
            Some(share) => given += *share,
            None => missing += 1,
        }
    }
    let each = (100.0 - given).max(0.0) / f64::from(missing.max(1));
    for part in parts.iter_mut() {
        field(part).get_or_insert(each);
    }
}

fn check(text: &str, zones: Vec<Zone>) -> Result<Vec<Zone>, String> {
    let total: f64 = zones.iter().map(|zone| zone.access_percent).sum();
    if (total - 100.0).abs() > SLACK_PERCENT {
        return Err(format!(
            "the accesses of '{text}' add up to {total} %, not 100 %"
        ));
    }
    let empty = |zone: &Zone| match zone.size {
        ZoneSize::Percent(percent) => percent <= 0.0,
        ZoneSize::Bytes(bytes) => bytes == 0,
    };
    // A zone without accesses is a hole, which may have any size.
    if zones.iter().any(|z| z.access_percent > 0.0 && empty(z)) {
        return Err(format!("a zone of '{text}' has accesses and no size"));
    }
    Ok(zones)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read_back_as_written() {
        let zones = percent("60/10:30/20:8/30:2/40").unwrap();
        assert_eq!(zones.len(), 4);
        assert_eq!(text(&zones), "zoned:60/10:30/20:8/30:2/40");
        let zones = bytes("60/20g:30/100g:10/500g").unwrap();
        assert_eq!(text(&zones), "zoned_abs:60/20g:30/100g:10/500g");
    }

    #[test]
    fn what_is_left_out_is_shared_evenly() {
        let zones = percent("60/10:40").unwrap();
        assert_eq!(text(&zones), "zoned:60/10:40/90");
        let zones = percent("50/:/").unwrap();
        assert_eq!(text(&zones), "zoned:50/50:50/50");
    }

    #[test]
    fn impossible_zones_are_explained() {
        for (text, hint) in [
            ("60/10:30/20", "add up to 90"),
            ("50/60:50/60", "more than there is"),
            ("100/0", "no size"),
            ("x/10:100/90", "not a zone"),
            ("-5/10:105/90", "not a zone"),
            ("nan/10:100/90", "not a zone"),
        ] {
            let message = percent(text).unwrap_err();
            assert!(message.contains(hint), "{text}: {message}");
        }
        assert!(bytes("100").unwrap_err().contains("not a zone"));
        assert!(bytes("100/0").unwrap_err().contains("no size"));
        assert!(percent(&"1/1:".repeat(300)).unwrap_err().contains("256"));
    }
}
