# world.sh - sourced by the sweeps: projects for them, installed as an operator does it, and an unprivileged user to do it as
#
#   . world.sh; world_begin BUILD_ROOT SOURCE_ROOT [keep-root] [MORE]
#           root runs itself again as a free uid, unless told to keep; $W is the scratch directory
#   world_make NAME DRAIN [ROOT]                     $W/NAME (or ROOT): a world as crash/world.h wants it
# shellcheck shell=bash disable=SC2034
set -eu
export LC_ALL=C TZ=UTC PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin

world_free_uid() {
        local uid=3100
        while getent passwd "$uid" >/dev/null || pgrep -u "$uid" >/dev/null 2>&1; do uid=$((uid + 1)); done
        echo "$uid"
}

world_scratch() { # memory if there is some: a sweep syncs a hundred thousand times
        local dir=${SWEEP_DIR:-/dev/shm}
        [ -d "$dir" ] && [ -w "$dir" ] || dir=${TMPDIR:-/tmp}
        mktemp -d "$dir/spoolgate-sweep.XXXXXX"
}

world_begin() {
        local build source here
        build=$(readlink -f "$1") source=$(readlink -f "$2") here=$(dirname -- "$(readlink -f "$0")")
        if [ -z "${W:-}" ]; then
                W=$(world_scratch)
                trap 'rm -rf -- "$W"' EXIT
                trap 'exit 1' INT TERM HUP
                mkdir "$W/bin"
                DESTDIR=$W/dest meson install -C "$build" --no-rebuild >"$W/log" 2>&1 || { cat "$W/log"; exit 1; }
                find "$build/tests/crash" "$build/tests/fault" -maxdepth 1 -type f \( -perm -100 -o -name '*.so' \) -exec cp -t "$W/bin" {} + 2>/dev/null || true
                cp "$source/tests/crash/world.sh" "$0" "$W/bin"
                chmod -R go+rX "$W"
                if [ "$(id -u)" = 0 ] && [ -z "${WORLD_NESTED:-}" ]; then
                        WORLD_UID=$(world_free_uid)
                        chown "$WORLD_UID:$WORLD_UID" "$W"
                fi
                export W WORLD_UID=${WORLD_UID:-}
                cd "$W"
                if [ "$(id -u)" = 0 ] && [ "${3:-}" != keep-root ]; then
                        setpriv --reuid "$WORLD_UID" --regid "$WORLD_UID" --clear-groups --no-new-privs bash "$W/bin/${0##*/}" "$@"
                        exit $?
                fi
        fi
        cd "$W"
}

as_user() {
        if [ -n "${WORLD_NESTED:-}" ]; then # root of a user namespace: somebody else within it
                unshare -U --map-user=1000 --map-group=1000 "$@"
        elif [ "$(id -u)" = 0 ]; then setpriv --reuid "$WORLD_UID" --regid "$WORLD_UID" --clear-groups "$@"; else "$@"; fi
}

world_policy() {
        local key
        for key in ping status health logs up down restart rebuild init report migrate; do echo "MODE_$key=auto"; done
        printf '%s\n' MODE_join-network=deny RATE_PER_VERB=1000/600 RATE_TOTAL=1000/600 LINGER_MS=250
}

world_make() {
        local root=${3:-$W/$1} home conf ours
        home=$root/home conf=$root/home/.config/spoolgate/crash
        ours=$(find "$W/dest" -path '*/bin/spoolgate')
        as_user mkdir -p "$home" "$root/shop" "$root/template"
        as_user cp "$W/bin/effect" "$root/effect"
        as_user cp "$2" "$root/drain"
        as_user env -i HOME="$home" PATH="$PATH" git -C "$root/shop" init -q
        echo untracked/ | as_user tee "$root/shop/.gitignore" >/dev/null
        as_user env -i HOME="$home" PATH="$PATH" git -C "$root/shop" add .gitignore
        as_user env -i HOME="$home" PATH="$PATH" git -C "$root/shop" -c user.name=t -c user.email=t@localhost commit -qm first
        as_user env -i HOME="$home" PATH="$PATH" "$ours" install --project "$root/shop" \
                --slug crash --stack script --stack-bin "$root/effect" --service web --service api --service cache --service fail \
                --service planned --service old --service torn --buildable web --no-units --launch direct >"$W/log.$1" 2>&1 || { cat "$W/log.$1"; exit 1; }
        (cd "$root/shop" && as_user env -i HOME="$home" PATH="$PATH" "$ours" seal -s crash --yes) >"$W/log.$1" 2>&1 || { cat "$W/log.$1"; exit 1; }
        world_policy | as_user tee "$conf/policy.conf" >/dev/null
        as_user tee "$conf/verbs.json" >/dev/null <<VERBS
{"v": 1, "verbs": [
 {"name": "migrate", "class": "mutating", "argv": ["$root/effect", "own", "migrate"]},
 {"name": "report", "class": "read-only", "argv": ["$root/effect", "own", "report"]}]}
VERBS
        as_user chmod 600 "$conf/verbs.json" "$conf/policy.conf"
        as_user cp -a "$home/.local/state/spoolgate/crash" "$root/template/state"
        as_user cp -a "$root/shop/untracked/spoolgate" "$root/template/spool"
}
