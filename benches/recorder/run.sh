#!/bin/bash
# What a recorder costs: CPU time of `fathom record`, `sar` and `iostat`, side by
# side on this host for the same seconds, each with one reading a second.
# Usage: benches/recorder/run.sh [SECONDS] [FATHOM]
# FATHOM should be a release build; a debug build costs several times as much.
set -euo pipefail
seconds=${1:-60}
fathom=${2:-$(dirname "$0")/../../target/release/fathom}
folder=$(mktemp -d)
children=()
finish() {
    # Only what this script started.
    [ ${#children[@]} -eq 0 ] || kill "${children[@]}" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

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
