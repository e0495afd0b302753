# For scripts that test packages: a fresh Debian, and a systemd that runs in it. Sourced by bash; $work is
# a folder of the test. Needs root and mmdebstrap.
# shellcheck shell=bash
booted= inside=

# A fresh Debian with systemd, from a tar that is made once. More packages after it.
fresh_root() { # FOLDER TAR [PACKAGE...]
  local tar=$2 packages
  packages=$(IFS=, && echo "systemd,systemd-sysv,dbus,rpm${3:+,${*:3}}")
  if [ ! -s "$tar" ]; then
    mmdebstrap --quiet --variant=minbase --include="$packages" "${FATHOM_TEST_SUITE:-bookworm}" "$tar.new" --format=tar &&
      mv "$tar.new" "$tar" || return 1
  fi
  mkdir -p "$1" && tar -C "$1" -xf "$tar"
}

# A systemd in namespaces of its own, with the root as its own.
boot() { # ROOT
  unshare --fork --kill-child --pid --mount --uts --ipc --net --cgroup bash -c '
    set -e
    cd "$1"
    mount --make-rprivate /
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 none sys/fs/cgroup
    for folder in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs $folder; done
    chmod 1777 tmp
    mkdir dev/shm dev/pts run/host
    mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    for node in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0"; do
      mknod -m 666 dev/${node%% *} c ${node#* }
    done
    # Not by chroot, in which no user namespace can be made.
    pivot_root . run/host
    cd /
    umount -l /run/host
    exec env -i container=test PATH=/usr/sbin:/usr/bin /lib/systemd/systemd --log-target=null --show-status=0
  ' boot "$1" >"$work/boot.log" 2>&1 </dev/null &
  booted=$!
  local tries
  for tries in $(seq 60); do
    kill -0 "$booted" 2>/dev/null || break
    inside=$(pgrep -P "$booted" | head -n 1)
    case $([ -n "$inside" ] && in_booted systemctl is-system-running 2>/dev/null) in
    running | degraded) return 0 ;;
    esac
    sleep 0.5
  done
  halt
  return 1
}
in_booted() { nsenter --target "$inside" --all --root --wd "$@"; }
halt() {
  [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null
  wait "$booted" 2>/dev/null
  booted=
}
