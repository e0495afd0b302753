//! A diagnosis without the names and addresses of its owner, for tickets that
//! strangers read.

use std::net::IpAddr;

use fathom_model::diagnosis::Diagnosis;

use crate::recording::Recording;

/// Puts `host-1` for the host, `nfs-1`, `nfs-2` … for network mounts and
/// `address-1`, `address-2` … for IP addresses, the same for the same one
/// everywhere. Names of devices, programs and control groups stay: without
/// them there is no evidence.
pub fn anonymised(mut diagnosis: Diagnosis, recording: &Recording) -> Diagnosis {
    let mut words = Words::of(recording);
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
        let mounts = recording.moments.iter().flat_map(|moment| &moment.nfs);
        let mut mounts: Vec<&str> = mounts.map(|mount| mount.name.as_str()).collect();
        mounts.sort_unstable();
        mounts.dedup();
        let mut names: Vec<(String, String)> = mounts
            .into_iter()
            .zip(1..)
            .map(|(mount, number)| (mount.to_owned(), format!("nfs-{number}")))
            .collect();
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

/// `text` with `word` for each `name` that is no part of a longer one.
fn replaced(text: &str, name: &str, word: &str) -> String {
    let inside = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let after = &found[name.len()..];
        out.push_str(before);
        let alone = !out.ends_with(inside) && !after.starts_with(inside);
        out.push_str(if alone { word } else { name });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::recording::{Moment, NfsMoment, RecordedHost};

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

    proptest! {
        #[test]
        fn any_text_is_taken(text in ".{0,200}") {
            let mut words = Words::of(&recording());
            let once = words.without(&text);
            prop_assert_eq!(words.without(&once), once);
        }
    }
}
