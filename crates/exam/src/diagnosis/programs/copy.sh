# A large file written past the page cache, again and again.
: >ready
while :; do
  dd if=/dev/zero of=copy bs=1M count=32 oflag=direct conv=notrunc 2>/dev/null
done
