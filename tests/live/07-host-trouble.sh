#!/bin/bash
# trouble on the host mends itself
# shellcheck disable=SC1091,SC2034,SC2010
. "$(dirname "$0")/lib.sh"

# systemd starts it in a circle until the trigger limit ends the path unit, for ever as systemd sees it
check 07-missing-program-and-failed-path <<'END'
policy LINGER_MS 250; within 10 settled
failed() { unit_is path failed; }
mv "$lib/spoolgate-drain" "$lib/away"; publish ping
within 5 failed; echo "path: $(systemctl --user show -P Result "spoolgate-$slug.path")"
sleep 2; mv "$lib/away" "$lib/spoolgate-drain"
equal "$(answer "$name" 12)" done
within 12 path_active
ask 10 ping; equal "$got" done
END

# what a mount without inotify looks like to us: no event ever, only the timer
check 07-timer-alone-serves <<'END'
within 10 settled
systemctl --user stop "spoolgate-$slug.path"
publish ping; t=$(now_ms); got=$(answer "$name" 80); equal "$got" done
echo "served by the timer after $((($(now_ms) - t) / 1000)) s"
systemctl --user start "spoolgate-$slug.path"
END

check 07-written-while-stopped <<'END'
systemctl --user stop "spoolgate-$slug".{path,timer,service}
publish ping; a=$name; publish restart web; b=$name; sleep 1
[ -e "$spool/requests/$a" ] || fail "served by nobody?"
systemctl --user start "spoolgate-$slug".{path,timer}
equal "$(answer "$a" 10)" done; equal "$(answer "$b" 30)" done
END
