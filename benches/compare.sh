#!/bin/bash
# CPU time per operation of a bare loop (floor), of fathom, of fio and of
# fio's t/io_uring, on the same target with the same system calls, and what fathom
# and fio add to the floor.
#
#   benches/compare.sh [ROUNDS [TARGET...]]        (default 5, all targets)
#
# Targets: zero (/dev/zero), tmpfs (a file, buffered), zram and loop (RAM block
# devices, direct I/O; loop lies on a file in tmpfs), psync (/dev/zero and tmpfs by
# pread). The script makes and removes devices and files itself; devices need
# root. FIO_TREE=DIRECTORY is fio's source tree with t/io_uring built in it; without
# it that column stays empty. It has no latency recording, fathom and fio have.
#
# Each program runs twice per round, with N and with 3 N operations; the
# difference leaves out start and end. (t/io_uring knows no number of operations: it
# runs for two seconds, and the device says how many it served.) Rounds are
# interleaved, so that a busy machine disturbs all alike, and the least
# disturbed round of each counts. Needs: cargo, fio.
#
# The last three columns are the part in user space. Where the kernel hands reads
# to threads of its own (zram: io-wq) or completes them on another CPU (loop), the
# system time depends on who woke whom and swamps what a tool adds; the user part
# does not.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
wanted=" ${*:2} "
cargo build --release -q -p fathom-floor
cargo build --release -q -p fathom-engine --example hotloop
target=${CARGO_TARGET_DIR:-target}/release
floor=$target/floor
hotloop=$target/examples/hotloop
t_io_uring=${FIO_TREE:+$FIO_TREE/t/io_uring}
# Small enough for a cache, so that other users of the memory disturb less.
size=$((1 << 20))
file=/dev/shm/fathom-compare-$$
zram=
loop=
clean() {
  [ -z "$loop" ] || losetup -d "$loop"
  # Somebody who looks at new devices (udev) may have it open for a moment.
  local try
  for try in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "$zram" ] || break
    echo "$zram" 2>/dev/null >/sys/class/zram-control/hot_remove && zram= || sleep 0.5
  done
  [ -z "$zram" ] || echo "/dev/zram$zram is busy and stays: echo $zram >/sys/class/zram-control/hot_remove" >&2
  rm -f "$file"
}
trap clean EXIT
trap "exit 1" INT TERM
head -c "$size" /dev/urandom >"$file"

if [ -z "$t_io_uring" ]; then
  echo "t/io_uring skipped: FIO_TREE is not set"
elif [ ! -x "$t_io_uring" ]; then
  echo "t/io_uring skipped: $t_io_uring is not there; run ./configure && make t/io_uring in $FIO_TREE"
  t_io_uring=
fi

# CPU nanoseconds of one run of $1 with $2 operations: all, and in user space.
once() {
  local who=$1 ops=$2 engine=$3 path=$4 depth=$5 io=$6 command
  local direct=$((io == 1))
  case $who in
    floor)
      "$floor" "$engine" "$path" 4096 "$depth" "$ops" $size "$io" | awk '{print $1 + $2, $1}'
      return
      ;;
    fathom)
      command=(env)
      [ "$direct" = 1 ] || command+=(BUFFERED=1)
      command+=("$hotloop" "$path" "$engine" 4096 "$depth" "$ops" 1 $size 0 "$depth")
      ;;
    fio)
      local fio_engine=io_uring
      [ "$engine" = psync ] && fio_engine=psync
      command=(fio --name=compare --thread --filename="$path" --rw=randread --bs=4k
        --ioengine=$fio_engine --iodepth="$depth" --size=$size --norandommap --random_generator=lfsr
        --number_ios="$ops" --io_size=1t --invalidate=0 --direct="$direct" --output-format=terse)
      if [ $fio_engine = io_uring ]; then
        command+=(--fixedbufs --registerfiles --iodepth_batch_submit="$depth"
          --iodepth_batch_complete_min=1 --iodepth_batch_complete_max="$depth")
      fi
      ;;
  esac
  "$floor" run "${command[@]}" | awk '{print $1 + $2, $1}'
}

# CPU nanoseconds per operation, all and in user space, from the difference of
# two runs.
by_difference() {
  local who=$1 ops=$2
  { once "$who" "$ops" "${@:3}"; once "$who" $((3 * ops)) "${@:3}"; } |
    awk -v n="$ops" 'NR == 1 { a = $1; u = $2 } NR == 2 { printf "%.1f %.1f", ($1 - a) / (2 * n), ($2 - u) / (2 * n) }'
}

# CPU nanoseconds per operation of t/io_uring on a block device.
by_counters() {
  local path=$1 depth=$2 stat reads used
  stat=/sys/block/${path#/dev/}/stat
  read -r reads _ <"$stat"
  used=$("$floor" run "$t_io_uring" -d "$depth" -s "$depth" -c 1 -p 0 -r 2 "$path" | awk '{print $1 + $2, $1}')
  awk -v used="$used" -v before="$reads" '{
    split(used, ns, " "); printf "%.1f %.1f", ns[1] / ($1 - before), ns[2] / ($1 - before)
  }' "$stat"
}

# The smaller of two figures; what is not above 0 was disturbed.
less() {
  awk -v a="$1" -v b="$2" 'BEGIN { print (b == "" || (a > 0 && a < b + 0)) ? a : b }'
}

compare() {
  local engine=$1 path=$2 depth=$3 ops=$4 io=$5 label=$6 round who per user
  local -A best=() best_user=()
  local programs=(floor fathom fio)
  [ -n "$t_io_uring" ] && [ -b "$path" ] && programs+=(t_io_uring)
  for ((round = 0; round < rounds; round++)); do
    for who in "${programs[@]}"; do
      if [ "$who" = t_io_uring ]; then
        read -r per user <<<"$(by_counters "$path" "$depth")"
      else
        read -r per user <<<"$(by_difference "$who" "$ops" "$engine" "$path" "$depth" "$io")"
      fi
      best[$who]=$(less "$per" "${best[$who]:-}")
      best_user[$who]=$(less "$user" "${best_user[$who]:-}")
    done
  done
  awk -v label="$engine $label q$depth" -v floor="${best[floor]}" -v fathom="${best[fathom]}" \
    -v fio="${best[fio]}" -v t="${best[t_io_uring]:-0}" -v floor_user="${best_user[floor]}" \
    -v fathom_user="${best_user[fathom]}" -v fio_user="${best_user[fio]}" 'BEGIN {
      printf "%-26s %7.0f %7.0f %7.0f", label, floor, fathom, fio
      if (t > 0) printf " %10.0f", t; else printf " %10s", "-"
      printf " %8.0f %8.0f %7.2f", fathom - floor, fio - floor, (fathom - floor) / (fio - floor)
      if (t > 0) printf " %10.2f", fathom / t; else printf " %10s", "-"
      printf " %7.0f %7.0f %7.0f\n", floor_user, fathom_user, fio_user
    }'
}

wants() { [ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]]; }

# A RAM disk whose pages do not compress, so that a read is one copy.
make_zram() {
  [ -r /sys/class/zram-control/hot_add ] || return 1
  zram=$(cat /sys/class/zram-control/hot_add) || return 1
  echo $size >"/sys/block/zram$zram/disksize" || return 1
  dd if="$file" of="/dev/zram$zram" bs=1M oflag=direct status=none
}

make_loop() {
  loop=$(losetup --find --show --direct-io=on "$file" 2>/dev/null) || { loop=; return 1; }
  [ "$(cat "/sys/block/${loop#/dev/}/loop/dio")" = 1 ] ||
    echo "$loop reads its file through the page cache: tmpfs takes no direct I/O on this kernel"
}

printf '%-26s %7s %7s %7s %10s %8s %8s %7s %10s %7s %7s %7s\n' "CPU ns per 4 KiB read" floor fathom \
  fio t/io_uring fathom+ fio+ ratio of-t/io "floor u" "fathom u" "fio u"
if wants zero; then
  compare uring /dev/zero 32 600000 0 /dev/zero
  compare uring /dev/zero 128 600000 0 /dev/zero
fi
if wants tmpfs; then
  compare uring "$file" 32 300000 0 tmpfs
fi
if wants zram; then
  if make_zram; then
    compare uring "/dev/zram$zram" 32 300000 1 zram
    compare uring "/dev/zram$zram" 128 300000 1 zram
  else
    echo "zram skipped: no device can be made (root? modprobe zram?)"
  fi
fi
if wants loop; then
  if make_loop; then
    compare uring "$loop" 32 200000 1 loop
    compare uring "$loop" 128 200000 1 loop
  else
    echo "loop skipped: no device can be made (root? modprobe loop?)"
  fi
fi
if wants psync; then
  compare psync /dev/zero 1 600000 0 /dev/zero
  compare psync "$file" 1 300000 0 tmpfs
fi
