//! A diagnosis without the names and addresses of its owner, for tickets that
//! strangers read.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use fathom_model::diagnosis::Diagnosis;

use crate::recording::Recording;

/// The words that stand for control groups: `group-1`, `group-2` …
#[derive(Debug, Clone, Default)]
pub struct GroupWords {
    names: Vec<String>,
}

impl GroupWords {
    /// Puts them into a recording, before it is judged: in a sentence a name of a
    /// group is not told from any other word. Those that have a limit come first,
    /// then those that moved most.
    pub fn put_into(recording: &mut Recording) -> GroupWords {
        let mut known: BTreeMap<String, (bool, f64)> = BTreeMap::new();
        for quota in recording.moments.iter().flat_map(|m| &m.quotas) {
            known.entry(quota.name.clone()).or_default().0 = true;
        }
        for group in recording.moments.iter().flat_map(|m| &m.groups) {
            let (limited, bytes) = known.entry(group.name.clone()).or_default();
            *limited |= group.limit_used.is_some();
            *bytes += group.bytes();
        }
        let mut order: Vec<(String, (bool, f64))> = known.into_iter().collect();
        order.sort_by(|(_, a), (_, b)| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
        let mut words = GroupWords {
            names: order.into_iter().map(|(name, _)| name).collect(),
        };
        words.names.retain(|name| !is_root(name));
        for group in recording.moments.iter_mut().flat_map(|m| &mut m.groups) {
            group.name = words.word(&group.name);
        }
        for quota in recording.moments.iter_mut().flat_map(|m| &mut m.quotas) {
            quota.name = words.word(&quota.name);
        }
        words
    }

    fn word(&mut self, name: &str) -> String {
        if is_root(name) {
            return name.to_owned();
        }
        let known = self.names.iter().position(|n| n == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        format!("group-{}", number + 1)
    }
}

/// The group above all others, which every host has.
fn is_root(name: &str) -> bool {
    name.trim_matches('/').is_empty()
}

/// Puts `recording-1`, `recording-2` … for names of files in the remarks of a
/// recording: a recorder names its files after the host.
pub fn without_file_names(recording: &mut Recording, files: &[String]) {
    let names = files.iter().zip(1..);
    let names = names.map(|(file, number)| (file.clone(), format!("recording-{number}")));
    let mut words = Words::named(names.collect());
    for remark in &mut recording.remarks {
        *remark = words.without(remark);
    }
}

/// Puts `host-1` for the host, `nfs-1`, `nfs-2` … and `mount-1` … for mounts and
/// `address-1`, `address-2` … for IP addresses, the same for the same one
/// everywhere; `groups` are those that were put into the recording. Names of
/// devices and processes stay: without them there is no evidence.
pub fn anonymised(
    mut diagnosis: Diagnosis,
    recording: &Recording,
    mut groups: GroupWords,
) -> Diagnosis {
    let mut words = Words::of(recording);
    if let Some(test) = &mut diagnosis.causal {
        test.group = groups.word(&test.group);
    }
    let Diagnosis {
        host,
        evidence,
        settle,
        sources,
        remarks,
        ceiling,
        calibration,
        ..
    } = &mut diagnosis;
    if let Some(calibration) = calibration {
        calibration.target = "volume-1".to_owned();
    }
    let lists = [evidence, settle, sources, remarks];
    let texts = lists.into_iter().flatten();
    let of_ceiling = ceiling.as_mut().map(|used| &mut used.source);
    for text in texts.chain(of_ceiling).chain([host]) {
        *text = words.without(text);
    }
    diagnosis
}

/// What stands for what.
pub(crate) struct Words {
    /// Longer names first: one may be a part of another.
    names: Vec<(String, String)>,
    addresses: Vec<IpAddr>,
}

impl Words {
    fn of(recording: &Recording) -> Words {
        let moments = &recording.moments;
        let nfs = moments.iter().flat_map(|moment| &moment.nfs);
        let nfs: BTreeSet<&str> = nfs.map(|mount| mount.name.as_str()).collect();
        let others = moments.iter().flat_map(|moment| &moment.waited_mounts);
        let others: BTreeSet<&str> = others.map(|mount| mount.name.as_str()).collect();
        let nfs = nfs.into_iter().zip(1..);
        let nfs = nfs.map(|(mount, number)| (mount.to_owned(), format!("nfs-{number}")));
        let others = others.into_iter().zip(1..);
        let others = others.map(|(mount, number)| (mount.to_owned(), format!("mount-{number}")));
        let mut names: Vec<(String, String)> = nfs.chain(others).collect();
        let host = recording.host.name.iter();
        names.extend(host.map(|name| (name.clone(), "host-1".to_owned())));
        Words::named(names)
    }

    /// These words for these names.
    pub(crate) fn named(mut names: Vec<(String, String)>) -> Words {
        names.retain(|(name, _)| !name.is_empty());
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Words {
            names,
            addresses: Vec::new(),
        }
    }

    /// The text with a word for each name and address.
    pub(crate) fn without(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, word) in &self.names {
            text = replaced(&text, name, word);
        }
        self.without_addresses(&text)
    }

    fn without_addresses(&mut self, text: &str) -> String {
        let part_of_one = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(begin) = rest.find(part_of_one) {
            out.push_str(&rest[..begin]);
            let length = rest[begin..]
                .find(|c| !part_of_one(c))
                .unwrap_or(rest.len() - begin);
            let (run, after) = rest[begin..].split_at(length);
            out.push_str(&self.without_address(run));
            rest = after;
        }
        out + rest
    }

    /// A run of characters of which addresses are made, which may end with
    /// the point or colon of a sentence, or with a port.
    fn without_address(&mut self, run: &str) -> String {
        if let Ok(address) = run.parse::<IpAddr>() {
            return self.word_of(address);
        }
        let bare = run.trim_end_matches(['.', ':']);
        let tail = &run[bare.len()..];
        if let Ok(address) = bare.parse::<IpAddr>() {
            return self.word_of(address) + tail;
        }
        let before_port = bare.rsplit_once(':');
        match before_port.and_then(|(host, port)| Some((host.parse::<IpAddr>().ok()?, port))) {
            Some((address, port)) => format!("{}:{port}{tail}", self.word_of(address)),
            None => run.to_owned(),
        }
    }

    fn word_of(&mut self, address: IpAddr) -> String {
        let known = self.addresses.iter().position(|a| *a == address);
        let number = known.unwrap_or_else(|| {
            self.addresses.push(address);
            self.addresses.len() - 1
        });
        format!("address-{}", number + 1)
    }
}

/// Digits of a date: files are named after their host and the day.
const DATE_DIGITS: usize = 8;

/// `text` with `word` for each `name` that is no part of a longer one; a date
/// behind a name does not make a longer one of it.
fn replaced(text: &str, name: &str, word: &str) -> String {
    let inside = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let after = &found[name.len()..];
        out.push_str(before);
        let dated = after.strip_prefix('-').is_some_and(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit);
            digits.count() == DATE_DIGITS
        });
        let alone = !out.ends_with(inside) && (dated || !after.starts_with(inside));
        out.push_str(if alone { word } else { name });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::recording::{DoerMoment, Moment, NfsMoment, RecordedHost};

    fn recording() -> Recording {
        let mount = |name: &str| NfsMoment {
            name: name.to_owned(),
            ..NfsMoment::default()
        };
        Recording {
            host: RecordedHost {
                name: Some("cubes".to_owned()),
                ..RecordedHost::default()
            },
            moments: vec![Moment {
                nfs: vec![mount("filer:/vol on /mnt"), mount("10.0.0.7:/vol on /data")],
                ..Moment::default()
            }],
            ..Recording::default()
        }
    }

    #[test]
    fn names_and_addresses_are_gone_and_the_rest_is_not() {
        let mut words = Words::of(&recording());
        for (text, wanted) in [
            ("cubes, 32 CPUs", "host-1, 32 CPUs"),
            ("cubes-2 and icecubes stay", "cubes-2 and icecubes stay"),
            (
                "cubes-20261121-153000.frec is damaged",
                "host-1-20261121-153000.frec is damaged",
            ),
            ("filer:/vol on /mnt: 3.5 in flight", "nfs-2: 3.5 in flight"),
            ("10.0.0.7:/vol on /data: slow", "nfs-1: slow"),
            (
                "from 192.168.1.20:2049, then 192.168.1.20.",
                "from address-1:2049, then address-1.",
            ),
            ("fe80::1 and ::1", "address-2 and address-3"),
            (
                "sda: 0.11 of 1.2.3 at 12:30:45",
                "sda: 0.11 of 1.2.3 at 12:30:45",
            ),
        ] {
            assert_eq!(words.without(text), wanted);
        }
    }

    #[test]
    fn control_groups_have_numbers_and_the_root_stays() {
        let group = |name: &str, limit_used, bytes| DoerMoment {
            name: name.to_owned(),
            limit_used,
            read_bytes: bytes,
            ..DoerMoment::default()
        };
        let mut recording = recording();
        recording.moments[0].groups = vec![
            group("a", None, 9.0),
            group("acme/shop", Some(1.0), 1.0),
            group("/", None, 5.0),
        ];
        let before = recording.clone();
        let mut words = GroupWords::put_into(&mut recording);
        let groups = recording.moments[0].groups.iter();
        let names: Vec<&str> = groups.map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["group-2", "group-1", "/"]);
        assert_eq!(words.word("acme/shop"), "group-1");
        assert_eq!(words.word("another"), "group-3");
        assert_eq!(recording.host, before.host);
    }

    #[test]
    fn files_in_remarks_have_numbers() {
        let mut recording = recording();
        recording.remarks = vec![
            "acme7.frec is damaged; acme7.1.frec is not".to_owned(),
            "another part (acme7.1.frec) lies beside".to_owned(),
        ];
        let files = ["acme7.1.frec", "acme7.frec"].map(str::to_owned);
        without_file_names(&mut recording, &files);
        assert_eq!(
            recording.remarks,
            [
                "recording-2 is damaged; recording-1 is not",
                "another part (recording-1) lies beside"
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in ".{0,200}") {
            let mut words = Words::of(&recording());
            let once = words.without(&text);
            prop_assert_eq!(words.without(&once), once);
        }
    }
}
