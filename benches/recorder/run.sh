#!/bin/bash
# What a recorder costs: CPU time of `fathom record`, `sar` and `iostat`, side by
# side on this host for the same seconds, each with one reading a second.
# Usage: benches/recorder/run.sh [SECONDS] [FATHOM] [DISKS]
# FATHOM should be a release build; a debug build costs several times as much.
# As root, DISKS loop devices (default 0) are made and each read some ten times
# a second, so that their rows are as full as those of a host with such disks.
set -euo pipefail
seconds=${1:-60}
fathom=${2:-$(dirname "$0")/../../target/release/fathom}
disks=${3:-0}
folder=$(mktemp -d)
children=()
loops=()
finish() {
    # Only what this script started.
    [ ${#children[@]} -eq 0 ] || kill "${children[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    for loop in "${loops[@]}"; do losetup -d "$loop"; done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

for ((disk = 0; disk < disks; disk++)); do
    truncate -s 8M "$folder/disk$disk"
    loops+=("$(losetup --show --find "$folder/disk$disk")")
done
# One process reads of all of them, past the page cache.
read_disks() {
    exec python3 - "$@" <<'PYTHON'
import mmap, os, sys, time
files = [os.open(path, os.O_RDONLY | os.O_DIRECT) for path in sys.argv[1:]]
page, place = mmap.mmap(-1, 4096), 0
while True:
    for file in files:
        os.preadv(file, [page], place)
    place = (place + 4096) % (8 << 20)
    time.sleep(0.1)
PYTHON
}

# CPU time of a process in ticks, its ended children included (proc(5)).
ticks() { awk '{ sub(/^.*\) /, ""); print $12 + $13 + $14 + $15 }' "/proc/$1/stat"; }

"$fathom" record --quiet --output "$folder/a.frec" &
children+=($!)
iostat -x -t -o JSON 1 >"$folder/iostat.json" &
children+=($!)
# sar itself only formats; sadc reads.
/usr/lib/sysstat/sadc -S XALL 1 "$folder/sa" >/dev/null &
children+=($!)
names=(fathom iostat sadc)
if [ "$disks" -gt 0 ]; then
    read_disks "${loops[@]}" &
    children+=($!)
fi

sleep 2
before=()
for child in "${children[@]}"; do before+=("$(ticks "$child")"); done
sleep "$seconds"
hz=$(getconf CLK_TCK)
printf '%-8s %12s %14s\n' tool 'CPU s' '% of one CPU'
for place in 0 1 2; do
    after=$(ticks "${children[$place]}")
    awk -v n="${names[$place]}" -v t=$((after - before[place])) -v hz="$hz" -v s="$seconds" \
        'BEGIN { printf "%-8s %12.2f %14.3f\n", n, t / hz, 100 * t / hz / s }'
done
echo
echo "bytes: fathom $(stat -c %s "$folder/a.frec"), sadc $(stat -c %s "$folder/sa"), iostat $(stat -c %s "$folder/iostat.json")"
echo "processes: $(ls -d /proc/[0-9]* | wc -l), devices: $(wc -l </proc/diskstats)"
