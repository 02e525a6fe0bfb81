#!/bin/bash
# generated units hold for any project path
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 11-odd-paths <<'END'
i=0
for d in 'with space' 'per%cent' 'br[a]cket' 'cur{ly,x}' 'dollar$HOME' "quo'te" 'back\slash' 'ümlaut'; do
        i=$((i + 1)); use "odd$i" "$HOME/odd/$d"; make_project "$project"
        install_bridge >/dev/null || fail "install in '$d'"
        out=$(systemd-analyze --user verify --recursive-errors=yes "$units/spoolgate-odd$i".{path,service,timer,rearm.service} 2>&1) ||
                fail "'$d': verify: $out"
        equal "$out" "" "what verify says to '$d'"
        ask 12 ping; equal "$got" done "ping in '$d'"
        spoolgate uninstall -s "odd$i" --purge >/dev/null
done
END
