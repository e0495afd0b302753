//! A case is set up, `fathom diagnose` is asked, and everything is taken away.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fathom_lab::Error;
use fathom_model::diagnosis::{Answer, Diagnosis};
use fathom_model::rng::derive_seed;
use tempfile::TempDir;

use super::case::{CaseStorage, DiagnosisCase};
use super::disturbance::{Disturbance, Ticks, wait_for_quiet};
use super::paper::{CaseGrade, CaseResult};
use super::stage::Stage;

/// Until an application is at work, and the host shows it.
const SETTLE: Duration = Duration::from_millis(1200);
/// How long the host is watched.
const WATCHED_SECONDS: u32 = 9;
/// A diagnosis that takes longer is broken.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// A drive that gave less than this share of what it should was not what the
/// case says.
const LEAST_GIVEN: f64 = 0.85;

/// The programs of an exam.
#[derive(Debug, Clone)]
pub struct Programs {
    /// What is examined.
    pub fathom: PathBuf,
    /// What plays the applications: `fathom-lab`.
    pub laboratory: PathBuf,
}

/// Where cases are sat.
pub struct Desk<'a> {
    programs: Programs,
    folder: TempDir,
    patience: Duration,
    stopped: &'a dyn Fn() -> bool,
}

/// What came of one attempt.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// What was said.
    pub said: Diagnosis,
    /// Who else was at work.
    pub disturbance: Disturbance,
    /// Why the mechanism was not what the case says.
    pub broken: Option<String>,
    /// Whether it was said right.
    pub right: bool,
}

impl Attempt {
    fn is_disturbed(&self) -> bool {
        self.disturbance.is_much() || self.broken.is_some()
    }
}

impl<'a> Desk<'a> {
    /// Works below `folder` with these programs. A case begins when the host is
    /// quiet, or after `patience`. When `stopped` says so, what is set up is
    /// taken away and nothing more begins.
    ///
    /// # Errors
    /// When no folder can be made there.
    pub fn new(
        programs: &Programs,
        folder: &Path,
        patience: Duration,
        stopped: &'a dyn Fn() -> bool,
    ) -> std::io::Result<Desk<'a>> {
        Ok(Desk {
            programs: programs.clone(),
            folder: tempfile::Builder::new()
                .prefix("fathom-diagnosis-")
                .tempdir_in(folder)?,
            patience,
            stopped,
        })
    }

    /// Sits one case; once more where others disturbed it. `None` when it was
    /// stopped.
    ///
    /// # Errors
    /// What broke, except for what this machine lacks.
    pub fn sit(
        &self,
        number: u32,
        case: &DiagnosisCase,
        seed: u64,
    ) -> Result<Option<CaseResult>, Error> {
        let mut attempts = Vec::new();
        for _ in 0..2 {
            wait_for_quiet(self.patience, self.stopped);
            if (self.stopped)() {
                return Ok(None);
            }
            match self.attempt(case, derive_seed(seed, attempts.len() as u64)) {
                Ok(Some(attempt)) => attempts.push(attempt),
                Ok(None) => return Ok(None),
                Err(Error::Absent(reason)) => {
                    return Ok(Some(CaseResult::new(
                        number,
                        case,
                        CaseGrade::Skipped,
                        attempts,
                        Some(reason),
                    )));
                }
                Err(error) => return Err(error),
            }
            if attempts.last().is_some_and(|last| !last.is_disturbed()) {
                break;
            }
        }
        let grade = grade(case, &attempts);
        Ok(Some(CaseResult::new(number, case, grade, attempts, None)))
    }

    fn attempt(&self, case: &DiagnosisCase, seed: u64) -> Result<Option<Attempt>, Error> {
        let room = tempfile::tempdir_in(self.folder.path()).map_err(|source| Error::Io {
            action: "make a folder in",
            path: self.folder.path().to_owned(),
            source,
        })?;
        let mut stage = Stage::set(&self.programs.laboratory, room.path(), &case.setting, seed)?;
        self.pause(SETTLE);
        let (before, given) = (Ticks::now(), stage.operations());
        let started = Instant::now();
        let Some(said) = self.diagnose(case)? else {
            return Ok(None);
        };
        let mut disturbance = Ticks::now().since(&before);
        if matches!(case.setting.place, CaseStorage::Swap(_)) {
            // The swap file is on such a device.
            disturbance.in_flight = 0.0;
        }
        let seconds = started.elapsed().as_secs_f64();
        let rate = stage
            .operations()
            .zip(given)
            .map(|(now, before)| (now - before) as f64 / seconds);
        let broken = match (&case.setting.place, rate) {
            _ if stage.is_broken() => Some("an application ended by itself".to_owned()),
            (CaseStorage::Drive { gives, .. }, Some(rate)) if rate < LEAST_GIVEN * gives => Some(
                format!("the drive gave {rate:.0} operations/s of {gives:.0}"),
            ),
            _ => None,
        };
        let right = is_right(case, &said, &stage.processes());
        drop(stage);
        Ok(Some(Attempt {
            said,
            disturbance,
            broken,
            right,
        }))
    }

    fn pause(&self, length: Duration) {
        let started = Instant::now();
        while started.elapsed() < length && !(self.stopped)() {
            thread::sleep(LOOK);
        }
    }

    /// Asks as a user would. `None` when it was stopped.
    fn diagnose(&self, case: &DiagnosisCase) -> Result<Option<Diagnosis>, Error> {
        let broken = |message: String| Error::Program {
            program: "fathom diagnose".to_owned(),
            message,
        };
        let mut child = Command::new(&self.programs.fathom)
            .arg("diagnose")
            .arg(format!("--for={WATCHED_SECONDS}s"))
            .arg("--format=json")
            .args(&case.setting.options)
            .env("FATHOM_STORE", self.folder.path().join("fathom.db"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| broken(error.to_string()))?;
        let said = child.stdout.take().map(read_all);
        let complained = child.stderr.take().map(read_all);
        let ended = self
            .wait(&mut child)
            .map_err(|error| broken(error.to_string()))?;
        let words = |from: Option<thread::JoinHandle<String>>| {
            from.and_then(|it| it.join().ok()).unwrap_or_default()
        };
        let (said, complained) = (words(said), words(complained));
        if !ended {
            return match (self.stopped)() {
                true => Ok(None),
                false => Err(broken("did not end".to_owned())),
            };
        }
        let said = serde_json::from_str(&said)
            .map_err(|error| broken(format!("{error}: {}", complained.trim())))?;
        Ok((!(self.stopped)()).then_some(said))
    }

    /// Whether it ended by itself; it is killed else.
    fn wait(&self, child: &mut Child) -> std::io::Result<bool> {
        let started = Instant::now();
        while child.try_wait()?.is_none() {
            if (self.stopped)() || started.elapsed() > PATIENCE {
                let _ = child.kill();
                child.wait()?;
                return Ok(false);
            }
            thread::sleep(LOOK);
        }
        Ok(true)
    }
}

fn read_all(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        // What is cut off is no JSON, and is told as that.
        let _ = from.read_to_string(&mut text);
        text
    })
}

fn is_right(case: &DiagnosisCase, said: &Diagnosis, processes: &[u32]) -> bool {
    let named = case.truth.names.is_none_or(|place| {
        let number = processes.get(place).map(|pid| format!("{pid} "));
        number.is_some_and(|number| said.evidence.iter().any(|line| line.contains(&number)))
    });
    let program = case.truth.names_program.is_none_or(|name| {
        let quoted = format!("{name} (");
        said.evidence.iter().any(|line| line.contains(&quoted))
    });
    let called_right = case.truth.limiters.contains(&said.limiter);
    said.answer == case.truth.answer && called_right && named && program
}

/// A YES that is not true counts whoever disturbed it, save one about a device
/// of others that was at work, of which nobody knows the truth; else the last
/// attempt counts, unless it was disturbed too.
fn grade(case: &DiagnosisCase, attempts: &[Attempt]) -> CaseGrade {
    let yes = |attempt: &Attempt| {
        let judged = attempt.said.disks.first();
        let of_others = judged.is_some_and(|disk| !disk.name.starts_with("loop"));
        let unknown = of_others && attempt.disturbance.is_at_devices();
        attempt.said.answer == Answer::Yes && !unknown
    };
    if case.truth.answer != Answer::Yes && attempts.iter().any(yes) {
        return CaseGrade::FalseYes;
    }
    match attempts.last() {
        None => CaseGrade::Disturbed,
        Some(last) if last.is_disturbed() => CaseGrade::Disturbed,
        Some(last) if last.right => CaseGrade::Right,
        Some(_) => CaseGrade::Wrong,
    }
}
