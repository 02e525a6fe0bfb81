#!/bin/bash
# What the compose stacks are given: the sealed copies by name, whatever else lies in the checkout (attacks.md rows 92, 97).
. "${BASH_SOURCE[0]%/*}/begin.sh"
begin "$1" "$2"
mkdir -p "$T/bin"
for tool in docker podman podman-compose; do
        printf '#!/bin/sh\n' >"$T/bin/$tool"
        chmod 755 "$T/bin/$tool"
done
GATE_PATH=$T/bin:/usr/bin:/bin

plant() {
        local name
        for name in compose.override.yaml docker-compose.override.yml compose.yml docker-compose.yml; do
                echo 'services: {web: {image: evil, privileged: true}}' >"$P/$name"
        done
        echo 'COMPOSE_FILE=compose.override.yaml' >"$P/.env"
}

fresh
run=$H/.local/state/spoolgate/demo/seal/run
mkdir "$P/sub"
echo 'services: {web: {image: w}}' >"$P/compose.yaml"
echo 'services: {web: {tty: true}}' >"$P/sub/more.yaml"
install --slug demo --stack podman-compose --compose compose.yaml --compose sub/more.yaml
equal "podman-compose: exit" "$RC" 0
gate verbs
like "podman-compose: argv" "$OUT" "*$T/bin/podman-compose -f $run/compose-0.yaml -f $run/compose-1.yaml -p demo up -d*"
equal "podman-compose: nothing of the checkout" "$(grep -cF "$P/" <<<"$OUT")" 0
check "podman-compose: an absent .env is sealed" grep -qF '".env"' "$H/.config/spoolgate/demo/bridge.json"
before=$OUT
plant
gate verbs
equal "podman-compose: the same with others beside it" "$OUT" "$before"

fresh
run=$H/.local/state/spoolgate/demo/seal/run
echo 'services: {web: {image: w}}' >"$P/compose.yaml"
install --slug demo --stack docker-compose
equal "docker-compose: exit" "$RC" 0
gate verbs
like "docker-compose: argv" "$OUT" "*$T/bin/docker compose -f $run/compose-0.yaml -p demo --project-directory $P up --detach*"
check "docker-compose: no .env is looked for" grep -qF '"COMPOSE_DISABLE_ENV_FILE=1"' "$H/.config/spoolgate/demo/bridge.json"
before=$OUT
plant
gate verbs
equal "docker-compose: the same with others beside it" "$OUT" "$before"

fresh # relative paths are seen from the folder of the first compose file, as the tool itself would
run=$H/.local/state/spoolgate/demo/seal/run
mkdir "$P/deploy"
echo 'services: {web: {image: w, volumes: [./data:/d]}}' >"$P/deploy/compose.yaml"
echo A=1 >"$P/deploy/.env"
rm -r "$P/.git"
(export HOME="$H" GIT_CONFIG_NOSYSTEM=1 && cd "$P" && git init -q && git add deploy/compose.yaml && git -c user.name=t -c user.email=t@t commit -q -m first) || exit 2
install --slug demo --stack docker-compose --compose deploy/compose.yaml
equal "docker-compose in a folder: exit" "$RC" 0
gate verbs
like "docker-compose in a folder: argv" "$OUT" \
        "*$T/bin/docker compose -f $run/compose-0.yaml -p demo --project-directory $P/deploy --env-file $run/env-0 up --detach*"
equal "docker-compose in a folder: the env file is a copy" "$(cat "$run/env-0")" A=1
equal "docker-compose in a folder: sources" "$(cat "$run/sources")" deploy/data

fresh
echo 'services: {web: {image: w}}' >"$P/compose.yaml"
install --slug demo --stack podman-compose
equal "jail: landlock unless asked" "$(grep -c '"jail": "landlock"' "$H/.config/spoolgate/demo/bridge.json") $(grep -c -e '--jail seccomp' <<<"$ERR")" "1 0"
install --slug demo --stack podman-compose --jail seccomp --inspect-memory 2048
equal "jail: seccomp when asked" "$RC $(grep -c '"jail": "seccomp"' "$H/.config/spoolgate/demo/bridge.json")" "0 1"
like "jail: seccomp is said" "$ERR" "*--jail seccomp: the repository is read behind seccomp and resource limits alone*"
equal "jail: its memory" "$(grep -c '"inspect_memory": 2147483648' "$H/.config/spoolgate/demo/bridge.json")" 1
gate doctor
has "jail: doctor says seccomp" "$OUT$ERR" "the repository is read behind seccomp alone"
install --slug demo --stack podman-compose --jail none
like "jail: none" "$RC $ERR" "1 *--jail none: is neither landlock nor seccomp*"
install --slug demo --stack podman-compose --inspect-memory 1
equal "jail: too little memory" "$RC" 64

fresh
mkdir "$P/bin"
printf '#!/bin/sh\necho "$@"\n' >"$P/bin/stack"
chmod 755 "$P/bin/stack"
install --slug demo --stack script --stack-bin bin/stack --service web
equal "script: exit" "$RC" 0
like "script: said" "$ERR" "*bin/stack lies in the checkout: what runs is its sealed copy*"
gate verbs
like "script: argv" "$OUT" "*$H/.local/state/spoolgate/demo/seal/run/stack restart <arg>*"
equal "script: nothing of the checkout" "$(grep -cF "$P/" <<<"$OUT")" 0
flow_end
