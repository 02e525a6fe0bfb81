#!/bin/bash
# test-race.sh BUILD_ROOT SOURCE_ROOT: a guarded file is swapped as fast as the machine can while gated verbs run (attacks.md row 91)
#
# RENAMES exchanges at the least while RUNS verbs are asked for. What runs is a sealed copy: never the swapped bytes; and a
# run during which the file was touched ends as failed: integrity-modified.
# shellcheck source=tests/attack/gate/world.sh disable=SC2034
. "${0%/*}/world.sh"
RENAMES=20000
RUNS=30 MOST=30
[ -z "${LOOSE:-}" ] || RENAMES=2000 RUNS=5 # and more, up to MOST, until a look found the swapped file: at a coin's toss each, five may miss
case $(uname -m) in x86_64) renameat2=316 ;; aarch64 | riscv64) renameat2=276 ;; *) renameat2= ;; esac
if [ -z "$renameat2" ] || ! command -v perl >/dev/null; then
        if [ "${MUST_WORK:-0}" = 1 ]; then exit 1; else exit 77; fi
fi
begin "$@"

race() { # STACK FILE TEXT_FUNCTION
        local stack=$1 file=$2 text=$3 done=0 refused=0 reported=0 other=0 racer swaps
        project "$stack"
        "$text" evil >"$P/other"
        chmod --reference="$P/$file" "$P/other"
        echo /other >>"$P/.git/info/exclude"
        watch
        ran "$stack: before" web "${WORDS:-restart web}"
        rm -f "$T/stop"
        perl -e 'my ($a, $b, $stop, $least, $call) = @ARGV; my $n = 0;
                until ($n >= $least && -e $stop) {
                        syscall($call, -100, $a, -100, $b, 2) == 0 or die "renameat2: $!";
                        $n++;
                        select(undef, undef, undef, 0.0005 * rand(4)) if $n % 51 == 0;
                }
                print $n' "$P/$file" "$P/other" "$T/stop" "$RENAMES" "$renameat2" >"$T/swaps" &
        racer=$!
        for ((i = 0; i < RUNS || (refused == 0 && i < MOST); i++)); do
                ask restart web
                case "$RC $ERR" in
                "0 "*) done=$((done + 1)) ;;
                "70 spoolgate: failed: integrity-modified:"*"spoolgate resume -s demo") reported=$((reported + 1)); gate resume ;;
                "70 spoolgate: denied: integrity-"*"$file"*) refused=$((refused + 1)) ;;
                *) other=$((other + 1)); fail "$stack: an answer" "$RC $ERR" ;;
                esac
        done
        : >"$T/stop"
        wait "$racer"
        swaps=$(cat "$T/swaps")
        check "$stack: $swaps renames while $i verbs were asked for: $refused refused, $reported ran and were reported, $done ran untouched" \
                [ "$swaps" -ge "$RENAMES" ]
        equal "$stack: every one had its answer" "$((done + refused + reported)) $other" "$i 0"
        equal "$stack: runs of swapped bytes" "$(grep -c evil "$EFFECTS")" 0
        equal "$stack: runs of the sealed bytes" "$(grep -c good "$EFFECTS")" $((done + reported + 1))
        check "$stack: some were refused" [ "$refused" -gt 0 ]
        equal "$stack: alarms in the audit log" "$(audit '"event":"changed_during_run"')" "$reported"
        unwatch
}
race script deploy/stack stack_text
WORDS=web race podman-compose compose.yaml compose_text
WORDS=web race docker-compose compose.yaml compose_text
flow_end
