# An archive of small files, of which none is in memory.
mkdir files
i=0
while [ $i -lt 3000 ]; do
  head -c 5000 /dev/zero >"files/$i"
  i=$((i + 1))
done
sync -f .
echo 3 >/proc/sys/vm/drop_caches
: >ready
while :; do
  tar -cf - files | cat >/dev/null
  echo 3 >/proc/sys/vm/drop_caches
done
