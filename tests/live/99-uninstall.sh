#!/bin/bash
# uninstall takes away what install made, and nothing else
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 99-uninstall <<'END'
echo mine >"$units/mine.service"; echo mine >~/.config/spoolgate/mine
spoolgate uninstall -s "$slug" --purge >/dev/null
equal "$(ls "$units" | grep -c spoolgate || true)" 0 units
for d in "$config" "$state" "$lib"; do [ ! -e "$d" ] || fail "$d is left"; done
[ -e "$units/mine.service" ] && [ -e ~/.config/spoolgate/mine ] || fail "files of others are gone"
[ -e "$project/compose.yaml" ] || fail "the checkout was touched"
systemctl --user is-active -q "spoolgate-$slug.path" && fail "still active"
equal "$(systemctl --user list-unit-files --no-legend 'spoolgate-*' | wc -l)" 0 "unit files"
END
