#!/bin/bash
# test-compose.sh BUILD_ROOT SOURCE_ROOT: the gate on the whole program, for the compose stacks
# shellcheck source=tests/attack/gate/world.sh disable=SC2034
. "${0%/*}/world.sh"
begin "$@"

every() { # STACK
        local stack=$1 run
        project "$stack"
        watch
        run=$STATE/seal/run
        ran "$stack: nothing changed" web web
        equal "$stack: the env file that it was given" "$(sort -u "$T/envs")" "env TOKEN=first"

        compose_text evil >"$P/compose.yaml"
        stopped "$stack: 67 edited" integrity-modified "compose.yaml differs from the last commit"
        ask status
        equal "$stack: 67 edited: status reads the sealed copy" "$RC $OUT" "0 good ${STATUS:-ps}"
        git_as commit -q -a -m evil
        stopped "$stack: 69 committed" integrity-unsealed "compose.yaml differs from the sealed one"
        git_as revert --no-edit HEAD >/dev/null
        ran "$stack: 69 reverted" web web

        # 92: what a compose tool merges, or prefers, when it is left to find its files
        for name in compose.override.yaml docker-compose.yml docker-compose.override.yml compose.yml podman-compose.yaml; do
                compose_text evil >"$P/$name"
                printf '%s\n' "$name" >>"$P/.git/info/exclude"
        done
        ran "$stack: 92 untracked compose files" web web
        gate verbs
        equal "$stack: 92 no verb names a file of the checkout" "$(grep -oE "(-f|--env-file) '?$P/[^ ]*" <<<"$OUT")" ""
        echo 'LD_PRELOAD=/evil' >"$P/app.env"
        stopped "$stack: 93 an env_file of a service" integrity-modified "app.env differs from the last commit"
        git_as checkout -q -- app.env
        echo 'FROM evil' >"$P/web/Dockerfile"
        stopped "$stack: 93 a Dockerfile" integrity-modified "web/Dockerfile differs from the last commit"
        git_as checkout -q -- web/Dockerfile

        # 94: where a bind source or a context leads
        rmdir "$P/data"
        ran "$stack: 94 a bind source that is not there" web web
        ln -s / "$P/data"
        stopped "$stack: 94 a bind source turned into a symlink" integrity-modified "data is or lies behind a symbolic link"
        gate seal --yes
        like "$stack: 94 not sealed so" "$RC $ERR" "1 *./data: a symlink in the checkout*"
        rm "$P/data"
        mkdir "$P/data"
        (ask restart slow; echo "$RC $ERR" >"$T/slow") &
        slow=$!
        entered
        rmdir "$P/data"
        ln -s / "$P/data"
        let_go on
        wait "$slow"
        like "$stack: 94 turned while it runs" "$(cat "$T/slow")" "70 spoolgate: failed: integrity-modified: *: data*"
        rm "$P/data"
        mkdir "$P/data"
        stopped "$stack: 94 put back, still paused" paused "" "spoolgate resume -s demo" 
        gate resume
        ran "$stack: 94 resumed" web web

        # 96, 97
        echo 'COMPOSE_FILE=/evil' >"$P/.env"
        stopped "$stack: 97 .env changed" integrity-env ".env differs from the sealed one"
        ask status
        equal "$stack: 97 nor does status read it" "$(sort -u "$T/envs")" "env TOKEN=first"
        rm "$P/.env"
        mkfifo "$P/.env"
        stopped "$stack: 96 .env a FIFO" integrity-env ".env is not of the right type"
        rm "$P/.env"
        stopped "$stack: 96 .env gone" integrity-env ".env is missing"
        sealed "$stack: 96 absent is sealed"
        ran "$stack: 96 without it" web web
        echo TOKEN=planted >"$P/.env"
        stopped "$stack: 96 planted" integrity-env ".env was absent when it was sealed"
        ask status
        equal "$stack: 96 planted: nobody was given it" "$(grep -c planted "$T/envs")" 0

        policy INTEGRITY=seal
        rm "$P/.env"
        compose_text evil >"$P/compose.yaml"
        stopped "$stack: seal" integrity-modified "compose.yaml differs from the sealed one"
        policy INTEGRITY=head
        stopped "$stack: head" integrity-modified "compose.yaml differs from the last commit"
        git_as checkout -q -- compose.yaml
        ran "$stack: head, as committed" web web
        equal "$stack: evil bytes that ran" "$(grep -c evil "$EFFECTS")" 0
        check "$stack: a copy is what runs" grep -q good "$run/compose-0.yaml"
        unwatch
}
every podman-compose
STATUS=--all every docker-compose
flow_end
