#!/bin/bash
# a new user's session, command by command as README shows it, then doctor on ten seeded faults, each mended by
# running the lines that it printed. With SPOOLGATE_SESSION=FILE the session's transcript is written there.
# shellcheck disable=SC1091,SC2034,SC2154,SC2016
. "$(dirname "$0")/lib.sh"
PROJECT=/home/op/shop SLUG=shop limit=300
user() { "$host" user "$H" "$@"; }
as_comment() { sed 's/^/    # /'; }

# A small disk of its own for the checkout, to be filled later.
as_root sh -c 'install -d -o op -g op /home/op/shop && mount -t tmpfs -o size=128m,mode=755,uid=$(id -u op),gid=$(id -g op) tmpfs /home/op/shop' ||
        echo "not ok 20-session (no small disk)"

check 20-session <<'END'
local_image
make_project "$project"
git config --global user.name op; git config --global user.email op@localhost
cd "$project"
export NO_COLOR=1 PAGER=cat
exec 4>~/session
host() { # EXIT COMMAND: as typed at a terminal; what it says in $said
        local rc=0
        said=$(script -qec "stty cols 100; $2" /dev/null </dev/null | tr -d '\r') || rc=$?
        printf 'host$ %s\n%s\n\n' "$2" "$said" >&4
        equal $rc "$1" "exit status of '$2' ($said)"
}
asks() { # EXIT WORD...: the same of the agent, which is in a container with the checkout alone
        local rc=0 want=$1; shift
        said=$(agent -- "$@" 2>&1) || rc=$?
        printf 'agent$ untracked/spoolgate/spoolgate-request %s\n%s\n\n' "$*" "$said" >&4
        equal $rc "$want" "exit status of 'spoolgate-request $*' ($said)"
}
newest() { local n; n=$(cd "$spool/responses" && ls -t -- *-"$1"-*.response.json | head -n 1); echo "${n%.response.json}"; }

host 0 "spoolgate install --stack podman-compose"; contains "$said" "shop: installed"
asks 0 ping; contains "$said" pong
asks 70 up; contains "$said" "denied: policy"
name=$(newest up)
host 1 "spoolgate explain up"; contains "$said" "MODE_up=deny"
host 0 "spoolgate approve $name --yes"; contains "$said" "done, exit 0"
equal "$(podman inspect -f '{{.State.Running}}' shop_web_1)" true "web after the approval"
asks 0 --poll "$name"
host 1 "spoolgate approve $name --yes"; contains "$said" "run already"
asks 0 status; contains "$said" shop_web_1
asks 70 exec; contains "$said" hard-denied
host 0 "sed -i 's/web is up/web is here/' compose.yaml"
before=$(started_at shop_web_1)
asks 70 restart web; contains "$said" integrity-modified
equal "$(started_at shop_web_1)" "$before" "start of web after a refusal"
host 1 "spoolgate seal --yes"; contains "$said" "differs from the last commit"
host 0 "git commit -qam 'another greeting'"
asks 70 restart web; contains "$said" integrity-unsealed
host 1 "spoolgate doctor"; contains "$said" $'\nspoolgate seal -s shop'
host 0 "spoolgate seal --yes"; contains "$said" "web is here"; contains "$said" "sealed"
asks 0 restart web; contains "$said" "spoolgate: done"
[ "$(started_at shop_web_1)" != "$before" ] || fail "web was not restarted"
host 0 "spoolgate pause 'backup until noon'"
asks 70 restart web; contains "$said" "denied: paused"
asks 0 ping
host 0 "spoolgate resume"; contains "$said" "backup until noon"
within 20 calm
host 0 "spoolgate status"; contains "$said" "path and timer active, enabled"; contains "$said" "every guarded file is the approved one"
host 0 "spoolgate show $name"; contains "$said" "by op"; contains "$said" "podman-compose -f"
host 0 "spoolgate audit --since 1h"; contains "$said" "up: denied: policy"; contains "$said" "restart web: done"
host 0 "spoolgate audit verify"; contains "$said" "each in the chain"
host 0 "spoolgate doctor"; equal "$said" "shop: nothing found"
END
seen=$(mktemp) pasted=$(mktemp)
trap 'rm -f "$seen" "$pasted"' EXIT
user cat /home/op/session >"$seen"
[ -z "${SPOOLGATE_SESSION:-}" ] || cp "$seen" "$SPOOLGATE_SESSION"

# README's tour: no line that was not seen above, but for times and names; "..." alone stands for what is left out
plain() { sed -E 's/[0-9]{8}T[0-9]{6}Z/STAMP/g; s/[0-9a-f]{12,16}/HEX/g; s/[0-9]+/N/g; s/ +/ /g; s/ $//' | sort -u; }
unseen=$(sed -n '/^## A five-minute tour/,/^## Inst/s/^    //p' "$live/../../README.md" | grep -v -e '^ *\.\.\.$' -e '^$' | plain | comm -23 - <(plain <"$seen"))
if [ -z "$unseen" ]; then echo "ok 20-readme"; else echo "not ok 20-readme (shows what did not happen)"; as_comment <<<"$unseen"; fi

# mend NAME FINDING: doctor finds it, and is content after its lines were pasted
mend() {
        local t=$SECONDS out rc=0 line found
        out=$(user spoolgate doctor -s shop 2>&1) || rc=$?
        found=$out
        if [ $rc != 1 ] || ! grep -q "^finding $2" <<<"$out"; then
                echo "not ok 20-$1 (not found, exit $rc)"; as_comment <<<"$out"; return 0
        fi
        while read -r line; do paste "$line"; done < <(grep -A1 '^finding' <<<"$out" | grep -v -e '^finding' -e '^--$') >"$pasted" 2>&1
        rc=0; out=$(user spoolgate doctor -s shop 2>&1) || rc=$?
        if [ $rc = 0 ]; then echo "ok 20-$1 ($((SECONDS - t)) s)"
        else
                echo "not ok 20-$1 (not mended, exit $rc)"
                { echo "$found"; cat "$pasted"; echo "$out"; } | as_comment
        fi
        return 0
}
paste() { # what asks is told yes; EDITOR is a person who takes out the line that was complained of; sudo is root here
        echo "\$ $1"
        case $1 in
        "sudo "*) as_root sh -c "${1#sudo }" ;;
        loginctl*) if as_root test -x /usr/lib/polkit-1/polkitd; then user sh -c "$1"; else as_root sh -c "$1"; fi ;;
        *) echo y | user env TERM=dumb PAGER=cat EDITOR='sed -i /perhaps/d' script -qec "$1" /dev/null | tr -d '\r' ;;
        esac
}
seed() { # on the inside, as the user
        local out
        out=$(user env PROJECT=$PROJECT SLUG=$SLUG bash -c ". '$live/inside.sh'"$'\n'"$(cat)" 2>&1) || echo "not ok 20-seed: $out"
}

seed <<'END'
within 20 calm
mv "$units/spoolgate-shop.service" ~/away; systemctl --user daemon-reload
publish ping; within 10 unit_is path failed
systemctl --user stop spoolgate-shop.rearm.service      # else it is mended before anybody looks
mv ~/away "$units/spoolgate-shop.service"; systemctl --user daemon-reload
END
mend failed-path-unit "failed units: spoolgate-shop.path"

# Somebody is logged in; with nobody, the user's manager would end at once.
as_root systemd-run -q --unit=op-login -p User=op -p PAMName=login -p StandardInput=null sleep 600
sleep 1
as_root loginctl disable-linger op
mend lingering-off lingering
as_root systemctl stop op-login

as_root chown root: /home/op/.config/spoolgate/shop/policy.conf
mend wrong-owner "owners and modes"

seed <<'END'
sed -i 's/web is here/web is there/' "$project/compose.yaml"; git -C "$project" commit -qam 'one more'
END
mend unsealed-change "seal: integrity-unsealed"

seed <<'END'
systemctl --user restart spoolgate-shop.timer   # its sweep would mend this: not in the next half minute
ask 20 ping; within 20 calm
old=$spool/archive/20260101T000000Z-logs-0123456789abcdef.json.log
! cat /dev/zero >"$old"; touch -d '30 days ago' "$old"
! echo x >"$project/full"; rm "$project/full"
END
mend full-disk "free space"

seed <<'END'
cp "$lib/spoolgate-drain" ~/old; printf x >>~/old; mv ~/old "$lib/spoolgate-drain"
END
mend old-pinned-program "pinned programs: the pinned spoolgate-drain is another build"

seed <<'END'
echo MODE_up=perhaps >>"$config/policy.conf"
END
mend bad-policy-line "policy and verbs"

as_root sh -c 'install -D /usr/bin/podman-compose /usr/local/bin/podman-compose && rm /usr/bin/podman-compose'
mend missing-binary "programs: podman-compose"

seed <<'END'
: >"$project/.gitignore"; git -C "$project" commit -qam 'nothing is ignored'
END
mend spool-not-ignored "spool is ignored"

seed <<'END'
mkdir "$units/spoolgate-shop.service.d"
printf '[Unit]\nStartLimitIntervalSec=300\nStartLimitBurst=1\n' >"$units/spoolgate-shop.service.d/limit.conf"
systemctl --user daemon-reload
for _ in 1 2 3 4; do publish ping; sleep 1; within 20 calm; done
within 20 unit_is path failed
systemctl --user stop spoolgate-shop.rearm.service
END
mend start-limit-hit "failed units"

check 20-after-all <<'END'
ask 60 ping; equal "$got" done
agent -- status >/dev/null 2>&1 || fail "status does not run"
cd "$project"; within 20 calm
contains "$(spoolgate audit verify)" "each in the chain"
equal "$(spoolgate doctor)" "shop: nothing found"
cd; podman ps -aq --filter label=io.podman.compose.project=shop | xargs -r podman rm -ft 0 >/dev/null 2>&1
spoolgate uninstall -s shop --purge >/dev/null
END
as_root sh -c 'cp -n /usr/local/bin/podman-compose /usr/bin/; rm /usr/local/bin/podman-compose; umount -l /home/op/shop'
