#!/bin/bash
# what list, status and doctor say of real units, each seeded fault found and mended by pasting the printed line
# shellcheck disable=SC1091,SC2034
. "$(dirname "$0")/lib.sh"

check 18-healthy <<'END'
use doc ~/doc; local_image; make_project "$project"; install_bridge; relax
spoolgate seal --yes >/dev/null 2>&1 || true
ask 10 ping; equal "$got" done
within 10 calm
contains "$(spoolgate list)" "units ok"
out=$(spoolgate status -s doc || true)
contains "$out" "units      path and timer active, enabled"
contains "$out" "lingering  on"
out=$(spoolgate doctor -s doc || true)
grep -E '^finding (user manager|units|unit files|failed units|enabled units|start limits|lingering|launch|spool|inotify|subordinate ids|newuidmap|programs|pinned programs)' <<<"$out" && fail "a finding on a healthy host"
true
END

check 18-seeded <<'END'
use doc ~/doc
# mended FINDING COMMAND: it is found, the next line is what to paste, and pasting mends it
mended() {
        local line
        line=$(spoolgate doctor -s doc | grep -A1 "^finding $1" | sed -n 2p) || true
        [ -n "$line" ] || fail "not found: $1: $(spoolgate doctor -s doc)"
        equal "$line" "$2" "the command of '$1'"
        bash -c "$line" >/dev/null 2>&1 || fail "it failed: $line"
        spoolgate doctor -s doc | grep -q "^finding $1" && fail "still there: $1"
        true
}
systemctl --user stop spoolgate-doc.path
mended "enabled units: spoolgate-doc.path is inactive" "systemctl --user start spoolgate-doc.path"
systemctl --user disable -q --now spoolgate-doc.timer
mended "enabled units: spoolgate-doc.timer is disabled" "systemctl --user enable --now spoolgate-doc.timer"
mkdir -p "$units/spoolgate-doc.service.d"
printf '[Unit]\nStartLimitIntervalSec=60\nStartLimitBurst=1\n' >"$units/spoolgate-doc.service.d/limit.conf"
touch "$units/spoolgate-doc.service"
mended "unit files: a unit file was changed" "systemctl --user daemon-reload"
for _ in 1 2 3; do publish ping; sleep 1; done
within 20 unit_is path failed || true
out=$(spoolgate doctor -s doc) || true
contains "$out" "start limit"
systemctl --user stop spoolgate-doc.rearm.service 2>/dev/null || true
mended "start limits: spoolgate-doc.service has a start limit" "systemctl --user revert spoolgate-doc.service"
systemctl --user daemon-reload
systemctl --user reset-failed spoolgate-doc.path spoolgate-doc.service 2>/dev/null || true
systemctl --user start spoolgate-doc.path
ask 30 ping; equal "$got" done
rm "$units"/spoolgate-doc.timer; systemctl --user daemon-reload
contains "$(spoolgate doctor -s doc || true)" "units are not installed: spoolgate-doc.timer"
contains "$(spoolgate doctor -s doc || true)" $'\nspoolgate upgrade -s doc'
END

check 18-verify-journal <<'END'
use doc ~/doc
sleep 1
out=$(spoolgate audit verify --journal -s doc) || fail "$out"
contains "$out" "the log has every one of them"
cp -p "$state/audit.log" ~/audit.keep
# the log cut off at its end: the chain holds, the journal's copies tell
head -n 1 ~/audit.keep >"$state/audit.log"
spoolgate audit verify -s doc >/dev/null || fail "a shorter chain is a chain"
out=$(spoolgate audit verify --journal -s doc) && fail "it was not seen"
contains "$out" "the log lacks"
cp -p ~/audit.keep "$state/audit.log"
spoolgate uninstall -s doc --purge >/dev/null
END
