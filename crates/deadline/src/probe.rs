//! Asking a mount or device whether it answers, by a child process.
//!
//! A thread that the kernel holds keeps its process from ending, a child does
//! not. Of a mount the child makes two system calls that servers and user
//! processes must answer (statx(2) past the cache, and statfs(2)); of a device it
//! reads a block past the cache. It reports in a pipe.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::bounded_call::{NotResponding, PATIENCE, holding};
use crate::device::waiting_for;
use crate::mount::Mount;
use crate::starved::{TURNS, wants_cpu};

/// An answer is good for this long.
const FRESH: Duration = Duration::from_secs(1);
/// A mount that did not answer is asked again after this.
const AGAIN: Duration = Duration::from_secs(10);
/// Mounts that are asked at the same time.
const TOGETHER_MAX: usize = 64;
/// Whoever may take longer than this is told of, once he has taken so long.
const TELL_FROM: Duration = Duration::from_secs(5);
const TELL_AFTER: Duration = Duration::from_secs(2);
const ANSWER_BYTES: usize = 6 * 8;

/// Size and free space as statfs(2) gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MountSpace {
    /// Unit of the next two.
    pub block_bytes: u64,
    /// Size in blocks.
    pub blocks: u64,
    /// Blocks that this user may still fill.
    pub available: u64,
    /// Inodes.
    pub inodes: u64,
    /// Inodes that are free.
    pub inodes_free: u64,
}

/// What is known of a mount.
#[derive(Debug, Clone)]
enum MountKnowledge {
    Answered {
        at: Instant,
        space: Option<MountSpace>,
    },
    Silent {
        what: String,
        since: Instant,
        asked: Instant,
        /// A child that the kernel holds although it was killed.
        child: Option<libc::pid_t>,
    },
}

static KNOWN: Mutex<BTreeMap<String, MountKnowledge>> = Mutex::new(BTreeMap::new());

fn known() -> MutexGuard<'static, BTreeMap<String, MountKnowledge>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a mount answers, and its space where it tells. One that was asked a
/// moment ago is not asked again.
///
/// # Errors
/// [`NotResponding`] when it does not.
pub fn ask_mount(mount: &Mount) -> Result<Option<MountSpace>, NotResponding> {
    let one = std::slice::from_ref(mount);
    ask_mounts(one).pop().unwrap_or(Ok(None))
}

/// Asks several at the same time; the answers are in their order.
pub fn ask_mounts(mounts: &[Mount]) -> Vec<Result<Option<MountSpace>, NotResponding>> {
    let mut answers = Vec::with_capacity(mounts.len());
    for some in mounts.chunks(TOGETHER_MAX) {
        let begun = Instant::now();
        let asked: Vec<Asked> = some
            .iter()
            .map(|mount| Asked::begin(mount.into()))
            .collect();
        let waited = asked.into_iter().map(|asked| asked.wait(begun, PATIENCE));
        answers.extend(waited);
    }
    answers
}

/// Whether a device answers: a block is read, or a character device opened. An
/// error is an answer.
///
/// # Errors
/// [`NotResponding`] when none comes within `patience`.
pub fn ask_device(path: &Path, patience: Duration) -> Result<(), NotResponding> {
    let name = path.display().to_string();
    let question = Question {
        key: name.clone(),
        name,
        path,
        device: true,
    };
    let begun = Instant::now();
    Asked::begin(question).wait(begun, patience).map(|_| ())
}

/// What is asked.
#[derive(Clone)]
struct Question<'a> {
    /// One for each file system or device, however it is reached.
    key: String,
    name: String,
    path: &'a Path,
    device: bool,
}

impl<'a> From<&'a Mount> for Question<'a> {
    fn from(mount: &'a Mount) -> Question<'a> {
        Question {
            key: format!("{}:{}", mount.device.0, mount.device.1),
            name: mount.name(),
            path: &mount.mount_point,
            device: false,
        }
    }
}

/// A question that is under way, or already answered.
enum Asked<'a> {
    Known(Result<Option<MountSpace>, NotResponding>),
    Child {
        question: Question<'a>,
        pid: libc::pid_t,
        pipe: File,
    },
}

impl<'a> Asked<'a> {
    fn begin(question: Question<'a>) -> Asked<'a> {
        let mut known = known();
        match known.get_mut(&question.key) {
            Some(MountKnowledge::Answered { at, space }) if at.elapsed() < FRESH => {
                return Asked::Known(Ok(*space));
            }
            Some(MountKnowledge::Silent {
                since,
                asked,
                child,
                ..
            }) => {
                *child = child.filter(|pid| !ended(*pid, libc::WNOHANG));
                if child.is_some() || asked.elapsed() < AGAIN {
                    return Asked::Known(Err(silent(&question, *since)));
                }
            }
            _ => {}
        }
        drop(known);
        match start(&question) {
            Some((pid, pipe)) => Asked::Child {
                question,
                pid,
                pipe,
            },
            // Without another process it is the helpers' deadline that counts.
            None => Asked::Known(Ok(None)),
        }
    }

    fn wait(self, begun: Instant, patience: Duration) -> Result<Option<MountSpace>, NotResponding> {
        let (question, pid, mut pipe) = match self {
            Asked::Known(answer) => return answer,
            Asked::Child {
                question,
                pid,
                pipe,
            } => (question, pid, pipe),
        };
        let left = |patience: Duration| patience.saturating_sub(begun.elapsed());
        let mut said = answer(&mut pipe, left(patience.min(TELL_AFTER)));
        if said.is_none() && patience > TELL_AFTER {
            if patience > TELL_FROM {
                waiting_for(&question.name, begun.elapsed(), patience);
            }
            said = answer(&mut pipe, left(patience));
        }
        let mut turns = 0;
        while said.is_none() && turns < TURNS && wants_cpu(pid) {
            said = answer(&mut pipe, patience);
            turns += 1;
        }
        let answer = said;
        let child = match answer {
            // All that it still does is to end.
            Some(_) => Some(pid).filter(|pid| !ended(*pid, 0)),
            None => Some(pid).filter(|pid| !killed(*pid)),
        };
        let mut known = known();
        let Some(space) = answer else {
            let since = match known.get(&question.key) {
                Some(MountKnowledge::Silent { since, .. }) => *since,
                _ => begun,
            };
            let state = MountKnowledge::Silent {
                what: question.name.clone(),
                since,
                asked: Instant::now(),
                child,
            };
            known.insert(question.key.clone(), state);
            return Err(silent(&question, since));
        };
        let at = Instant::now();
        known.insert(question.key, MountKnowledge::Answered { at, space });
        Ok(space)
    }
}

/// What was asked, did not answer and, as far as is known, still does not:
/// mounts, and whatever holds a helper.
pub fn not_responding() -> Vec<NotResponding> {
    let mut silent = holding();
    for state in known().values() {
        if let MountKnowledge::Silent { what, since, .. } = state
            && !silent.iter().any(|one| one.what == *what)
        {
            silent.push(NotResponding {
                what: what.clone(),
                waited: since.elapsed(),
                unasked: None,
            });
        }
    }
    silent
}

fn silent(question: &Question<'_>, since: Instant) -> NotResponding {
    NotResponding {
        what: question.name.clone(),
        waited: since.elapsed(),
        unasked: None,
    }
}

/// Kills a child; whether that ended it. One that the kernel holds stays.
fn killed(pid: libc::pid_t) -> bool {
    // SAFETY: a number and a signal; the child has not been waited for, so the
    // number is still its own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    std::thread::sleep(Duration::from_millis(10));
    ended(pid, libc::WNOHANG)
}

/// Whether a child has ended; it is reaped then.
fn ended(pid: libc::pid_t, options: libc::c_int) -> bool {
    let mut status = 0;
    // SAFETY: the status is an integer of this frame.
    unsafe { libc::waitpid(pid, &raw mut status, options) != 0 }
}

/// What the child wrote; `None` when nothing came in time.
fn answer(pipe: &mut File, patience: Duration) -> Option<Option<MountSpace>> {
    let begun = Instant::now();
    loop {
        let left = patience.saturating_sub(begun.elapsed());
        let left = rustix::event::Timespec {
            tv_sec: i64::try_from(left.as_secs()).ok()?,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        let mut wanted = [PollFd::new(&*pipe, PollFlags::IN)];
        match poll(&mut wanted, Some(&left)) {
            Ok(0) => return None,
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    let mut bytes = [0; ANSWER_BYTES];
    let mut number = {
        // A child that was ended by others tells nothing, which is not silence.
        if pipe.read_exact(&mut bytes).is_err() {
            return Some(None);
        }
        let words = bytes.chunks_exact(8);
        words.map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
    };
    let mut next = || number.next().unwrap_or_default();
    let known = next() == 0;
    let space = MountSpace {
        block_bytes: next(),
        blocks: next(),
        available: next(),
        inodes: next(),
        inodes_free: next(),
    };
    Some(known.then_some(space))
}

/// Starts the child. `None` when there can be none.
fn start(question: &Question<'_>) -> Option<(libc::pid_t, File)> {
    let path = CString::new(question.path.as_os_str().as_bytes()).ok()?;
    let mut ends = [0; 2];
    // SAFETY: an array of two, as pipe2(2) wants it.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return None;
    }
    // SAFETY: both were made by this call and belong to nobody else.
    let [reader, writer] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    // SAFETY: the child makes system calls only, on memory that was allocated
    // before, and ends without returning: no lock and no allocator of the parent
    // is touched.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => {
            // SAFETY: this is the child of the fork above.
            unsafe { answer_as_child(&path, question.device, writer.as_raw_fd()) }
        }
        pid if pid > 0 => Some((pid, File::from(reader))),
        _ => None,
    }
}

/// The child. It keeps no descriptor of its parent but the pipe: a reader of the
/// parent's output would wait for it.
///
/// # Safety
/// Only in a process that was just forked, which it ends.
unsafe fn answer_as_child(path: &CString, device: bool, pipe: RawFd) -> ! {
    // SAFETY: system calls on integers and on memory of this frame. `statx` and
    // `statfs` are structures of integers, for which zero is a value.
    unsafe {
        libc::setpgid(0, 0);
        let pipe_number = pipe as libc::c_uint;
        if pipe_number > 0 {
            libc::syscall(libc::SYS_close_range, 0, pipe_number - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, pipe_number + 1, libc::c_uint::MAX, 0);
        if device {
            read_block(path);
            let answer = [u64::from(true); 6];
            libc::write(pipe, answer.as_ptr().cast(), ANSWER_BYTES);
            libc::_exit(0)
        }
        let mut facts: libc::statx = std::mem::zeroed();
        let flags = libc::AT_STATX_FORCE_SYNC | libc::AT_NO_AUTOMOUNT;
        libc::syscall(
            libc::SYS_statx,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            libc::STATX_BASIC_STATS,
            &raw mut facts,
        );
        let mut space: libc::statfs = std::mem::zeroed();
        let failed = libc::statfs(path.as_ptr(), &raw mut space);
        let answer: [u64; 6] = [
            u64::from(failed != 0),
            if space.f_frsize > 0 {
                space.f_frsize as u64
            } else {
                space.f_bsize as u64
            },
            space.f_blocks,
            space.f_bavail,
            space.f_files,
            space.f_ffree,
        ];
        libc::write(pipe, answer.as_ptr().cast(), ANSWER_BYTES);
        libc::_exit(0)
    }
}

/// Reads the first block of a device, not from the cache.
///
/// # Safety
/// As for [`answer_as_child`].
unsafe fn read_block(path: &CString) {
    #[repr(align(4096))]
    struct ProbeBlock([u8; 4096]);
    let mut block = ProbeBlock([0; 4096]);
    let flags = libc::O_RDONLY | libc::O_DIRECT | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: system calls on integers, on a string that ends, and on a block of
    // this frame. `stat` is a structure of integers.
    unsafe {
        let file = libc::open(path.as_ptr(), flags);
        let mut facts: libc::stat = std::mem::zeroed();
        let known = file >= 0 && libc::fstat(file, &raw mut facts) == 0;
        // What a character device does when it is read is its own.
        if known && facts.st_mode & libc::S_IFMT == libc::S_IFBLK {
            libc::pread(file, block.0.as_mut_ptr().cast(), block.0.len(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount_table::MountTable;

    #[test]
    fn a_mount_that_answers_tells_its_space() {
        let table = MountTable::read();
        let root = table.of(Path::new("/")).unwrap();
        let space = ask_mount(root).unwrap().unwrap();
        let stat = rustix::fs::statfs("/").unwrap();
        assert_eq!(space.blocks, stat.f_blocks);
        assert_eq!(space.inodes, stat.f_files);
        assert!(space.block_bytes > 0);
    }

    #[test]
    fn devices_answer_and_errors_are_answers() {
        for path in ["/dev/null", "/dev/no-such-device", "/"] {
            let answer = ask_device(Path::new(path), PATIENCE);
            assert_eq!(answer, Ok(()), "{path}");
        }
    }

    #[test]
    fn a_pipe_in_which_nothing_comes_is_silence() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut file = File::from(OwnedFd::from(reader));
        assert_eq!(answer(&mut file, Duration::from_millis(20)), None);
        drop(writer);
        assert_eq!(answer(&mut file, Duration::from_secs(60)), Some(None));
    }
}
