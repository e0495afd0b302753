//! A drive whose process stands still: what a test asks of it hangs until the thaw.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, Output, finish, is_root};

/// Any command has ended long before; what hangs would take until the thaw.
pub(crate) const LONG: Duration = Duration::from_secs(15);

/// A drive of the laboratory in a process of its own, which can stand still,
/// with a loop device over it.
pub(crate) struct FrozenDrive {
    process: Child,
    pub(crate) folder: PathBuf,
    pub(crate) device: String,
    /// What is frozen for one test would be a finding in another one.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

pub(crate) fn send(process: &Child, signal: Signal) {
    let pid = Pid::from_raw(process.id() as i32).expect("a process id");
    let _ = kill_process(pid, signal);
}

fn losetup(args: &[&str]) -> Option<String> {
    let output = Command::new("losetup").args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

impl FrozenDrive {
    /// Serves it; nothing stands still yet.
    pub(crate) fn serve(bench: &Bench) -> Option<FrozenDrive> {
        if !is_root() || !Path::new("/dev/fuse").exists() {
            println!("skipped: needs root and FUSE");
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = bench.path().join("frozen");
        let at = folder.display().to_string();
        let mut command = bench.lab_command(["drive", "ideal", "--size", "64MiB", "--at", &at]);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut drive = FrozenDrive {
            process: process.spawn().expect("fathom starts"),
            device: String::new(),
            folder,
            _turn: turn,
        };
        let file = drive.folder.join("drive");
        let deadline = Instant::now() + Duration::from_secs(30);
        while !file.exists() {
            if Instant::now() > deadline || drive.process.try_wait().unwrap().is_some() {
                println!("skipped: the drive could not be mounted");
                return None;
            }
            sleep(Duration::from_millis(20));
        }
        let Some(device) = losetup(&["-f", "--show", &file.display().to_string()]) else {
            println!("skipped: there is no loop device");
            return None;
        };
        drive.device = device;
        Some(drive)
    }

    /// From now on nothing of it answers, not even from the cache of the kernel.
    pub(crate) fn freeze(&self) {
        // The kernel keeps what it was told of files for a second.
        sleep(Duration::from_millis(1500));
        send(&self.process, Signal::STOP);
    }

    pub(crate) fn thaw(&self) {
        send(&self.process, Signal::CONT);
    }
}

impl Drop for FrozenDrive {
    fn drop(&mut self) {
        self.thaw();
        if !self.device.is_empty() {
            losetup(&["-d", &self.device]);
        }
        send(&self.process, Signal::INT);
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            if Instant::now() > deadline {
                let _ = self.process.kill();
                let _ = self.process.wait();
                break;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = Command::new("umount").arg("-l").arg(&self.folder).output();
    }
}

/// Calls fathom; it has to end without a thaw.
pub(crate) fn call(bench: &Bench, drive: &FrozenDrive, args: &[&str]) -> Output {
    ended(bench.command(args), drive)
}

pub(crate) fn ended(mut command: Command, drive: &FrozenDrive) -> Output {
    let begun = Instant::now();
    let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let mut child = command.spawn().expect("fathom starts");
    while child.try_wait().expect("it can be waited for").is_none() {
        if begun.elapsed() > LONG {
            drive.thaw();
            let output = finish(child);
            panic!("{args:?} hung\n{}\n{}", output.stdout, output.stderr);
        }
        sleep(Duration::from_millis(20));
    }
    println!("{:.1} s: {args:?}", begun.elapsed().as_secs_f64());
    finish(child)
}

#[track_caller]
pub(crate) fn names(output: &Output, what: &str) {
    let all = format!("{}\n{}", output.stdout, output.stderr);
    // Text is wrapped at spaces.
    let flat: String = all.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains(what) && flat.contains("not respond"),
        "'{what}' is not named:\n{all}"
    );
}
