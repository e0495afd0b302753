use super::*;

const SECOND: &str = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const FIRST: &str = "31 22 0:27 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Sysroot) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let sys = Sysroot::at(root.path());
    (root, sys)
}

#[test]
fn version_two_is_limited_and_set_back() {
    let (_root, sys) = tree(&[
        ("proc/self/mountinfo", SECOND),
        ("proc/self/cgroup", "0::/user\n"),
        ("proc/7/cgroup", "0::/db/postgres\n"),
        (
            "sys/fs/cgroup/db/postgres/io.max",
            "8:0 rbps=max wbps=max riops=9 wiops=9\n254:0 rbps=1048576 wbps=max riops=max wiops=800\n",
        ),
        (
            "sys/fs/cgroup/db/postgres/io.stat",
            "254:0 rbytes=4096 wbytes=8192 rios=10 wios=32 dbytes=0 dios=0\n",
        ),
        (
            "sys/fs/cgroup/db/postgres/cpu.stat",
            "usage_usec 1500000\nuser_usec 1\n",
        ),
    ]);
    let group = GroupLimit::of_process(&sys, 7, "254:0").unwrap();
    assert_eq!(
        (group.name(), group.mechanism()),
        ("/db/postgres", "io.max")
    );
    assert_eq!(group.now(), [None, Some(800)]);
    assert_eq!(group.operations(), Some(42.0));
    assert_eq!(group.cpu_seconds(), Some(1.5));
    let back = group.set_back();
    let path = sys.locate("/sys/fs/cgroup/db/postgres/io.max");
    group.set(630, 270).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "254:0 riops=630 wiops=270"
    );
    assert_eq!(group.now(), [Some(630), Some(270)]);
    let wrote = group.setting(630, 270);
    assert!(wrote[0].stands().unwrap() && !back[0].stands().unwrap());
    back[0].write().unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "254:0 riops=max wiops=800"
    );
    assert!(!wrote[0].stands().unwrap() && back[0].stands().unwrap());
    // Somebody's own, beside limits of other devices.
    fs::write(&path, "254:01 riops=5\n254:0 rbps=max riops=50 wiops=800\n").unwrap();
    assert!(!wrote[0].stands().unwrap() && !back[0].stands().unwrap());
    let found = back[0].found().unwrap().unwrap();
    assert_eq!(found, "254:0 rbps=max riops=50 wiops=800");
    // A group that is gone stays gone.
    fs::remove_file(&path).unwrap();
    let gone = back[0].write().unwrap_err();
    assert!(gone.kind() == io::ErrorKind::NotFound && !path.exists());
}

#[test]
fn version_one_is_limited_and_set_back() {
    let (_root, sys) = tree(&[
        ("proc/self/mountinfo", FIRST),
        ("proc/self/cgroup", "7:blkio:/\n"),
        ("proc/7/cgroup", "7:blkio:/db\n0::/\n"),
        (
            "sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device",
            "254:0 500\n",
        ),
        (
            "sys/fs/cgroup/blkio/db/blkio.throttle.write_iops_device",
            "",
        ),
        (
            "sys/fs/cgroup/blkio/db/blkio.throttle.io_serviced",
            "8:0 Read 99\n254:0 Read 30\n254:0 Write 12\n254:0 Sync 42\n254:0 Total 42\n",
        ),
        ("sys/fs/cgroup/blkio/db/cgroup.procs", "7\n8\n"),
        (
            "proc/7/stat",
            "7 (a b) c) S 1 1 1 0 -1 0 0 0 0 0 150 50 0 0 20 0 1 0 5\n",
        ),
    ]);
    let group = GroupLimit::of_process(&sys, 7, "254:0").unwrap();
    assert_eq!(group.now(), [Some(500), None]);
    assert_eq!(group.operations(), Some(42.0));
    assert_eq!(group.cpu_seconds(), Some(2.0));
    let back: Vec<String> = group.set_back().into_iter().map(|l| l.line).collect();
    assert_eq!(back, ["254:0 500", "254:0 0"]);
    group.set(450, 450).unwrap();
    assert_eq!(group.now(), [Some(450), Some(450)]);
}

#[test]
fn what_is_missing_is_said_with_what_to_do() {
    let mut files = vec![
        ("proc/self/mountinfo", SECOND),
        ("proc/self/cgroup", "0::/\n"),
        ("proc/7/cgroup", "0::/db\n"),
    ];
    let why = |files: &[(&str, &str)], pid| {
        let (_root, sys) = tree(files);
        GroupLimit::of_process(&sys, pid, "254:0")
            .unwrap_err()
            .to_string()
    };
    assert!(
        why(&files, 7).contains("IOAccounting=yes"),
        "{}",
        why(&files, 7)
    );
    assert_eq!(why(&files, 8), "there is no process 8");
    files[0].1 = "";
    assert!(
        why(&files, 7).contains("no hierarchy"),
        "{}",
        why(&files, 7)
    );
    // A group that holds fathom as well would hold back the test itself.
    files[0].1 = SECOND;
    files[1].1 = "0::/db/inner\n";
    files.push(("sys/fs/cgroup/db/io.max", ""));
    assert!(why(&files, 7).contains("together with fathom"));
    files[2].1 = "0::/\n";
    files.push(("sys/fs/cgroup/io.max", ""));
    assert!(why(&files, 7).contains("systemd-run"));
}
