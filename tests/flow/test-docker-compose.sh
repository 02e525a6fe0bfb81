#!/bin/bash
# test-docker-compose.sh BUILD_ROOT SOURCE_ROOT - the docker-compose stack from installer to drain, against a recorder in docker's place
# (no engine is asked): each verb's argv, environment and cwd, an exit status, what changes under it
# shellcheck source=tests/flow/installer/begin.sh disable=SC2034
if [ -f "${0%/*}/begin.sh" ]; then . "${0%/*}/begin.sh"; else . "${0%/*}/installer/begin.sh"; fi
begin "$@"
fresh demo
rm -r "$P/.git"
mkdir "$T/bin"
cat >"$T/bin/docker" <<RECORDER
#!/bin/bash
{ printf '%s' docker; printf ' <%s>' "\$@"; echo; } >>"$T/calls"
{ pwd; env | sort; } >"$T/world"
case " \$* " in
*" restart api "*) echo "no such service: api" >&2; exit 14 ;;
*" logs "*) echo "web-1  | ready, password=hunter2-is-long-enough" ;;
*) echo "recorded" ;;
esac
RECORDER
chmod 755 "$T/bin/docker"
GATE_PATH=$T/bin:/usr/bin:/bin
cat >"$P/compose.yaml" <<'YAML'
services:
  web: {image: "w:1"}
  api: {build: ./api}
YAML
mkdir "$P/api"
echo 'FROM scratch' >"$P/api/Dockerfile"
echo 'DB_PASSWORD=hunter2-is-long-enough' >"$P/.env"
printf '/untracked/\n.env\n' >"$P/.gitignore"
git_as() { HOME=$H GIT_CONFIG_NOSYSTEM=1 git -C "$P" -c user.name=t -c user.email=t@t -c init.defaultBranch=main "$@"; }
git_as init -q
git_as add .
git_as commit -q -m first
install --slug demo --stack docker-compose --launch direct
like "installed" "$RC $ERR" '0 *'
S=$P/untracked/spoolgate
CONF=$H/.config/spoolgate/demo
STATE=$H/.local/state/spoolgate/demo
DRAIN=$H/.local/lib/spoolgate/demo/spoolgate-drain
SLUG=demo
RUN=$STATE/seal/run
for verb in status health logs up down restart rebuild init; do
        sed -i "/^MODE_$verb=/d" "$CONF/policy.conf"
        echo "MODE_$verb=auto" >>"$CONF/policy.conf"
done
equal "nothing was asked of docker while installing" "$(cat "$T/calls" 2>/dev/null)" ""

env -i HOME="$H" PATH=/nonexistent DOCKER_HOST=tcp://evil COMPOSE_FILE=evil "${FLOW_ENV[@]}" "$DRAIN" --watch demo 2>"$T/drain.bg.err" >/dev/null </dev/null &
DRAIN_PID=$!
ask() { # sets RC, OUT, ERR; CALL: what docker was told
        : >"$T/calls"
        OUT=$(cd / && timeout 60 env -i PATH=/usr/bin:/bin sh "$S/spoolgate-request" --wait 20 "$@" 2>"$T/ask.err" </dev/null)
        RC=$?
        ERR=$(cat "$T/ask.err")
        CALL=$(cat "$T/calls")
}
front="docker <compose> <-f> <$RUN/compose-0.yaml> <-p> <demo> <--project-directory> <$P>"
told() { # VERB ARG WORDS: exactly one call, exactly these words
        ask "$1" ${2:+"$2"}
        equal "$1: exit" "$RC" 0
        equal "$1: argv" "$CALL" "$front <--env-file> <$ENV_FILE> $3"
}
ENV_FILE=$RUN/env-0
told status '' '<ps> <--all>'
told health '' '<ps> <--all> <--format> <json>'
told logs web '<logs> <--no-color> <--tail> <200> <web>'
has "logs: redacted" "$OUT" 'password=[redacted'
told up '' '<up> <--detach>'
told down '' '<down>'
told restart web '<restart> <web>'
told rebuild api '<build> <api>'
told init '' '<up> <--no-start>'
equal "cwd is no checkout" "$(head -n 1 "$T/world")" /
equal "nothing of the caller's engine settings" "$(grep -c -e evil -e '^DOCKER_' "$T/world")" 0
check "the env file it reads is the sealed copy" cmp -s "$ENV_FILE" "$P/.env"
ask restart api
equal "an exit status of docker's" "$RC" 70
like "is told" "$ERR" 'spoolgate: failed: exit-nonzero:*14*'
equal "with its stderr" "$OUT" "no such service: api"
ask rebuild web
like "a service without a build: can't be rebuilt" "$RC $ERR" '70 spoolgate: denied: arg-not-listed:*'
equal "and nothing was asked" "$CALL" ""

# ---- what the agent changes -----------------------------------------------------------------------------------------------------

echo 'services: {web: {image: evil, privileged: true}}' >"$P/docker-compose.override.yml"
ask status
equal "a file that compose would find by itself isn't named" "$(grep -c override <<<"$CALL")" 0
cp "$P/compose.yaml" "$T/keep.yaml"
echo 'services: {web: {image: evil, privileged: true}}' >"$P/compose.yaml"
ask up
like "an edited compose file: nothing runs" "$RC $ERR" '70 spoolgate: denied: integrity-modified:*'
equal "and docker isn't asked" "$CALL" ""
ask status
equal "a look goes on, by the sealed copy" "$RC" 0
check "which is the one that was sealed" cmp -s "$RUN/compose-0.yaml" "$T/keep.yaml"
cp "$T/keep.yaml" "$P/compose.yaml"
echo 'DB_PASSWORD=another-value-of-length' >"$P/.env"
ask up
like "another .env: nothing runs" "$RC $ERR" '70 spoolgate: denied: integrity-*'
equal "and docker isn't asked" "$CALL" ""
ask status
check "a look reads the sealed one" grep -qF hunter2-is-long-enough "$ENV_FILE"
kill -TERM "$DRAIN_PID"
drain_wait
equal "the watcher ends well" "$RC $(cat "$T/drain.bg.err")" "0 "
check "the audit log's chain holds" audit_chain
flow_end
