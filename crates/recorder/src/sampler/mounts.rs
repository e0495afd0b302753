//! Mounts that need a server or another process, and whether they answer. They
//! are asked beside the frames, so that a dead one does not stop the recorder.

use fathom_deadline::MountWatch;
use fathom_observe::Sysroot;

use super::Reading;
use crate::frame::Row;
use crate::kind::Kind;

#[derive(Debug)]
pub(super) struct Mounts {
    /// Of the running host.
    watch: Option<MountWatch>,
}

impl Mounts {
    pub(super) fn open(sys: &Sysroot) -> Mounts {
        Mounts {
            watch: sys.is_host().then(MountWatch::start),
        }
    }

    pub(super) fn read(&self, reading: &mut Reading<'_>) {
        let answers = self.watch.iter().flat_map(MountWatch::answers);
        reading.rows.extend(answers.map(|(name, answer)| Row {
            kind: Kind::Mount,
            name: name.into(),
            values: vec![u64::from(answer.is_err())],
        }));
    }
}
