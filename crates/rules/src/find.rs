//! Rules by what somebody typed.

use crate::TABLES;
use crate::rule::Rule;

/// Letters of an input that are compared with names.
const LETTERS: usize = 64;

/// Rules with this id or name, whatever its case. Ids of different tables may be
/// the same, as an alarm and a rule of stacks can look at one thing.
pub fn find(id_or_name: &str) -> Vec<&'static Rule> {
    let wanted = id_or_name.trim();
    let wanted_number = letters_and_number(wanted);
    let named = |rule: &&Rule| {
        let same_number = wanted_number.is_some() && wanted_number == letters_and_number(rule.id);
        let named = |own: &str| own.eq_ignore_ascii_case(wanted);
        same_number || named(rule.id) || named(rule.name)
    };
    all().filter(named).collect()
}

/// An id as it is meant: `v1` is V01.
fn letters_and_number(id: &str) -> Option<(String, u32)> {
    let digits = id.find(|c: char| c.is_ascii_digit())?;
    let (letters, number) = id.split_at(digits);
    Some((letters.to_ascii_uppercase(), number.parse().ok()?))
}

fn all() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().flat_map(|table| table.rules.iter().copied())
}

/// The rules whose id or name comes nearest to what was typed, best first, at
/// most three; empty when nothing comes near.
pub fn suggest(id_or_name: &str) -> Vec<&'static Rule> {
    let wanted: String = id_or_name
        .trim()
        .to_ascii_uppercase()
        .chars()
        .take(LETTERS)
        .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut near: Vec<(usize, &Rule)> = all()
        .filter_map(|rule| Some((nearness(&wanted, rule)?, rule)))
        .collect();
    near.sort_by_key(|(distance, rule)| (*distance, rule.id));
    near.dedup_by_key(|(_, rule)| rule.id);
    near.into_iter().take(3).map(|(_, rule)| rule).collect()
}

/// Edit distance to the id, the name or a word of the name; `None` when more
/// than a third would have to change.
fn nearness(wanted: &str, rule: &Rule) -> Option<usize> {
    let name = rule.name.to_ascii_uppercase();
    let words = name.split(['_', '-']).filter(|w| w.len() > 2);
    let contained = wanted.len() > 2 && name.contains(wanted);
    let best = [rule.id.to_ascii_uppercase().as_str(), name.as_str()]
        .into_iter()
        .chain(words)
        .map(|text| strsim::levenshtein(wanted, text))
        .min()?;
    let best = if contained { best.min(1) } else { best };
    (best <= wanted.len().div_ceil(3)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;

    #[test]
    fn rules_are_found_by_id_and_name() {
        assert_eq!(find("v01"), [check::V01]);
        assert_eq!(find("v1"), [check::V01]);
        assert_eq!(find(" little "), [check::V20]);
        assert_eq!(find("Disk-Space")[0].table, "alarm");
        let tables: Vec<&str> = find("link-below-rated").iter().map(|r| r.table).collect();
        assert_eq!(tables, ["alarm", "stack"]);
        assert!(find("V99").is_empty());
        for table in TABLES {
            for rule in table.rules {
                assert!(find(rule.id).contains(rule), "{}", rule.id);
                assert!(find(rule.name).contains(rule), "{}", rule.name);
            }
        }
    }

    #[test]
    fn near_misses_get_suggestions() {
        let first = |text: &str| suggest(text).first().map(|rule| rule.id);
        assert_eq!(first("LITLE"), Some("V20"));
        assert_eq!(first("durabillity"), Some("V07"));
        assert_eq!(first("cache"), Some("V02"));
        assert_eq!(first("disk-spcae"), Some("disk-space"));
        assert!(suggest("xyzzyplugh").is_empty());
        assert!(suggest("").is_empty());
    }
}
