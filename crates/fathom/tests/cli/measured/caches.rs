//! Whether files come from the host's caches. The disk below tells, so nobody else
//! may read from it meanwhile.

use serde_json::Value;

use crate::bench::{Bench, Output, finish};
use crate::devices::tool;
use crate::foreign_load::{Disk, found};

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn files_are_cold_after_a_new_mount_and_warm_after_the_first_look() {
    let bench = Bench::new();
    let Some(mut disk) = Disk::new(&bench, "ext4") else {
        return;
    };
    let top = disk.place.display().to_string();
    let smallfile = |operation: &str| -> (Output, Value) {
        let line = format!(
            "smallfile --top {top} --threads 2 --files 300 --file-size 16 --operation {operation}"
        );
        let output = finish(
            bench
                .command(line.split(' '))
                .spawn()
                .expect("fathom starts"),
        );
        output.expect_status(0);
        let shown = bench.fathom(["runs", "show", "latest", "--json"]);
        let value = shown.expect_status(0).json();
        (output, value)
    };
    smallfile("create");
    tool("sync", &[]);
    disk.remount();
    let (_, cold) = smallfile("read");
    let (status, evidence) = found(&cold, "V77");
    assert_eq!(status, "pass", "{evidence}");
    assert!(evidence.starts_with("cold"), "{evidence}");
    let (_, warm) = smallfile("read");
    let (status, evidence) = found(&warm, "V77");
    assert_eq!(status, "caveat", "{evidence}");
    assert!(evidence.starts_with("warm"), "{evidence}");
}
