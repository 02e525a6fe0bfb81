#!/bin/bash
# junk and hostile names in requests/
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 05-junk <<'END'
policy LINGER_MS 250; within 10 settled; cd "$spool/requests"
# all of it at once: else it is gone before it is complete
systemctl --user stop "spoolgate-$slug".{path,timer} 2>/dev/null
touch ~/outside; ln -s ~/outside link.json; ln -s /nowhere dangling.json; mkfifo fifo.json
perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0);bind(S,sockaddr_un("socket.json"))' 2>/dev/null || true
mkdir -p full.json/sub; touch full.json/sub/file
mkdir foreign.json; touch foreign.json/f; podman unshare chown -R 1000:1000 foreign.json; podman unshare chmod 755 foreign.json
touch .dotfile 'a~' "$(printf 'x%.0s' $(seq 250)).json" $'\xff.json' $'new\nline.json' $'\e[31mesc.json' -- '-rf' ' '
printf x >plain; mkdir empty
printf '{"verb":"ping"' >20260101T000000Z-ping-0123456789abcdef.json
systemctl --user start "spoolgate-$slug".{path,timer}
within 4 no_visible
path_active
systemctl --user show "spoolgate-$slug.service" >/dev/null
systemctl --user show "spoolgate-$slug.path" >/dev/null
[ -e ~/outside ] || fail "a file outside the spool was touched"
equal "$(find ~/outside -newer "$spool" -size +0 | wc -l)" 0
ask 10 ping; equal "$got" done
within 10 settled
podman unshare rm -rf "$spool/requests"/.[!.]* "$spool/quarantine"/*   # only root there can remove what is foreign
END

check 05-junk-stream-is-paced <<'END'
t=$(date +%s); end=$(($(now_ms) + 6000))
while [ "$(now_ms)" -lt $end ]; do : >"$spool/requests/j$SRANDOM"; sleep 0.05; done
within 5 no_visible; path_active
s=$(starts_since "$t"); echo "$s starts"; at_most "$s" 12 "starts in 6 s"
ask 10 ping; equal "$got" done
END
