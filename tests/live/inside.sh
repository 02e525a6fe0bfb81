# inside.sh: what the live tests use inside of the host, as its plain user (bash)
# Sourced before every piece of a test that runs there. Stops at the first error.
# shellcheck disable=SC2034     # used by what is sourced after it
# shellcheck shell=bash

set -euo pipefail
export TZ=UTC
unset INVOCATION_ID             # a person's shell has none, and podman minds
slug=${SLUG:-demo}
project=${PROJECT:-$HOME/demo}
spool=$project/untracked/spoolgate
config=$HOME/.config/spoolgate/$slug
state=$HOME/.local/state/spoolgate/$slug
lib=$HOME/.local/lib/spoolgate/$slug
units=$HOME/.config/systemd/user
image=localhost/live-bb:1

# of ALL FEW: how often; SPOOLGATE_THIN=1 is for machines that run all of this with every change
of() { if [ -n "${THIN:-}" ]; then echo "$2"; else echo "$1"; fi; }
fail() { printf 'not so: %s\n' "$*" >&2; exit 1; }
now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }
use() { slug=$1 project=$2; spool=$project/untracked/spoolgate config=$HOME/.config/spoolgate/$1
        state=$HOME/.local/state/spoolgate/$1 lib=$HOME/.local/lib/spoolgate/$1; }

equal() { [ "$1" = "$2" ] || fail "${3:-value}: '$1', expected '$2'"; }
at_most() { [ "$1" -le "$2" ] || fail "${3:-value}: $1, at most $2 expected"; }
contains() { [[ $1 == *"$2"* ]] || fail "'$2' is not in: ${1:0:2000}"; }
# within SECONDS CMD...: CMD comes true in time
within() {
        local end=$(($(now_ms) + $1 * 1000)); shift
        until "$@" >/dev/null 2>&1; do
                [ "$(now_ms)" -lt $end ] || fail "in time: $*"
                sleep 0.05
        done
}

# publish VERB [ARG [KEY:VALUE...]]: the file a writer would write; its name in $name, no process forked
publish() {
        local stamp iso nonce body
        printf -v stamp '%(%Y%m%dT%H%M%SZ)T' -1
        iso=${stamp:0:4}-${stamp:4:2}-${stamp:6:2}T${stamp:9:2}:${stamp:11:2}:${stamp:13:2}Z
        printf -v nonce '%08x%08x' $SRANDOM $SRANDOM
        name=$stamp-$1-$nonce.json
        body="{\"verb\":\"$1\",\"requested_at\":\"$iso\"${2:+,\"arg\":\"$2\"}}"
        printf '%s\n' "$body" >"$spool/requests/.w-$nonce"
        rename "$spool/requests/.w-$nonce" "$spool/requests/$name"
}
rename() { mv -T -- "$1" "$2"; }
field() { # NAME KEY: a value of the response, bare
        local line; { read -r line <"$spool/responses/$1.response.json"; } 2>/dev/null || return 1
        [[ $line =~ \"$2\":\ *(\"([^\"]*)\"|[^,}]*) ]] || return 1
        echo "${BASH_REMATCH[2]:-${BASH_REMATCH[1]}}"
}
ended() { local s; s=$(field "$1" state) && [[ $s != queued && $s != running ]]; }
answer() { # NAME SECONDS: waits for the end; prints the state
        within "${2:-10}" ended "$1"; field "$1" state
}
ask() { # SECONDS VERB [ARG]: publish, wait; the state in $got
        local limit=$1; shift
        publish "$@"; got=$(answer "$name" "$limit") || exit 1
}
visible() { find "$spool/requests" -mindepth 1 -maxdepth 1 ! -name '.*' 2>/dev/null | wc -l; }
no_visible() { [ -d "$spool/requests" ] && [ "$(visible)" = 0 ]; }

unit_is() { [ "$(systemctl --user is-active "spoolgate-$slug.$1")" = "$2" ]; }
path_active() { unit_is path active; }
settled() { unit_is service inactive; }
calm() { settled || unit_is service failed; }   # nothing runs, however the last one ended
starts_since() { # UNIX-TIME: how often the service was started
        sleep 0.5               # only root may ask journald to sync
        journalctl --user -q -o cat --since "@$1" USER_UNIT="spoolgate-$slug.service" \
                MESSAGE_ID=7d4958e842da4a758f6c1cdc7b36dcc5 | wc -l
}
policy() { # KEY VALUE
        sed -i "/^$1=/d" "$config/policy.conf"
        [ -z "$(tail -c1 "$config/policy.conf")" ] || echo >>"$config/policy.conf"
        printf '%s=%s\n' "$1" "$2" >>"$config/policy.conf"
}

own_names() { sed -n 's/.*"name": *"\([a-z-]*\)".*/\1/p' "$config/verbs.json" 2>/dev/null || true; }
own_verbs() { # verbs.json from stdin, each of its verbs allowed: one a line
        local v
        for v in $(own_names); do sed -i "/^MODE_$v=/d" "$config/policy.conf"; done
        cat >"$config/verbs.json"
        for v in $(own_names); do policy "MODE_$v" auto; done
}
# podman leaves a network's slirp4netns where it was started, so that the scope of an 'up' may stay
scopes() { systemctl --user list-units --plain --no-legend --all "spoolgate-$slug.$1-*.scope" | awk '{print $1}'; } # VERB
no_scopes() { [ -z "$(scopes "$1")" ]; }
running() { [ "$(field "$1" state)" = running ]; }
answers() { find "$spool/responses" -name "$1*" | wc -l; } # how many files answer NAME
audited() { grep -F "$1" "$state/audit.log" | grep -c "\"event\":\"$2\"" || true; } # NAME EVENT

local_image() { # busybox and nothing else
        podman image exists $image && return
        local root applet; root=$(mktemp -d)
        mkdir -p "$root/bin" "$root/tmp" "$root/etc"
        cp /bin/busybox "$root/bin/"
        for applet in $(busybox --list); do [ "$applet" = busybox ] || ln -sf busybox "$root/bin/$applet"; done
        tar -C "$root" -c . | podman import - $image >/dev/null 2>&1
        rm -rf "$root"
}
make_project() { # DIR: a checkout with two services, one of them built
        local d=$1 loop="trap 'exit 0' TERM; while :; do sleep 1 & wait; done"
        mkdir -p "$d/api"
        printf '/untracked/\n' >"$d/.gitignore"
        cat >"$d/compose.yaml" <<-END
		services:
		  web:
		    image: $image
		    command: ["sh", "-c", "echo web is up; $loop"]
		  api:
		    build: ./api
		    command: ["sh", "-c", "echo api is up; $loop"]
	END
        printf 'FROM %s\nRUN echo built >/made\n' $image >"$d/api/Containerfile"
        git -C "$d" init -q
        git -C "$d" add -A
        git -C "$d" -c user.name=op -c user.email=op@localhost commit -qm start
}
install_bridge() { # [OPTION...]
        spoolgate install --project "$project" --slug "$slug" --stack podman-compose "$@" >~/install.log
}
relax() { # what would stand in the way of many requests
        local v; for v in up down rebuild init; do policy MODE_$v auto; done
        policy RATE_PER_VERB 10000/60; policy RATE_TOTAL 10000/60
        policy KEEP_FILES 20000; policy QUEUE_DEPTH 10000
}
# agent [PODMAN OPTION...] -- ARG...: spoolgate-request in a container without engine, bus or network
agent() {
        local opts=()
        while [ "$1" != -- ]; do opts+=("$1"); shift; done; shift
        podman run --rm --network none -v "$project:/src" -w /src "${opts[@]}" $image \
                sh untracked/spoolgate/spoolgate-request "$@"
}
started_at() { podman inspect -f '{{.State.StartedAt}}' "$1"; }
