#!/bin/bash
# test-drain-endless.sh BUILD_ROOT SOURCE_ROOT - output without end: memory of drain and keeper, disk, the answer. ENDLESS_SEC (3)
# seconds each; 10 on a release build is what the promise "RSS under 16 MiB" is measured with.
# shellcheck source=tests/flow/lib.sh disable=SC2317
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
seconds=${ENDLESS_SEC:-3}
peak_max=$((16 * 1024)) # KiB
# The sanitizers' own memory is no part of it.
sanitized=
if grep -qa __asan_init "$DRAIN"; then sanitized=1; fi

cat >"$T/stack.tmp" <<'STACK'
#!/bin/sh
case $2 in
web) exec yes ;;
api) exec tr '\0' x </dev/zero ;;
fail) exec yes "DB_PASSWORD=hunter2-is-long-enough token ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789" ;;
esac
STACK
as_user cp "$T/stack.tmp" "$HOST/stack"

keeper() { # its pid: the drain's only child
        KEEPER=$(pgrep -P "$DRAIN_PID" | head -n 1)
        [ -n "$KEEPER" ]
}
peak() { # PID: KiB
        awk '/^VmHWM:/ { print $2 }' "/proc/$1/status" 2>/dev/null
}
small() { # CASE KIB
        if [ -n "$sanitized" ]; then skip "$1" "a sanitizer's build"; else check "$1: $2 KiB" test "${2:-999999}" -lt "$peak_max"; fi
}

endless() { # CASE ARG
        local begin=$EPOCHSECONDS at=0 more
        request logs "$2" "\"timeout_sec\":$seconds"
        drain_start
        await answered "$NAME" running
        check "$1: a keeper is there" await keeper
        while more=$(peak "$KEEPER") && [ -n "$more" ]; do
                at=$more
                sleep 0.1
        done
        check "$1: an answer" await answered "$NAME" failed
        small "$1: peak of the keeper's memory" "$at"
        small "$1: peak of the drain's memory" "$(peak "$DRAIN_PID")"
        expect "$1: ended by its deadline" "$NAME" reason=timeout exit=null truncated=true
        check "$1: in time" test $((EPOCHSECONDS - begin)) -lt $((seconds + 12))
        check "$1: a lot came: $(field "$NAME" output_bytes) bytes" test "$(field "$NAME" output_bytes)" -gt 8388608
        check "$1: 4 MiB are kept" test "$(wc -c <"$S/archive/$NAME.log")" -le $((4 * 1024 * 1024 + 200)) -a "$(wc -c <"$S/archive/$NAME.log")" -gt 4000000
        equal "$1: with one notice" "$(grep -ac '^\[spoolgate: [0-9]* bytes dropped here\]$' "$S/archive/$NAME.log")" 1
        check "$1: 64 KiB of output in the answer" test "$(field "$NAME" output | wc -c)" -le $((64 * 1024 * 2))
        check "$1: nothing large elsewhere" test "$(find "$S" "$STATE" -type f -size +1M | grep -vcF "$NAME.log")" = 0
        drain_wait
        equal "$1: the drain ends well" "$RC $(cat "$T/drain.bg.err")" "0 "
        equal "$1: nobody is left" "$(pgrep -U "$(id -u)" -cx 'yes|tr')" 0
        rm "$S/archive/$NAME.log"
}
endless "yes" web
endless "one line" api
endless "secrets" fail
flow_end
