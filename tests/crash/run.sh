#!/usr/bin/env bash
# run.sh BUILD_ROOT SOURCE_ROOT thin|full|mutant - the crash sweeps
set -eu
# shellcheck source=tests/crash/world.sh
. "$(dirname -- "$0")/world.sh"
world_begin "$@"
drain=$(find "$W/dest" -name spoolgate-drain -type f)
case $3 in
thin)
        world_make a "$drain"
        world_make b "$drain"
        "$W/bin/crash" --budget "${SWEEP_SECONDS:-90}" a b
        "$W/bin/crash" --budget "$((${SWEEP_SECONDS:-90} / 6))" --child 1 a b
        "$W/bin/crash" --budget "$((${SWEEP_SECONDS:-90} / 6))" --child 5 a b
        ;;
full)
        world_make a "$drain"
        world_make b "$drain"
        "$W/bin/crash" a b
        for child in 1 2 3 4 5 6 7 8 9; do "$W/bin/crash" --child "$child" a b; done
        ;;
mutant)
        world_make a "$W/bin/spoolgate-drain-mutant"
        "$W/bin/crash" --budget 20 --mutant a
        ;;
esac
