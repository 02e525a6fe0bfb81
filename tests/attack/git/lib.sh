# A repository, its seal and the gate, for run.sh and ../env/run.sh. Sourced; needs $GATE and $INSPECT.
# shellcheck shell=bash
set -u

passed=0
failed=0
skipped=0
LC_ALL=C
export LC_ALL GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org \
        GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org INSPECT
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# As root: run the script again as an ordinary user (nobody), in a directory of its own.
as_user() {
        if [ "$(id -u)" = 0 ] && [ -z "${ATTACK_AS_ROOT:-}" ]; then
                TOP=$(mktemp -d "${TMPDIR:-/tmp}/spoolgate-attack.XXXXXX") || exit 2
                chmod 755 "$TOP"
                mkdir "$TOP/bin" "$TOP/user"
                cp "$GATE" "$INSPECT" "$TOP/bin/" || exit 2
                chmod 755 "$TOP/bin/"*
                chown 65534:65534 "$TOP/user"
                setpriv --reuid=65534 --regid=65534 --clear-groups \
                        env HOME="$TOP/user" TMPDIR="$TOP/user" ASAN_OPTIONS="${ASAN_OPTIONS:-}" \
                        bash "$0" "$TOP/bin/$(basename "$GATE")" "$TOP/bin/$(basename "$INSPECT")"
                rc=$?
                [ "$(type -t as_root)" = function ] && as_root
                rm -rf "$TOP"
                [ $failed = 0 ] || rc=1
                exit $rc
        fi
        TOP=$(mktemp -d "${TMPDIR:-/tmp}/spoolgate-attack.XXXXXX") || exit 2
        trap 'chmod -R u+rwX "$TOP" 2>/dev/null; rm -rf "$TOP"' EXIT
}

# A fresh checkout with three guarded files, sealed.
fresh() {
        chmod -R u+rwX "$TOP/w" 2>/dev/null
        rm -rf "${TOP:?}/w"
        mkdir -p "$TOP/w/co/deploy" "$TOP/w/state" "$TOP/w/out"
        CO=$TOP/w/co STATE=$TOP/w/state OUT=$TOP/w/out
        export GUARDED="deploy/compose.yaml deploy/stack.sh deploy/nginx.conf" ENV_FILES=.env
        cd "$CO" || exit 2
        git init -q -b main .
        printf 'services:\n  web:\n    image: good\n' >deploy/compose.yaml
        printf '#!/bin/sh\necho good\n' >deploy/stack.sh
        printf 'server {}\n' >deploy/nginx.conf
        chmod 644 deploy/compose.yaml deploy/nginx.conf
        chmod 755 deploy/stack.sh
        touch -d '2020-01-02 03:04:05' deploy/*
        printf 'TOKEN=marker-secret-value\n' >.env
        chmod 600 .env
        echo .env >.gitignore
        git add .gitignore deploy && git commit -qm base
        BASE=$(git rev-parse HEAD)
        F=deploy/compose.yaml
        GITDIR=$CO/.git
        PIN=$("$GATE" pin "$GITDIR")
        cp $F "$OUT/good.yaml"
        seal
}

seal() { "$GATE" seal "$CO" "$STATE" "$GITDIR"; }
# Same length as the good one.
evil() { printf 'services:\n  web:\n    image: evil\n' >"$F"; }
commit_evil() { evil && git add "$F" && git commit -qm evil; }

say() {
        printf '%s %-62s %s\n' "$1" "$2" "$3"
}

# check ROW INTEGRITY PATTERN: the gate's line must match.
check() {
        local line
        line=$(cd / && "$GATE" check "$CO" "$STATE" "$GITDIR" "$PIN" "$2" 2>&1)
        # shellcheck disable=SC2254
        case $line in
        $3) passed=$((passed + 1)); say ok "$1 [$2]" "${line%%|*}" ;;
        *) failed=$((failed + 1)); say FAIL "$1 [$2]" "wanted $3, got $line" ;;
        esac
}

# Refused under both and under head; the sealed bytes are other ones too.
refused() {
        check "$1" both "integrity-$2"
        check "$1" head "integrity-$2"
}

truth() {
        if [ "$2" = "$3" ]; then
                passed=$((passed + 1)); say ok "$1" "$2"
        else
                failed=$((failed + 1)); say FAIL "$1" "wanted $3, got $2"
        fi
}

# bounded ROW INTEGRITY PATTERN: as check, within 2 s and 64 MiB.
bounded() {
        local lines ms rss
        lines=$(cd / && MEASURE=1 "$GATE" check "$CO" "$STATE" "$GITDIR" "$PIN" "$2" 2>&1)
        ms=$(echo "$lines" | sed -n 's/^ms \([0-9]*\) .*/\1/p')
        rss=$(echo "$lines" | sed -n 's/.* rss \([0-9]*\)$/\1/p')
        [ -n "${LOOSE:-}" ] && rss=0 && ms=0 # a sanitizer's build: neither time nor memory mean anything
        # shellcheck disable=SC2254
        case $lines in
        $3*)
                if [ "${ms:-9999}" -lt 2000 ] && [ "${rss:-999999}" -lt 65536 ]; then
                        passed=$((passed + 1)); say ok "$1 [$2]" "${lines%%|*} ${ms}ms ${rss}KiB"
                        return
                fi ;;
        esac
        failed=$((failed + 1))
        say FAIL "$1 [$2]" "wanted $3, got $lines"
}

skip() {
        skipped=$((skipped + 1))
        say skip "$1" "$2"
}

finish() {
        echo "passed $passed failed $failed skipped $skipped"
        [ $failed = 0 ] || exit 1
        exit 0
}
