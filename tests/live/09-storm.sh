#!/bin/bash
# reloads, logins, reboots
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

limit=240
check 09-reload-storm-250 <<'END'
relax; policy LINGER_MS 250
(for i in $(seq 30); do systemctl --user daemon-reload; [ $((i % 10)) != 0 ] || systemctl --user daemon-reexec; sleep 0.1; done) & p=$!
names=()
for i in $(seq 250); do publish ping; names+=("$name"); sleep 0.02; done
wait $p
for n in "${names[@]}"; do equal "$(answer "$n" 20)" done; done
path_active; no_visible
END

check 09-queue <<'END'
systemctl --user stop "spoolgate-$slug".{path,timer,service}
publish ping; echo "$name" >~/queued; publish restart web; echo "$name" >>~/queued
END
# the user's session ends and comes back, as in a reboot
uid=$(as_root id -u op)
as_root systemctl stop "user@$uid.service"
as_root sh -c "for i in \$(seq 100); do [ -S /run/user/$uid/bus ] || break; sleep 0.1; done
        systemctl start user-runtime-dir@$uid.service user@$uid.service
        for i in \$(seq 100); do [ -S /run/user/$uid/bus ] && exit 0; sleep 0.1; done"
check 09-served-after-reboot <<'END'
for n in $(cat ~/queued); do
        got=$(answer "$n" 60)
        # the containers are down after a reboot: what matters is that it was decided and run
        [[ $got = done || $got = failed ]] || fail "$n: $got"
done
equal "$(field "$(head -n1 ~/queued)" state)" done
path_active; unit_is timer active
END

as_root loginctl disable-linger op
check 09-doctor-or-install-says-linger <<'END'
out=$(install_bridge 2>&1) || fail "install: $out"; contains "$out" linger
END
as_root loginctl enable-linger op
as_root sh -c "for i in \$(seq 100); do [ -S /run/user/$uid/bus ] && systemctl is-active -q user@$uid && exit 0; sleep 0.1; done"
check 09-linger-back <<'END'
ask 20 ping; equal "$got" done
END
