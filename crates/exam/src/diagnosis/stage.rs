//! What a case needs is made here, and taken away when it is over.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fathom_lab::application::{Application, READY};
use fathom_lab::real::{FileSystem, LoopDevice, NetworkMount, SwapFile, Throttle, tool};
use fathom_lab::{Description, Error, Options, SimulatedDrive};

use super::case::{CaseStorage, Setting, TARGET};

/// Size of a file on a network mount, kept in memory.
const MOUNTED_BYTES: u64 = 64 << 20;

/// Room for files in memory.
const MEMORY_BYTES: u64 = 256 << 20;

/// How long a program may prepare what it works on.
const PREPARING: Duration = Duration::from_secs(40);

/// A case that is set up. Dropped, nothing of it is left.
///
/// Fields are dropped in their order: first who uses, then what is used.
pub(super) struct Stage {
    applications: Vec<Running>,
    throttle: Option<Throttle>,
    file_system: Option<FileSystem>,
    loop_device: Option<LoopDevice>,
    drive: Option<SimulatedDrive>,
    _mount: Option<NetworkMount>,
    _swap: Option<SwapFile>,
}

#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    /// Makes everything below `folder`, which exists and is empty. Applications
    /// are played by `laboratory`, the program of that name.
    pub(super) fn set(
        laboratory: &Path,
        folder: &Path,
        setting: &Setting,
        seed: u64,
    ) -> Result<Stage, Error> {
        let mut stage = Stage {
            applications: Vec::new(),
            throttle: None,
            file_system: None,
            loop_device: None,
            drive: None,
            _mount: None,
            _swap: None,
        };
        let target = match &setting.place {
            CaseStorage::Nowhere => PathBuf::new(),
            CaseStorage::Folder => folder.join("file"),
            CaseStorage::Memory => stage.mounted(FileSystem::in_memory(folder, MEMORY_BYTES)?),
            CaseStorage::Volume { model } => {
                let device = stage.device(folder, model, seed)?;
                stage.mounted(FileSystem::on(&folder.join("volume"), &device)?)
            }
            CaseStorage::Drive { model, .. } => stage.device(folder, model, seed)?,
            CaseStorage::Throttled { model, iops } => {
                let path = stage.device(folder, model, seed)?;
                let device = stage.loop_device.as_ref().map(LoopDevice::number);
                let number = device.transpose()?.unwrap_or_default();
                stage.throttle = Some(Throttle::iops(&number, *iops)?);
                path
            }
            CaseStorage::Mount(wire) => {
                let mount = NetworkMount::start(folder, MOUNTED_BYTES, *wire, seed)?;
                let path = mount.path().to_owned();
                stage._mount = Some(mount);
                path
            }
            CaseStorage::Swap(bytes) => {
                stage._swap = Some(SwapFile::start(folder, *bytes)?);
                PathBuf::new()
            }
        };
        for application in &setting.applications {
            let application = at(application, &target);
            let child = stage.start(laboratory, &application)?;
            stage.applications.push(Running(child));
            if let Application::Program(program) = &application {
                let ready = program.folder.join(READY);
                stage.wait_for(&ready, &program.name)?;
            }
        }
        Ok(stage)
    }

    /// Until a program is at work. It may also end: then the case is broken.
    fn wait_for(&mut self, ready: &Path, program: &str) -> Result<(), Error> {
        tool::wait_for(program, "its work", PREPARING, || {
            // Removed, because the next program says so by the same file.
            let said_so = std::fs::remove_file(ready).is_ok();
            Ok((said_so || self.is_broken()).then_some(()))
        })
    }

    fn mounted(&mut self, file_system: FileSystem) -> PathBuf {
        let at = file_system.path().to_owned();
        self.file_system = Some(file_system);
        at
    }

    /// A simulated drive, as a block device.
    fn device(&mut self, folder: &Path, model: &str, seed: u64) -> Result<PathBuf, Error> {
        tool::need_fuse()?;
        tool::need_root("a block device of the laboratory")?;
        let description = Description::new(model, seed);
        let drive = SimulatedDrive::mount(&Options::new(description, &folder.join("drive")))?;
        let device = LoopDevice::over(&drive.path(), None)?;
        let path = device.path().to_owned();
        self.drive = Some(drive);
        self.loop_device = Some(device);
        Ok(path)
    }

    fn start(&self, laboratory: &Path, application: &Application) -> Result<Child, Error> {
        let mut command = match &self.throttle {
            Some(throttle) => throttle.command(laboratory),
            None => Command::new(laboratory),
        };
        command
            .args(["application", &application.to_json()?])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().map_err(|source| Error::Io {
            action: "run",
            path: laboratory.to_owned(),
            source,
        })
    }

    /// Numbers of the applications' processes.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.applications.iter().map(|one| one.0.id()).collect()
    }

    /// Whether an application ended by itself, which none should.
    pub(super) fn is_broken(&mut self) -> bool {
        let mut running = self.applications.iter_mut();
        running.any(|one| !matches!(one.0.try_wait(), Ok(None)))
    }

    /// Operations that the drive did so far, where there is one.
    pub(super) fn operations(&self) -> Option<u64> {
        let truth = self.drive.as_ref()?.truth();
        Some(truth.operations.values().map(|of| of.ops).sum())
    }
}

/// The application on the target that was made for it.
fn at(application: &Application, target: &Path) -> Application {
    let mut application = application.clone();
    match &mut application {
        Application::BlockIo(io) if io.path == Path::new(TARGET) => target.clone_into(&mut io.path),
        Application::Lock {
            file: Some(file), ..
        } if file == Path::new(TARGET) => target.clone_into(file),
        Application::Program(program) => target.clone_into(&mut program.folder),
        _ => {}
    }
    application
}
