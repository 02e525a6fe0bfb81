#!/bin/sh
# run.sh MODEL [mutant] - spin's exhaustive search of the model; mutant: the search must find what the mutants do
set -eu
model=$(readlink -f "$1")
command -v spin >/dev/null || { echo "no spin"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/model.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
cd "$work"
search() { # NAME SPIN_FLAGS CC_FLAGS PAN_FLAGS
        # shellcheck disable=SC2086
        spin $2 -a "$model" >spin.log 2>&1 || { cat spin.log; exit 1; }
        # shellcheck disable=SC2086
        ${CC:-cc} -O2 -w -DVECTORSZ=2048 $3 -o pan pan.c
        # shellcheck disable=SC2086
        ./pan -m1000000 $4 >"$1.log" 2>&1 || true
        grep -q 'errors: [0-9]' "$1.log" || { cat "$1.log"; exit 1; }
        printf '%s: %s, %s states\n' "$1" "$(sed -n 's/.*\(errors: [0-9]*\).*/\1/p' "$1.log")" "$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' "$1.log")"
}
clean() { # NAME: searched to the end, nothing found
        if ! grep -q 'errors: 0' "$1.log" || grep -q -e 'max search depth too small' -e 'Search not completed' "$1.log"; then cat "$1.log"; exit 1; fi
}
if [ "${2:-}" = mutant ]; then
        search mutant -DMUTANT '-DSAFETY -DNOCLAIM' ''
        grep -q 'assertion violated (effects' mutant.log || { cat mutant.log; exit 1; }
        search forgetful -DFORGETFUL '-DSAFETY -DNOCLAIM' ''
        grep -q 'assertion violated ((answer' forgetful.log || { cat forgetful.log; exit 1; }
        exit 0
fi
search asserts '' '-DSAFETY -DNOCLAIM' ''
clean asserts
for claim in cleared answered; do
        search "$claim" '' '-DNFAIR=4' "-a -f -N $claim"
        clean "$claim"
done
