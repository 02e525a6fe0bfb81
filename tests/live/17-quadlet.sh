#!/bin/bash
# stack quadlet: services are units of the user manager
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

check 17-quadlet <<'END'
use quad ~/quad; mkdir -p "$project"; printf '/untracked/\n' >"$project/.gitignore"
git -C "$project" init -q; git -C "$project" add -A; git -C "$project" -c user.name=op -c user.email=op@localhost commit -qm start
# what podman's generator makes of qweb.container and of a build
for s in qweb qdb; do
        cat >"$units/$s.service" <<-U
		[Service]
		ExecStartPre=-/usr/bin/podman rm -ft0 $s
		ExecStart=/usr/bin/podman run --name $s --rm --cgroups=split --sdnotify=conmon -d $image sh -c 'echo $s is up; trap "exit 0" TERM; while :; do sleep 1 & wait; done'
		ExecStop=/usr/bin/podman rm -ft1 $s
		Type=notify
		NotifyAccess=all
		KillMode=mixed
		SyslogIdentifier=$s
	U
done
printf '[Service]\nType=oneshot\nExecStart=/usr/bin/podman tag %s localhost/quad-built:1\n' $image >"$units/qweb-build.service"
systemctl --user daemon-reload
spoolgate install --project "$project" --slug quad --stack quadlet --service qweb --service qdb --buildable qweb >/dev/null
relax
ask 60 up; equal "$got" done "up $(cat "$spool/archive/$name.log" 2>/dev/null)"
systemctl --user is-active qweb qdb >/dev/null || fail "not active"
before=$(started_at qweb)
ask 60 restart qweb; equal "$got" done restart
[ "$(started_at qweb)" != "$before" ] || fail "qweb was not restarted"
ask 20 status; equal "$got" done; contains "$(cat "$spool/archive/$name.log")" qdb.service
ask 20 health; equal "$got" done; contains "$(cat "$spool/archive/$name.log")" ActiveState=active
ask 20 logs qweb; equal "$got" done; contains "$(cat "$spool/archive/$name.log")" qweb
ask 20 rebuild qweb; equal "$got" done; podman image exists localhost/quad-built:1
ask 20 rebuild qdb; equal "$got/$(field "$name" reason)" denied/arg-not-listed
ask 20 init; equal "$got" done
ask 60 down; equal "$got" done
[ "$(systemctl --user is-active qweb || true)" = inactive ] || fail "qweb is still there"
within 5 settled
spoolgate uninstall -s quad --purge >/dev/null
rm "$units"/q{web,db,web-build}.service; systemctl --user daemon-reload
END
