#!/bin/bash
# a drain killed at each step of a scope launch: told once, run at most once, nothing left
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

prelude='
within 10 calm
left() { pgrep -u "$(id -u)" "spoolgate-(drain|keep)" >/dev/null; }
none_left() { ! left; }
# settle NAME WHAT: what must hold after the drain was killed
settle() {
        local s
        ask 15 ping; equal "$got" done "ping after $2"
        s=$(answer "$1" 30) || fail "no end of the request after $2"
        runs=$(grep -cF x ~/ran || true)
        case $s in
        done) equal "$runs" 1 "runs after $2" ;;
        uncertain) at_most "$runs" 1 "runs after $2" ;;
        failed) at_most "$runs" 1 "runs after $2 ($(field "$1" reason))" ;;
        *) fail "$s after $2" ;;
        esac
        equal "$(answers "$1")" 1 "responses after $2"
        # killed between an audit line and its ledger entry the step is made, and told of, anew
        at_most "$(audited "$1" start)" 2 "starts in the audit log after $2"
        at_most "$(audited "$1" end)" 2 "ends in the audit log after $2"
        within 5 no_scopes count; within 8 none_left
        no_visible || fail "something stays in requests/ after $2"
        tally[$s]=$((${tally[$s]:-0} + 1))
}
declare -A tally=()
'
check 15-prepare <<'END'
relax; policy LINGER_MS 250; within 10 calm
printf '#!/bin/sh\necho x >>"$HOME/ran"; sleep 0.2\n' >~/count; chmod 755 ~/count
own_verbs <<-V
	{"v":1,"verbs":[{"name":"count","class":"mutating","launch":"scope","argv":["$HOME/count"],"arg":null,"timeout_sec":20,"cwd":"host","env":{},"permission_scope":"edit"}]}
V
ask 10 count; equal "$got" done
END

limit=300
check 15-whole-cgroup-at-any-moment <<<"$prelude"'
for i in $(seq 40); do
        within 10 calm; : >~/ran; publish count; n=$name
        sleep "0.$(printf %03d $((i * 4)))"
        systemctl --user kill -s KILL "spoolgate-$slug.service" 2>/dev/null || true
        settle "$n" "a kill after $((i * 4)) ms"
done
for s in "${!tally[@]}"; do echo "$s: ${tally[$s]}"; done
'

# By ptrace, at system calls of the drain: the first, the middle and the last of each kind.
check 15-drain-at-its-system-calls <<<"$prelude"'
drop=$units/spoolgate-$slug.service.d; mkdir -p "$drop"
traced() { # STRACE-OPTION...
        printf "[Service]\nExecStart=\nExecStart=/usr/bin/strace -D -o %s %s %s %s\n" ~/trace "$*" "$lib/spoolgate-drain" "$slug" >"$drop/t.conf"
        systemctl --user daemon-reload
}
plain() { rm -f "$drop/t.conf"; systemctl --user daemon-reload; }
traced; : >~/ran; publish count; answer "$name" 20 >/dev/null; within 10 calm
sed -n "s/^\([a-z0-9_]*\)(.*/\1/p" ~/trace | grep -vE "^(exit_group|execve|brk|mmap|munmap|mprotect|arch_prctl|prlimit64|getrandom|rt_sig.*|set_.*|rseq|get.?[ug]id|getpid)$" >~/calls
points=()
for c in $(sort -u ~/calls); do
        k=$(grep -cx "$c" ~/calls)
        points+=("$c:1"); [ "$k" -lt 2 ] || points+=("$c:$k"); [ "$k" -lt 5 ] || points+=("$c:$((k / 2))")
done
step=$(of 1 3)
for ((i = 0; i < ${#points[@]}; i += step)); do
        p=${points[i]}
        : >~/ran; traced "-e inject=${p%:*}:signal=KILL:when=${p#*:}"
        publish count; n=$name
        gone() { [ "$(systemctl --user show -P Result "spoolgate-$slug.service")" = signal ] || ended "$n"; }
        within 15 gone; plain
        settle "$n" "a kill at $p"; within 10 calm
done
rm -rf "$drop"; systemctl --user daemon-reload
echo "$(((${#points[@]} + step - 1) / step)) kill points"; for s in "${!tally[@]}"; do echo "$s: ${tally[$s]}"; done
'
