#!/bin/bash
# requests/ as a mount of its own in the agent's container
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 08-own-mount <<'END'
policy LINGER_MS 500
mounts=(-v "$spool/requests:/src/untracked/spoolgate/requests")
out=$(agent "${mounts[@]}" -- ping 2>&1) || fail "$out"
contains "$out" "spoolgate: done"
out=$(podman run --rm --network none -v "$project:/src" "${mounts[@]}" -w /src/untracked/spoolgate $image \
        sh -c 'rmdir requests; mv requests away; ls -d requests' 2>&1) || true
contains "$out" busy; contains "$out" requests
[ -d "$spool/requests" ] || fail "requests/ was taken away"
out=$(agent "${mounts[@]}" -- restart web 2>&1) || fail "$out"
END

check 08-another-path <<'END'
out=$(podman run --rm --network none -v "$spool:/gate" $image sh /gate/spoolgate-request ping 2>&1) || fail "$out"
contains "$out" "spoolgate: done"
out=$(podman run --rm --network none -v "$spool:/gate" -e SPOOLGATE_SPOOL=/gate $image \
        sh -c 'cp /gate/spoolgate-request /tmp/r && sh /tmp/r ping' 2>&1) || fail "$out"
END

check 08-async-and-poll <<'END'
id=$(agent -- --async ping); out=$(agent -- --poll "$id" 2>&1) || fail "$out"; contains "$out" "spoolgate: done"
out=$(agent -- --json ping 2>/dev/null); contains "$out" '"state":"done"'
END
