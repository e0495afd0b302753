//! The attributes of ATA drives. Their numbers are by agreement, their names are
//! those of smartmontools' database, and raw values are packed as each vendor
//! likes; so the first number of the text that smartctl made of a raw value
//! counts, and names decide where two vendors mean two things by a number.

use serde_json::Value;

/// Names whose normalised value is the percent of life that is left.
const LEFT_AS_VALUE: [&str; 5] = [
    "Wear_Leveling_Count",
    "Media_Wearout_Indicator",
    "Percent_Lifetime_Remain",
    "Percent_Lifetime_Used",
    "Perc_Rated_Life_Remain",
];
/// Names whose raw value is the percent of life that is left.
const LEFT_AS_RAW: [&str; 4] = [
    "SSD_Life_Left",
    "Remaining_Lifetime_Perc",
    "Percent_Life_Remaining",
    "Perc_Write/Erase_Ct_BC",
];

/// One attribute.
struct Attribute<'a> {
    id: u64,
    name: &'a str,
    /// Normalised, from 253 downwards.
    value: u64,
    /// The first number of the raw value.
    raw: Option<u64>,
    fails_now: bool,
}

/// The table of a drive; empty for drives without one.
pub(super) struct Attributes<'a>(Vec<Attribute<'a>>);

impl<'a> Attributes<'a> {
    pub(super) fn of(value: &'a Value) -> Attributes<'a> {
        let table = value
            .pointer("/ata_smart_attributes/table")
            .and_then(Value::as_array);
        Attributes(table.into_iter().flatten().filter_map(attribute).collect())
    }

    fn raw(&self, id: u64, named: impl Fn(&str) -> bool) -> Option<u64> {
        let mut found = self.0.iter();
        found.find(|one| one.id == id && named(one.name))?.raw
    }

    /// Whether one is at its threshold now.
    pub(super) fn fails_now(&self) -> bool {
        self.0.iter().any(|one| one.fails_now)
    }

    /// Attribute 5. Blocks that flash retires are another thing.
    pub(super) fn reallocated(&self) -> Option<u64> {
        self.raw(5, |name| name.starts_with("Reallocated"))
    }

    pub(super) fn pending(&self) -> Option<u64> {
        self.raw(197, |name| name.contains("Pending"))
    }

    pub(super) fn offline_uncorrectable(&self) -> Option<u64> {
        self.raw(198, |name| name.contains("Uncorrect"))
    }

    pub(super) fn uncorrected(&self) -> Option<u64> {
        self.raw(187, |name| name.contains("Uncorrect"))
    }

    pub(super) fn interface_crc(&self) -> Option<u64> {
        self.raw(199, |name| name.contains("CRC"))
    }

    /// Percent of the rated writes that are used up.
    pub(super) fn percentage_used(&self) -> Option<u64> {
        let left = |one: &Attribute<'_>| {
            let known = |names: &[&str]| names.contains(&one.name);
            let left = match (known(&LEFT_AS_RAW), known(&LEFT_AS_VALUE)) {
                // Some vendors leave the normalised value at 100.
                (true, _) => one.raw.map_or(one.value, |raw| raw.min(one.value)),
                (_, true) => one.value,
                _ => return None,
            };
            (left <= 100).then_some(100 - left)
        };
        self.0.iter().filter_map(left).max()
    }
}

fn attribute(row: &Value) -> Option<Attribute<'_>> {
    let text = row.pointer("/raw/string").and_then(Value::as_str);
    let digits = text.map(|text| {
        let end = text.find(|c: char| !c.is_ascii_digit());
        text[..end.unwrap_or(text.len())].parse().ok()
    });
    let plain = || row.pointer("/raw/value").and_then(Value::as_u64);
    Some(Attribute {
        id: row.get("id")?.as_u64()?,
        name: row.get("name").and_then(Value::as_str).unwrap_or_default(),
        value: row.get("value").and_then(Value::as_u64)?,
        raw: digits.flatten().or_else(plain),
        fails_now: row.get("when_failed").and_then(Value::as_str) == Some("now"),
    })
}
