#!/bin/bash
# what the agent may do to requests/ itself
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

limit=200
check 06-remade <<'END'
policy LINGER_MS 250; cd "$spool"
for how in rm-make move-make rm-wait-make; do
        case $how in
        rm-make) rm -r requests; mkdir requests ;;
        move-make) mv requests "gone.$SRANDOM"; mkdir requests ;;
        rm-wait-make) rm -r requests; sleep 0.5; mkdir -p requests ;;
        esac
        chmod --reference=responses requests
        ask 10 ping; equal "$got" done "$how"
done
rm -rf gone.*
END

check 06-spool-removed <<'END'
# the installer heals it; until then nothing spins
t=$(date +%s); rm -rf "$spool"; sleep 4
s=$(starts_since "$t"); echo "$s starts"; at_most "$s" 10 starts
install_bridge >/dev/null
ask 12 ping; equal "$got" done
path_active
END

broken='
broken() { # MAKE: break requests/ so for 5 s, restore, ask
        local t s; cd "$spool"; mv requests ../kept; t=$(date +%s); eval "$1"; sleep 5
        s=$(starts_since "$t"); echo "$s starts while broken"; at_most "$s" 11 "starts in 5 s"
        rm -rf requests; mv ../kept requests
        ask 12 ping; equal "$got" done "after: $1"
        within 12 path_active
}'
check 06-regular-file <<<"$broken
broken 'echo x >requests'"
check 06-link-to-full-directory <<<"$broken
mkdir -p ~/full; touch ~/full/{a,b}.json; before=\$(ls -la --time-style=full-iso ~/full)
broken 'ln -s ~/full requests'
equal \"\$(ls -la --time-style=full-iso ~/full)\" \"\$before\" 'directory outside of the spool'"
check 06-link-loop <<<"$broken
broken 'ln -s requests requests'"

check 06-unreadable <<'END'
t=$(date +%s); chmod 000 "$spool/requests"; sleep 3
s=$(starts_since "$t"); echo "$s starts while unreadable"; at_most "$s" 7 "starts in 3 s"
chmod 700 "$spool/requests"; ask 12 ping; equal "$got" done; within 12 path_active
END

check 06-spool-is-a-file <<'END'
t=$(date +%s); mv "$spool" "$spool.kept"; echo x >"$spool"; sleep 5
s=$(starts_since "$t"); echo "$s starts while broken"; at_most "$s" 11 "starts in 5 s"
rm "$spool"; mv "$spool.kept" "$spool"; ask 12 ping; equal "$got" done; within 12 path_active
END
