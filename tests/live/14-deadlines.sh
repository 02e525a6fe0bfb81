#!/bin/bash
# deadlines: nothing outlives one, and a drain which hangs is ended
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 14-deaf-verb-and-its-grandchild <<'END'
relax; within 10 calm; policy LINGER_MS 250
# neither hears TERM; the second one has left the session and the parent
cat >~/deaf <<-'S'
	#!/bin/sh
	trap '' TERM INT HUP
	echo begun
	setsid sh -c "trap '' TERM INT HUP; (sleep 333.25 & wait) & exit" &
	while :; do sleep 333.25; done
S
chmod 755 ~/deaf
own_verbs <<-V
	{"v":1,"verbs":[
	{"name":"deaf-scope","class":"mutating","launch":"scope","argv":["$HOME/deaf"],"arg":null,"timeout_sec":3,"cwd":"host","env":{},"permission_scope":"edit"},
	{"name":"deaf-direct","class":"mutating","launch":"direct","argv":["$HOME/deaf"],"arg":null,"timeout_sec":3,"cwd":"host","env":{},"permission_scope":"edit"}]}
V
for v in deaf-scope deaf-direct; do
        publish $v; within 5 pgrep -xf 'sleep 333.25'; t=$(now_ms)
        gone() { ! pgrep -xf 'sleep 333.25' && ! pgrep -x deaf; }
        within 9 gone; t=$(($(now_ms) - t)); echo "$v: all gone after $t ms, of which 3000 were allowed"
        at_most $t 9100 "ms"
        equal "$(answer "$name" 3)/$(field "$name" reason)" failed/timeout
        contains "$(cat "$spool/archive/$name.log")" begun
        within 5 settled; within 5 no_scopes $v
        flock -n "$state/lock" true || fail "the lock is held"
        t=$(now_ms); ask 11 ping; equal "$got" done
done
END

check 14-long-verb-outlasts-the-units-timeout <<'END'
within 10 calm; mkdir -p "$units/spoolgate-$slug.service.d"
printf '[Service]\nTimeoutStartSec=5\n' >"$units/spoolgate-$slug.service.d/t.conf"; systemctl --user daemon-reload
printf '#!/bin/sh\nsleep 14\n' >~/deaf
sed -i 's/"timeout_sec":3/"timeout_sec":30/' "$config/verbs.json"
publish deaf-direct
end=$(($(now_ms) + 25000)); until ended "$name" || [ "$(now_ms)" -gt $end ]; do sleep 0.2; done
r=$(field "$name" state)/$(field "$name" reason)
equal "$r" done/null "a verb of 14 s under TimeoutStartSec=5"
END

check 14-hung-drain-is-ended <<'END'
publish deaf-scope; n=$name; within 5 running "$n"; sleep 1
p=$(systemctl --user show -P MainPID "spoolgate-$slug.service"); kill -STOP "$p"; t=$(now_ms)
gone() { ! kill -0 "$p" 2>/dev/null; }
within 75 gone; echo "ended after $((($(now_ms) - t) / 1000)) s"
free() { flock -n "$state/lock" true; }; within 11 free
rm -r "$units/spoolgate-$slug.service.d"; systemctl --user daemon-reload
ask 11 ping; equal "$got" done
equal "$(answer "$n" 30)/$(field "$n" reason)" done/null "the verb's outcome"
within 12 path_active; within 5 settled
END

check 14-stop-in-the-middle <<'END'
publish deaf-scope; n=$name; within 5 running "$n"; sleep 0.5
publish deaf-direct; m=$name
systemctl --user stop "spoolgate-$slug.service"
systemctl --user start --no-block "spoolgate-$slug.service"
equal "$(answer "$n" 40)/$(field "$n" reason)" done/null "in its scope"
equal "$(answer "$m" 40)" done "waiting"
publish deaf-direct; n=$name; within 5 running "$n"; sleep 0.5
systemctl --user stop "spoolgate-$slug.service"
ask 11 ping; equal "$got" done
s=$(answer "$n" 40)/$(field "$n" reason); [[ $s = failed/cancelled || $s = uncertain/interrupted ]] || fail "in the drain's cgroup: $s"
equal "$(answers "$n")" 1 responses; within 5 settled
END
