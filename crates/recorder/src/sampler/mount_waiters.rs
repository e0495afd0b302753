//! How many requests wait for the answer of a mount whose kernel side keeps no
//! counters of them, as NFS does.
//!
//! FUSE tells the number of its requests, where its control file system is mounted
//! (`/sys/fs/fuse/connections/N/waiting`, Documentation/filesystems/fuse/fuse.rst).
//! Otherwise the functions of the kernel in which tasks sleep tell (`/proc/PID/wchan`,
//! proc(5)): of the threads of each process, as far as one may look.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use fathom_deadline::Mount;
use fathom_observe::{Sysroot, parse_mountinfo};

use super::Reading;
use super::process_files::parse_stat;

/// Type of the file system, and how functions begin in which a task sleeps that waits
/// for its answer.
const SLEEPS: &[(&str, &[&str])] = &[
    ("fuse", &["request_wait_answer", "fuse_"]),
    ("cifs", &["wait_for_response", "cifs_", "smb2_"]),
    ("smb3", &["wait_for_response", "cifs_", "smb2_"]),
    ("9p", &["p9_client_rpc", "p9_virtio", "v9fs_"]),
    ("ceph", &["ceph_"]),
    ("lustre", &["ptlrpc_", "cl_sync_io", "osc_", "mdc_"]),
];
/// How functions begin in which a task sleeps that serves a mount of FUSE and has nothing to
/// do.
const SERVES: &str = "fuse_dev";
/// How functions begin in which a task sleeps that waits for a page of whatever file: one
/// that reads ahead waits there for a mount as well.
const PAGE_SLEEPS: &[&str] = &["folio_wait", "wait_on_page", "__lock_page", "__folio_lock"];
/// Processes that are looked at in one frame; on larger hosts some in turn.
const MOST_PROCESSES: usize = 512;
/// Threads of processes with several that are looked at in one frame.
const MOST_THREADS: usize = 1024;
/// Open files of a process that may tell on which of several mounts it waits.
const MOST_FILES: usize = 256;

/// A mount of one of these types.
#[derive(Debug)]
struct WaitedFor {
    name: Arc<str>,
    mount_point: PathBuf,
    /// Its place in `SLEEPS`.
    kind: usize,
    /// Where FUSE tells its number of requests.
    requests: Option<PathBuf>,
}

#[derive(Debug, Default)]
pub(super) struct MountWaiters {
    mounts: Vec<WaitedFor>,
    /// The last process that was looked at.
    looked_at: u32,
}

impl MountWaiters {
    /// Requests or tasks that wait, for each mount; nothing without such mounts.
    pub(super) fn count(&mut self, reading: &Reading<'_>) -> BTreeMap<Arc<str>, u64> {
        let sys = reading.sys;
        if reading.slow() {
            let text = sys.text("/proc/self/mountinfo").unwrap_or_default();
            let below_loops = below_loops(sys);
            let mounts = parse_mountinfo(&text);
            self.mounts = mounts
                .iter()
                .filter_map(|mount| of(mount, &below_loops))
                .collect();
        }
        let mut waiting = BTreeMap::new();
        let mut by_sleep = false;
        for mount in &self.mounts {
            let requests = mount.requests.as_ref().and_then(|path| sys.number(path));
            by_sleep |= requests.is_none();
            waiting.insert(Arc::clone(&mount.name), requests.unwrap_or(0));
        }
        if by_sleep {
            let mut left = MOST_THREADS;
            for pid in self.next_processes(sys) {
                for thread in threads(sys, pid, &mut left) {
                    if let Some(mount) = self.waited_for(sys, pid, &thread)
                        && let Some(count) = waiting.get_mut(&mount.name)
                    {
                        *count += 1;
                    }
                }
            }
        }
        waiting
    }

    fn next_processes(&mut self, sys: &Sysroot) -> Vec<u32> {
        let names = sys.names("/proc");
        let mut pids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
        pids.sort_unstable();
        if pids.len() > MOST_PROCESSES {
            let first = pids.partition_point(|pid| *pid <= self.looked_at);
            pids.rotate_left(first);
            pids.truncate(MOST_PROCESSES);
        }
        self.looked_at = pids.last().copied().unwrap_or(0);
        pids
    }

    /// The mount for whose answer a thread of a process sleeps, where nothing else counts
    /// it.
    fn waited_for(&self, sys: &Sysroot, pid: u32, thread: &str) -> Option<&WaitedFor> {
        let sleeps_in = sys.text(format!("{thread}/wchan"))?;
        if sleeps_in.starts_with(SERVES) {
            return None;
        }
        let sleeps = |kind: usize| {
            SLEEPS[kind]
                .1
                .iter()
                .any(|name| sleeps_in.starts_with(name))
        };
        let mut possible = self.mounts.iter().filter(|mount| sleeps(mount.kind));
        let Some(first) = possible.next() else {
            let for_a_page = PAGE_SLEEPS.iter().any(|name| sleeps_in.starts_with(name));
            let mount = for_a_page.then(|| self.with_open_files(sys, pid))??;
            let counted = mount.requests.as_ref().and_then(|path| sys.number(path));
            return counted.is_none().then_some(mount);
        };
        // A thread of the kernel stands for a device, which is counted itself.
        let stat = sys.text(format!("/proc/{pid}/stat"))?;
        let (counters, _) = parse_stat(&stat)?;
        if counters.of_the_kernel {
            return None;
        }
        let found = match possible.next() {
            None => first,
            Some(_) => self.on_which(sys, pid).unwrap_or(first),
        };
        let counted = found.requests.as_ref().and_then(|path| sys.number(path));
        counted.is_none().then_some(found)
    }

    /// The mount on which a process has files open, or works.
    fn on_which(&self, sys: &Sysroot, pid: u32) -> Option<&WaitedFor> {
        let works_on = || self.behind(sys, &format!("/proc/{pid}/cwd"));
        self.with_open_files(sys, pid).or_else(works_on)
    }

    /// The mount on which a process has files open.
    fn with_open_files(&self, sys: &Sysroot, pid: u32) -> Option<&WaitedFor> {
        let folder = format!("/proc/{pid}/fd");
        let files = sys.names(&folder).into_iter().take(MOST_FILES);
        let mut links = files.map(|name| format!("{folder}/{name}"));
        links.find_map(|link| self.behind(sys, &link))
    }

    /// The mount on which a link leads.
    fn behind(&self, sys: &Sysroot, link: &str) -> Option<&WaitedFor> {
        let path = std::fs::read_link(sys.locate(link)).ok()?;
        let mounts = self.mounts.iter();
        let above = mounts.filter(|mount| path.starts_with(&mount.mount_point));
        above.max_by_key(|mount| mount.mount_point.as_os_str().len())
    }
}

/// The folders of the threads of a process: its own where it has one, so that most
/// processes cost one look.
fn threads(sys: &Sysroot, pid: u32, left: &mut usize) -> Vec<String> {
    let tasks = format!("/proc/{pid}/task");
    let mut names = sys.names(&tasks);
    if names.len() <= 1 {
        return vec![format!("/proc/{pid}")];
    }
    names.truncate(*left);
    *left -= names.len();
    names.iter().map(|name| format!("{tasks}/{name}")).collect()
}

/// Files below loop devices. Requests for them are those of a device, which is counted
/// itself.
fn below_loops(sys: &Sysroot) -> Vec<PathBuf> {
    let devices = sys.names("/sys/class/block");
    let loops = devices.iter().filter(|name| name.starts_with("loop"));
    let files =
        loops.filter_map(|name| sys.text(format!("/sys/class/block/{name}/loop/backing_file")));
    files.map(PathBuf::from).collect()
}

fn of(mount: &Mount, below_loops: &[PathBuf]) -> Option<WaitedFor> {
    let kind = mount.kind.split('.').next().unwrap_or_default();
    let kind = if kind == "fuseblk" { "fuse" } else { kind };
    let kind = SLEEPS.iter().position(|(name, _)| *name == kind)?;
    // The connection has the number of the file system (fs/fuse/control.c).
    let (major, minor) = mount.device;
    let below_a_loop = below_loops
        .iter()
        .any(|file| file.starts_with(&mount.mount_point));
    let requests = SLEEPS[kind].0 == "fuse" && major == 0 && !below_a_loop;
    Some(WaitedFor {
        name: mount.name().into(),
        mount_point: mount.mount_point.clone(),
        kind,
        requests: requests.then(|| format!("/sys/fs/fuse/connections/{minor}/waiting").into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "31 22 0:45 / /far rw - fuse.sshfs host:/ rw\n\
                          32 22 0:46 / /near rw - fuse.sshfs other:/ rw\n\
                          33 22 8:1 / / rw - ext4 /dev/sda1 rw\n";

    const PROGRAM: &str = "7 (cp) S 1 7 7 0 -1 4194304 0 0 0 0 3 4 0 0 20 0 1 0 9 0 0";
    const OF_THE_KERNEL: &str = "8 (loop0) S 2 0 0 0 -1 2129984 0 0 0 0 3 4 0 0 20 0 1 0 9 0 0";

    /// What waits in a tree with these files.
    fn waiting(mountinfo: &str, files: &[(&str, &str)]) -> Vec<(String, u64)> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain([&("proc/self/mountinfo", mountinfo)]) {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = root.path().join("proc/7/fd");
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("/near/backup", folder.join("4")).unwrap();
        let (mut buffer, mut rows) = (Vec::new(), Vec::new());
        let sys = Sysroot::at(root.path());
        let reading = Reading {
            sys: &sys,
            buffer: &mut buffer,
            rows: &mut rows,
            now_ns: 0,
            count: 0,
        };
        let found = MountWaiters::default().count(&reading);
        found
            .iter()
            .map(|(name, n)| (name.to_string(), *n))
            .collect()
    }

    #[test]
    fn the_number_of_requests_is_what_fuse_says() {
        let files = [
            ("sys/fs/fuse/connections/45/waiting", "3\n"),
            ("sys/fs/fuse/connections/46/waiting", "0\n"),
            ("proc/7/wchan", "request_wait_answer"),
            ("proc/7/stat", PROGRAM),
        ];
        let expected = [("/far".to_owned(), 3), ("/near".to_owned(), 0)];
        assert_eq!(waiting(MOUNTS, &files), expected);
    }

    #[test]
    fn requests_of_a_loop_device_are_those_of_the_device() {
        let files = [
            ("sys/fs/fuse/connections/45/waiting", "3\n"),
            ("sys/fs/fuse/connections/46/waiting", "2\n"),
            ("sys/class/block/loop0/loop/backing_file", "/far/drive\n"),
        ];
        let expected = [("/far".to_owned(), 0), ("/near".to_owned(), 2)];
        assert_eq!(waiting(MOUNTS, &files), expected);
    }

    #[test]
    fn sleeping_tasks_count_where_it_says_nothing() {
        let files = [
            ("proc/7/wchan", "request_wait_answer"),
            ("proc/7/stat", PROGRAM),
            ("proc/8/wchan", "request_wait_answer"),
            ("proc/8/stat", OF_THE_KERNEL),
            ("proc/9/wchan", "poll_schedule_timeout"),
            ("proc/9/stat", PROGRAM),
        ];
        let expected = [("/far".to_owned(), 0), ("/near".to_owned(), 1)];
        assert_eq!(waiting(MOUNTS, &files), expected);
    }

    #[test]
    fn each_thread_of_a_process_that_waits_counts() {
        let files = [
            ("proc/7/wchan", "hrtimer_nanosleep"),
            ("proc/7/task/7/wchan", "hrtimer_nanosleep"),
            ("proc/7/task/71/wchan", "request_wait_answer"),
            ("proc/7/task/72/wchan", "request_wait_answer"),
            // One that serves a mount and has nothing to do.
            ("proc/7/task/73/wchan", "fuse_dev_do_read"),
            ("proc/7/stat", PROGRAM),
        ];
        let expected = [("/far".to_owned(), 0), ("/near".to_owned(), 2)];
        assert_eq!(waiting(MOUNTS, &files), expected);
    }

    #[test]
    fn a_program_that_waits_for_a_page_waits_for_the_mount_of_its_open_file() {
        let files = [
            ("proc/7/wchan", "folio_wait_bit_common"),
            ("proc/7/stat", PROGRAM),
            ("proc/9/wchan", "folio_wait_bit_common"),
            ("proc/9/stat", PROGRAM),
        ];
        let expected = [("/far".to_owned(), 0), ("/near".to_owned(), 1)];
        assert_eq!(waiting(MOUNTS, &files), expected);
    }

    #[test]
    fn without_such_mounts_nobody_is_looked_at() {
        let mountinfo = "33 22 8:1 / / rw - ext4 /dev/sda1 rw\n";
        let files = [
            ("proc/7/wchan", "request_wait_answer"),
            ("proc/7/stat", PROGRAM),
        ];
        assert_eq!(waiting(mountinfo, &files), []);
    }
}
