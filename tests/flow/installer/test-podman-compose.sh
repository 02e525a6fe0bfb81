#!/bin/bash
# What podman-compose does with the sealed copies, beside what it does with the files themselves; and what it no longer
# does once the agent has planted something.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
seal_run=$1
here=${BASH_SOURCE[0]%/*}
if ! command -v podman-compose >/dev/null || ! python3 -c '' 2>/dev/null; then
        if [ "${MUST_WORK:-0}" = 1 ]; then exit 1; else exit 77; fi
fi
umask 022
T=$(mktemp -d "${TMPDIR:-/tmp}/flow.XXXXXX") || exit 2
T=$(cd -P -- "$T" && pwd -P)
trap 'rm -rf -- "$T"' EXIT
trap 'exit 1' INT TERM HUP
HOME=$T/home
export HOME
mkdir -p "$HOME" "$T/bin"
# images are never there, everything else is
printf '#!/bin/sh\ncase $1 in inspect) exit 1 ;; --version) echo podman version 4.3.1 ;; esac\n' >"$T/bin/podman"
chmod 755 "$T/bin/podman"

fresh() { # a checkout $P and a state $STATE
        W=$T/w$((serial += 1))
        P=$W/demo
        STATE=$W/state
        RUN=$STATE/seal/run
        mkdir -p "$P/web" "$P/data" "$STATE"
        echo 'FROM scratch' >"$P/web/Dockerfile"
        cp "$P/web/Dockerfile" "$P/Dockerfile"
        echo 'A=1' >"$P/app.env"
        echo 's3cret' >"$P/secret.txt"
        cat >"$P/${1:-compose.yaml}"
}

seal() { # COMPOSE[,COMPOSE] [GUARDED...]; sets RC, OUT, ERR
        OUT=$("$seal_run" "$STATE" "$P" podman-compose "$@" 2>"$T/err")
        RC=$?
        ERR=$(cat "$T/err")
}

dry() { # FOLDER "FILE FILE" VERB...: the commands of a dry run
        local folder=$1 file args=()
        for file in $2; do args+=(-f "$file"); done
        shift 2
        (cd / && timeout 60 env -i PATH=/usr/bin:/bin HOME="$HOME" PYTHONUNBUFFERED=1 \
                podman-compose "${args[@]}" -p demo --podman-path "$T/bin/podman" --dry-run "$@" 2>&1) >"$T/out"
        grep -E '^Traceback|Error' "$T/out" && cat "$T/out"
        python3 "$here/normal.py" "$folder" "$P" "$RUN" <"$T/out"
}

# same NAME "FILES, below the checkout" [GUARDED...]
same() {
        local name=$1 files=$2 verb first original=() copies=() i=0
        shift 2
        seal "${files// /,}" "$@"
        equal "$name: sealed" "$RC" 0
        [ "$RC" = 0 ] || { printf '# %s\n' "$ERR"; return; }
        for file in $files; do
                original+=("$P/$file")
                copies+=("$RUN/compose-$i.yaml")
                i=$((i + 1))
        done
        first=${original[0]%/*}
        for verb in "up -d" build "logs web" down "restart web" ps "up --no-start"; do
                # shellcheck disable=SC2086
                dry "$first" "${original[*]}" $verb >"$T/one"
                # shellcheck disable=SC2086
                dry "$RUN" "${copies[*]}" $verb >"$T/two"
                if { [ -s "$T/one" ] || [ "$verb" = build ]; } && cmp -s "$T/one" "$T/two"; then
                        pass "$name: $verb"
                else
                        fail "$name: $verb" "$(diff <(tr " " "\n" <"$T/one") <(tr " " "\n" <"$T/two"))"
                fi
        done
}

fresh <<'YAML'
services:
  web:
    build: ./web
    env_file: app.env
    ports: ["8080:80", 22:22]
    volumes: [./data:/data:ro, "named:/n", /var/lib/x, ./web/../data:/w, ~/conf:/conf, /etc/hosts:/h:ro]
  db:
    image: docker.io/library/db
    environment: {A: yes, B: "yes", C: 010, D: , E: "a: b #c"}
    depends_on: [web]
volumes: {named: {}}
YAML
same "short forms" compose.yaml web/Dockerfile app.env

fresh <<'YAML'
services:
  web:
    build:
      context: web
      args: {X: 1}
    env_file: [./app.env, app.env]
    secrets: [s, {source: s, target: other}]
    security_opt: [seccomp:unconfined, "label=disable"]
    volumes:
      - {type: bind, source: ./data, target: /data, read_only: true}
      - {type: volume, source: named, target: /n}
      - {type: tmpfs, target: /t}
    command: ["sh", "-c", "echo $$HOME ${NAME:-none} $NAME"]
    healthcheck: {test: "curl -f http://localhost || exit 1", interval: 10s}
  worker:
    build: {context: ., dockerfile: web/Dockerfile}
secrets: {s: {file: ./secret.txt}}
configs: {c: {file: ./secret.txt}}
volumes: {named: }
YAML
echo 'NAME=from the env file' >"$P/.env"
same "long forms" compose.yaml web/Dockerfile app.env secret.txt .env
same "the same, only the compose file guarded" compose.yaml .env

fresh <<'YAML'
x-base: &base
  restart: always
  env_file: &files [app.env]
  environment: &vars {A: 1, B: 2}
x-more: &more {tty: true, restart: "no"}
services:
  web: &web
    <<: [*base, *more]
    image: w
    environment: {<<: *vars, C: 3, A: 4}
  db: {<<: *base, image: d, volumes: [./data:/d]}
  z:
    <<: *web
    image: z
YAML
same "anchors and merges" compose.yaml app.env

fresh docker/compose.yaml <<'YAML' 2>/dev/null || true
YAML
mkdir -p "$P/docker/sub"
cat >"$P/docker/compose.yaml" <<'YAML'
services:
  web: {build: ../web, env_file: ../app.env, volumes: ["./sub:/sub", "..:/all"]}
  db: {image: d, environment: {X: "${V}"}}
YAML
echo 'services: {web: {volumes: [../data:/data], environment: {O: 1}}, db: {image: other}}' >"$P/over.yaml"
echo 'V=deep' >"$P/docker/.env"
echo 'V=root' >"$P/.env"
same "a folder below, and an override elsewhere" "docker/compose.yaml over.yaml" web/Dockerfile app.env docker/.env

fresh <<'YAML'
services:
  web: {extends: {file: ./common.yaml, service: base}, volumes: [./web:/w]}
  own: {extends: web, image: o}
  built: {extends: {file: common.yaml, service: built}}
YAML
cat >"$P/common.yaml" <<'YAML'
services:
  base: {image: b, env_file: ./app.env, volumes: [./data:/data], environment: {V: "${V-unset}"}}
  built: {build: {context: ./web}}
YAML
same "extends" compose.yaml common.yaml app.env web/Dockerfile

fresh <<'YAML'
services:
  web: {build: {context: web}, image: w}
  db: {build: ., image: d}
YAML
echo 'services: {web: {build: {args: {A: b}}}, db: {build: ./web}}' >"$P/over.yaml"
same "builds of two files" "compose.yaml over.yaml" web/Dockerfile

fresh <<'YAML'
services: {web: {build: ./web, image: w}}
YAML
echo 'FROM scratch' >"$P/web/Containerfile"
same "the Containerfile goes first" compose.yaml web/Containerfile

# Planted after the seal: no effect (attacks.md rows 92, 94, 97)
fresh <<'YAML'
services:
  web: {build: ./web, image: "w:${TAG:-1}", env_file: app.env}
YAML
seal compose.yaml web/Dockerfile app.env .env
equal "planted: sealed" "$RC" 0
for verb in "up -d" build; do
        # shellcheck disable=SC2086
        dry "$RUN" "$RUN/compose-0.yaml" $verb >"$T/before.${verb%% *}"
done
like "planted: what runs" "$(cat "$T/before.build")" "*build -t w:1 -f *"
for name in compose.override.yaml docker-compose.override.yml compose.yml docker-compose.yml container-compose.yml; do
        echo 'services: {web: {privileged: true, image: evil}, evil: {image: evil}}' >"$P/$name"
done
echo 'services: {web: {image: evil}}' >"$P/compose.yaml"
echo 'TAG=evil' >"$P/.env"
echo 'FROM evil' >"$P/web/Containerfile"
echo 'LD_PRELOAD=evil' >"$P/app.env"
for verb in "up -d" build; do
        # shellcheck disable=SC2086
        dry "$RUN" "$RUN/compose-0.yaml" $verb >"$T/after"
        check "planted: $verb is the same" cmp "$T/before.${verb%% *}" "$T/after"
done
check "planted: the env file that runs" cmp "$RUN"/file-"$(printf app.env | sha256sum | cut -c1-16)" <(echo A=1)
check "planted: no .env" test ! -e "$RUN/.env"

# What is written, and twice
fresh <<'YAML'
services: {web: {build: ./web, env_file: app.env, volumes: [./data:/d, ./new:/n, /srv:/srv]}}
YAML
echo 'A=1' >"$P/.env"
seal compose.yaml web/Dockerfile app.env .env
equal "files" "$(cd "$RUN" && find . -type f -printf '%P %m\n' | sort | sed 's/-[0-9a-f]\{16\}/-HEX/')" ".env 400
compose-0.yaml 400
file-HEX 444
file-HEX 444
sources 400"
equal "mode of the folder" "$(stat -c %a "$RUN")" 700
equal "sources" "$(cat "$RUN/sources")" $'web\ndata\nnew'
equal "trusts" "$OUT" "trusts compose.yaml:1: /srv lies outside the checkout"
before=$(cd "$RUN" && sha256sum ./* ./.env)
mkdir "$STATE/seal/run.0123456789abcdef"
seal compose.yaml web/Dockerfile app.env .env
equal "again: the same" "$(cd "$RUN" && sha256sum ./* ./.env)" "$before"
equal "again: nothing beside it" "$(ls "$STATE/seal")" run
rm "$P/.env"
seal compose.yaml web/Dockerfile app.env .env
check "absent again" test ! -e "$RUN/.env"
ln -s / "$P/new"
seal compose.yaml web/Dockerfile app.env .env
equal "a symlink: exit" "$RC" 1
like "a symlink: said" "$ERR" "compose.yaml:1: ./new: a symlink in the checkout*"
check "a symlink: the old one stands" test -s "$RUN/compose-0.yaml"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
