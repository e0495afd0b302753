"""Tests that run inside the emulated machine: tests.py BINARY

Each makes a device whose truth is known, lets fathom measure it, and compares.
Emulation is slow: limits on latency are wide above and tight below, because
nothing can be faster than the delay that was set.
"""

import json
import os
import subprocess
import sys
import time

BINARY = sys.argv[1]
STORE = "/tmp/store.db"


def sh(command):
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout.strip()


def fathom(*arguments, cgroup=None):
    """A judged run as a dictionary."""
    enter = (lambda: open(f"{cgroup}/cgroup.procs", "w").write("0")) if cgroup else None
    command = [BINARY, *arguments, "--json", "--quiet", "--store", STORE, "--html", "/tmp/report.html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=enter)
    if not done.stdout.strip():
        raise AssertionError(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def read_ops(run):
    return next(op for op in run["trials"][0]["summary"]["ops"] if op["kind"] == "read")


def mean_ms(op):
    return op["service"]["mean_ns"]["value"] / 1e6


def findings(run):
    found = {}
    for verdict in [run["verdict"]] + [row["verdict"] for row in run["rows"]]:
        for finding in verdict["findings"]:
            found.setdefault(finding["id"], finding)
    return found


def device(run, name):
    target = run["trials"][0]["target_before"]
    return next(d for d in target["devices"] if d["name"] == name)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


READS = ("--rw", "randread", "--bs", "4k")
QUICK = (*READS, "--runtime", "4s")


def nvme_is_known_by_its_health_log():
    run = fathom("io", "/dev/nvme0n1", *QUICK, "--iodepth", "4")
    expect(read_ops(run)["ops"] > 100, f"only {read_ops(run)['ops']} reads in 4 s")
    facts = device(run, "nvme0n1")
    expect(facts["serial"] == "FATHOM0001", f"serial {facts['serial']}")
    expect(facts["model"] and "QEMU" in facts["model"], f"model {facts['model']}")
    expect(facts["firmware"], "no firmware")
    thermal = findings(run).get("V33")
    expect(thermal and thermal["status"] == "pass", f"V33 on a cool drive: {thermal}")
    return f"{facts['model']}, firmware {facts['firmware']}; {thermal['evidence']}"


def a_failing_drive_is_named():
    run = fathom("io", "/dev/nvme1n1", *QUICK)
    health = findings(run).get("V34")
    expect(health and health["status"] == "invalid", f"V34 on a drive that warns: {health}")
    for what in ["reliability is degraded", "temperature is beyond"]:
        expect(what in health["evidence"], health["evidence"])
    return health["evidence"]


def null_blk_of_5_ms_takes_5_ms():
    op = read_ops(fathom("io", "/dev/nullb0", *QUICK))
    expect(5.0 <= mean_ms(op) <= 9.0, f"mean {mean_ms(op):.2f} ms")
    return f"mean {mean_ms(op):.2f} ms"


def depth_multiplies_what_a_delay_allows():
    op = read_ops(fathom("io", "/dev/nullb0", *QUICK, "--iodepth", "8"))
    rate = op["ops_per_second"]["value"]
    expect(700 <= rate <= 1600, f"{rate:.0f} IOPS at depth 8 of 5 ms")
    return f"{rate:.0f} IOPS, at most 1600 are possible"


def dm_delay_of_20_ms_takes_20_ms():
    sectors = sh("blockdev --getsz /dev/ram0")
    sh(f"dmsetup create slow --noudevsync --table '0 {sectors} delay /dev/ram0 0 20'")
    sh("dmsetup mknodes")
    run = fathom("io", "/dev/mapper/slow", *QUICK)
    op = read_ops(run)
    expect(20.0 <= mean_ms(op) <= 30.0, f"mean {mean_ms(op):.2f} ms")
    names = [d["name"] for d in run["trials"][0]["target_before"]["devices"]]
    expect("ram0" in names, f"the device below is not named: {names}")
    return f"mean {mean_ms(op):.2f} ms, devices {' over '.join(names)}"


def errors_of_dm_flakey_are_errors():
    sectors = sh("blockdev --getsz /dev/ram1")
    sh(f"dmsetup create bad --noudevsync --table '0 {sectors} flakey /dev/ram1 0 1 2'")
    sh("dmsetup mknodes")
    run = fathom("io", "/dev/mapper/bad", *READS, "--runtime", "6s", "--on-error", "continue")
    op = read_ops(run)
    failed = sum(e["count"] for e in op["errors"])
    expect(failed > 0, "no error was counted")
    expect(run["verdict"]["validity"] == "not_trusted", run["verdict"]["validity"])
    expect(findings(run)["V26"]["status"] == "invalid", "V26 is silent")
    return f"{failed} errors, {op['ops']} reads, not trusted"


def a_rebuilding_array_is_named():
    sh("echo 2000 > /proc/sys/dev/raid/speed_limit_max; echo 500 > /proc/sys/dev/raid/speed_limit_min")
    sh("mdadm --create /dev/md0 --level=1 --raid-devices=2 /dev/ram2 /dev/ram3 --run --metadata=1.2 2>&1")
    expect("resync" in open("/proc/mdstat").read(), "the array does not rebuild")
    run = fathom("io", "/dev/md0", *QUICK)
    finding = findings(run).get("V31")
    expect(finding and finding["status"] == "invalid", f"V31: {finding}")
    sh("mdadm --stop /dev/md0 2>&1")
    return finding["evidence"]


def a_degraded_array_is_named():
    sh("mdadm --create /dev/md1 --level=1 --raid-devices=2 /dev/ram4 missing --run --metadata=1.2 2>&1")
    run = fathom("io", "/dev/md1", *QUICK)
    finding = findings(run).get("V32")
    expect(finding and finding["status"] == "caveat", f"V32: {finding}")
    sh("mdadm --stop /dev/md1 2>&1")
    return finding["evidence"]


def io_max_of_a_control_group_is_the_limiter():
    group = "/sys/fs/cgroup/capped"
    open("/sys/fs/cgroup/cgroup.subtree_control", "w").write("+io")
    os.mkdir(group)
    number = open("/sys/block/nullb0/dev").read().strip()
    open(f"{group}/io.max", "w").write(f"{number} riops=100")
    run = fathom("io", "/dev/nullb0", *READS, "--runtime", "12s", "--iodepth", "8", cgroup=group)
    rate = read_ops(run)["ops_per_second"]["value"]
    expect(90 <= rate <= 115, f"{rate:.1f} IOPS under a limit of 100")
    verdict = run["rows"][0]["verdict"]
    expect(verdict["limiter"] == "cap", f"{rate:.1f} IOPS, limiter {verdict['limiter']}: {verdict['limiter_evidence']}")
    expect("100" in verdict["limiter_evidence"], verdict["limiter_evidence"])
    return verdict["limiter_evidence"]


READER = """
import mmap, os, sys
open("/sys/fs/cgroup/" + sys.argv[1] + "/cgroup.procs", "w").write("0")
disk = os.open("/dev/nullb0", os.O_RDONLY | os.O_DIRECT)
block, done = mmap.mmap(-1, 4096), 0
while True:
    os.preadv(disk, [block], done % 1000 * 4096)
    done += 1
    if done % 5 == 0:
        open("/tmp/done.new", "w").write(str(done))
        os.rename("/tmp/done.new", "/tmp/done")
"""


def causal_test_limits_through_io_max_of_version_2():
    # nullb0 takes 5 ms for a read, so one after the other makes 200 a second;
    # 100 are allowed.
    group = "/sys/fs/cgroup/application"
    os.mkdir(group)
    number = open("/sys/block/nullb0/dev").read().strip()
    open(f"{group}/io.max", "w").write(f"{number} riops=100")
    before = open(f"{group}/io.max").read().strip()
    reader = subprocess.Popen([sys.executable, "-c", READER, "application"])
    try:
        while not os.path.exists("/tmp/done"):
            time.sleep(0.2)
        done = subprocess.run(
            [BINARY, "diagnose", "--for", "5s", "--json", "--yes", "--disk", "nullb0", "--ceiling-iops", "100",
             "--causal", "--pid", str(reader.pid), "--progress", "cat /tmp/done", "--blocks", "4", "--part", "4",
             "--smaller", "30", "--store", STORE],
            capture_output=True, text=True, timeout=300)
    finally:
        reader.kill()
        reader.wait()
    expect(done.returncode == 0, f"status {done.returncode}: {done.stderr.strip()[-400:]}")
    found = json.loads(done.stdout)
    test = found["causal"]
    expect(test is not None, f"no test was made: {found['remarks']}")
    expect(test["answer"] != "no", test["words"])
    expect(test["operations_effect"] < -0.1, f"the limit did nothing: {test}")
    after = open(f"{group}/io.max").read().strip()
    expect(after == before, f"{before} became {after}")
    return f"{found['answer']}: {test['words']}"


def a_mounted_device_is_refused():
    sh("dmsetup remove slow --noudevsync; mkfs.ext4 -q -F /dev/ram0; mkdir -p /mnt/x; mount -t ext4 /dev/ram0 /mnt/x")
    done = subprocess.run(
        [BINARY, "io", "/dev/ram0", "--rw", "randwrite", "--destructive", "--runtime", "1s", "--store", STORE],
        capture_output=True, text=True, timeout=120)
    sh("umount /mnt/x")
    expect(done.returncode != 0 and "mounted" in done.stderr, f"status {done.returncode}: {done.stderr[-300:]}")
    return done.stderr.strip().splitlines()[0]


def main():
    tests = [
        nvme_is_known_by_its_health_log,
        a_failing_drive_is_named,
        null_blk_of_5_ms_takes_5_ms,
        depth_multiplies_what_a_delay_allows,
        dm_delay_of_20_ms_takes_20_ms,
        errors_of_dm_flakey_are_errors,
        a_rebuilding_array_is_named,
        a_degraded_array_is_named,
        io_max_of_a_control_group_is_the_limiter,
        causal_test_limits_through_io_max_of_version_2,
        a_mounted_device_is_refused,
    ]
    for test in tests:
        start = time.monotonic()
        name = test.__name__.replace("_", " ")
        try:
            said = test()
            print(f"ok {name} ({time.monotonic() - start:.0f} s): {said}", flush=True)
        except subprocess.CalledProcessError as error:
            print(f"FAIL {name}: {error.cmd}: {error.stderr or error.stdout}".replace("\n", " "), flush=True)
        except Exception as error:
            print(f"FAIL {name}: {type(error).__name__}: {error}".replace("\n", " "), flush=True)


main()
