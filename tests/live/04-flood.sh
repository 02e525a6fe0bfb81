#!/bin/bash
# floods: everything is answered once, the path unit lives
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

limit=300
check 04-flood-200-at-20ms <<'END'
relax; policy LINGER_MS 250; t=$(date +%s); names=()
for i in $(seq 200); do publish ping; names+=("$name"); sleep 0.02; done
for n in "${names[@]}"; do answer "$n" 20 >/dev/null; done
within 5 no_visible; path_active; within 5 settled
s=$(starts_since "$t"); echo "$s starts"; at_most "$s" 20 starts
END

check 04-flood-2000-at-1ms <<'END'
t=$(date +%s); names=()
rename() { moves+=("$1" "$2"); }        # all are written first, then shown one by one
moves=(); for i in $(seq 2000); do publish ping; names+=("$name"); done
printf '%s\0' "${moves[@]}" | perl -0ne 'chomp; if (defined $a) { rename $a, $_ or die; undef $a; select undef, undef, undef, 0.001 } else { $a = $_ }'
answer "$name" 60 >/dev/null; within 20 no_visible; path_active; within 5 settled
cd "$spool/responses"; files=("${names[@]/%/.response.json}")
equal "$(cat -- "${files[@]}" | grep -c '"state":"done"')" 2000 "answers done"
equal "$(find ../processing ../quarantine -type f | wc -l)" 0 "files left elsewhere"
s=$(starts_since "$t"); echo "$s starts"; at_most "$s" 40 starts
END

check 04-trickle-at-900ms <<'END'
t=$(date +%s); n=$(of 70 25)
for _ in $(seq "$n"); do ask 10 ping; equal "$got" done; sleep 0.9; done
path_active; s=$(starts_since "$t"); echo "$s starts"; at_most "$s" $((n + 5)) starts
equal "$(systemctl --user show -P Result "spoolgate-$slug.path")" success
END
