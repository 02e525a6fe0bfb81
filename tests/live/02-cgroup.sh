#!/bin/bash
# processes: conmon is not ours, the service settles, a cold podman works
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 02-conmon-and-settle <<'END'
relax; policy LINGER_MS 500
ask 60 down; equal "$got" done down
ask 90 up; equal "$got" done up
conmon=$(podman inspect -f '{{.ConmonPidFile}}' "${slug}_web_1" | xargs cat)
cg=$(sed -n 's/^0:://p' "/proc/$conmon/cgroup")
contains "$cg" libpod-conmon-
[[ $cg != *spoolgate* ]] || fail "conmon is in $cg"
within 5 settled
left=$(systemctl --user list-units --plain --no-legend --all "spoolgate-$slug.*.scope" | wc -l)
equal "$left" 0 "scopes left"
equal "$(podman inspect -f '{{.State.Running}}' "${slug}_web_1")" true
END

check 02-containers-outlive-the-service <<'END'
publish restart web; within 10 unit_is service activating
systemctl --user stop "spoolgate-$slug.service"
equal "$(podman inspect -f '{{.State.Running}}' "${slug}_api_1")" true
systemctl --user start --no-block "spoolgate-$slug.service"
within 40 ended "$name"
within 15 podman exec "${slug}_web_1" true
podman restart -t 1 "${slug}_web_1" >/dev/null
END

check 02-verb-runs-in-its-scope <<'END'
# a service which takes its time to stop, so that there is something to look at
podman rm -ft0 "${slug}_web_1" >/dev/null 2>&1
podman run -d --network none --name "${slug}_web_1" $image sleep 100000 >/dev/null
publish restart web
scope() { systemctl --user list-units --plain --no-legend "spoolgate-$slug.restart-*.scope" | grep -q running; }
within 5 scope
s=$(systemctl --user list-units --plain --no-legend "spoolgate-$slug.restart-*.scope" | awk '{print $1}')
equal "$(systemctl --user show -P ControlGroup "$s" | grep -c "spoolgate-$slug.restart-")" 1
n=0
for pid in $(cat "/sys/fs/cgroup$(systemctl --user show -P ControlGroup "$s")/cgroup.procs"); do
        comm=$(cat "/proc/$pid/comm" 2>/dev/null) || continue
        if [ "$comm" = spoolgate-keep ]; then n=$((n + 1)); continue; fi # a fork of the drain
        # podman's helpers come and go: held while it is looked at; one that has ended is none to judge
        kill -STOP "$pid" 2>/dev/null || continue
        sleep 0.05
        grep -q '^State:.T' "/proc/$pid/status" 2>/dev/null || continue
        n=$((n + 1))
        equal "$(tr '\0' '\n' <"/proc/$pid/environ" | grep -cE '^(INVOCATION_ID|NOTIFY_SOCKET|TRIGGER_PATH|LISTEN_FDS|JOURNAL_STREAM)=' || true)" 0 "leaked variables"
        equal "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$pid/status")" 0 NoNewPrivs
        equal "$(ls "/proc/$pid/fd" | sort -n | head -n 3 | tr '\n' ' ')" "0 1 2 "
        readlink "/proc/$pid/fd"/* | grep -E "$state|$spool" && fail "open in $comm"
        kill -CONT "$pid"
done
[ $n -gt 1 ] || fail "nobody is in the scope but the keeper"
equal "$(answer "$name" 30)" done
within 5 settled
END

check 02-podman-cold <<'END'
podman stop -at0 >/dev/null; podman system migrate
rm -f "$XDG_RUNTIME_DIR/libpod/tmp/pause.pid"
ask 60 restart web; equal "$got" done "cold restart"
podman system migrate; within 20 podman rm -aft0 # just started anew, it may call a container's state improper
(cd "$project" && podman-compose -p "$slug" down) >/dev/null 2>&1 || true
podman system migrate; rm -f "$XDG_RUNTIME_DIR/libpod/tmp/pause.pid"
ask 90 up; equal "$got" done "cold up"
equal "$(podman inspect -f '{{.State.Running}}' "${slug}_web_1")" true
within 5 settled
END
