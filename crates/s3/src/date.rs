//! The moment of a request, as SigV4 writes it.

/// A moment in UTC: `20130524T000000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    text: [u8; 16],
    unix_seconds: u64,
}

impl Stamp {
    /// Of a moment after 1970.
    pub(crate) fn of(unix_seconds: u64) -> Stamp {
        let (year, month, day) = civil(unix_seconds / 86_400);
        let second = unix_seconds % 86_400;
        let mut text = *b"00000000T000000Z";
        let parts = [
            (0, 4, year),
            (4, 2, month),
            (6, 2, day),
            (9, 2, second / 3600),
            (11, 2, second / 60 % 60),
            (13, 2, second % 60),
        ];
        for (at, width, value) in parts {
            let mut value = value;
            for digit in text[at..at + width].iter_mut().rev() {
                *digit = b'0' + (value % 10) as u8;
                value /= 10;
            }
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
        let stamp = Stamp::of(unix_seconds() + seconds_ahead);
        let part = |from: usize, to: usize| String::from_utf8_lossy(&stamp.text[from..to]);
        format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(9, 11),
            part(11, 13),
            part(13, 15)
        )
    }

    /// `YYYYMMDD`.
    pub(crate) fn day(&self) -> [u8; 8] {
        let mut day = [0; 8];
        day.copy_from_slice(&self.text[..8]);
        day
    }
}

/// Seconds since 1970 by this host's clock.
fn unix_seconds() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// Year, month and day of a number of days since 1970-01-01, after Howard
/// Hinnant's `civil_from_days`.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
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
