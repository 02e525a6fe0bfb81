# world.sh - sourced by the gate's tests: an installed project with a real repository, whose verbs say what bytes ran
#
#   . world.sh; begin "$@"; project STACK [INSTALL OPTION...]
#
# $EFFECTS has a line for each run: "good" or "evil", as the bytes that ran said, and the arguments.
# shellcheck shell=bash disable=SC2034,SC2016,SC1091
if [ -f "${BASH_SOURCE[0]%/*}/begin.sh" ]; then . "${BASH_SOURCE[0]%/*}/begin.sh"; else . "${BASH_SOURCE[0]%/*}/../../flow/installer/begin.sh"; fi

git_as() { HOME=$H GIT_CONFIG_NOSYSTEM=1 git -C "$P" -c user.name=t -c user.email=t@t -c init.defaultBranch=main "$@"; }

stack_text() { # WORD: a stack's program; `slow` waits until $T/go says a word. Nothing but the shell itself.
        printf '#!/bin/bash\necho "%s $*" >>%s\ncase $2 in slow) echo in >%s; read -r _ <%s ;; esac\necho "%s $*"\n' \
                "$1" "$EFFECTS" "$T/entered" "$T/go" "$1"
}

compose_text() { # WORD
        printf 'services:\n  web: {image: %s, volumes: [./data:/d], build: {context: ./web}, env_file: app.env}\n  slow: {image: b}\n' "$1"
}

# podman-compose and docker that say which bytes they were given: each -f file, and an env file among or beside them.
tools() {
        mkdir -p "$T/bin"
        cat >"$T/bin/tool" <<TOOL
#!/bin/bash
word=none dir= last=
while [ \$# -gt 0 ]; do
        case \$1 in
        -f) text=\$(<"\$2"); dir=\${2%/*}; case \$text in *evil*) word=evil ;; *good*) word=good ;; esac; shift ;;
        --env-file) echo "env \$(<"\$2")" >>$T/envs; shift ;;
        esac
        last=\$1
        shift
done
[ ! -f "\$dir/.env" ] || echo "env \$(<"\$dir/.env")" >>$T/envs
echo "\$word \$last" >>$EFFECTS
case \$last in slow) echo in >$T/entered; read -r _ <$T/go ;; esac
echo "\$word \$last"
TOOL
        chmod 755 "$T/bin/tool"
        cp "$T/bin/tool" "$T/bin/podman-compose"
        cp "$T/bin/tool" "$T/bin/docker"
        printf '#!/bin/sh\n' >"$T/bin/podman"
        chmod 755 "$T/bin/podman"
        GATE_PATH=$T/bin:/usr/bin:/bin
}

project() { # STACK [OPTION...]
        local stack=$1
        shift
        EFFECTS=$T/effects
        : >"$EFFECTS"
        : >"$T/envs"
        [ -p "$T/entered" ] || mkfifo "$T/entered" "$T/go"
        exec 7<>"$T/entered" 8<>"$T/go"
        fresh demo
        rm -r "$P/.git"
        mkdir "$P/deploy" "$P/web" "$P/data"
        stack_text good >"$P/deploy/stack"
        chmod 755 "$P/deploy/stack"
        compose_text good >"$P/compose.yaml"
        echo 'FROM scratch' >"$P/web/Dockerfile"
        echo 'A=1' >"$P/app.env"
        echo 'TOKEN=first' >"$P/.env"
        chmod 600 "$P/.env"
        printf '/untracked/\n.env\n/data/\n' >"$P/.gitignore"
        git_as init -q
        git_as add .
        git_as commit -q -m first
        tools
        case $stack in
        script) install --slug demo --stack script --stack-bin deploy/stack --service web --service slow --env-file .env --launch direct "$@" ;;
        *) install --slug demo --stack "$stack" --launch direct "$@" ;;
        esac
        if [ "$RC" != 0 ]; then
                fail "$stack: installed" "$ERR"
                flow_end
        fi
        S=$P/untracked/spoolgate
        CONF=$H/.config/spoolgate/demo
        STATE=$H/.local/state/spoolgate/demo
        DRAIN=$H/.local/lib/spoolgate/demo/spoolgate-drain
        SLUG=demo
        policy RATE_PER_VERB=100000/600 RATE_TOTAL=100000/600
}

policy() { # KEY=VALUE...: in place of what stands there
        local line
        for line in "$@"; do
                sed -i "/^#\?${line%%=*}=/d" "$CONF/policy.conf"
                echo "$line" >>"$CONF/policy.conf"
        done
}

watch() {
        env -i HOME="$H" PATH=/nonexistent "${FLOW_ENV[@]}" "$DRAIN" --watch demo 2>"$T/drain.bg.err" >/dev/null </dev/null &
        DRAIN_PID=$!
}

unwatch() {
        kill -TERM "$DRAIN_PID"
        drain_wait
        equal "the drain ends well" "$RC $(cat "$T/drain.bg.err")" "0 "
        check "the audit log's chain holds" audit_chain
}

ask() { # VERB [ARG]: as the agent does; sets RC, OUT, ERR
        local said=$T/said.$BASHPID
        OUT=$(cd / && timeout 60 env -i PATH=/usr/bin:/bin sh "$S/spoolgate-request" --wait 30 "$@" 2>"$said" </dev/null)
        RC=$?
        ERR=$(<"$said")
}

ran() { # NAME [ARG]: restart runs the good bytes
        local before
        before=$(wc -l <"$EFFECTS")
        ask restart "${2:-web}"
        equal "$1: runs" "$RC $(tail -n +$((before + 1)) "$EFFECTS")" "0 good ${3:-restart ${2:-web}}"
}

# stopped NAME REASON FILE [LAST LINE]: restart is refused, names the file, ends in the command; the diagnostics agree
stopped() {
        local before
        before=$(wc -l <"$EFFECTS")
        ask restart web
        like "$1: $2" "$RC $ERR" "70 spoolgate: denied: $2: *$3*"
        equal "$1: the last line is the command" "${ERR##*$'\n'}" "${4:-spoolgate seal -s demo}"
        equal "$1: nothing ran" "$(wc -l <"$EFFECTS")" "$before"
        case $2 in integrity-*) mirrors "$1: diagnostics" "$2" "${3%% *}" ;; esac
}

mirrors() { # NAME VERDICT FILE
        local text
        text=$(tr -d '\n' <"$S/diagnostics/integrity.json")
        case $text in
        *'"verdict":'*"\"$2\""*"$3"*) pass "$1" ;;
        *) fail "$1" "$text" ;;
        esac
}

sealed() { # NAME
        gate seal --yes
        equal "$1: sealed" "$RC" 0
}
