#!/bin/sh
# catalog.sh SOURCE - the journal's catalog: its ids are those of src/record/journal.c, each entry has a subject, an
# explanation, a manual page of ours and a command of ours; journalctl takes it without a word.
set -u
LC_ALL=C
export LC_ALL
cd "$1" || exit 2
catalog=units/spoolgate.catalog
top=$(mktemp -d "${TMPDIR:-/tmp}/catalog.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM HUP
found=0

fail() {
        printf '%s\n' "$@"
        found=1
}

sed -n '/journal_rows\[/,/^};/p' src/record/journal.c | grep -oE '"[0-9a-f]{32}"' | tr -d '"' | sort >"$top/code"
sed -n 's/^-- //p' "$catalog" | sort >"$top/entries"
[ -s "$top/code" ] || fail 'not ok: no ids in src/record/journal.c'
[ "$(wc -l <"$top/code")" -eq "$(grep -cE '^ {8}JOURNAL_[A-Z_]+,$' src/record/journal.h)" ] || fail 'not ok: a kind without an id'
cmp -s "$top/code" "$top/entries" || fail 'not ok: ids of journal.c (<) and of the catalog (>)' "$(diff "$top/code" "$top/entries")"
[ -z "$(uniq -d "$top/entries")" ] || fail 'not ok: an id twice'

# Every entry: header lines, an empty one, at least two lines of text. Fields and commands that exist.
awk -v commands="$(sed -nE 's/^ +\{"([a-z]+)", .*_command\},$/\1/p' src/operator/command.c | tr '\n' ' ')" \
        -v fields="$(grep -oE 'SPOOLGATE_[A-Z]+' src/record/journal.c | tr '\n' ' ')" '
        function bad(what) { print FILENAME ":" FNR ": " what; wrong = 1 }
        function entry_end() {
                if (id != "" && (!subject || !by || !page || text < 2))
                        bad("entry " id " lacks a subject, Defined-By: spoolgate, Documentation or an explanation")
                subject = by = page = text = 0
        }
        BEGIN {
                n = split(commands, a, " "); for (i = 1; i <= n; i++) command[a[i]] = 1
                n = split(fields, a, " "); for (i = 1; i <= n; i++) field["@" a[i] "@"] = 1
        }
        /^#/ { next }
        /^-- / { entry_end(); id = $2; head = 1; next }
        head && /^Subject: ./ { subject = 1 }
        head && /^Defined-By: spoolgate$/ { by = 1 }
        head && /^Documentation: man:spoolgate/ { page = 1 }
        /^$/ { head = 0 }
        !head && NF > 0 { text++ }
        !head && length($0) > 79 { bad("longer than 79") }
        /^spoolgate / { if (!($2 in command)) bad("no command " $2) }
        {
                s = $0
                while (match(s, /@[A-Z_]+@/)) {
                        if (!(substr(s, RSTART, RLENGTH) in field)) bad("no field " substr(s, RSTART, RLENGTH))
                        s = substr(s, RSTART + RLENGTH)
                }
        }
        END { entry_end(); exit wrong }' "$catalog" || found=1

if command -v journalctl >/dev/null 2>&1; then
        mkdir -p "$top/root/usr/lib/systemd/catalog" "$top/root/var/lib/systemd/catalog"
        cp "$catalog" "$top/root/usr/lib/systemd/catalog/"
        said=$(journalctl --root="$top/root" --update-catalog 2>&1) || fail "not ok: journalctl: $said"
        [ -z "$said" ] || fail "not ok: journalctl says: $said"
        journalctl --root="$top/root" --no-pager --list-catalog 2>&1 | grep -o '^[0-9a-f]\{32\} ' | tr -d ' ' | sort >"$top/taken"
        cmp -s "$top/entries" "$top/taken" || fail 'not ok: journalctl took other entries' "$(cat "$top/taken")"
else
        echo 'ok journalctl # SKIP not installed'
fi
[ "$found" -ne 0 ] || echo 'ok the catalog'
exit "$found"
