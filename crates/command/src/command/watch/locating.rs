//! Where devices are mounted and what they lie on, read beside the screen: a mount
//! that does not respond must not hold it up.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use fathom_observe::{DevicePlace, Sysroot, device_places};

/// Devices come and go seldom.
const EVERY: Duration = Duration::from_secs(30);

type Places = BTreeMap<String, DevicePlace>;

/// What the thread has found.
pub(super) struct Locating {
    found: Receiver<Places>,
}

impl Locating {
    /// Starts to look. Without a thread nothing is found, and the rest is shown.
    pub(super) fn start() -> Locating {
        let (sender, found) = mpsc::sync_channel(1);
        let look = move || {
            while sender.send(device_places(&Sysroot::host())).is_ok() {
                std::thread::sleep(EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("locating".to_owned());
        let _ = thread.spawn(look);
        Locating { found }
    }

    /// The latest places, where there are new ones.
    pub(super) fn latest(&self) -> Option<Places> {
        self.found.try_iter().last()
    }

    /// The first places, if they come in this time.
    pub(super) fn first(&self, patience: Duration) -> Option<Places> {
        self.found.recv_timeout(patience).ok()
    }
}
