//! Mounts that need a server or another process: whether they answer, and how many
//! wait for that. They are asked beside the frames, so that a dead one does not stop
//! the recorder.

use fathom_deadline::MountWatch;
use fathom_observe::Sysroot;

use super::Reading;
use super::mount_waiters::MountWaiters;
use crate::frame::Row;
use crate::kind::{Kind, mount};

#[derive(Debug)]
pub(super) struct Mounts {
    /// Of the running host.
    watch: Option<MountWatch>,
    waiters: MountWaiters,
}

impl Mounts {
    pub(super) fn open(sys: &Sysroot) -> Mounts {
        Mounts {
            watch: sys.is_host().then(MountWatch::start),
            waiters: MountWaiters::default(),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let mut waiting = self.waiters.count(reading);
        let answers = self.watch.iter().flat_map(MountWatch::answers);
        for (name, answer) in answers {
            let mut row = Row::absent(Kind::Mount, name.as_str().into());
            row.values[mount::SILENT] = u64::from(answer.is_err());
            if let Some(count) = waiting.remove(name.as_str()) {
                row.values[mount::WAITING] = count;
            }
            reading.rows.push(row);
        }
        for (name, count) in waiting {
            let mut row = Row::absent(Kind::Mount, name);
            row.values[mount::WAITING] = count;
            reading.rows.push(row);
        }
    }
}
