#!/bin/bash
# CPU time per operation of a bare loop (floor), of fathom and of fio, on the
# same file with the same system calls, and what fathom and fio add to the floor.
#
#   benches/compare.sh [ROUNDS]        (default 5)
#
# Each program runs twice per round, with N and with 3 N operations; the
# difference leaves out start and end. Rounds are interleaved, so that a busy
# machine disturbs all three alike, and the least disturbed round of each counts.
# Needs: cargo, fio. Reads /dev/zero, and a file that it makes in /dev/shm.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
cargo build --release -q -p fathom-floor
cargo build --release -q -p fathom-engine --example hotloop
target=${CARGO_TARGET_DIR:-target}/release
floor=$target/floor
hotloop=$target/examples/hotloop
# Small enough for a cache, so that other users of the memory disturb less.
size=$((1 << 20))
file=/dev/shm/fathom-compare-$$
trap 'rm -f "$file"' EXIT
head -c "$size" /dev/urandom > "$file"

# CPU nanoseconds (user + system) of one run of $1 with $2 operations.
once() {
  local who=$1 ops=$2 engine=$3 path=$4 depth=$5 command
  case $who in
    floor) "$floor" "$engine" "$path" 4096 "$depth" "$ops" $size | awk '{print $1 + $2}'; return ;;
    fathom) command=(env BUFFERED=1 "$hotloop" "$path" "$engine" 4096 "$depth" "$ops" 1 $size 0 "$depth") ;;
    fio)
      local fio_engine=io_uring
      [ "$engine" = psync ] && fio_engine=psync
      command=(fio --name=compare --thread --filename="$path" --rw=randread --bs=4k
        --ioengine=$fio_engine --iodepth="$depth" --size=$size --norandommap --random_generator=lfsr
        --number_ios="$ops" --io_size=1t --invalidate=0 --output-format=terse)
      if [ $fio_engine = io_uring ]; then
        command+=(--fixedbufs --registerfiles --iodepth_batch_submit="$depth"
          --iodepth_batch_complete_min=1 --iodepth_batch_complete_max="$depth")
      fi
      ;;
  esac
  "$floor" run "${command[@]}" | awk '{print $1 + $2}'
}

compare() {
  local engine=$1 path=$2 depth=$3 ops=$4 round who
  local -A best=()
  for ((round = 0; round < rounds; round++)); do
    for who in floor fathom fio; do
      local few many per
      few=$(once $who "$ops" "$engine" "$path" "$depth")
      many=$(once $who $((3 * ops)) "$engine" "$path" "$depth")
      per=$(awk -v a="$few" -v b="$many" -v n="$ops" 'BEGIN { printf "%.1f", (b - a) / (2 * n) }')
      if [ -z "${best[$who]:-}" ] || awk -v a="$per" -v b="${best[$who]}" 'BEGIN { exit !(a > 0 && a < b) }'; then
        best[$who]=$per
      fi
    done
  done
  awk -v label="$engine $path depth $depth" -v floor="${best[floor]}" -v fathom="${best[fathom]}" \
    -v fio="${best[fio]}" 'BEGIN {
      printf "%-42s %7.0f %7.0f %7.0f %8.0f %8.0f %7.2f\n", label, floor, fathom, fio,
        fathom - floor, fio - floor, (fathom - floor) / (fio - floor)
    }'
}

printf '%-42s %7s %7s %7s %8s %8s %7s\n' "CPU ns per 4 KiB random read" floor fathom fio \
  "fathom+" "fio+" ratio
compare uring /dev/zero 32 600000
compare uring /dev/zero 128 600000
compare uring "$file" 32 300000
compare psync /dev/zero 1 600000
compare psync "$file" 1 300000
