#!/bin/sh
# lint.sh SOURCE_DIR [DRAIN] - the house's rules that a machine can hold: include order between rooms, third-party
# headers each in one room, sizes of functions and files, forbidden calls and words. Prints each breach as
# file:line: what; one line a rule; non-zero when anything was found.
set -u
cd "$1" || exit 2
drain=${2:-}
found=0
files=$(find src installer -name '*.c' -o -name '*.h' | sort)
[ -n "$files" ] || { echo "no sources below $1"; exit 2; }

# rule NAME: reads breaches on stdin
rule() {
        breaches=$(cat)
        if [ -n "$breaches" ]; then
                printf '%s\n' "$breaches"
                echo "not ok $1"
                found=1
        else
                echo "ok $1"
        fi
}

# Rooms include downwards only (design: "House").
# shellcheck disable=SC2086
awk '
function may(from, list,   a, i, n) { n = split(list, a, " "); for (i = 1; i <= n; i++) ok[from, a[i]] = 1; ok[from, from] = 1; known[from] = 1 }
BEGIN {
        may("base", "")
        may("fs", "base")
        may("verb", "base")
        may("wire", "base verb")
        may("policy", "base verb wire")
        may("spool", "base fs")
        may("record", "base fs")
        may("guard", "base fs")
        may("run", "base fs verb")
        may("drain", "base fs verb wire policy spool record guard run")
        may("installer", "base fs verb wire policy spool record guard run")
        may("operator", "base fs verb wire policy spool record guard run drain installer")
        may("main", "drain guard operator")
}
/^#include "/ {
        n = split(FILENAME, p, "/")
        room = p[1] == "installer" ? "installer" : (n == 2 ? "main" : p[2])
        split($2, q, "\"")
        if (split(q[2], t, "/") != 2) { print FILENAME ":" FNR ": include " q[2] " is not written ROOM/FILE"; next }
        if (!((room, t[1]) in ok)) print FILENAME ":" FNR ": room " room " must not include " q[2]
}' $files | rule "rooms include downwards only"

# header, then the places that may include it
# shellcheck disable=SC2086
awk '
BEGIN {
        home["sodium.h"] = "^src/base/hash\\.c$"
        home["jansson.h"] = "^src/wire/"
        home["git2.h"] = "^src/guard/"
        home["systemd/sd-bus.h"] = "^src/run/"
        home["systemd/sd-event.h"] = "^src/drain/"
        home["systemd/sd-daemon.h"] = "^src/drain/"
        home["systemd/sd-journal.h"] = "^src/record/journal\\.c$"
        home["pcre2.h"] = "^src/run/redact"
        home["yaml.h"] = "^installer/"
        home["linux/landlock.h"] = "^src/guard/jail\\.c$"
        home["linux/seccomp.h"] = "^src/guard/jail\\.c$"
}
/^#include </ {
        h = $2; gsub(/[<>]/, "", h)
        if (h ~ /^git2\//) h = "git2.h"
        if (h in home && FILENAME !~ home[h]) print FILENAME ":" FNR ": " h " belongs to another room"
}' $files | rule "third-party headers in their one room"

# shellcheck disable=SC2086
awk 'FNR == 1 { if (prev && n > 500) print prev ": " n " lines, at most 500"; prev = FILENAME } { n = FNR }
END { if (n > 500) print prev ": " n " lines, at most 500" }' $files | rule "files of at most 500 lines"

# A function begins in column 0 and ends with a brace in column 0.
# shellcheck disable=SC2086
awk '
FNR == 1 { start = 0 }
/^[A-Za-z_].*[),]$/ || /^[A-Za-z_].*\) \{$/ { if (!start) { start = FNR; head = $0 } }
/^(typedef|struct|enum|union|static const|const)/ && !/\) \{$/ { start = 0 }
/;$/ && /^[A-Za-z_]/ { start = 0 }
/^}/ { if (start && FNR - start + 1 > 60) print FILENAME ":" start ": " FNR - start + 1 " lines, at most 60: " head; start = 0 }
' $files | rule "functions of at most 60 lines"

code() { # the files without comments and strings, as FILE:LINE:TEXT
        # shellcheck disable=SC2086
        awk '
        FNR == 1 { inside = 0 }
        {
                line = $0
                gsub(/\\./, "", line)
                gsub(/"[^"]*"/, "\"\"", line)
                out = ""
                while (line != "") {
                        if (inside) { i = index(line, "*/"); if (!i) { line = ""; break } line = substr(line, i + 2); inside = 0; continue }
                        i = index(line, "/*")
                        if (!i) { out = out line; break }
                        out = out substr(line, 1, i - 1); line = substr(line, i + 2); inside = 1
                }
                print FILENAME ":" FNR ":" out
        }' $files
}
code >"${TMPDIR:-/tmp}/spoolgate-lint.$$" || exit 2
trap 'rm -f "${TMPDIR:-/tmp}/spoolgate-lint.$$"' EXIT
text=${TMPDIR:-/tmp}/spoolgate-lint.$$

grep -nE '[^_a-zA-Z](system|popen|strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|strtok|alloca|signal|mktemp|tmpnam)\(' "$text" |
        cut -d: -f2- | rule "no forbidden call"
grep -E '[^_a-zA-Z0-9](open|openat|fopen|freopen|opendir|creat|open64)\(' "$text" | grep -vE '^src/(fs/|run/kin\.c|run/spawn\.c)' |
        rule "a path is opened in fs/ only (but for cgroupfs in run/kin, /dev/null in run/spawn)"
grep -E '[^_a-zA-Z](exit|quick_exit|abort)\(' "$text" | grep -vE '^src/(drain|inspect|spoolgate)\.c:' | rule "exit in mains only"
grep -E '[^_a-zA-Z](execve|execv|execvp|execl|execlp|fexecve|execveat)\(' "$text" | grep -vE '^(src/run/|src/guard/ask\.c)' |
        rule "exec in run/ (and guard/ask for the jail) only"
grep -E '[^_a-zA-Z]goto ' "$text" | rule "no goto"
grep -E '#define.*[^_a-zA-Z](return|goto|break|continue)[^_a-zA-Z]' "$text" | rule "no macro that jumps"
grep -nE '//' "$text" | grep -vE 'https?:' | cut -d: -f2- | rule "block comments only"
printf '%s\n' "$files" | grep -E '(util|common|helper|manager|handler|context)' | rule "no drawer names"
# shellcheck disable=SC2086
grep -nE "	" $files | rule "no tabs"
# shellcheck disable=SC2086
awk 'length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns, at most 100" }' $files | rule "lines of at most 100 columns"
for h in $(printf '%s\n' "$files" | grep '\.h$'); do
        grep -q '^#pragma once' "$h" || echo "$h: no #pragma once"
done | rule "headers guard themselves"
for main in src/drain.c src/inspect.c src/spoolgate.c; do
        [ -f "$main" ] || { echo "$main: missing"; continue; }
        [ "$(wc -l <"$main")" -le 40 ] || echo "$main: more than 40 lines"
done | rule "mains of a few lines"
if [ -n "$drain" ]; then
        ldd "$drain" | grep -E 'libgit2|libyaml' | rule "the drain links neither libgit2 nor libyaml"
fi
exit $found
