#!/bin/bash
# transient scopes: the unit tests which need a user manager, and what the drain makes of it
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

for module in scope keeper keeper-scope keeper-end kin; do
        check "12-unit-run-$module" <<END
cd /tmp; "\$BUILD/tests/unit/run/test-run-$module" | tail -n 4
END
done

check 12-containers-outlive-a-killed-drain <<'END'
relax; policy LINGER_MS 250
podman rm -aft0 >/dev/null
ask 90 up; equal "$got" done
within 5 settled
equal "$(podman inspect -f '{{.State.Running}}' "${slug}_web_1" "${slug}_api_1" | sort -u)" true
# a container that doesn't hear TERM: its restart takes podman 10 s
podman rm -ft0 "${slug}_web_1" >/dev/null; podman run -d --network none --name "${slug}_web_1" $image sleep 100000 >/dev/null
before=$(started_at "${slug}_web_1")
publish restart web; n=$name; within 5 running "$n"; sleep 1
[ -n "$(scopes restart)" ] || fail "no scope"
systemctl --user kill -s KILL "spoolgate-$slug.service"; sleep 0.5
[ -n "$(scopes restart)" ] || fail "the scope went with the drain"
equal "$(podman inspect -f '{{.State.Running}}' "${slug}_api_1")" true
ask 5 ping; equal "$got" done "ping of the next drain"
equal "$(answer "$n" 30)" done "the verb's outcome, told by another drain"
[ "$(started_at "${slug}_web_1")" != "$before" ] || fail "web was not restarted"
equal "$(audited "$n" start)/$(audited "$n" end)/$(answers "$n")" 1/1/1 "starts, ends, responses"
within 5 settled; within 5 no_scopes restart
END

check 12-status-during-a-rebuild <<'END'
within 10 calm; cp "$project/api/Containerfile" ~/keep
echo "RUN sleep 30; echo $SRANDOM" >>"$project/api/Containerfile"
publish rebuild api; n=$name; within 10 running "$n"; worst=0
for _ in 1 2 3 4 5; do
        t=$(now_ms); ask 10 status; equal "$got" done; t=$(($(now_ms) - t)); [ $t -le $worst ] || worst=$t
        sleep 3
done
running "$n" || fail "the rebuild is over already: $(field "$n" state)"
# Most of it is podman-compose: on a machine under load it takes longer than that by itself.
t=$(now_ms); (cd "$project"; podman-compose -p "$slug" ps) >/dev/null 2>&1; t=$(($(now_ms) - t))
echo "slowest status: $worst ms; the same by hand: $t ms"
at_most $worst $((t > 1000 ? t + 1000 : 2000)) "slowest status during a rebuild, in ms"
equal "$(answer "$n" 60)" done
cp ~/keep "$project/api/Containerfile"; within 5 settled
END

check 12-reexec-during-launch <<'END'
printf '#!/bin/sh\nread -r u rest </proc/uptime; echo "$u" >>"$HOME/ran"; sleep 0.3\n' >~/tick; chmod 755 ~/tick; : >~/ran
own_verbs <<-V
	{"v":1,"verbs":[{"name":"tick","class":"mutating","launch":"scope","argv":["$HOME/tick"],"arg":null,"timeout_sec":20,"cwd":"host","env":{},"permission_scope":"edit"}]}
V
states=
for i in $(seq 10); do
        publish tick; sleep "0.0$((SRANDOM % 10))"
        systemctl --user daemon-reexec
        states+=$(answer "$name" 30)/$(field "$name" reason)\ 
done
echo "states: $states"
equal "$(tr ' ' '\n' <<<"$states" | grep -c '^done/')" 10 "done of 10"
equal "$(wc -l <~/ran)" 10 runs
within 10 settled; within 10 no_scopes tick
END
