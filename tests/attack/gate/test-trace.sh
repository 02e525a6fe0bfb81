#!/bin/bash
# test-trace.sh BUILD_ROOT SOURCE_ROOT: strace of a gated drain: what it starts, and what it opens (attacks.md rows 90, 95, 97)
# shellcheck source=tests/attack/gate/world.sh disable=SC2034
. "${0%/*}/world.sh"
if ! command -v strace >/dev/null || [ -n "${LOOSE:-}" ]; then
        if [ "${MUST_WORK:-0}" = 1 ] && [ -z "${LOOSE:-}" ]; then exit 1; else exit 77; fi
fi
begin "$@"

# trace: one drain of what waits, followed; its execves and the paths it opened
trace() {
        (cd / && env -i HOME="$H" PATH=/nonexistent /usr/bin/timeout 60 "$(command -v strace)" -f -y -qq -s 4096 -e trace=execve,execveat,open,openat,openat2 \
                -o "$T/trace" "$DRAIN" demo </dev/null >/dev/null 2>"$T/drain.err")
        RC=$?
        grep -E 'exec(ve|veat)\("[^"]*".* = 0$|<\.\.\. exec' "$T/trace" | grep -oE '(execve|execveat)\("[^"]*"' | cut -d'"' -f2 | tail -n +2 >"$T/execs"
        # once a process has become the verb, what it opens is the operator's choice
        awk -v verb="(\"$verb\"" 'index($0, "execve" verb) { gone[$1] = 1 } !gone[$1]' "$T/trace" >"$T/ours"
        grep -oE 'open(at|at2)?\(.* = [0-9]+<[^>]*>$' "$T/ours" | sed -E 's/.* = [0-9]+<(.*)>$/\1/' | sort -u >"$T/opens"
}

# What is outside of repository, state, configuration, programs and libraries. Folders above those are walked up to, to prove
# that none lies in the checkout; nothing else is looked up in them.
outside() {
        local path
        grep -vE "^($P|$P/(\.git|deploy|web|data|untracked)(/.*)?|$P/(\.env|compose\.yaml|app\.env)|$STATE(/.*)?|$CONF(/.*)?|$H/\.local/lib/spoolgate/demo(/.*)?)$" "$T/opens" |
                grep -vE "^(/etc/ld\.so\.cache|(/usr)?/lib(64)?(/.*)?|/usr/share/(locale|zoneinfo)(/.*)?|/etc/localtime|/dev/null|/dev/urandom|/proc(/.*)?|/memfd:.*|/sys/(fs/cgroup|devices/system/cpu|kernel)(/.*)?|/)$" |
                while IFS= read -r path; do
                        case $STATE/ in "$path"/*) continue ;; esac
                        case $CONF/ in "$path"/*) continue ;; esac
                        case $P/ in "$path"/*) continue ;; esac
                        printf '%s\n' "$path"
                done
}

for stack in script podman-compose; do
        project "$stack"
        # what git would run, and what a compose tool would read, were they left to themselves
        git_as config core.fsmonitor "$T/never"
        git_as config core.sshCommand "$T/never"
        git_as config core.hooksPath "$T"
        git_as config filter.x.clean "$T/never"
        echo '* filter=x' >"$P/.git/info/attributes"
        printf '[core]\n\tpager = %s\n' "$T/never" >"$T/outside.conf"
        git -C "$P" config include.path "$T/outside.conf" 2>/dev/null || printf '[include]\n\tpath = %s\n' "$T/outside.conf" >>"$P/.git/config"
        printf '#!/bin/sh\ntouch %s\n' "$T/marker" >"$T/never"
        chmod 755 "$T/never"
        verb=$STATE/seal/run/stack
        [ "$stack" = script ] || verb=$T/bin/podman-compose
        request restart web
        trace
        equal "$stack: the drain" "$RC" 0
        expect "$stack: the verb ran" "$NAME" state=done
        equal "$stack: what was started" "$(cat "$T/execs")" "$H/.local/lib/spoolgate/demo/spoolgate-inspect"$'\n'"$verb"
        check "$stack: no program of .git/config" [ ! -e "$T/marker" ]
        equal "$stack: the include of .git/config isn't read" "$(grep -cF outside.conf "$T/opens")" 0
        equal "$stack: opened outside" "$(outside)" ""
        check "$stack: the guarded files were opened" grep -qxE "$P/(deploy/stack|compose.yaml)" "$T/opens"

        # read-only verbs are never gated
        echo '# edited' >>"$P/deploy/stack"
        echo '# edited' >>"$P/compose.yaml"
        request status
        trace
        expect "$stack: status runs" "$NAME" state=done
        equal "$stack: status starts no inspection" "$(cat "$T/execs")" "$verb"
        equal "$stack: status reads no guarded file" "$(grep -cE "/(deploy/stack|compose.yaml)$" "$T/opens")" 0
done
flow_end
