//! What `%util` says, and where the length of the queue contradicts it.

use fathom_model::diagnosis::DiskLoad;

use crate::hung_device::Hang;

/// Where `%util` says something else than the queue.
pub(crate) fn contradictions(disks: &[DiskLoad], hangs: &[Hang]) -> Vec<String> {
    // The queue of a device that hangs is counted when its operations end.
    let counted = |disk: &&DiskLoad| !hangs.iter().any(|hang| hang.name == disk.name);
    let wrong = disks.iter().filter(counted).filter_map(|disk| {
        let (util, queue) = (disk.util?, disk.queue?);
        (util > 0.5 && queue < 0.5 * util).then(|| {
            format!(
                "{}: %util says {:.0} %, but {queue:.2} operations were in flight on average; with \
                 a device in use all the time there would be at least one. %util is not used",
                disk.name,
                100.0 * util
            )
        })
    });
    wrong.collect()
}
