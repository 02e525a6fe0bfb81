# lib.sh: the live tests' side outside of the host (bash, root)
# shellcheck shell=bash

set -uo pipefail
live=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
host=$live/host
H=${SPOOLGATE_LIVE_HOST:?run by tests/live/run}

# check NAME <<'END' ... END: the text runs inside as the plain user, after inside.sh
check() {
        local text rc=0 out t=$SECONDS
        text=$(cat)
        out=$(timeout -k 5 "${limit:-180}" "$host" user "$H" env PROJECT="${PROJECT:-}" SLUG="${SLUG:-}" BUILD="${SPOOLGATE_LIVE_BUILD:-}" THIN="${SPOOLGATE_THIN:-}" \
                bash -c ". '$live/inside.sh'"$'\n'"$text" 2>&1) || rc=$?
        if [ $rc -eq 0 ]; then echo "ok $1 ($((SECONDS - t)) s)"; else echo "not ok $1 (exit $rc)"; fi
        # what a case says (figures, a trace of a failure) stands below its line
        [ -z "$out" ] || sed 's/^/    # /' <<<"$out"
        return 0
}
as_root() { "$host" root "$H" "$@"; }
