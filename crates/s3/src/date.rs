//! The moment of a request, as SigV4 writes it.

use jiff::Timestamp;

/// A moment in UTC: `20130524T000000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    text: [u8; 16],
    unix_seconds: u64,
}

impl Stamp {
    /// Of a moment after 1970.
    pub(crate) fn of(unix_seconds: u64) -> Stamp {
        let mut text = *b"00000000T000000Z";
        let written = moment(unix_seconds).strftime("%Y%m%dT%H%M%SZ").to_string();
        // Years have four digits until 9999.
        if written.len() == text.len() {
            text.copy_from_slice(written.as_bytes());
        }
        Stamp { text, unix_seconds }
    }

    /// Of now.
    pub(crate) fn now() -> Stamp {
        Stamp::of(unix_seconds())
    }

    /// The same, brought up to now.
    pub(crate) fn again(self) -> Stamp {
        match unix_seconds() {
            same if same == self.unix_seconds => self,
            other => Stamp::of(other),
        }
    }

    /// `YYYYMMDDTHHMMSSZ`.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// This many seconds from now on, as documents have it:
    /// `YYYY-MM-DDTHH:MM:SSZ`.
    pub fn in_document(seconds_ahead: u64) -> String {
        let then = moment(unix_seconds().saturating_add(seconds_ahead));
        then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// `YYYYMMDD`.
    pub(crate) fn day(&self) -> [u8; 8] {
        let mut day = [0; 8];
        day.copy_from_slice(&self.text[..8]);
        day
    }
}

/// Seconds since 1970 by this host's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "signatures carry the date; the client knows no other crate"
)]
fn unix_seconds() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// The moment so many seconds after 1970.
fn moment(unix_seconds: u64) -> Timestamp {
    let seconds = i64::try_from(unix_seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_amazon_does() {
        let text = |seconds| String::from_utf8(Stamp::of(seconds).text().to_vec()).unwrap();
        assert_eq!(text(0), "19700101T000000Z");
        assert_eq!(text(1_369_353_600), "20130524T000000Z");
        assert_eq!(text(951_782_399), "20000228T235959Z");
        assert_eq!(text(1_709_210_096), "20240229T123456Z");
        assert_eq!(&Stamp::of(1_369_353_600).day(), b"20130524");
    }
}
