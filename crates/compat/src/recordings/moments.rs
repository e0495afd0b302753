//! What the moments of a recording have in common, whichever tool wrote them.

use fathom_diagnose::recording::{Moment, Recording};

/// Most devices in one moment; input with more is rejected.
pub(crate) const MOST_DISKS: usize = 10_000;

/// Lengths of moments that say their time, by the distance from the one before.
pub(crate) fn fill_lengths(moments: &mut [Moment]) {
    let times: Vec<_> = moments.iter().map(|m| m.at).collect();
    for (index, moment) in moments.iter_mut().enumerate() {
        let before = index.checked_sub(1).and_then(|i| times[i]);
        if let (None, Some(before), Some(at)) = (moment.seconds, before, moment.at) {
            let seconds = at.duration_since(before).as_secs_f64();
            moment.seconds = (seconds > 0.0 && seconds < 86_400.0).then_some(seconds);
        }
    }
}

/// Leaves out the mean since the host was started, unless `-y` did so.
pub(crate) fn leave_out_first(recording: &mut Recording, by: &str, without_mean: bool) {
    let words = match (without_mean, recording.moments.len()) {
        (true, _) => {
            let second = recording.moments.get(1).and_then(|m| m.seconds);
            if let Some(first) = recording.moments.first_mut() {
                first.seconds = first.seconds.or(second);
            }
            return;
        }
        (false, 0 | 1) => format!(
            "there is one sample only: the mean since the host started, unless {by} ran with -y"
        ),
        (false, _) => {
            recording.moments.remove(0);
            format!(
                "the first sample is left out: it is the mean since the host started, unless {by} \
                 ran with -y"
            )
        }
    };
    recording.remarks.push(words);
}
