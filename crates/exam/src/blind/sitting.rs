//! A case is set up, fathom is asked, and everything is taken away.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};
use tempfile::TempDir;

use super::batch::BlindCase;
use super::expectation::Said;
use super::paper::{BlindGrade, BlindResult};
use crate::diagnosis::{Programs, Ticks, family_of, wait_for_quiet};

/// How often the end of a command is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// How long what a case left running may take to end by itself once it is asked to.
const GRACE: Duration = Duration::from_millis(500);
/// How often what is left running is killed: it may start more meanwhile.
const ROUNDS: u32 = 20;
/// Bytes of an answer that are read at most.
const MOST_ANSWER: u64 = 16 << 20;

/// Where cases are sat, one after the other.
pub struct BlindDesk<'a> {
    folder: TempDir,
    patience: Duration,
    stopped: &'a dyn Fn() -> bool,
}

/// How a command ended.
enum Ended {
    Status(Option<i32>),
    TooLate,
    Stopped,
}

/// What came of one attempt.
enum Attempt {
    Sat(BlindResult),
    Stopped,
}

impl<'a> BlindDesk<'a> {
    /// Works below `folder`. Commands find `fathom` and `fathom-lab` by their names.
    /// A case begins when the host is quiet, or after `patience`. When `stopped` says
    /// so, what is set up is taken away and nothing more begins.
    ///
    /// What cases leave running becomes a child of this process, which ends it: only
    /// one desk may be used at a time, by a program that starts nothing else.
    ///
    /// # Errors
    /// When no folder can be made there.
    pub fn new(
        programs: &Programs,
        folder: &Path,
        patience: Duration,
        stopped: &'a dyn Fn() -> bool,
    ) -> io::Result<BlindDesk<'a>> {
        let folder = tempfile::Builder::new()
            .prefix("fathom-blind-")
            .tempdir_in(folder)?;
        let bin = folder.path().join("bin");
        fathom_outputs::make_folder(&bin)?;
        symlink(&programs.fathom, bin.join("fathom"))?;
        symlink(&programs.laboratory, bin.join("fathom-lab"))?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        Ok(BlindDesk {
            folder,
            patience,
            stopped,
        })
    }

    /// Sits one case; once more where others disturbed it. `None` when it was stopped.
    ///
    /// # Errors
    /// When no folder can be made, or bash cannot be run.
    pub fn sit(&self, case: &BlindCase) -> io::Result<Option<BlindResult>> {
        for is_last in [false, true] {
            wait_for_quiet(self.patience, self.stopped);
            if (self.stopped)() {
                return Ok(None);
            }
            match self.attempt(case)? {
                Attempt::Stopped => return Ok(None),
                Attempt::Sat(result) if is_last || result.grade != BlindGrade::Disturbed => {
                    return Ok(Some(result));
                }
                Attempt::Sat(_) => {}
            }
        }
        Ok(None)
    }

    fn attempt(&self, case: &BlindCase) -> io::Result<Attempt> {
        let room = Room::new(&self.folder)?;
        let set_up = self.run(&room, &case.setup, "setup", case.patience_to_set_up());
        let sat = match set_up {
            Ok(Ended::Status(Some(0))) => self.ask(&room, case),
            Ok(Ended::Stopped) => Ok(Attempt::Stopped),
            Ok(Ended::TooLate) => Ok(room.broken(case, "the set-up did not end")),
            Ok(Ended::Status(_)) => Ok(room.broken(case, &room.last_words("setup"))),
            Err(error) => Err(error),
        };
        // Whatever happened: what was set up may be there.
        let taken = self.run_to_end(&room, &case.teardown, case.patience_to_set_up());
        end_what_is_left();
        let still = room.leave();
        taken?;
        still?;
        sat
    }

    fn ask(&self, room: &Room, case: &BlindCase) -> io::Result<Attempt> {
        let before = Ticks::now();
        let ended = self.run(room, &case.ask, "ask", case.patience())?;
        let mut disturbance = Ticks::now().since(&before);
        // Cases may use the devices of this host.
        disturbance.in_flight = 0.0;
        let text = room.answer()?;
        let mut said = Said {
            json: serde_json::from_str(&text).ok(),
            text,
            status: None,
        };
        let result = match ended {
            Ended::Stopped => return Ok(Attempt::Stopped),
            Ended::TooLate => {
                let late = format!("no answer within {} s", case.patience().as_secs());
                BlindResult::new(case, &said).uncounted(BlindGrade::Wrong, late)
            }
            Ended::Status(status) => {
                said.status = status;
                BlindResult::new(case, &said)
            }
        };
        Ok(Attempt::Sat(match disturbance.is_much() {
            true => result.disturbed_by(&disturbance),
            false => result,
        }))
    }

    /// Runs commands until they end, are late, or this is stopped. What they say goes
    /// to files of this name.
    fn run(&self, room: &Room, script: &str, name: &str, most: Duration) -> io::Result<Ended> {
        room.run(script, name, most, self.stopped)
    }

    /// Runs commands also when this is stopped.
    fn run_to_end(&self, room: &Room, script: &str, most: Duration) -> io::Result<Ended> {
        room.run(script, "teardown", most, &|| false)
    }
}

/// The folder of a case.
struct Room {
    folder: TempDir,
    bin: PathBuf,
}

impl Room {
    fn new(desk: &TempDir) -> io::Result<Room> {
        Ok(Room {
            folder: tempfile::tempdir_in(desk.path())?,
            bin: desk.path().join("bin"),
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(
        &self,
        script: &str,
        name: &str,
        most: Duration,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<Ended> {
        if script.trim().is_empty() {
            return Ok(Ended::Status(Some(0)));
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let mut child = Command::new("bash")
            .args(["-eu", "-c", script])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.bin.display()))
            .env("FATHOM_STORE", self.path("fathom.db"))
            .stdin(Stdio::null())
            .stdout(fathom_outputs::create_new(
                &self.path(&format!("{name}.out")),
            )?)
            .stderr(fathom_outputs::create_new(
                &self.path(&format!("{name}.err")),
            )?)
            .process_group(0)
            .spawn()?;
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Ended::Status(status.code()));
            }
            let late = started.elapsed() > most;
            if late || stopped() {
                kill_group(&mut child)?;
                return Ok(if late { Ended::TooLate } else { Ended::Stopped });
            }
            thread::sleep(LOOK);
        }
    }

    /// What fathom printed.
    fn answer(&self) -> io::Result<String> {
        let mut bytes = Vec::new();
        let file = File::open(self.path("ask.out"))?;
        file.take(MOST_ANSWER).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The last line that commands printed to standard error.
    fn last_words(&self, name: &str) -> String {
        let text = fs::read(self.path(&format!("{name}.err"))).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.unwrap_or("the set-up failed and said nothing")
            .to_owned()
    }

    fn broken(&self, case: &BlindCase, why: &str) -> Attempt {
        let nothing = BlindResult::new(case, &Said::default());
        Attempt::Sat(nothing.uncounted(BlindGrade::Broken, why.to_owned()))
    }

    /// Removes the folder, or says that something is still mounted in it.
    fn leave(self) -> io::Result<()> {
        let path = self.folder.path().to_owned();
        self.folder.close().map_err(|error| {
            let text = format!("{}: {error}; its end left something there", path.display());
            io::Error::new(error.kind(), text)
        })
    }
}

/// Kills what a command started together with it.
fn kill_group(child: &mut Child) -> io::Result<()> {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended just now.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    child.wait()?;
    Ok(())
}

/// Ends every process below this one.
fn end_what_is_left() {
    let own = std::process::id();
    let left = || -> Vec<Pid> {
        let below = family_of(own).into_iter().filter(|pid| *pid != own);
        let pids = below.filter_map(|pid| i32::try_from(pid).ok());
        pids.filter_map(Pid::from_raw).collect()
    };
    reap();
    let asked = left();
    for pid in &asked {
        let _ = rustix::process::kill_process(*pid, Signal::TERM);
    }
    let began = Instant::now();
    while began.elapsed() < GRACE && !left().is_empty() {
        thread::sleep(LOOK);
        reap();
    }
    for _ in 0..ROUNDS {
        let left = left();
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        thread::sleep(LOOK);
        reap();
    }
}

/// Takes note of the end of children that nobody waits for.
fn reap() {
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
}
