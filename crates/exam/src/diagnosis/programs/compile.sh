# A build: "$1" compilers at a time, each with a source file of its own.
one() {
  i=0
  while [ $i -lt 400 ]; do
    echo "int f$i(int a) { int s = 0; for (int k = 0; k < a; k++) s += k * $i ^ (s << 3); return s; }"
    i=$((i + 1))
  done >"source$1.c"
  while :; do
    cc -O2 -c "source$1.c" -o "object$1.o"
  done
}
n=1
while [ $n -lt "$1" ]; do
  one "$n" &
  n=$((n + 1))
done
: >ready
one 0
