# A volume of two bricks in namespaces of its own, and a load on its mount.
# $1: an empty directory; $2: fathom; the rest: fathom's arguments. Standard
# output is fathom's. Ends with 77 where a volume cannot be had here.
set -u
work=$1 fathom=$2
shift 2
mkdir "$work/state" "$work/logs" "$work/brick1" "$work/brick2" "$work/mount"
{
    ip link set lo up &&
        ip link add bricks type bridge &&
        ip addr add 10.77.9.1/24 dev bricks &&
        ip link set bricks up &&
        mount -t tmpfs tmpfs /run &&
        mkdir -p /run/gluster /var/lib/glusterd /var/log/glusterfs &&
        mount --bind "$work/state" /var/lib/glusterd &&
        mount --bind "$work/logs" /var/log/glusterfs
} >&2 || exit 77
sed '/end-volume/i\    option transport.socket.bind-address 10.77.9.1' \
    /etc/glusterfs/glusterd.vol >"$work/glusterd.vol" || exit 77
glusterd -f "$work/glusterd.vol" -p "$work/glusterd.pid" >&2 || exit 77
end() {
    umount "$work/mount" 2>/dev/null
    gluster --mode=script volume stop lookups force >/dev/null 2>&1
    [ -s "$work/glusterd.pid" ] && kill "$(cat "$work/glusterd.pid")"
}
trap end EXIT
tries=0
until gluster --mode=script volume create lookups replica 2 \
    10.77.9.1:"$work/brick1" 10.77.9.1:"$work/brick2" force >&2; do
    tries=$((tries + 1))
    [ "$tries" -lt 30 ] || exit 77
    sleep 1
done
gluster --mode=script volume start lookups >&2 || exit 77
mount -t glusterfs 10.77.9.1:/lookups "$work/mount" >&2 || exit 77
cd "$work/mount" || exit 77
"$fathom" "$@" >"$work/not-started.json"
gluster --mode=script volume profile lookups start >&2 || exit 77
"$fathom" "$@" >"$work/counted.json"
exit 0
