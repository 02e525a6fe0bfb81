#!/bin/bash
# The plain way through: what is written, twice the same, two projects apart, gone again; the units by systemd's own check.
. "${BASH_SOURCE[0]%/*}/begin.sh"
begin "$1" "$2"
NL=$'\n'

paths() { # everything below home and checkout, without the agent's exclude file
        (cd "$W" && find . -mindepth 1 -printf '%p\n' | sort)
}

fresh
empty=$(snapshot)
install --slug demo --stack script --stack-bin "$STACK" --service web --service api --buildable web --dry-run
equal "dry run: exit" "$RC" 0
same "dry run writes nothing" "$empty"
like "dry run says what" "$OUT" "would create *bridge.json*nothing was written*"

install --slug demo --stack script --stack-bin "$STACK" --service web --service api --buildable web
equal "install: exit" "$RC" 0
bridge=$H/.config/spoolgate/demo/bridge.json
for file in "$bridge" "$H/.config/spoolgate/demo/policy.conf"; do
        equal "mode of ${file##*/}" "$(stat -c %a "$file")" 600
done
for dir in .config/spoolgate/demo .local/state/spoolgate/demo .local/state/spoolgate/demo/ledger/begun .local/state/spoolgate/demo/run .local/lib/spoolgate/demo; do
        equal "mode of $dir" "$(stat -c %a "$H/$dir")" 700
done
for program in spoolgate-drain spoolgate-inspect; do
        equal "mode of $program" "$(stat -c %a "$H/.local/lib/spoolgate/demo/$program")" 755
        check "$program is a copy" cmp "$H/.local/lib/spoolgate/demo/$program" "$PREFIX/libexec/spoolgate/$program"
done
for dir in "" /tmp /requests /processing /responses /archive /quarantine /diagnostics /inbox; do
        equal "mode of the spool's ${dir:-root}" "$(stat -c %a "$P/untracked/spoolgate$dir")" 755
done
check "the agent's client" cmp "$P/untracked/spoolgate/spoolgate-request" "$PREFIX/share/spoolgate/spoolgate-request"
equal "mode of the agent's client" "$(stat -c %a "$P/untracked/spoolgate/spoolgate-request")" 755
check "the checkout's inode" grep -q "\"inode\": $(stat -c %i "$P")\$" "$bridge"
check "no units" test ! -e "$H/.config/systemd"

gate verbs
equal "verbs: exit" "$RC" 0
like "verbs: rows" "$OUT" "*restart *auto *mutating *$STACK restart <arg>${NL}    args: web api${NL}*"
like "verbs: buildable" "$OUT" "*$STACK build <arg>${NL}    args: web${NL}*"
like "verbs: missing" "$OUT" "*join-network*    off: *"
gate verbs --json
like "verbs --json" "$OUT" "{*\"project\": \"demo\"*\"name\": \"restart\"*"
gate verbs --check
equal "verbs --check: exit" "$RC" 0
echo MODE_nothing=auto >>"$H/.config/spoolgate/demo/policy.conf"
gate verbs --check -s demo
equal "verbs --check of a broken policy.conf: exit" "$RC" 1
like "verbs --check names the line" "$ERR" "*policy.conf:*MODE_nothing*"
echo '{"v":1,"verbs":[{"name":"exec"}]}' >"$H/.config/spoolgate/demo/verbs.json"
gate verbs --check -s demo
equal "verbs --check of a broken verbs.json: exit" "$RC" 1
like "verbs --check names the verb" "$ERR" "*verbs.json*"
sed -i /MODE_nothing/d "$H/.config/spoolgate/demo/policy.conf"
# as the drain has it: own verbs off, the built-in ones as they were, the policy's words on own verbs no error
echo MODE_mine=auto >>"$H/.config/spoolgate/demo/policy.conf"
gate verbs
equal "verbs with a broken verbs.json: exit" "$RC" 1
like "verbs with a broken verbs.json: the built-in ones" "$OUT" "*restart *auto *mutating *"
like "verbs with a broken verbs.json: nothing of the policy" "$ERR" "*verbs.json*"
check "verbs with a broken verbs.json: one trouble" test "${ERR/policy.conf/}" = "$ERR"
echo '{"v":1,"verbs":[{"name":"mine","class":"read-only","argv":["/bin/true"]}]}' >"$H/.config/spoolgate/demo/verbs.json"
gate verbs --check
equal "verbs --check of an own verb: exit" "$RC $OUT$ERR" "0 "
gate verbs
like "verbs: an own verb" "$OUT" "*mine *auto *read-only * /bin/true*"
rm "$H/.config/spoolgate/demo/verbs.json"
gate verbs --check
equal "verbs --check: a mode for nothing: exit" "$RC" 1
sed -i /MODE_mine/d "$H/.config/spoolgate/demo/policy.conf"

echo '# mine' >>"$H/.config/spoolgate/demo/policy.conf"
before=$(snapshot)
install --slug demo --stack script --stack-bin "$STACK" --service web --service api --buildable web
equal "again: exit" "$RC" 0
same "again: nothing changes" "$before"
like "again: says so" "$OUT" "*demo: nothing changed*"
equal "again: every line" "$(printf '%s\n' "$OUT" | grep -cvE '^(unchanged|kept) ')" 1
install --stack script --stack-bin "$STACK" --service web --service api --buildable web
same "again without --slug: nothing changes" "$before"

# what was hurt is mended; what is the operator's stays
rm "$H/.local/lib/spoolgate/demo/spoolgate-drain"
rm -r "$P/untracked"
chmod 755 "$H/.config/spoolgate/demo"
echo '{' >"$bridge"
install --slug demo --stack script --stack-bin "$STACK" --service web --service api --buildable web
equal "mended: exit" "$RC" 0
equal "mended: all there" "$(cd "$W" && find . -mindepth 1 -printf '%p %y %m\n' | sort)" "$(printf '%s\n' "$before" | grep '^\.' | grep -v '^\. ' | awk '{print $1, $2, $3}' | sed '/^\.\/home d/d' | cat - <(echo "./home d $(stat -c %a "$H")") | sort)"
like "mended: policy stays" "$(tail -1 "$H/.config/spoolgate/demo/policy.conf")" "# mine"

# the drain takes what the installer wrote
as_drain=$(cd / && timeout 60 env -i HOME="$H" PATH=/nonexistent "${FLOW_ENV[@]}" "$H/.local/lib/spoolgate/demo/spoolgate-drain" demo 2>&1 </dev/null)
equal "the drain starts: exit" $? 0
equal "the drain starts: says nothing" "$as_drain" ""
check "the drain writes its capabilities" test -s "$P/untracked/spoolgate/diagnostics/capabilities.json"

# a second project on the host
own() { # the first project's files
        find "$H" "$P" -path '*spoolgate/*' ! -path '*/second/*' -type f -exec sha256sum {} + | sort
}
before=$(own)
mkdir -p "$W/second/.git"
P2=$W/second
install --project "$P2" --stack script --stack-bin "$STACK" --service db
equal "second project: exit" "$RC" 0
equal "second project: the first one is untouched" "$(own)" "$before"
check "second project: by its folder's name" test -f "$H/.config/spoolgate/second/bridge.json"
like "second project: an unignored spool is said" "$ERR" "*git does not ignore the spool${NL}echo '/untracked/' >> '$P2/.git/info/exclude'*"
gate verbs -s second
like "second project: its own enum" "$OUT" "*args: db*"
here=$P
P=$W
gate verbs
equal "which project? exit" "$RC" 1
like "which project? lists them" "$ERR" "*name one with -s: demo second"
P=$here
gate uninstall -s second --purge
equal "second project: uninstall" "$RC" 0
check "second project: gone" test ! -e "$H/.config/spoolgate/second" -a ! -e "$H/.local/state/spoolgate/second" -a ! -e "$P2/untracked"
check "the first one stays" test -f "$bridge" -a -x "$H/.local/lib/spoolgate/demo/spoolgate-drain" -a -d "$P/untracked/spoolgate/requests"

# uninstall
gate uninstall --dry-run
equal "uninstall --dry-run: exit" "$RC" 0
check "uninstall --dry-run removes nothing" test -f "$bridge"
like "uninstall --dry-run says what" "$OUT" "*would remove *bridge.json*"
gate uninstall
equal "uninstall: exit" "$RC" 0
check "uninstall: policy stays" test -f "$H/.config/spoolgate/demo/policy.conf"
check "uninstall: bridge, programs and client gone" test ! -e "$bridge" -a ! -e "$H/.local/lib/spoolgate" -a ! -e "$P/untracked/spoolgate/spoolgate-request"
gate uninstall
equal "uninstall without a project: exit" "$RC" 1
like "uninstall without a project: text" "$ERR" "*no project is installed*"
gate uninstall -s demo --purge
equal "uninstall of the rest: exit" "$RC" 0
check "uninstall of the rest: gone" test ! -e "$H/.config/spoolgate" -a ! -e "$H/.local/state/spoolgate"

fresh
before=$(paths)
echo keep >"$P/README"
mkdir "$P/untracked"
echo keep >"$P/untracked/notes"
install --stack script --stack-bin "$STACK" --service web
echo '{}' >"$P/untracked/spoolgate/requests/x.json"
mkdir -p "$P/untracked/spoolgate/quarantine/deep/er"
ln -s "$P/README" "$P/untracked/spoolgate/quarantine/deep/er/link"
gate uninstall --purge
equal "purge: exit" "$RC" 0
equal "purge: warns of nothing" "$ERR" ""
equal "purge: only what was there before, and shared folders" \
        "$(paths)" "$(printf '%s\n' "$before" "./demo/README" ./demo/untracked ./demo/untracked/notes ./home/.config ./home/.local ./home/.local/lib ./home/.local/state | sort)"
equal "purge: the link's target stays" "$(cat "$P/README")" keep

# an agent of another uid
fresh
install --stack script --stack-bin "$STACK" --service web --agent-uid 100999
equal "agent uid: requests" "$(stat -c %a "$P/untracked/spoolgate/requests")" 1777
equal "agent uid: tmp" "$(stat -c %a "$P/untracked/spoolgate/tmp")" 1777
equal "agent uid: responses" "$(stat -c %a "$P/untracked/spoolgate/responses")" 755
install --stack script --stack-bin "$STACK" --service web --agent-uid "$(id -u)"
equal "agent uid of our own" "$(stat -c %a "$P/untracked/spoolgate/requests")" 755

# compose: services, builds, profiles, what is guarded; binaries by PATH and by alias
fresh "My App"
mkdir "$W/bin"
printf '#!/bin/sh\n' >"$W/bin/podman"
chmod 755 "$W/bin/podman"
printf "alias podman-compose='%s/bin/pc'\n" "$W" >"$H/.profile-alias"
cp "$W/bin/podman" "$W/bin/pc"
cat >"$P/compose.yaml" <<'YAML'
x-app: &app {build: {context: app}, env_file: app.env}
services:
  web: {<<: *app}
  db: {image: postgres}
  debug: {image: x, profiles: [debug]}
  Odd.Name: {image: x}
  agent: {image: x}
YAML
echo SECRET=x >"$P/.env"
touch "$P/compose.override.yaml"
cat >"$W/sh" <<'SH'
#!/bin/sh
case $2 in *podman-compose) read -r line <"$HOME/.profile-alias"; echo "$line" ;; *) exit 1 ;; esac
SH
chmod 755 "$W/sh"
GATE_PATH=$W/bin:/nowhere
GATE_ENV=(SHELL="$W/sh")
install --exclude agent --guard conf/nginx.conf
GATE_ENV=()
GATE_PATH=
equal "compose: exit" "$RC" 0
bridge=$H/.config/spoolgate/my-app/bridge.json
flat() {
        tr -d '\n ' <"$bridge"
}
has "compose: stack" "$(flat)" '"stack":"podman-compose"'
has "compose: services" "$(flat)" '"services":["web","db"]'
has "compose: buildable" "$(flat)" '"buildable":["web"]'
has "compose: env file" "$(flat)" '"env_files":[".env"]'
has "compose: guarded" "$(flat)" '"guarded":["compose.yaml","app/Dockerfile","app.env","conf/nginx.conf"]'
has "compose: binaries" "$(flat)" "\"bins\":[\"podman-compose=$W/bin/pc\",\"podman=$W/bin/podman\"]"
like "compose: says what it left out" "$ERR" "*debug is left out: it stands behind a profile*"
like "compose: says which name is no arg" "$ERR" "*Odd.Name is left out*"
like "compose: an override is not taken silently" "$ERR" "*compose.override.yaml is not used*"

# an unresolved binary disables its verbs only
fresh
printf 'services:\n  web: {image: x}\n' >"$P/compose.yaml"
GATE_PATH=$W/bin
mkdir "$W/bin"
printf '#!/bin/sh\n' >"$W/bin/podman-compose"
chmod 755 "$W/bin/podman-compose"
install
GATE_PATH=
equal "missing binary: exit" "$RC" 0
like "missing binary: its verbs are named" "$ERR" "*health can't run: podman was not found at install*"
gate verbs
like "missing binary: the others run" "$OUT" "*restart *$W/bin/podman-compose * restart <arg>*"

# --agent-files: beside the client, with the spool's own path; the hook holds an agent back once
fresh
install --slug demo --stack script --stack-bin "$STACK" --service web --agent-files --spool var/ask
equal "agent files: exit" "$RC" 0
A=$P/var/ask/agent
for file in AGENTS.md SKILL.md settings.json stop-hook; do
        check "agent files: $file" test -s "$A/$file"
        check "agent files: $file has no mark left" test -z "$(grep @SPOOL@ "$A/$file")"
done
check "agent files: the path" grep -qF 'var/ask/spoolgate-request --list' "$A/AGENTS.md"
check "agent files: the settings are JSON" python3 -m json.tool "$A/settings.json" /dev/null
equal "hook: mode" "$(stat -c %a "$A/stop-hook")" 755
hook() { # STDIN
        said=$(printf '%s' "$1" | "$A/stop-hook" 2>&1)
        rc=$?
}
hook '{"stop_hook_active":false}'
equal "hook: nothing pending" "$rc $said" "0 "
asked=$("$P/var/ask/spoolgate-request" --async ping)
hook '{"hook_event_name":"Stop","stop_hook_active":false}'
equal "hook: pending: exit" "$rc" 2
like "hook: pending: the list" "$said" "*$NL$asked$NL*--poll $asked"
hook '{ "stop_hook_active": true }'
equal "hook: not twice" "$rc $said" "0 "
before=$(snapshot)
install --slug demo --stack script --stack-bin "$STACK" --service web --agent-files --spool var/ask
same "agent files: again" "$before"
gate uninstall --purge
check "agent files: gone" test ! -e "$A"

# units, for paths that systemd could misread
systemd_verify() { # NAME of home and checkout folders
        fresh "$1"
        mv "$H" "$W/home $2"
        H="$W/home $2"
        GATE_ENV=(XDG_RUNTIME_DIR="$W/none")
        gate install --slug unit-x --stack script --stack-bin "$STACK" --service web --launch direct
        GATE_ENV=()
        equal "units of '$1': exit" "$RC" 0
        equal "units of '$1': four" "$(find "$H/.config/systemd/user" -type f -name 'spoolgate-unit-x.*' | wc -l)" 4
        like "units of '$1': not started is said" "$ERR" "*the units are written and not started${NL}systemctl --user daemon-reload*"
        command -v systemd-analyze >/dev/null || { skip "units of '$1': verify" "no systemd-analyze"; return; }
        mkdir -m 700 "$W/run"
        said=$(cd / && env -i HOME="$H" PATH=/usr/bin:/bin XDG_RUNTIME_DIR="$W/run" SYSTEMD_UNIT_PATH="$H/.config/systemd/user:" \
                systemd-analyze --user verify --recursive-errors=yes --man=no "$H"/.config/systemd/user/spoolgate-unit-x.* 2>&1)
        equal "units of '$1': verify" "$? $said" "0 "
        before=$(snapshot)
        GATE_ENV=(XDG_RUNTIME_DIR="$W/none")
        gate install --slug unit-x --stack script --stack-bin "$STACK" --service web --launch direct
        same "units of '$1': again" "$before"
        gate uninstall --purge
        GATE_ENV=()
        equal "units of '$1': gone" "$(find "$H" -name '*spoolgate*')" ""
}
systemd_verify plain plain
systemd_verify 'sp ace' 'sp ace'
systemd_verify '100%h%%' '50%'
systemd_verify 'we[ir]d' '[x]'
systemd_verify 'br{a,b}ce' '{x}'
systemd_verify "q'u\"o\\te \$HOME" "\$x"
flow_end
