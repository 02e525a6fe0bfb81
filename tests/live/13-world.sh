#!/bin/bash
# what a run finds around itself
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 13-descriptors-and-environment <<'END'
relax; within 10 calm; policy LINGER_MS 250
printf '#!/bin/sh\nexec sleep 3\n' >~/stay; chmod 755 ~/stay
verbs() { # NAME... : "NAME PROGRAM..." as a direct and as a scoped verb
        local sep= l row
        printf '{"v":1,"verbs":['
        for l in direct scope; do for row in "$@"; do
                printf '%s{"name":"%s-%s","class":"mutating","launch":"%s","argv":[%s],"arg":null,"timeout_sec":20,"cwd":"host","env":{},"permission_scope":"edit"}\n' \
                        "$sep" "${row%% *}" $l $l "$(sed 's/ /","/g; s/^/"/; s/$/"/' <<<"${row#* }")"; sep=,
        done; done
        printf ']}\n'
}
verbs 'fds /bin/ls -l /proc/self/fd' 'env /usr/bin/env' 'look /bin/grep -E ^(Sig[BI]|NoNew|Seccomp:|Umask) /proc/self/status' \
        'where /bin/readlink /proc/self/cwd' 'stay '"$HOME/stay" | sed 's/(Sig\[BI\]|NoNew|Seccomp:|Umask)/Sig[BI]/' | own_verbs
log() { cat "$spool/archive/$name.log"; }
for l in direct scope; do
        ask 10 fds-$l; equal "$got" done fds-$l
        equal "$(log | grep -oE ' [0-9]+ -> .*' | sort | sed 's/\[[0-9]*\]//; s/[0-9]*\/fd//' | tr -d '\n')" \
                " 0 -> /dev/null 1 -> pipe: 2 -> pipe: 3 -> /proc/" "descriptors ($l)"
        ask 10 env-$l; equal "$got" done
        equal "$(log | sed 's/=.*//' | sort | tr '\n' ' ')" "$(printf '%s\n' BUILDX_GIT_INFO DBUS_SESSION_BUS_ADDRESS GIT_ALLOW_PROTOCOL \
                GIT_DIR GIT_NO_LAZY_FETCH HOME LANG PATH XDG_RUNTIME_DIR | tr '\n' ' ')" "environment ($l)"
        ask 10 look-$l; equal "$got" done
        equal "$(log | tr -d '\t\n')" "SigBlk:0000000000000000SigIgn:0000000000000000" "signals ($l)"
        ask 10 where-$l; equal "$got" done; [[ $(log) != "$project"* ]] || fail "cwd is $(log)"
        publish stay-$l; within 5 pgrep -xf 'sleep 3'; p=$(pgrep -xf 'sleep 3')
        equal "$(ls "/proc/$p/fd" | sort -n | tr '\n' ' ')" "0 1 2 " "descriptors of a run ($l)"
        equal "$(sed -nE 's/^(NoNewPrivs|Seccomp):\t//p' "/proc/$p/status" | tr '\n' ' ')" "0 0 " "NoNewPrivs, Seccomp"
        [ "$(ps -o tty= -p "$p" | tr -d ' ')" = '?' ] || fail "it has a terminal"
        [ "$(ps -o sid= -p "$p" | tr -d ' ')" != "$(ps -o sid= -p "$(pgrep -x spoolgate-drain)" | tr -d ' ')" ] || fail "the drain's session"
        equal "$(answer "$name" 10)" done
done
END

# what a verb leaves behind lives on, holds nothing of ours, and the unit settles
check 13-lock-free-while-a-process-lives-on <<'END'
printf '#!/bin/sh\nsetsid sleep 41.5 >/dev/null 2>&1 </dev/null &\necho left one\n' >~/leave; chmod 755 ~/leave
own_verbs <<-V
	{"v":1,"verbs":[{"name":"leave","class":"mutating","launch":"scope","argv":["$HOME/leave"],"arg":null,"timeout_sec":20,"cwd":"host","env":{},"permission_scope":"edit"}]}
V
ask 10 leave; equal "$got" done; within 5 settled
p=$(pgrep -xf 'sleep 41.5') || fail "what the verb left is gone"
grep -q "spoolgate-$slug.leave-" "/proc/$p/cgroup" || fail "it is not in the scope"
equal "$(ls "/proc/$p/fd" | sort -n | tr '\n' ' ')" "0 1 2 " "descriptors of what is left"
flock -n "$state/lock" true || fail "the lock is held"
equal "$(pgrep -c spoolgate- || true)" 0 "processes of ours"
t=$(now_ms); ask 5 ping; equal "$got" done
kill "$p"; within 5 no_scopes leave
END

check 13-without-a-bus-daemon <<'END'
within 10 calm
mkdir -p "$units/spoolgate-$slug.service.d"
printf '[Service]\nEnvironment=DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent\n' >"$units/spoolgate-$slug.service.d/t.conf"
systemctl --user daemon-reload
printf '#!/bin/sh\ncat /proc/self/cgroup\n' >~/leave
ask 20 leave; r=$(field "$name" reason); c=$(cat "$spool/archive/$name.log")
rm -r "$units/spoolgate-$slug.service.d"; systemctl --user daemon-reload
equal "$got/$r" done/null "by the manager's private socket"
contains "$c" "spoolgate-$slug.leave-"
END
