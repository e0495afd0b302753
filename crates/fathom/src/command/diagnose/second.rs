//! Several recordings: which is of the real load, which of a test load, and
//! which say more about the same time.

use fathom_diagnose::recording::Recording;
use fathom_diagnose::{join, same_host, same_time};

/// The real load with all that was seen beside it, and the test load.
pub(super) fn sort(
    recordings: Vec<(String, Recording)>,
) -> Result<(Recording, Option<Recording>), String> {
    let has_disks = |r: &Recording| r.moments.iter().any(|m| !m.disks.is_empty());
    let (with_disks, without): (Vec<_>, Vec<_>) =
        recordings.into_iter().partition(|(_, r)| has_disks(r));
    let mut with_disks = with_disks.into_iter();
    let mut others = without.into_iter();
    let Some((_, mut load)) = with_disks.next().or_else(|| others.next()) else {
        return Err("no recording was given".to_owned());
    };
    let second = with_disks.next();
    if let Some((name, _)) = with_disks.next() {
        return Err(format!(
            "{name}: a third recording with devices; give one of the real load and one of a test \
             load"
        ));
    }
    let others: Vec<_> = others.collect();
    for (name, other) in second.iter().chain(&others) {
        if !same_host(&load, other) {
            let of = |r: &Recording| r.host.name.clone().unwrap_or_default();
            return Err(format!(
                "{name}: it is of {}, and the recording of the load of {}; give recordings of one \
                 host",
                of(other),
                of(&load)
            ));
        }
    }
    let test = match second {
        Some((_, same)) if same_time(&load, &same) => {
            join(&mut load, &same);
            load.remarks.push(
                "the second recording with devices is of the same time as the first, and so none of \
                 a test load; what the first does not hold is taken from it"
                    .to_owned(),
            );
            None
        }
        second => second.map(|(_, recording)| recording),
    };
    for (_, other) in others {
        join(&mut load, &other);
    }
    Ok((load, test))
}
