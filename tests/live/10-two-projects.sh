#!/bin/bash
# two projects on one host share nothing
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 10-disjoint <<'END'
for s in a a-b; do
        use $s ~/two/$s; make_project "$project"; install_bridge; relax
        ask 10 ping; equal "$got" done "ping of $s"
done
equal "$(grep -lF "two/a/" "$units"/spoolgate-a-b.* | wc -l)" 0 "units of a-b which name a"
use a ~/two/a; publish ping; a=$name
use a-b ~/two/a-b; publish ping; b=$name
equal "$(answer "$b")" done; grep -qF "$b" "$state/audit.log" || fail "no audit line"
use a ~/two/a; equal "$(answer "$a")" done
grep -qF "$b" "$state/audit.log" && fail "a has b's line"
true
END

check 10-uninstall-leaves-the-other <<'END'
use a-b ~/two/a-b; before=$(find "$config" "$state/audit.log" "$lib" "$units"/spoolgate-a-b.* -type f | sort)
spoolgate uninstall -s a >/dev/null
equal "$(ls "$units" | grep -cE '^spoolgate-a\.' || true)" 0 "units of a"
[ ! -e ~/.local/lib/spoolgate/a ] || fail "programs of a are left"
[ -e ~/.local/state/spoolgate/a/audit.log ] || fail "state of a is gone without --purge"
systemctl --user is-active -q spoolgate-a.path && fail "spoolgate-a.path is active"
equal "$(find "$config" "$state/audit.log" "$lib" "$units"/spoolgate-a-b.* -type f | sort)" "$before" "files of a-b"
ask 10 ping; equal "$got" done
spoolgate uninstall -s a-b --purge >/dev/null
for d in .local/lib .local/state .config; do [ ! -e ~/$d/spoolgate/a-b ] || fail "$d is left"; done
END
