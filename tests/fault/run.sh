#!/usr/bin/env bash
# run.sh BUILD_ROOT SOURCE_ROOT calls|memory|room|power|full - host faults; full: every one of calls and memory
#
# room needs to mount a tmpfs (root, or a user namespace), power loop devices (root): exit 77 where they can't be had.
set -eu
kind=$3
case $kind in
room)
        if [ -z "${WORLD_NESTED:-}" ] && [ "$(id -u)" != 0 ]; then
                unshare -Urm true 2>/dev/null || { echo "no user namespace with mounts"; exit 77; }
                exec env WORLD_NESTED=1 unshare -Urm bash "$0" "$@"
        elif [ -z "${WORLD_NESTED:-}" ] && [ -z "${WORLD_MOUNTS:-}" ]; then
                exec env WORLD_MOUNTS=1 unshare -m --propagation private bash "$0" "$@"
        fi
        keep='keep-root'
        ;;
power)
        [ "$(id -u)" = 0 ] || { echo "loop devices need root"; exit 77; }
        if [ -z "${WORLD_MOUNTS:-}" ]; then exec env WORLD_MOUNTS=1 unshare -m --propagation private bash "$0" "$@"; fi
        for tool in mkfs.ext4 mkfs.xfs losetup; do
                command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
        done
        keep='keep-root'
        ;;
*) keep= ;;
esac
lib=$(dirname -- "$0")/world.sh # the copy, once we run as somebody else
[ -f "$lib" ] || lib=$(dirname -- "$0")/../crash/world.sh
# shellcheck source=tests/crash/world.sh
. "$lib"
world_begin "$1" "$2" "$keep" "$kind"
kind=${4:-$kind}
drain=$(find "$W/dest" -name spoolgate-drain -type f)
seconds=${SWEEP_SECONDS:-90}

room() { # WHAT DIRECTORY [SIZE]: the world's DIRECTORY on a tmpfs of 64 KiB and 40 inodes, then with room
        local what=$1 dir=$2 size=${3:-64k} status=0
        echo "$what of $size and 40 inodes"
        as_user rm -rf "$W/a"
        world_make a "$drain"
        rm "$W/a/template/spool/spoolgate-request" # it alone would fill it
        mount -t tmpfs -o "size=$size,nr_inodes=40,mode=755" none "$W/a/$dir"
        [ -n "${WORLD_NESTED:-}" ] || chown "$WORLD_UID:$WORLD_UID" "$W/a/$dir"
        [ "$what" = spool ] || chmod 700 "$W/a/$dir"
        as_user cp -a "$W/a/template/$what/." "$W/a/$dir/"
        as_user env -i "$W/bin/room" fill "$W/a" || status=1
        mount -o remount,size=8m,nr_inodes=4000 none "$W/a/$dir"
        as_user env -i "$W/bin/room" heal "$W/a" || status=1
        [ -z "${SWEEP_LOUD:-}" ] || find "$W/a/$dir"
        umount -l "$W/a/$dir"
        return $status
}

power() { # TYPE MKFS...
        local type=$1 dev
        shift
        truncate -s 320M "$W/image.$type"
        "$@" "$W/image.$type" >"$W/log" 2>&1 || { cat "$W/log"; return 1; }
        dev=$(losetup -f --show "$W/image.$type" 2>&1) || { echo "no loop device: $dev"; exit 77; }
        "$W/bin/power" "$dev" "$type" "$WORLD_UID" "${POWER_EVERY:-149}" "$W/a" || status=1
        losetup -d "$dev"
        rm "$W/image.$type"
}

case $kind in
calls)
        world_make a "$drain"
        world_make b "$drain"
        "$W/bin/fault" --budget "$((seconds / 2))" a b
        "$W/bin/fault" --budget "$((seconds / 4))" --sticky a b
        for child in 1 5; do "$W/bin/fault" --budget "$((seconds / 12))" --child $child a b; done
        ;;
memory)
        world_make a "$drain"
        world_make b "$drain"
        "$W/bin/memory" --budget "$((seconds / 4))" "$W/bin/libfault-malloc.so" a b
        "$W/bin/memory" --budget "$((seconds / 8))" --on "$W/bin/libfault-malloc.so" a b
        ;;
full)
        world_make a "$drain"
        world_make b "$drain"
        "$W/bin/fault" a b
        "$W/bin/fault" --sticky a b
        for child in 1 2 3 4 5 6 7 8 9; do "$W/bin/fault" --child $child a b; done
        "$W/bin/memory" "$W/bin/libfault-malloc.so" a b
        "$W/bin/memory" --on "$W/bin/libfault-malloc.so" a b
        ;;
room)
        status=0
        room spool shop/untracked/spoolgate || status=1
        room state home/.local/state/spoolgate/crash || status=1
        room state home/.local/state/spoolgate/crash 24k || status=1
        exit $status
        ;;
power)
        status=0
        world_make a "$drain"
        power ext4 mkfs.ext4 -q -F -O ^has_journal -O has_journal
        power xfs mkfs.xfs -q -f
        exit $status
        ;;
esac
