//! Limits of control groups. They are met only where nobody else keeps the run from it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::Bench;
use crate::devices::{Loop, can_use_devices};
use crate::foreign_load::Neighbour;

/// A control group that limits reads of a device; removed when dropped.
struct Limit(PathBuf);

impl Limit {
    fn new(device: &str, reads: u32) -> Option<Limit> {
        let folder = Path::new("/sys/fs/cgroup/blkio");
        if !folder.join("blkio.throttle.read_iops_device").exists() {
            println!("skipped: no control groups of version 1 for block devices");
            return None;
        }
        let limit = Limit(folder.join(format!("fathom-test-{}", std::process::id())));
        fs::create_dir_all(&limit.0).expect("a control group");
        let number = fs::read_to_string(format!("/sys/class/block/{device}/dev"));
        let rule = format!("{} {reads}", number.expect("a device number").trim());
        fs::write(limit.0.join("blkio.throttle.read_iops_device"), rule).expect("a limit");
        Some(limit)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_limit_that_is_met_is_the_limiter_beside_load_on_the_disk_below() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let image = bench.path().join("image");
    fs::write(&image, vec![5; 64 << 20]).expect("space");
    let device = Loop::over(&image);
    let Some(limit) = Limit::new(device.device.trim_start_matches("/dev/"), 500) else {
        return;
    };
    let busy = bench.path().join("busy");
    fs::write(&busy, vec![6; 64 << 20]).expect("space");
    let neighbour = Neighbour::new(1, move |_, _| {
        let file = File::open(&busy).expect("a file");
        let mut block = vec![0; 1 << 20];
        for at in 0..64 {
            let _ = file.read_at(&mut block, at << 20);
        }
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    });
    let line = format!(
        "echo $$ > {}/cgroup.procs && exec {} io {} --rw randread --bs 4k --iodepth 16 \
         --size 64m --runtime 4s --json",
        limit.0.display(),
        env!("CARGO_BIN_EXE_fathom"),
        device.device
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("FATHOM_STORE", bench.store());
    let output = shell.output().expect("a shell");
    drop(neighbour);
    let text = String::from_utf8_lossy(&output.stdout);
    let result: Value = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let verdict = &result["verdict"];
    assert_eq!(verdict["limiter"], "cap", "{verdict:#}");
}
