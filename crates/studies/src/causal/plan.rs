//! How much smaller the volume is made, and what is said before.

use fathom_model::unit;
use fathom_rules::diagnosis::smaller_volume::{
    LEAST_SHARE, MOST_SHARE, REACHES, UNEVEN, USUAL_READ_SHARE,
};

use super::part::CausalDesign;

/// The volume and the load on it, of which a part is taken away.
#[derive(Debug, Clone, PartialEq)]
pub struct SmallerVolume {
    /// Operations per second that the volume gives.
    pub operations: f64,
    /// Reads, of all operations of the load; absent where kinds are not told apart.
    pub read_share: Option<f64>,
    /// Reads and writes per second of each sample of the load.
    pub samples: Vec<[f64; 2]>,
    /// Limits that the group has already, of reads and writes.
    pub own: [Option<u64>; 2],
}

/// Limits on reads and writes would hold back what the volume does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "reads and writes come by turns, and control groups limit the two apart: a limit would hold \
     back what the volume does not"
)]
pub struct LimitsApart;

impl CausalDesign {
    /// Reads and writes per second that the group may do: the rest of what the volume
    /// gives, divided as the load divides it. Control groups limit the two apart.
    ///
    /// # Errors
    /// Such limits would hold back what the volume does not.
    pub fn limits(&self, volume: &SmallerVolume) -> Result<[u64; 2], LimitsApart> {
        let keep = 1.0 - self.throttle;
        let share = volume.read_share.unwrap_or(USUAL_READ_SHARE);
        let shares = match (LEAST_SHARE..MOST_SHARE).contains(&share) {
            true => [share, 1.0 - share],
            // What hardly comes needs no limit of its own.
            false => [1.0, 1.0],
        };
        let mut limits = [0.0; 2];
        for ((limit, share), own) in limits.iter_mut().zip(shares).zip(volume.own) {
            // A limit that the group has already is its ceiling.
            let ceiling = own.map_or(f64::MAX, |own| own as f64);
            *limit = keep * ceiling.min(share * volume.operations);
        }
        let whole = keep * volume.operations;
        let uneven = volume.samples.iter().filter(|[reads, writes]| {
            let alone = *reads > limits[0] || *writes > limits[1];
            alone && reads + writes < REACHES * whole && volume.own == [None, None]
        });
        if uneven.count() as f64 > UNEVEN * volume.samples.len() as f64 {
            return Err(LimitsApart);
        }
        Ok(limits.map(|limit| (limit.round() as u64).max(1)))
    }

    /// What will be done to a group with this limit, for who is to allow it.
    pub fn in_words(&self, group: &str, limit: &str) -> String {
        let seconds = f64::from(4 * self.blocks) * self.part_seconds;
        format!(
            "This makes the volume {:.0} % smaller for the control group {group}, on and off in turns:\n\
             \x20 - sets {limit}\n\
             \x20 - for about {}: {} blocks of four parts of {} s\n\
             \x20 - the old limit is set back in any case; after a kill `fathom clean --yes` does it\n\
             \x20 - meanwhile the application may be that much slower, half of the time\n",
            self.throttle * 100.0,
            unit::span((seconds * 1e9) as u64),
            self.blocks,
            self.part_seconds,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESIGN: CausalDesign = CausalDesign {
        blocks: 8,
        part_seconds: 5.0,
        throttle: 0.1,
        seed: 1,
    };

    fn limits(
        samples: Vec<[f64; 2]>,
        share: f64,
        own: [Option<u64>; 2],
    ) -> Result<[u64; 2], LimitsApart> {
        DESIGN.limits(&SmallerVolume {
            operations: 1_000.0,
            read_share: Some(share),
            samples,
            own,
        })
    }

    #[test]
    fn the_limit_is_a_tenth_below_the_ceiling_and_never_below_the_load() {
        let steady = || vec![[200.0, 40.0]; 20];
        assert_eq!(limits(steady(), 0.7, [None, None]), Ok([630, 270]));
        assert_eq!(limits(steady(), 1.0, [None, None]), Ok([900, 900]));
        // A limit that the group has is what it can give.
        assert_eq!(limits(steady(), 1.0, [Some(500), None]), Ok([450, 900]));
        // Reads and writes by turns, each below the ceiling.
        let turns = (0..20).map(|i| match i % 2 {
            0 => [700.0, 0.0],
            _ => [0.0, 700.0],
        });
        let turns = limits(turns.collect(), 0.5, [None, None]);
        assert_eq!(turns, Err(LimitsApart));
    }

    #[test]
    fn who_is_to_allow_it_is_told_how_long_it_takes() {
        let words = DESIGN.in_words("/db", "io.max");
        assert!(
            words.contains("10 % smaller for the control group /db"),
            "{words}"
        );
        let span = "for about 3 min: 8 blocks of four parts of 5 s";
        assert!(words.contains(span), "{words}");
    }
}
