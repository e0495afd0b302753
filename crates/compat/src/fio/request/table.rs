//! Every option name of fio as data: kind of value, fio's default, and what
//! becomes of it here.
//!
//! The rows stand in `options/main.txt` and `options/engines.txt`; names,
//! kinds and defaults are those of fio 3.42.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioOption {
    /// The name that results use.
    pub name: &'static str,
    /// Other names of the same option.
    pub aliases: Vec<&'static str>,
    /// What its value looks like.
    pub kind: FioKind,
    /// fio's default as text; `None` when there is none.
    pub default: Option<&'static str>,
    /// What becomes of it, unless the mapping of a job says otherwise.
    pub fate: FioFate,
    /// Group of related options; for those of engines the engine.
    pub group: &'static str,
    /// Whether it belongs to an engine.
    pub of_engine: bool,
}

/// What becomes of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FioFate {
    /// It is done as asked.
    Run(&'static str),
    /// Something of the same meaning is done.
    Mapped(&'static str),
    /// It is left out, and why.
    Ignored(&'static str),
    /// A job with it cannot run, and what to do instead.
    Refused(&'static str),
    /// It belongs to an engine that fathom does not have.
    OtherEngine(&'static str),
}

/// What a value looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FioKind {
    /// Any text.
    Text,
    /// Texts between colons; `\:` is a colon.
    List,
    /// A text that may be missing.
    Name,
    /// One of these words.
    Choice(Vec<&'static str>),
    /// 0 or 1.
    Bool,
    /// May stand without a value; 0 or 1 otherwise.
    Flag,
    /// A number.
    Int,
    /// Numbers for reads, writes and trims.
    Int3,
    /// Bytes.
    Size,
    /// Bytes for reads, writes and trims.
    Size3,
    /// Bytes, a share in percent, or zones.
    SizeZone,
    /// Bytes, or from-to.
    Range,
    /// Ranges of bytes for reads, writes and trims.
    Range3,
    /// Sizes by weight for reads, writes and trims.
    Split3,
    /// Numbers between colons.
    Floats,
    /// A time; a bare number counts seconds.
    Time,
    /// A time or from-to; a bare number counts seconds.
    TimeRange,
    /// A time; a bare number counts microseconds.
    TimeMicro,
    /// Up to three times; a bare number counts microseconds.
    TimeMicro3,
    /// Kinds and order of operations.
    Rw,
    /// Name of an engine.
    Engine,
    /// How files are chosen.
    Service,
    /// How random offsets are spread.
    Distribution,
    /// Method of verification.
    Verify,
    /// Bytes.
    Pattern,
    /// Criterion of the steady state.
    Steady,
    /// Modes of `sync_file_range` and a number of writes.
    RangeSync,
    /// CPUs.
    Cpus,
    /// fio accepts and forgets it.
    Gone,
}

impl FioKind {
    /// Whether the option may stand without a value.
    pub fn may_be_bare(&self) -> bool {
        matches!(self, FioKind::Flag | FioKind::Name | FioKind::Gone)
    }

    fn parse(text: &'static str) -> Option<FioKind> {
        if let Some(words) = text.strip_prefix("choice(") {
            return Some(FioKind::Choice(
                words.strip_suffix(')')?.split(' ').collect(),
            ));
        }
        Some(match text {
            "text" => FioKind::Text,
            "list" => FioKind::List,
            "name" => FioKind::Name,
            "bool" => FioKind::Bool,
            "flag" => FioKind::Flag,
            "int" => FioKind::Int,
            "int3" => FioKind::Int3,
            "size" => FioKind::Size,
            "size3" => FioKind::Size3,
            "size_zone" => FioKind::SizeZone,
            "range" => FioKind::Range,
            "range3" => FioKind::Range3,
            "split3" => FioKind::Split3,
            "floats" => FioKind::Floats,
            "time" => FioKind::Time,
            "time_range" => FioKind::TimeRange,
            "time_us" => FioKind::TimeMicro,
            "time_us3" => FioKind::TimeMicro3,
            "rw" => FioKind::Rw,
            "engine" => FioKind::Engine,
            "service" => FioKind::Service,
            "distribution" => FioKind::Distribution,
            "verify" => FioKind::Verify,
            "pattern" => FioKind::Pattern,
            "steady" => FioKind::Steady,
            "range_sync" => FioKind::RangeSync,
            "cpus" => FioKind::Cpus,
            "gone" => FioKind::Gone,
            _ => return None,
        })
    }

    /// In words, with the unit of a bare number.
    pub fn words(&self) -> String {
        let words = match self {
            FioKind::Choice(words) => return words.join(", "),
            FioKind::Text => "text",
            FioKind::List => "texts between colons",
            FioKind::Name => "text, or nothing",
            FioKind::Bool => "0 or 1",
            FioKind::Flag => "nothing, 0 or 1",
            FioKind::Int => "number",
            FioKind::Int3 => "up to 3 numbers",
            FioKind::Size => "bytes",
            FioKind::Size3 => "up to 3 sizes in bytes",
            FioKind::SizeZone => "bytes, percent or zones",
            FioKind::Range => "bytes, or from-to",
            FioKind::Range3 => "up to 3 ranges in bytes",
            FioKind::Split3 => "size/percent between colons, up to 3",
            FioKind::Floats => "numbers between colons",
            FioKind::Time => "time; bare: seconds",
            FioKind::TimeRange => "time or from-to; bare: seconds",
            FioKind::TimeMicro => "time; bare: microseconds",
            FioKind::TimeMicro3 => "up to 3 times; bare: microseconds",
            FioKind::Rw => "read, write, randread, …",
            FioKind::Engine => "name of an engine",
            FioKind::Service => "random, roundrobin, sequential, …",
            FioKind::Distribution => "random, zipf:θ, …",
            FioKind::Verify => "name of a method",
            FioKind::Pattern => "bytes",
            FioKind::Steady => "criterion:limit",
            FioKind::RangeSync => "modes between commas:number",
            FioKind::Cpus => "CPUs, for example 0-3,8",
            FioKind::Gone => "anything",
        };
        words.to_owned()
    }
}

/// All options in the order of the table.
pub fn fio_options() -> &'static [FioOption] {
    static TABLE: OnceLock<Vec<FioOption>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut rows = Vec::new();
        read(include_str!("options/main.txt"), false, &mut rows);
        read(include_str!("options/engines.txt"), true, &mut rows);
        rows
    })
}

fn read(text: &'static str, of_engine: bool, rows: &mut Vec<FioOption>) {
    let mut group = "";
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("== ") {
            group = heading;
        } else if !line.starts_with('#')
            && let Some(row) = row(line, group, of_engine)
        {
            rows.push(row);
        }
    }
}

fn row(line: &'static str, group: &'static str, of_engine: bool) -> Option<FioOption> {
    let mut cells = line.splitn(5, '|').map(str::trim);
    let mut names = cells.next()?.split(',').map(str::trim);
    let name = names.next()?;
    let kind = FioKind::parse(cells.next()?)?;
    let default = cells.next().filter(|text| *text != "-");
    let how = cells.next()?;
    let remark = cells.next()?;
    Some(FioOption {
        name,
        aliases: names.collect(),
        kind,
        default,
        fate: match how {
            "run" => FioFate::Run(remark),
            "map" => FioFate::Mapped(remark),
            "ignore" => FioFate::Ignored(remark),
            "refuse" => FioFate::Refused(remark),
            "other" => FioFate::OtherEngine(remark),
            _ => return None,
        },
        group,
        of_engine,
    })
}

/// The option of a name or alias.
pub fn fio_option(name: &str) -> Option<&'static FioOption> {
    static INDEX: OnceLock<BTreeMap<&'static str, &'static FioOption>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let names = |option: &'static FioOption| {
            let all = std::iter::once(option.name).chain(option.aliases.iter().copied());
            all.map(move |name| (name, option))
        };
        fio_options().iter().flat_map(names).collect()
    });
    index.get(name).copied()
}

/// The name that a misspelt one most probably means.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    let names = fio_options().iter();
    let names = names.flat_map(|o| std::iter::once(o.name).chain(o.aliases.iter().copied()));
    fathom_model::nearest::nearest(name, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_every_name_is_there_once() {
        let lines = |text: &str| {
            let rows = text.lines().filter(|l| l.contains('|'));
            rows.filter(|l| !l.starts_with('#')).count()
        };
        let main = lines(include_str!("options/main.txt"));
        let engines = lines(include_str!("options/engines.txt"));
        assert_eq!(main, 251, "fio's main options");
        assert_eq!(fio_options().len(), main + engines);
        let mut seen = BTreeMap::new();
        for option in fio_options() {
            for name in std::iter::once(option.name).chain(option.aliases.iter().copied()) {
                assert!(seen.insert(name, option.name).is_none(), "{name} twice");
            }
        }
        assert_eq!(fio_option("blocksize").unwrap().name, "bs");
        assert_eq!(fio_option("fdatsync"), None);
        assert_eq!(meant("fdatsync"), Some("fdatasync"));
        assert_eq!(meant("iodetph"), Some("iodepth"));
    }
}
