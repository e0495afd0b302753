#!/bin/bash
# fathom and fio on the same file of a real disk, interleaved in one run:
# operations or MiB per second, and the CPU time that each spends on them.
#
#   benches/disk.sh DIRECTORY [ROUNDS] [SECONDS]      (default 5 rounds of 5 s)
#
# Equal results within noise and less CPU is what to expect. Needs: cargo, fio,
# jq. Makes a file of 1 GiB in DIRECTORY and removes it.
set -euo pipefail
directory=$(realpath "${1:?usage: benches/disk.sh DIRECTORY [ROUNDS] [SECONDS]}")
rounds=${2:-5}
seconds=${3:-5}
cd "$(dirname "$0")/.."
cargo build --release -q
fathom=${CARGO_TARGET_DIR:-target}/release/fathom
work=$(mktemp -d "$directory/fathom-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export FATHOM_STORE=$work/store.db
file=$work/file
head -c $((1 << 30)) /dev/urandom >"$file"
sync

# Prints: rate, CPU microseconds per operation.
one() { # TOOL PATTERN BLOCK DEPTH
  local tool=$1 rw=$2 block=$3 depth=$4
  case $tool in
    fathom)
      # Status 4 (not trusted) is a result too.
      { "$fathom" io "$file" --rw "$rw" --bs "$block" --iodepth "$depth" --runtime "$seconds" \
        --destructive --json --quiet --html /dev/null 2>/dev/null || [ $? = 4 ]; } |
        jq -r '.trials[0].summary | ([.ops[] | select(.kind == "read" or .kind == "write")
          | .ops_per_second.value] | add), .cpu_ns_per_op / 1000' | paste -sd' '
      ;;
    fio)
      fio --name=disk --filename="$file" --rw="$rw" --bs="$block" --iodepth="$depth" --direct=1 \
        --ioengine=io_uring --fixedbufs --registerfiles --size=1g --time_based --runtime="$seconds" \
        --refill_buffers --output-format=json |
        jq -r '.jobs[0] | ((.read.iops + .write.iops) as $iops | $iops,
          ((.usr_cpu + .sys_cpu) / 100 * 1e6 / $iops))' | paste -sd' '
      ;;
  esac
}

median() { sort -n | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

printf '%-22s %12s %12s %7s %12s %12s %7s\n' "median of $rounds" "fathom IOPS" "fio IOPS" ratio \
  "fathom us/op" "fio us/op" ratio
compare() {
  local rw=$1 block=$2 depth=$3 results round tool
  results=$(mktemp -d)
  for ((round = 0; round < rounds; round++)); do
    for tool in fathom fio; do one $tool "$rw" "$block" "$depth" >>"$results/$tool"; done
  done
  local rate_a rate_b cpu_a cpu_b
  rate_a=$(cut -d' ' -f1 "$results/fathom" | median); rate_b=$(cut -d' ' -f1 "$results/fio" | median)
  cpu_a=$(cut -d' ' -f2 "$results/fathom" | median); cpu_b=$(cut -d' ' -f2 "$results/fio" | median)
  rm -r "$results"
  awk -v l="$rw $block depth $depth" -v a="$rate_a" -v b="$rate_b" -v c="$cpu_a" -v d="$cpu_b" \
    'BEGIN { printf "%-22s %12.0f %12.0f %7.2f %12.2f %12.2f %7.2f\n", l, a, b, a / b, c, d, c / d }'
}
compare randread 4k 1
compare randread 4k 32
compare randwrite 4k 32
compare read 1m 8
compare write 1m 8
