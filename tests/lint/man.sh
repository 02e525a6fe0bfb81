#!/bin/sh
# man.sh BUILD SOURCE - the manual pages say what the code does: options (--help), exit statuses, policy keys with
# defaults and bounds, reason codes and states, keys of verbs.json, request and response, fields of the journal.
# Every one is documented, none is invented; mandoc has no warning.
set -u
LC_ALL=C
export LC_ALL
build=$1
cd "$2" || exit 2
top=$(mktemp -d "${TMPDIR:-/tmp}/man.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM HUP
found=0

# same WHAT CODE PAGE: two files of words, in any order
same() {
        sort -u "$2" >"$top/a"
        sort -u "$3" >"$top/b"
        if [ ! -s "$top/a" ]; then
                echo "not ok $1: nothing found in the code"
                found=1
        elif cmp -s "$top/a" "$top/b"; then
                echo "ok $1"
        else
                comm -23 "$top/a" "$top/b" | sed 's/^/not documented: /'
                comm -13 "$top/a" "$top/b" | sed 's/^/not in the code: /'
                echo "not ok $1"
                found=1
        fi
}

# part PAGE MACRO TITLE: the lines of a section (Sh) or subsection (Ss)
part() {
        awk -v macro=".$2" -v title="$3" '
                $1 == ".Sh" || $1 == ".Ss" { on = $1 == macro && substr($0, 5) == title; next }
                on' "man/$1"
}

# The options that items of a list are about: stdin to "-x" and "--long", one a line.
item_options() {
        awk '/^\.It .*Fl / {
                for (i = 2; i < NF; i++)
                        if ($i == "Fl")
                                for (k = i + 1; k <= NF && $k != "Ar" && $k != "Cm"; k++)
                                        if ($k != "," && $k != "Fl")
                                                print "-" $k
        }'
}

# The options of a usage text: stdin the same way.
help_options() {
        awk '/^ +-/ {
                for (i = 1; i <= NF && $i ~ /^-/; i++) {
                        sub(/,$/, "", $i)
                        print $i
                }
        }'
}

items() { # MACRO: the words of .It MACRO a , b ...
        awk -v macro="$1" '$1 == ".It" && $2 == macro {
                for (i = 3; i <= NF && $i != "Ta" && $i != "Ns"; i++)
                        if ($i != ",")
                                print $i
        }'
}

statuses() { # PAGE
        part "$1" Sh 'EXIT STATUS' | awk '$1 == ".It" { print $2 }'
}

# ---- commands and options ---------------------------------------------------------------------------------

"$build/src/spoolgate" --help >"$top/help" || exit 2
awk '/^  [a-z]/ { print $1 }' "$top/help" >"$top/code"
awk '$1 == ".Ss" { print $2 }' man/spoolgate.1 >"$top/page"
same 'spoolgate(1): commands' "$top/code" "$top/page"
commands=$(cat "$top/code")
for command in $commands; do
        "$build/src/spoolgate" "$command" --help >"$top/help" 2>&1 || { echo "not ok $command --help"; found=1; }
        {
                help_options <"$top/help"
                grep -E '^(usage:|      ) spoolgate ' "$top/help" | grep -oE -e '--[a-z-]+'
                echo --help
        } | grep -vxE -e '-s|--slug|--help' >"$top/code"
        # install names the slug that it makes
        [ "$command" != install ] || echo --slug >>"$top/code"
        part spoolgate.1 Ss "$command" | item_options >"$top/page"
        [ -s "$top/code" ] || [ -s "$top/page" ] || continue
        same "spoolgate(1): options of $command" "$top/code" "$top/page"
done
sh src/agent/spoolgate-request --help | help_options | grep -vx -e -h >"$top/code"
item_options <man/spoolgate-request.1 | grep -vx -e -h >"$top/page"
same 'spoolgate-request(1): options' "$top/code" "$top/page"
"$build/src/spoolgate-drain" --help | grep -o -e '--[a-z]*' | sort -u >"$top/code"
printf '%s\n' --help --version >>"$top/code"
item_options <man/spoolgate-drain.8 >"$top/page"
same 'spoolgate-drain(8): options' "$top/code" "$top/page"

# ---- exit statuses ----------------------------------------------------------------------------------------

# enumerators PREFIX FILE: the values
enumerators() { grep -oE "$1[A-Z_]* = [0-9]+" "$2" | sed 's/.*= //'; }
enumerators COMMAND_ src/operator/command.h >"$top/code"
statuses spoolgate.1 >"$top/page"
same 'spoolgate(1): exit statuses' "$top/code" "$top/page"
enumerators DRAIN_EXIT_ src/drain/loop.h >"$top/code"
statuses spoolgate-drain.8 >"$top/page"
same 'spoolgate-drain(8): exit statuses' "$top/code" "$top/page"
sed -n '/^int inspect_main/,/^}/p' src/guard/inspect.c | grep -oE 'return [^;]*' | grep -oE '[0-9]+' >"$top/code"
statuses spoolgate-inspect.8 >"$top/page"
same 'spoolgate-inspect(8): exit statuses' "$top/code" "$top/page"
# exit 1 is said within awk programs only
grep -oE '\bexit [0-9]+' src/agent/spoolgate-request | sed 's/exit //' | grep -vx 1 >"$top/code"
statuses spoolgate-request.1 >"$top/page"
same 'spoolgate-request(1): exit statuses' "$top/code" "$top/page"

# ---- configuration ----------------------------------------------------------------------------------------

grep -oE '"[A-Z][A-Z_]+"' src/policy/policy.c | tr -d '"' >"$top/code"
items Cm <man/spoolgate.policy.5 | grep -E '^[A-Z]' >"$top/page"
same 'spoolgate.policy(5): keys' "$top/code" "$top/page"
sed 's/^#//' policy/policy.conf | grep -oE '^(MODE_|TIMEOUT_|[A-Z_]+=)' | tr -d = >"$top/page"
same 'policy.conf: keys' "$top/code" "$top/page"
sed -nE 's/.*\{"([A-Z_]+)", ([0-9]+), ([0-9]+), ([0-9]+)\}.*/\1 \2 \3 to \4/p; s,.*\{"([A-Z_]+)"\, \{([0-9]+)\, ([0-9]+)\}\}.*,\1 \2/\3,p' \
        src/policy/policy.c >"$top/code"
sed -nE 's/^\.It Cm ([A-Z_]+) Ta ([0-9]+) Ta ([0-9]+ to [0-9]+) Ta .*/\1 \2 \3/p; s,^\.It Cm ([A-Z_]+) Ta ([0-9]+/[0-9]+) Ta .*,\1 \2,p' \
        man/spoolgate.policy.5 >"$top/page"
same 'spoolgate.policy(5): defaults and bounds' "$top/code" "$top/page"
sed -n '/verbs_keys\[\]/,/};/p' src/wire/verbs.c | grep -oE '"[a-z_]+"' | tr -d '"' >"$top/code"
items Cm <man/spoolgate.verbs.5 >"$top/page"
same 'spoolgate.verbs(5): keys' "$top/code" "$top/page"
sed -n '/own_env_allowed/,/^}/p' src/verb/own.c | grep -oE '"[A-Z_]+"' | tr -d '"' >"$top/code"
part spoolgate.verbs.5 Sh DESCRIPTION | awk '$1 == ".Li" && $2 == "LD_*" { for (i = 2; i < NF; i++) { sub(/\*/, "", $i); print $i } }' >"$top/page"
same 'spoolgate.verbs(5): names no env may have' "$top/code" "$top/page"
# stacks STRUCT: the rows of the const table
sed -n '/^static const Stack stacks/,/^}/p' src/verb/stacks.c | grep -oE '"[a-z-]+"' | tr -d '"' >"$top/code"
part spoolgate.1 Ss install | awk '/^\.It Fl -stack Ar/ { on = 1; next } /^\.It/ { on = 0 } on && $1 == ".Cm" { for (i = 2; i <= NF; i++) if ($i !~ /^[,.]$/) print $i }' >"$top/page"
same 'spoolgate(1): stacks' "$top/code" "$top/page"

# ---- protocol and journal ---------------------------------------------------------------------------------

sed -n '/request_keys\[\]/,/};/p' src/wire/request.c | grep -oE '"[a-z_]+"' | tr -d '"' >"$top/code"
part spoolgate-protocol.7 Sh REQUEST | items Cm >"$top/page"
same 'spoolgate-protocol(7): keys of a request' "$top/code" "$top/page"
grep -oE '\(root, "[a-z_]+"' src/wire/response.c | sed 's/.*"\(.*\)"/\1/' >"$top/code"
part spoolgate-protocol.7 Sh RESPONSE | items Cm >"$top/page"
same 'spoolgate-protocol(7): keys of a response' "$top/code" "$top/page"
sed -nE 's/.*\{"([a-z-]+)", STATE_([A-Z]+)\}.*/\1 \2/p' src/wire/reason.c | tr '[:upper:]' '[:lower:]' >"$top/code"
sed -nE 's/^\.It Li ([a-z-]+) Ta ([a-z]+) Ta .*/\1 \2/p' man/spoolgate-protocol.7 >"$top/page"
same 'spoolgate-protocol(7): reason codes' "$top/code" "$top/page"
sed -n '/state_names\[\]/,/};/p' src/wire/reason.c | grep -oE '"[a-z]+"' | tr -d '"' >"$top/code"
part spoolgate-protocol.7 Sh STATES | awk '$1 == ".Li" { print $2 }' >"$top/page"
same 'spoolgate-protocol(7): states' "$top/code" "$top/page"
grep -oE '"SPOOLGATE_[A-Z]+"' src/record/journal.c | tr -d '"' >"$top/code"
part spoolgate.1 Sh JOURNAL | grep -oE 'SPOOLGATE_[A-Z]+' >"$top/page"
same 'spoolgate(1): fields of the journal' "$top/code" "$top/page"

# ---- the pages themselves -----------------------------------------------------------------------------------

for page in man/*.[0-9]; do printf '%s\n' "${page#man/}"; done >"$top/code"
grep -oE "'spoolgate[a-z.-]*\.[0-9]'" man/meson.build | tr -d "'" >"$top/page"
same 'pages that are installed' "$top/code" "$top/page"
# .Xr spoolgate... leads somewhere
grep -hoE '^\.Xr spoolgate[a-z.-]* [0-9]' man/*.[0-9] | sed 's/\.Xr //; s/ /./' | sort -u >"$top/page"
sort -u "$top/code" | comm -13 - "$top/page" >"$top/stray"
if [ -s "$top/stray" ]; then
        sed 's/^/no such page: /' "$top/stray"
        found=1
fi
if command -v mandoc >/dev/null 2>&1; then
        if mandoc -Tlint -Wwarning man/*.[0-9] 2>/dev/null; then
                echo 'ok mandoc has no warning'
        else
                echo 'not ok mandoc'
                found=1
        fi
else
        echo 'ok mandoc # SKIP not installed'
fi
exit "$found"
