#!/bin/bash
# run.sh GATE INSPECT: env files at the gate (rows 96 to 98 of the attack list).
GATE=$(readlink -f "$1") INSPECT=$(readlink -f "$2")
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../git/lib.sh
. "$HERE/../git/lib.sh"
as_user

every() { for mode in both seal head; do check "$1" $mode "integrity-env|*.env: $2"; done; }

fresh; for mode in both seal head; do check 'unchanged' $mode 'ok|*'; done
fresh; mv .env "$OUT/e"; ln -s "$OUT/e" .env; every '96 symlink' 'is or lies behind a symbolic link*'
fresh; rm .env; mkfifo .env; every '96 FIFO' 'is not of the right type'
fresh; rm .env; mkdir .env; every '96 directory' 'is not of the right type'
fresh; echo canary >"$OUT/canary"; rm .env; ln "$OUT/canary" .env; every '96 hard link to a canary' 'has more than one hard link'
fresh; ln .env "$OUT/second"; every '96 a second link to it' 'has more than one hard link'
fresh; rm .env; every '96 gone' 'is missing'
fresh; rm .env; truncate -s 1T .env; every '96 1 TiB' 'is too big'
fresh; chmod 644 .env; every '96 mode' 'has another mode than the sealed one'
fresh; rm .env; seal; check '96 absent is a sealed state' both 'ok|*'; echo A=1 >.env; every '96 appears' 'was absent when it was sealed'
for line in COMPOSE_FILE=/tmp/evil.yaml DOCKER_HOST=tcp://192.0.2.1 PATH=/tmp/evil LD_PRELOAD=/tmp/evil.so BASH_ENV=/tmp/evil; do
        fresh; echo "$line" >>.env; every "97 ${line%%=*} added" 'differs from the sealed one'
done
fresh; echo X=1 >>.env; git add -f .env; git commit -qm env; every '97 committed: still not sealed' 'differs from the sealed one'
fresh; evil; echo X=1 >>.env; check '97 a guarded file too: that is named first' both 'integrity-modified|*compose.yaml: differs from the last commit'

# 97, 98: an approved value neither enters the environment or argv of what the gate starts, nor its words.
fresh; printf 'LD_PRELOAD=/nonexistent/marker-secret-value\nTOKEN=marker-secret-value\n' >.env; seal
if command -v strace >/dev/null && [ -z "${LOOSE:-}" ]; then
        (cd / && strace -f -qq -v -s 4096 -e trace=execve,write,openat -o "$OUT/trace" "$GATE" check "$CO" "$STATE" "$GITDIR" "$PIN" both >"$OUT/words" 2>&1)
        grep 'execve("[^"]*/spoolgate-inspect"' "$OUT/trace" >"$OUT/exec"
        truth '98 the inspection was started' "$(wc -l <"$OUT/exec")" 1
        grep -q '\], \[\])' "$OUT/exec"; truth '98 its environment is empty' $? 0
        truth '98 the secret in argv or environment' "$(grep -c marker-secret "$OUT/exec")" 0
        truth '97 opens of what LD_PRELOAD names' "$(grep -c 'openat(.*nonexistent' "$OUT/trace")" 0
        truth '98 the secret in the words' "$(grep -c marker-secret "$OUT/words")" 0
else
        skip '98' 'no strace'
fi
[ "$(find "$STATE" -name seal -type f -exec grep -c marker-secret {} +)" = 0 ]; truth '98 the secret in the seal' $? 0
finish
