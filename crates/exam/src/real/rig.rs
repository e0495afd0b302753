//! Runs the real fathom and the real fio on one target with one load.

use std::cell::Cell;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fathom_lab::Error;
use fathom_lab::real::{Throttle, tool};
use fathom_model::judged::JudgedRun;
use fathom_model::rng::Rng;
use serde_json::Value;
use tempfile::TempDir;

use crate::fio_view::{FioView, Lines};

/// No load takes longer than this.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// The programs and a folder to work in, which is removed at the end.
pub struct Rig {
    fathom: PathBuf,
    fio: Option<PathBuf>,
    folder: TempDir,
    long: bool,
    rooms: Cell<u32>,
}

/// One load, in words that both programs understand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RigLoad {
    pub(crate) rw: &'static str,
    pub(crate) bs: &'static str,
    pub(crate) depth: u32,
    /// How long; `None` is until `ends` says.
    pub(crate) seconds: Option<u32>,
    pub(crate) buffered: bool,
    /// Only for fathom.
    pub(crate) fathom: &'static [&'static str],
    /// Only for fio.
    pub(crate) fio: &'static [&'static str],
}

impl RigLoad {
    /// Random direct reads of 4 KiB.
    pub(crate) const READS: RigLoad = RigLoad {
        rw: "randread",
        bs: "4k",
        depth: 4,
        seconds: Some(5),
        buffered: false,
        fathom: &[],
        fio: &[],
    };
}

impl Rig {
    /// Works below `folder`, with this fathom and the fio on the path if there
    /// is one. With `long`, loads run as long as published figures need;
    /// without, a few seconds each.
    ///
    /// # Errors
    /// When no folder can be made there.
    pub fn new(fathom: &Path, folder: &Path, long: bool) -> std::io::Result<Rig> {
        Ok(Rig {
            fathom: fathom.to_owned(),
            fio: tool::find("fio"),
            folder: tempfile::Builder::new()
                .prefix("fathom-exam-")
                .tempdir_in(folder)?,
            long,
            rooms: Cell::new(0),
        })
    }

    /// Runs fathom alone: a test asks what fathom says, and a page shows it beside fio.
    #[must_use]
    pub fn without_fio(self) -> Rig {
        Rig { fio: None, ..self }
    }

    /// The version of fio that is compared with.
    pub fn fio_version(&self) -> Option<String> {
        let version = tool::run(self.fio.as_ref()?, ["--version"]).ok()?;
        Some(version.trim().to_owned())
    }

    /// So many seconds where figures are published, fewer in a test.
    pub(crate) fn seconds(&self, long: u32, short: u32) -> Option<u32> {
        Some(if self.long { long } else { short })
    }

    /// A new empty folder.
    pub(crate) fn room(&self) -> Result<PathBuf, Error> {
        self.rooms.set(self.rooms.get() + 1);
        let path = self.folder.path().join(self.rooms.get().to_string());
        std::fs::create_dir(&path).map_err(|source| io_error("make", &path, source))?;
        Ok(path)
    }

    /// Measures with fathom, as a user would call it.
    pub(crate) fn fathom(&self, target: &Path, load: &RigLoad) -> Result<JudgedRun, Error> {
        self.fathom_within(None, target, load)
    }

    /// The same below a throttle.
    pub(crate) fn fathom_within(
        &self,
        throttle: Option<&Throttle>,
        target: &Path,
        load: &RigLoad,
    ) -> Result<JudgedRun, Error> {
        let mut command = command(throttle, &self.fathom);
        command.arg("io").arg(target);
        command.args(["--rw", load.rw, "--bs", load.bs, "--iterations", "1"]);
        command.args(["--iodepth", &load.depth.to_string(), "--json", "--quiet"]);
        if let Some(seconds) = load.seconds {
            command.args(["--runtime", &seconds.to_string()]);
        }
        if load.buffered {
            command.args(["--buffered", "--engine", "psync"]);
        }
        command.args(load.fathom);
        command.env("FATHOM_STORE", self.folder.path().join("fathom.db"));
        // Its status says what it found; only its words are wanted.
        let (text, complaint) = output("fathom", command)?;
        serde_json::from_str(&text)
            .map_err(|error| broken("fathom", &format!("{error}: {complaint}")))
    }

    /// Measures with fio; `None` when there is none.
    pub(crate) fn fio(&self, target: &Path, load: &RigLoad) -> Result<Option<FioView>, Error> {
        self.fio_within(None, target, load)
    }

    /// The same below a throttle.
    pub(crate) fn fio_within(
        &self,
        throttle: Option<&Throttle>,
        target: &Path,
        load: &RigLoad,
    ) -> Result<Option<FioView>, Error> {
        let Some(fio) = &self.fio else {
            return Ok(None);
        };
        let mut command = command(throttle, fio);
        command.args([
            "--name=x",
            "--output-format=json",
            "--ioengine=libaio",
            "--thread",
        ]);
        command.arg(format!("--rw={}", load.rw));
        command.arg(format!("--bs={}", load.bs));
        command.arg(format!("--direct={}", u8::from(!load.buffered)));
        command.arg(format!("--iodepth={}", load.depth));
        if target.is_dir() {
            command.arg(format!("--directory={}", target.display()));
        } else {
            command.arg(format!("--filename={}", target.display()));
        }
        if let Some(seconds) = load.seconds {
            command.args(["--time_based".to_owned(), format!("--runtime={seconds}")]);
        }
        if load.buffered {
            command.args(["--invalidate=0", "--ioengine=psync"]);
        }
        command.args(load.fio);
        let (text, complaint) = output("fio", command)?;
        Ok(Some(view(&text, &complaint, load)))
    }
}

fn command(throttle: Option<&Throttle>, program: &Path) -> Command {
    throttle.map_or_else(
        || Command::new(program),
        |throttle| throttle.command(program),
    )
}

/// Runs it to its end, or until [`PATIENCE`] is over: what hangs is ended, and
/// that is an error.
fn output(program: &str, mut command: Command) -> Result<(String, String), Error> {
    let cannot = |error: std::io::Error| broken(program, &error.to_string());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before a failure is kept.
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = reader(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = reader(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let start = Instant::now();
    let mut hung = false;
    while child.try_wait().map_err(cannot)?.is_none() {
        if start.elapsed() > PATIENCE {
            hung = true;
            // Not waited for: it may end only once its target is taken away.
            child.kill().map_err(cannot)?;
            break;
        }
        std::thread::sleep(LOOK);
    }
    if hung {
        return Err(broken(program, &format!("did not end within {PATIENCE:?}")));
    }
    let text = |thread: JoinHandle<String>| thread.join().unwrap_or_default();
    Ok((text(stdout), text(stderr)))
}

pub(crate) fn broken(program: &str, message: &str) -> Error {
    Error::Program {
        program: program.to_owned(),
        message: message.to_owned(),
    }
}

pub(crate) fn io_error(action: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// Fills a file or device with noise and waits until it is there.
pub(crate) fn fill(path: &Path, bytes: u64) -> Result<(), Error> {
    let mut rng = Rng::new(bytes);
    let mut block = vec![0; 1 << 20];
    let mut write = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        for _ in 0..bytes >> 20 {
            for word in block.chunks_exact_mut(8) {
                word.copy_from_slice(&rng.next_u64().to_le_bytes());
            }
            file.write_all(&block)?;
        }
        file.sync_all()
    };
    write().map_err(|source| io_error("fill", path, source))
}

/// Does `change` after a time while `work` goes on.
pub(crate) fn while_changing<T>(
    after: Duration,
    change: impl FnOnce() + Send,
    work: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(after);
            change();
        });
        work()
    })
}

/// fio's JSON as its reader sees it. It writes its complaints before it.
fn view(text: &str, complaint: &str, load: &RigLoad) -> FioView {
    let json = text.find('{').map_or("", |start| &text[start..]);
    let Ok(json) = serde_json::from_str::<Value>(json) else {
        let refused = Lines {
            refused: complaint.contains("direct") || text.contains("direct"),
            disk_ios: Some(0.0),
            errors: 1,
            ..Lines::default()
        };
        return FioView {
            headline: "no result".to_owned(),
            signs: refused.signs(),
            hints: Vec::new(),
        };
    };
    let lines = lines(&json, load);
    FioView {
        headline: lines.headline(),
        signs: lines.signs(),
        hints: Vec::new(),
    }
}

fn lines(json: &Value, load: &RigLoad) -> Lines {
    let job = &json["jobs"][0];
    let data = match job["write"]["total_ios"].as_u64() {
        Some(0) | None => &job["read"],
        Some(_) => &job["write"],
    };
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let disk = json["disk_util"].as_array().and_then(|disks| disks.first());
    let disk_ios = disk.map(|disk| number(&disk["read_ios"]) + number(&disk["write_ios"]));
    Lines {
        iops: number(&data["iops"]),
        bytes_per_second: number(&data["bw_bytes"]),
        errors: job["error"].as_u64().unwrap_or(0) + job["total_err"].as_u64().unwrap_or(0),
        iops_stdev: number(&data["iops_stddev"]),
        iops_min: number(&data["iops_min"]),
        clat_p99_ns: number(&data["clat_ns"]["percentile"]["99.000000"]),
        clat_max_ns: number(&data["clat_ns"]["max"]),
        cpu: (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0,
        issued: number(&data["total_ios"]),
        disk_ios,
        comparable: !load.buffered && load.rw.starts_with("rand"),
        depth_kept: None,
        ..Lines::default()
    }
}
