#!/bin/bash
# the main job: an agent in a container restarts a service of the host
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 01-install <<'END'
local_image
make_project "$project"
install_bridge
for f in "$units/spoolgate-$slug".{path,service,timer,rearm.service} "$config"/{bridge.json,policy.conf} \
         "$lib/spoolgate-drain" "$spool/spoolgate-request"; do
        [ -f "$f" ] || fail "no $f"
done
for d in requests processing responses archive quarantine diagnostics; do [ -d "$spool/$d" ] || fail "no $d"; done
path_active; unit_is timer active
equal "$(systemctl --user is-enabled "spoolgate-$slug.path")" enabled
equal "$(git -C "$project" status --porcelain)" "" "git status"
END

check 01-install-twice-changes-nothing <<'END'
trace() { find "$config" "$lib" "$units" -type f -exec sha256sum {} + -printf '%T@ %m %i\n' | sort; }
before=$(trace); install_bridge; equal "$(trace)" "$before" "files after the second install"
path_active
END

check 01-install-heals <<'END'
rm "$units/spoolgate-$slug.timer" "$lib/spoolgate-drain"; rmdir "$spool/quarantine"
printf 'LINGER_MS=900\n' >>"$config/policy.conf"
install_bridge
[ -f "$units/spoolgate-$slug.timer" ] && [ -x "$lib/spoolgate-drain" ] && [ -d "$spool/quarantine" ] || fail "not healed"
grep -qx LINGER_MS=900 "$config/policy.conf" || fail "policy.conf was overwritten"
path_active; unit_is timer active
sed -i /^LINGER_MS=900/d "$config/policy.conf"
END

check 01-agent-restarts-web <<'END'
relax
(cd "$project" && podman-compose -p "$slug" up -d) >/dev/null 2>&1
before=$(started_at "${slug}_web_1") other=$(started_at "${slug}_api_1")
rc=0; out=$(agent -- restart web 2>&1) || rc=$?
equal $rc 0 "exit status ($out)"
contains "$out" "spoolgate: done"
[ "$(started_at "${slug}_web_1")" != "$before" ] || fail "web was not restarted"
equal "$(started_at "${slug}_api_1")" "$other" "start of api"
name=$(cd "$spool/responses" && ls -t -- *-restart-*.response.json | head -n 1); name=${name%.response.json}
equal "$(field "$name" state)" done state
equal "$(field "$name" verb)/$(field "$name" arg)/$(field "$name" exit)" restart/web/0
no_visible || fail "requests/ is not empty"
# the three records agree
equal "$(grep -F "$name" "$state/audit.log" | grep -c '"done"')" 1 "done lines of the audit log"
j() { journalctl --user -q -o json "SPOOLGATE_PROJECT=$slug" "SPOOLGATE_REQUEST=$name" SPOOLGATE_OUTCOME=done | grep .; }
within 5 j; j=$(j)
equal "$(grep -c . <<<"$j")" 1 "journal records"
contains "$j" '"SPOOLGATE_VERB":"restart"'; contains "$j" '"SPOOLGATE_ARG":"web"'
END

check 01-agent-reads <<'END'
out=$(agent -- ping 2>&1); contains "$out" "spoolgate: done"
out=$(agent -- status 2>/dev/null); contains "$out" "${slug}_web_1"
out=$(agent -- logs web 2>/dev/null); contains "$out" "web is up"
END

check 01-agent-is-refused <<'END'
for words in exec "exec web" shell "restart database" "rebuild web" "restart" "up extra" "restart web;id"; do
        before=$(started_at "${slug}_web_1"); rc=0
        out=$(agent -- $words 2>&1) || rc=$?
        [[ $rc = 70 || $rc = 64 ]] || fail "$words: exit $rc: $out"
        equal "$(started_at "${slug}_web_1")" "$before" "start of web after '$words'"
done
out=$(agent -- exec 2>&1) || true; contains "$out" hard-denied
out=$(agent -- restart database 2>&1) || true; contains "$out" arg-not-listed
END

check 01-agent-rebuilds <<'END'
echo 'RUN echo again >>/made' >>"$project/api/Containerfile"
id=$(podman image inspect -f '{{.Id}}' "localhost/${slug}_api")
out=$(agent -- rebuild api 2>&1) || fail "$out"
[ "$(podman image inspect -f '{{.Id}}' "localhost/${slug}_api")" != "$id" ] || fail "no new image"
END

check 01-broken-build-is-not-done <<'END'
cp "$project/api/Containerfile" ~/keep
echo 'RUN false' >>"$project/api/Containerfile"
rc=0; out=$(agent -- rebuild api 2>&1) || rc=$?
cp ~/keep "$project/api/Containerfile"
equal $rc 70 "exit status of a rebuild whose build fails ($out)"
END
