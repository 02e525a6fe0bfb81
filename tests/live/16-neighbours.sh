#!/bin/bash
# what others of the same user do
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

# a container of the agent takes every inotify instance of this user
check 16-inotify-exhausted <<'END'
relax; within 10 calm; policy LINGER_MS 250
printf '[Timer]\nOnActiveSec=\nOnUnitInactiveSec=\nOnActiveSec=2s\nOnUnitInactiveSec=3s\nAccuracySec=100ms\n' >~/t.conf
mkdir -p "$units/spoolgate-$slug.timer.d"; cp ~/t.conf "$units/spoolgate-$slug.timer.d/"
systemctl --user daemon-reload; systemctl --user restart "spoolgate-$slug.timer"
cat >~/greedy.py <<-'P'
	import ctypes, time
	libc = ctypes.CDLL(None); n = 0; end = time.time() + 25
	while time.time() < end:
	        if libc.inotify_init() < 0: time.sleep(0.001)
	        else: n += 1; print(n, flush=True)
P
podman run -d --name greedy --network none -v /usr:/usr:ro -v /usr/lib:/lib:ro -v /usr/lib64:/lib64:ro -v ~/greedy.py:/g.py:ro $image \
        /usr/bin/python3 /g.py >/dev/null
sleep 4; echo "instances taken: $(podman logs greedy 2>/dev/null | tail -n 1)"
[ "$(podman logs greedy 2>/dev/null | tail -n 1)" -gt 20 ] || fail "the container took none"
slow=0; for i in 1 2 3 4; do t=$(now_ms); ask 15 ping; equal "$got" done; t=$(($(now_ms) - t)); [ $t -le $slow ] || slow=$t; sleep 2; done
echo "slowest answer meanwhile: $slow ms; path: $(systemctl --user is-active "spoolgate-$slug.path" || true)"
podman rm -ft0 greedy >/dev/null
within 12 path_active
rm -r "$units/spoolgate-$slug.timer.d"; systemctl --user daemon-reload; systemctl --user restart "spoolgate-$slug.timer"
ask 10 ping; equal "$got" done
END

check 16-journal-flood <<'END'
within 10 calm
systemd-run --user --quiet --unit=noisy sh -c 'yes "some line of another service" | head -n 200000'
names=(); for i in $(seq 20); do publish ping; names+=("$name"); sleep 0.1; done
publish restart web; names+=("$name"); publish exec; names+=("$name")
for n in "${names[@]}"; do answer "$n" 40 >/dev/null; done
for n in "${names[@]}"; do grep -qF "$n" "$state/audit.log" || fail "$n is not in the audit log"; done
systemctl --user stop noisy 2>/dev/null || true
sleep 31 # journald's window (RateLimitIntervalSec=30s): it may drop what this user's services say, and 17 reads that
END
