# A backup: "$1" streams read a large file past the page cache.
dd if=/dev/zero of=data bs=1M count=24 oflag=direct 2>/dev/null
n=1
while [ $n -lt "$1" ]; do
  while :; do
    dd if=data of=/dev/null bs=64k iflag=direct skip=$((n * 20)) 2>/dev/null
  done &
  n=$((n + 1))
done
: >ready
while :; do
  dd if=data of=/dev/null bs=64k iflag=direct 2>/dev/null
done
