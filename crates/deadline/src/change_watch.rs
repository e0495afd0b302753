//! Reports a file system that is held up while another thread changes it and waits.
//!
//! A file system on a device that hangs answers questions from its caches, and
//! blocks every sync. So a request of the same kind is watched.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::bounded_call::NotResponding;
use crate::mount_table::MountTable;

/// What is over after this time was not held up.
const BEGIN_AFTER: Duration = Duration::from_millis(200);
/// A request may take this long before it is told of.
const PATIENCE: Duration = Duration::from_secs(2);
/// Distance of two lines.
const AGAIN: Duration = Duration::from_secs(10);
/// Distance of two requests that were answered.
const EVERY: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Watches a file system until it is dropped.
#[derive(Debug)]
pub struct ChangeWatch {
    _ends: Sender<()>,
}

impl ChangeWatch {
    /// Watches the file system of `path`. `tell` is given a line once a request
    /// has not been answered for 2 s, again every 10 s, and when it has been.
    pub fn start(path: &Path, tell: impl Fn(&str) + Send + 'static) -> ChangeWatch {
        let (ends, ended) = channel();
        let path = path.to_owned();
        let thread = std::thread::Builder::new().name("fathom-changes".to_owned());
        // Without a thread nothing is told. It is never joined.
        let _ = thread.spawn(move || watch(&path, &ended, &tell));
        ChangeWatch { _ends: ends }
    }
}

/// What is known of the request that is under way.
enum News {
    /// The mount that it is made to.
    Entered(String),
    /// A mount on the way does not answer.
    Silent(NotResponding),
}

fn watch(path: &Path, ended: &Receiver<()>, tell: &dyn Fn(&str)) {
    let mut name = path.display().to_string();
    let mut pause = BEGIN_AFTER;
    let mut held: Option<HeldRequest> = None;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let begun = Instant::now();
        let Some(news) = request(path) else {
            return;
        };
        let mut silent = false;
        loop {
            match news.recv_timeout(LOOK_EVERY) {
                Ok(News::Entered(mount)) => name = mount,
                Ok(News::Silent(mount)) => {
                    name = mount.what;
                    silent = true;
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if ended.recv_timeout(Duration::ZERO) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            if silent || begun.elapsed() >= PATIENCE {
                held.get_or_insert(HeldRequest::since(begun))
                    .tell(&name, tell);
            }
        }
        pause = EVERY;
        if silent {
            pause = LOOK_EVERY;
        } else if held.take().is_some() {
            tell(&format!("{name} answers again"));
        }
    }
}

/// A request that is not answered.
struct HeldRequest {
    since: Instant,
    told: Option<Instant>,
}

impl HeldRequest {
    fn since(since: Instant) -> HeldRequest {
        HeldRequest { since, told: None }
    }

    fn tell(&mut self, name: &str, tell: &dyn Fn(&str)) {
        if self.told.is_none_or(|at| at.elapsed() >= AGAIN) {
            self.told = Some(Instant::now());
            let seconds = self.since.elapsed().as_secs_f64();
            tell(&format!("{name} is not responding (waited {seconds:.0} s)"));
        }
    }
}

/// Makes a request on a thread of its own, which hangs up when it was answered.
fn request(path: &Path) -> Option<Receiver<News>> {
    let (sender, news) = channel();
    let path = path.to_owned();
    let thread = std::thread::Builder::new().name("fathom-change".to_owned());
    let spawned = thread.spawn(move || {
        let said = match MountTable::recent().enter(&path) {
            Ok(mount) => {
                // Nobody listens where the watch was ended meanwhile.
                let _ = sender.send(News::Entered(mount));
                // An error is an answer.
                let _ = touch(&path);
                return;
            }
            Err(silent) => News::Silent(silent),
        };
        let _ = sender.send(said);
    });
    spawned.ok().map(|_| news)
}

/// Reads a block of a file past the cache; of a folder, makes a file without a name
/// durable, which is gone once it is closed.
fn touch(path: &Path) -> io::Result<()> {
    let folder: PathBuf = match fs::metadata(path) {
        Ok(facts) if facts.is_dir() => path.to_owned(),
        Ok(facts) if facts.is_file() => {
            let flags = OFlags::DIRECT | OFlags::NONBLOCK;
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(flags.bits() as i32);
            return read_block(&options.open(path)?);
        }
        Ok(_) => return Ok(()),
        Err(_) => path.parent().unwrap_or(Path::new("/")).to_owned(),
    };
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(&folder, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::fsync(&file)?;
    Ok(())
}

fn read_block(file: &fs::File) -> io::Result<()> {
    #[repr(align(4096))]
    struct AlignedBlock([u8; 4096]);
    let mut block = AlignedBlock([0; 4096]);
    file.read_at(&mut block.0, 0).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_answers_is_not_told_of_and_what_does_not_again_and_again() {
        let dir = tempfile::tempdir().unwrap();
        let (sender, told) = channel();
        let watch = ChangeWatch::start(dir.path(), move |text| {
            let _ = sender.send(text.to_owned());
        });
        std::thread::sleep(BEGIN_AFTER + Duration::from_millis(200));
        drop(watch);
        assert!(told.try_recv().is_err());
        let now = Instant::now();
        let mut held = HeldRequest::since(now.checked_sub(Duration::from_secs(4)).unwrap_or(now));
        let (sender, told) = channel();
        for _ in 0..3 {
            held.tell("/m", &|text| {
                let _ = sender.send(text.to_owned());
            });
        }
        assert_eq!(
            told.try_iter().collect::<Vec<_>>(),
            ["/m is not responding (waited 4 s)"]
        );
    }
}
