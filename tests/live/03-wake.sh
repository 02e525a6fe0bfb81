#!/bin/bash
# no wake-up is lost
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 03-request-pair <<'END'
relax; policy LINGER_MS 250
lost=0 worst=0
for i in $(seq 500); do
        publish ping; a=$name
        until [ ! -e "$spool/requests/$a" ]; do :; done
        sleep "0.00$((SRANDOM % 7))"
        publish ping; t=$(now_ms)
        for _ in $(seq 1000); do [ -e "$spool/requests/$name" ] || break; sleep 0.002; done
        t=$(($(now_ms) - t)); [ $t -le $worst ] || worst=$t
        [ ! -e "$spool/requests/$name" ] || { lost=$((lost + 1)); answer "$name" 70 >/dev/null; }
done
echo "lost $lost of 500, slowest $worst ms"
equal $lost 0 "lost wake-ups"
END

# The race proper: the second one comes about when the drain leaves.
check 03-request-at-the-exit <<'END'
policy LINGER_MS 250
lost=0 worst=0
n=$(of 150 60)
for _ in $(seq "$n"); do
        ask 20 ping
        sleep "0.$((235 + SRANDOM % 60))"
        publish ping; t=$(now_ms)
        for _ in $(seq 1000); do [ -e "$spool/requests/$name" ] || break; sleep 0.002; done
        t=$(($(now_ms) - t)); [ $t -le $worst ] || worst=$t
        [ ! -e "$spool/requests/$name" ] || { lost=$((lost + 1)); answer "$name" 70 >/dev/null; }
done
echo "lost $lost of $n, slowest $worst ms"
equal $lost 0 "lost wake-ups"
path_active
END
