#!/bin/sh
# test-request.sh [SPOOLGATE-REQUEST [SHELL...]] - the agent's program under busybox ash, dash and bash, against fake-host.sh
# shellcheck disable=SC2012 # the names here are ours
set -u
LC_ALL=C
export LC_ALL
here=$(cd -- "$(dirname -- "$0")" && pwd)
program=${1:-$here/../../../src/agent/spoolgate-request}
top=$(mktemp -d "${TMPDIR:-/tmp}/request.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM HUP
passed=0
failed=0
unset SPOOLGATE_SPOOL SPOOLGATE_KEY_FILE

# ---- checks -----------------------------------------------------------------------------------------------

pass() {
        passed=$((passed + 1))
        printf 'ok %d - %s: %s\n' $((passed + failed)) "$shell" "$1"
}

fail() {
        failed=$((failed + 1))
        printf 'not ok %d - %s: %s\n' $((passed + failed)) "$shell" "$1"
        printf '# status %s\n' "$status"
        { head -c 600 "$top/out"; echo; head -c 600 "$top/err"; } | cat -v | sed 's/^/# /'
}

# check WHAT COMMAND...
check() {
        check_what=$1
        shift
        if "$@"; then pass "$check_what"; else fail "$check_what"; fi
}

same() { # EXPECTED FILE
        printf '%b' "$1" >"$top/expected"
        cmp -s "$top/expected" "$2"
}

# expect WHAT STATUS STDERR-FIRST-LINE (a pattern)
expect() {
        first=$(head -n 1 "$top/err")
        # shellcheck disable=SC2254
        case $first in
        $3) [ "$status" = "$2" ] && pass "$1" && return ;;
        esac
        fail "$1"
}

no_control() { # FILE
        [ -z "$(tr -d '\011\012\040-\176\200-\377' <"$1" | od -An -tx1)" ]
}

# ---- a spool, a client, a host ------------------------------------------------------------------------------

fresh() {
        rm -rf "$top/work"
        mkdir -p "$top/work/spool"
        work=$top/work
        spool=$work/spool
        for dir in tmp requests processing responses archive quarantine diagnostics inbox; do
                mkdir "$spool/$dir"
        done
        cp "$program" "$spool/spoolgate-request"
        client=$spool/spoolgate-request
        : >"$work/plan"
        status=0
}

run() {
        PATH=$path $interpreter "$client" "$@" >"$top/out" 2>"$top/err" </dev/null
        status=$?
}

# with_host OPTION...: the plan is in $work/plan
with_host() {
        sh "$here/fake-host.sh" "$spool" "$work/plan" &
        host=$!
        run "$@"
        wait "$host"
}

# answer STATE REASON MESSAGE OUTPUT [TRUNCATED [AHEAD]]: reason to output as JSON values; a file's name on stdout
answer() {
        answer_file=$work/answer.$1.$2
        printf '{"v":1,"request":"r","state":"%s","reason":%s,"message":%s,"verb":"restart","arg":"web","exit":0,"signal":null,' "$1" "$2" "$3" >"$answer_file"
        printf '"started_at":null,"finished_at":null,"duration_ms":1234,"output":%s,"output_bytes":70000,"truncated":%s,"log":"archive/x.log",' "$4" "${5:-false}" >>"$answer_file"
        printf '"replayed":false,"retry_after_sec":null,"ahead":%s}\n' "${6:-null}" >>"$answer_file"
        printf '%s\n' "$answer_file"
}

plan() { printf '%s\n' "$@" >>"$work/plan"; }
plan_answer() { plan "answer $(answer "$@")"; }

only_request() { set -- "$spool"/requests/*.json; [ $# -eq 1 ] && [ -f "$1" ] && request=$1; }

# output_is WHAT JSON-STRING EXPECTED(%b)
output_is() {
        fresh
        plan_answer 'done' null null "\"$2\""
        with_host ping
        check "$1" same "$3" "$top/out"
        check "$1: drives no terminal" no_control "$top/out"
}

# ---- cases --------------------------------------------------------------------------------------------------

test_states() {
        fresh; plan_answer 'done' null null '"hello\n"'; with_host restart web
        expect 'done is 0' 0 'spoolgate: done: -: restart web, 1.2 s'
        check 'done prints the output' same 'hello\n' "$top/out"
        fresh; plan_answer 'done' null '"pong"' null; with_host ping
        expect 'done with a message' 0 'spoolgate: done: -: pong'
        check 'no output is nothing' same '' "$top/out"
        fresh; plan_answer denied '"policy"' '"restart is denied here.\nThe operator may run it:\nspoolgate approve X\n"' null; with_host restart web
        expect 'denied is 70' 70 'spoolgate: denied: policy: restart is denied here.'
        check 'the last line is the command alone' [ "$(tail -n 1 "$top/err")" = 'spoolgate approve X' ]
        check 'nothing more is said' [ "$(wc -l <"$top/err")" -eq 3 ]
        fresh; plan_answer expired '"expired"' '"too old"' null; with_host ping
        expect 'expired is 70' 70 'spoolgate: expired: expired: too old'
        fresh; plan_answer failed '"exit-nonzero"' '"the verb ended with 3"' '"oops\n"'; with_host up
        expect 'failed is 70' 70 'spoolgate: failed: exit-nonzero: the verb ended with 3'
        check 'failed prints the output too' same 'oops\n' "$top/out"
        fresh; plan_answer uncertain '"interrupted"' '"who knows"' null; with_host up
        expect 'uncertain is 71' 71 'spoolgate: uncertain: interrupted: who knows'
        fresh; plan_answer 'done' null '"fine"' '"end"' true; with_host up
        expect 'a cut output is said' 0 'spoolgate: done: -: fine'
        check 'a cut output names the log' grep -q '70000 bytes in all.*archive/x.log' "$top/err"
        fresh; plan "answer $work/bad"; printf '{"v":1,"state":"done","output":"x\n' >"$work/bad"; with_host --wait 1 ping
        expect 'a broken response is called unreadable' 0 'spoolgate: done: unreadable: *'
}

test_decoding() {
        # shellcheck disable=SC1003
        output_is 'plain escapes' 'a\nb\tc\"d\\e\/f\\n\\\\\n' 'a\nb\tc"d\\e/f\\n\\\\\n'
        output_is 'unicode escapes' 'A\u0041\u00e9\u20ac\ud83d\ude00.\n' 'AA\0303\0251\0342\0202\0254\0360\0237\0230\0200.\n'
        output_is 'lone surrogates stay text' '\ud83d\n\ude00x\ud83dy\n' '\\ud83d\n\\ude00x\\ud83dy\n'
        output_is 'escaped control characters stay text' '\u001b[31m\u0000\u0007\u007f\u009b\b\f\r\n' '\\x1b[31m\\x00\\x07\\x7f\\u009b\\x08\\x0c\\x0d\n'
        output_is 'text of the host stays' '\\x1b[0m\n' '\\x1b[0m\n'
        # shellcheck disable=SC2016
        output_is 'printf formats are text' '%s%n%d %b \\c \\033[m $HOME `id` $(id) *\n' '%s%n%d %b \\c \\033[m $HOME `id` $(id) *\n'
        output_is 'JSON within the output is text' '{\"state\":\"denied\",\"output\":\"x\"}\n' '{"state":"denied","output":"x"}\n'
        output_is 'valid UTF-8 passes' "$(printf '\303\251\342\202\254\360\237\230\200')" '\0303\0251\0342\0202\0254\0360\0237\0230\0200'
        output_is 'raw control bytes are written out' "$(printf 'a\033]0;x\007b\177\r\n')" 'a\\x1b]0;x\\x07b\\x7f\\x0d'
        fresh; printf 'x\302\233y\233z\377\340\202\233w' >"$work/raw"
        output_is 'raw C1 and invalid UTF-8 are written out' "$(cat "$work/raw")" 'x\\u009by\\x9bz\\xff\\xe0\\x82\\x9bw'
        check 'no C1 byte is left' [ -z "$(tr -d '\000-\177' <"$top/out")" ]
        output_is 'no newline is added' 'end' 'end'
        output_is 'only escapes' '\n\n\\\\\n' '\n\n\\\\\n'
        fresh; plan_answer denied '"policy"' '"a\u001b[2Jb %s \\033\nnext\u009b"' null; with_host ping
        check 'messages are escaped as well' same 'spoolgate: denied: policy: a\\x1b[2Jb %s \\033\nnext\\u009b\n' "$top/err"
}

# 64 KiB of the worst: every character an escape; and one line with a wide character at its end.
test_size() {
        big=$(awk 'BEGIN { for (i = 0; i < 65536; i++) printf "%s", i % 2 ? "\\n" : "\\\"" }')
        fresh; plan "answer $work/big"; printf '{"v":1,"state":"done","reason":null,"message":null,"output":"%s","truncated":false}\n' "$big" >"$work/big"
        before=$(date +%s); with_host ping; after=$(date +%s)
        check '64 KiB of escapes: all there' [ "$(tr -d '"' <"$top/out" | wc -c) $(wc -c <"$top/out")" = '32768 65536' ]
        check '64 KiB of escapes: quick' [ $((after - before)) -le 4 ]
        big=$(awk 'BEGIN { for (i = 0; i < 65533; i++) printf "x"; printf "\342\202\254" }')
        fresh; plan "answer $work/big"; printf '{"v":1,"state":"done","reason":null,"message":null,"output":"%s","truncated":false}\n' "$big" >"$work/big"
        before=$(date +%s); with_host ping; after=$(date +%s)
        printf '%s' "$big" >"$top/expected"
        check '64 KiB in one line: the same bytes' cmp -s "$top/expected" "$top/out"
        check '64 KiB in one line: quick' [ $((after - before)) -le 4 ]
}

test_json() {
        fresh; plan_answer 'done' null '"x\ny"' '"a\u001bb\\c"'; with_host --json restart web
        expect '--json keeps the status' 0 'spoolgate: done: -: x'
        check '--json is the line as it was' cmp -s "$work/answer.done.null" "$top/out"
        fresh; plan_answer 'done' null null "\"$(printf '\302\233\233')\""; with_host ping --json
        check '--json has no raw control bytes' [ -z "$(tr -d '\000-\177' <"$top/out")" ]
        check '--json writes them as JSON' grep -q '"output":"\\u009b\\u009b"' "$top/out"
}

test_request_file() {
        fresh; run --async restart web --key k:1.2_-A --max-age 60 --timeout=20 --scope edit
        expect '--async is 0 and silent' 0 ''
        check 'one request lies there' only_request
        name=${request##*/}
        check '--async prints the id' same "$name\n" "$top/out"
        check 'the name has the form' sh -c "printf '%s\n' '$name' | grep -qE '^[0-9]{8}T[0-9]{6}Z-restart-[0-9a-f]{16}\.json$'"
        stamp=$(sed 's/.*"requested_at":"\([^"]*\)".*/\1/' "$request")
        check 'the body is this' same "{\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"$stamp\",\"idempotency_key\":\"k:1.2_-A\",\"max_age_sec\":60,\"timeout_sec\":20,\"permission_scope\":\"edit\"}\n" "$request"
        check 'name and body agree' [ "$(printf '%s' "$stamp" | tr -d ':-')" = "${name%%-*}" ]
        check 'the time is now' [ "$(($(date +%s) - $(date -u -d "$(printf '%s' "$stamp" | tr TZ '  ')" +%s)))" -le 5 ]
        check 'its mode is 0644' [ "$(ls -l "$request" | cut -c1-10)" = -rw-r--r-- ]
        check 'no dotfile is left' [ "$(ls -A "$spool/requests" | wc -l)" -eq 1 ]
        fresh; run --async -- ping; only_request
        check 'the least body' sh -c "grep -qE '^\{\"verb\":\"ping\",\"requested_at\":\"[^\"]*\"\}$' '$request'"
        run ping --async
        check 'each call has a new name' [ "$(ls "$spool/requests" | wc -l)" -eq 2 ]
        fresh; umask 077; run --async ping; umask 022; only_request
        check 'the umask does not matter' [ "$(ls -l "$request" | cut -c1-10)" = -rw-r--r-- ]
}

# A stand-in for mv looks at the moment of publishing. (busybox sh takes its own applets before any stand-in.)
test_publishing() {
        fresh; rmdir "$spool/requests"; ln -s /nonexistent "$spool/requests"; run ping
        expect 'requests/ missing' 64 'spoolgate: usage: no-spool: *'
        [ "$shell" != 'busybox sh' ] || return 0
        fresh; mkdir "$work/bin"
        cat >"$work/bin/mv" <<END
#!/bin/sh
{ printf '%s\n' "\$@"; echo "visible:\$(ls "$spool/requests")"; cat "$spool"/requests/.tmp-*; ls -l "$spool"/requests/.tmp-*; } >"$work/moment"
exec $real_mv "\$@"
END
        chmod 755 "$work/bin/mv"
        path=$work/bin:$path run --async ping
        only_request
        nonce=${request##*-}
        nonce=${nonce%.json}
        check 'from a dotfile in requests/' grep -qxF "$spool/requests/.tmp-$nonce" "$work/moment"
        check 'to its name in requests/' grep -qxF "$request" "$work/moment"
        check 'nothing visible before' grep -qx 'visible:' "$work/moment"
        check 'whole before the rename' grep -qxF "$(cat "$request")" "$work/moment"
        check 'readable before the rename' grep -q '^-rw-r--r--' "$work/moment"
        fresh; printf '#!/bin/sh\nexit 1\n' >"$work/mv"; chmod 755 "$work/mv"; path=$work:$path run ping
        expect 'a rename that fails' 75 'spoolgate: unsent: cannot-write: *'
        check 'leaves no dotfile' [ -z "$(ls -A "$spool/requests")" ]
}

test_waiting() {
        fresh; run --wait 1 ping
        expect 'no host: 75' 75 'spoolgate: queued: no-answer: *'
        only_request
        check 'the last line polls again' [ "$(tail -n 1 "$top/err")" = "$client --poll ${request##*/}" ]
        fresh; run ping --wait 0
        expect '--wait 0 looks once' 75 'spoolgate: queued: no-answer: not answered yet'
        fresh; plan_answer queued null null null false 7; with_host --wait 1 up
        expect 'others are ahead, and nothing moves' 75 'spoolgate: queued: no-answer: *, 7 ahead'
        fresh; plan_answer queued null null null false 1; plan 'beat 1' 'nap 1.2' 'beat 2' 'nap 1.2' 'beat 3' 'nap 1.2'; plan_answer 'done' null '"at last"' null
        with_host --wait 2 up
        expect 'a moving heartbeat keeps us waiting' 0 'spoolgate: done: -: at last'
        fresh; plan_answer queued null null null false 2; plan 'nap 1.2'; plan_answer queued '"x"' null null false 1; plan 'nap 1.2'; plan_answer running null null null; plan 'nap 1.2'; plan_answer 'done' null '"at last"' null
        with_host --wait 2 up
        expect 'a moving answer keeps us waiting' 0 'spoolgate: done: -: at last'
        fresh; plan_answer running null null null; plan 'beat 1' 'nap 0.6' 'beat 2'; with_host --wait 1 up
        expect 'running without a heartbeat: 75' 75 'spoolgate: running: no-answer: *1 s'
        fresh; plan_answer running null null null; with_host --wait 1 --json up
        expect '--json gives up as well' 75 'spoolgate: running: no-answer: *'
        check '--json shows what there is' cmp -s "$work/answer.running.null" "$top/out"
        fresh; printf 'garbage' >"$work/garbage"; plan "answer $work/garbage"; with_host --wait 1 up
        expect 'garbage is no answer' 75 'spoolgate: queued: no-answer: *'
        [ "$shell" != 'busybox sh' ] || return 0
        fresh; cat >"$work/sleep" <<END
#!/bin/sh
case \$1 in *.*) exit 1 ;; esac
exec $real_sleep "\$1"
END
        chmod 755 "$work/sleep"; path=$work:$path run --wait 1 ping
        expect 'a sleep without fractions' 75 'spoolgate: queued: no-answer: *'
        check 'says nothing of it' [ "$(wc -l <"$top/err")" -eq 3 ]
}

test_signal() {
        fresh
        PATH=$path $interpreter "$client" --wait 20 ping >"$top/out" 2>"$top/err" </dev/null &
        child=$!
        turns=0
        until only_request || [ "$turns" -gt 100 ]; do sleep 0.05; turns=$((turns + 1)); done
        sleep 0.3
        kill -TERM "$child"
        wait "$child"
        status=$?
        expect 'TERM: 75 and the id' 75 'spoolgate: queued: no-answer: the waiting was stopped by a signal'
        check 'TERM: how to poll' [ "$(tail -n 1 "$top/err")" = "$client --poll ${request##*/}" ]
}

test_poll() {
        fresh; run --async restart web; only_request; id=${request##*/}
        run --poll "$id" --wait 0
        expect 'poll: queued' 75 'spoolgate: queued: no-answer: *'
        check 'poll asks nothing anew' only_request
        plan_answer 'done' null null '"polled\n"'; sh "$here/fake-host.sh" "$spool" "$work/plan"
        run --poll "$id"
        expect 'poll: done' 0 'spoolgate: done: -: *'
        check 'poll prints the output' same 'polled\n' "$top/out"
        run --poll "${id%.json}"
        expect 'poll without .json' 0 'spoolgate: done: -: *'
        run --poll="$id" --json
        check 'poll --json' cmp -s "$work/answer.done.null" "$top/out"
        run --poll 20250101T000000Z-ping-0123456789abcdef
        expect 'poll of a stranger' 64 'spoolgate: usage: no-such-request: *'
        check 'polling writes nothing' [ -z "$(ls -A "$spool/requests")" ]
        for bad in ../x 20250101T000000Z-ping-0123456789abcde 20250101T000000Z--0123456789abcdef '20250101T000000Z-p ng-0123456789abcdef' \
                20250101T000000Z-ping-0123456789abcdeg 2025010/T000000Z-ping-0123456789abcdef ''; do
                run --poll "$bad"
                expect "bad id '$bad'" 64 'spoolgate: usage: bad-id: *'
        done
}

test_follow() {
        fresh; plan_answer running null null null; plan 'log one\n' 'nap 0.5' 'log two\n\033[31mthr' 'nap 0.5' 'log ee\n'; plan_answer 'done' null null '"not this"'
        sed 's,archive/x.log,archive/../../etc/passwd,' "$work/answer.running.null" >"$work/hostile"; cp "$work/hostile" "$work/answer.running.null"
        with_host --follow --wait 5 up
        expect 'follow: done' 0 'spoolgate: done: -: *'
        check 'follow: the whole log' same 'one\ntwo\n\\x1b[31mthree\n' "$top/out"
        fresh; plan 'log alpha\nbeta'; plan_answer failed '"timeout"' '"late"' '"not this"'; sed 's,"archive/x.log",null,' "$work/answer.failed."* >"$work/null"; plan "answer $work/null"
        sed -i '/answer.failed/d' "$work/plan"; with_host up --follow
        expect 'follow: failed' 70 'spoolgate: failed: timeout: late'
        check 'follow: a log that was there before' same 'alpha\nbeta' "$top/out"
        fresh; plan_answer denied '"policy"' '"no"' '"shown"'; with_host up --follow
        check 'follow: no log, the output' same 'shown' "$top/out"
        fresh; plan_answer running null null null; plan 'nap 0.7' 'log a\n' 'nap 0.7' 'log b\n' 'nap 0.7' 'log c\n' 'nap 0.7'; plan_answer 'done' null null null
        sed -i 's,archive/x.log,,' "$work/answer.running.null"; with_host --follow --wait 2 up
        expect 'follow: a growing log keeps us waiting' 0 'spoolgate: done: -: *'
}

bad() { # CODE WORD...
        bad_code=$1
        shift
        run "$@"
        expect "usage: $*" 64 "spoolgate: usage: $bad_code: *"
}

test_usage() {
        fresh
        bad no-verb
        bad no-verb --
        bad unknown-option ping --nope
        bad unknown-option -x
        bad bad-verb Ping
        bad bad-verb 'shell:web'
        bad bad-verb -- -ping
        bad bad-verb ''
        bad bad-verb aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        bad bad-arg restart Web
        bad bad-arg restart 'web"'
        bad bad-arg restart ''
        bad bad-arg restart 1web
        bad bad-arg restart -- -web
        bad bad-arg restart "web
db"
        bad too-many-words restart web db
        bad no-value ping --key
        bad bad-key ping --key 'a b'
        bad bad-key ping --key ''
        bad bad-key ping --key "$(awk 'BEGIN { for (i = 0; i < 129; i++) printf "k" }')"
        for option in --max-age --timeout; do
                for value in 0 -1 1.5 x '' 01 1000000000; do
                        bad bad-number ping "$option" "$value"
                done
        done
        bad bad-number ping --wait -1
        bad bad-number ping --wait=
        bad bad-scope ping --scope root
        bad conflict --async --json ping
        bad conflict --follow --json ping
        bad conflict --list ping
        bad conflict --list --pending
        bad conflict --poll 20250101T000000Z-ping-0123456789abcdef ping
        bad conflict --async --poll 20250101T000000Z-ping-0123456789abcdef
        check 'bad usage writes nothing' [ -z "$(ls -A "$spool/requests")" ]
        check 'bad usage ends in a command' [ "$(tail -n 1 "$top/err")" = "$client --help" ]
        run ping --help
        expect '--help is 0' 0 ''
        check '--help says how' grep -q '^Usage: spoolgate-request' "$top/out"
        run --async --wait 5 restart --key "$(awk 'BEGIN { for (i = 0; i < 128; i++) printf "k" }')" -- web_1-a
        expect 'the longest key, words after --' 0 ''
}

test_spool() {
        fresh; mkdir "$work/else where"; ln -s ../spool/spoolgate-request "$work/else where/ask"; ln -s "$work/else where/ask" "$work/ask2"
        client=$work/ask2; run --async ping
        check 'found through symlinks' only_request
        fresh; client="$work/else where/sp'ool/spoolgate-request"; mkdir "$work/else where"; mv "$spool" "$work/else where/sp'ool"; spool="$work/else where/sp'ool"
        run --wait 0 ping; only_request
        expect 'a spool with a blank and a quote' 75 'spoolgate: queued: no-answer: *'
        check 'the command can be pasted' [ "$(sh -c "PATH=\$1; $interpreter $(tail -n 1 "$top/err" | sed 's/ --poll.*/ --pending/')" x "$path" 2>/dev/null)" = "${request##*/}" ]
        fresh; cp "$program" "$work/away"; client=$work/away; SPOOLGATE_SPOOL=$spool; export SPOOLGATE_SPOOL; run --async ping; unset SPOOLGATE_SPOOL
        check 'found by SPOOLGATE_SPOOL' only_request
        run ping
        expect 'not beside the spool' 64 'spoolgate: usage: no-spool: *'
        check 'names the remedy' [ "$(tail -n 1 "$top/err")" = 'spoolgate install' ]
        SPOOLGATE_SPOOL=$work/none; export SPOOLGATE_SPOOL; run ping; unset SPOOLGATE_SPOOL
        expect 'SPOOLGATE_SPOOL wrong' 64 "spoolgate: usage: no-spool: $work/none is no spool*"
        fresh; (cd "$spool" && PATH=$path $interpreter spoolgate-request --async ping >/dev/null 2>&1)
        check 'found in the current directory' only_request
        fresh; (cd "$work" && SPOOLGATE_SPOOL=spool PATH=$path $interpreter "$client" --async ping >/dev/null 2>&1)
        check 'SPOOLGATE_SPOOL may be relative' only_request
        fresh; env PATH="$spool:$PATH" spoolgate-request --async ping >/dev/null 2>&1
        check 'found by PATH' only_request
        [ "$shell" != 'busybox sh' ] || return 0
        fresh; ln -s spool/spoolgate-request "$work/ask"; client=$work/ask; mkdir "$work/bin"
        for tool in awk cat date ls mv od rm sed sleep tr; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
        path=$work/bin run --async ping
        check 'no readlink: found all the same' only_request
}

test_lists() {
        fresh; run --list
        expect 'no capabilities yet' 75 'spoolgate: unknown: no-capabilities: *'
        printf '%s\n' '{"v":1,"slug":"demo","stack":"podman-compose","generated_at":"x","verbs":[{"verb":"ping","class":"read-only","mode":"auto","arg":null,"timeout_sec":5,"available":true},{"verb":"restart","class":"mutating","mode":"deny","arg":["web","db"],"timeout_sec":300,"available":true}, {"verb": "own\u001b[m", "class": "mutating", "mode": "auto", "arg": [], "available": false}],"limits":{"verbs":[1],"x":{"verb":"no"}}}' >"$spool/diagnostics/capabilities.json"
        run --list
        expect '--list is 0' 0 ''
        check '--list' same 'ping           read-only  auto\nrestart        mutating   deny  web|db\nown\\x1b[m      mutating   auto   (not available on this host)\n' "$top/out"
        echo '{"verbs":[' >"$spool/diagnostics/capabilities.json"; run --list
        expect '--list of garbage' 75 'spoolgate: unknown: unreadable: *'
        fresh; run --pending
        expect 'nothing pending is 0' 0 ''
        n=20250101T000000Z-ping-000000000000000
        : >"$spool/requests/${n}1.json"; : >"$spool/requests/.tmp-1"; : >"$spool/requests/other"
        cp "$(answer queued null null null)" "$spool/responses/${n}1.json.response.json"
        cp "$(answer running null null null)" "$spool/responses/${n}2.json.response.json"
        cp "$(answer 'done' null null '"{\"state\":\"running\"}"')" "$spool/responses/${n}3.json.response.json"
        run --pending
        expect 'pending is 2' 2 'spoolgate: queued: pending: *'
        check 'pending lists each once' same "${n}1.json\n${n}2.json\n" "$top/out"
        check 'pending lists them for a hook too' [ "$(grep -cx "${n}[12].json" "$top/err")" -eq 2 ]
        check 'pending ends in a command' [ "$(tail -n 1 "$top/err")" = "$client --poll ${n}1.json" ]
        fresh; run --inbox
        expect 'empty inbox' 0 ''
        printf 'second\033[2J' >"$spool/inbox/20250102T000000Z-b.txt"; printf 'first %%s\n' >"$spool/inbox/20250101T000000Z-a.txt"
        ln -s /etc/passwd "$spool/inbox/0.txt"; : >"$spool/inbox/.hidden.txt"
        run --inbox
        check 'inbox, oldest first, escaped' same '== 20250101T000000Z-a.txt ==\nfirst %s\n== 20250102T000000Z-b.txt ==\nsecond\\x1b[2J\n' "$top/out"
}

# signed KEY FILE: the mac of the request in FILE, made here from its own bytes
signed() {
        python3 - "$1" "$2" <<'END'
import hashlib, hmac, json, os, sys
body = json.load(open(sys.argv[2]))
fields = ["verb", "arg", "requested_at", "idempotency_key", "max_age_sec", "timeout_sec", "permission_scope"]
text = "".join("%s\n" % f for f in ["spoolgate-mac-1", os.path.basename(sys.argv[2])] + [body.get(k, "") for k in fields])
sys.exit(body.get("mac") != hmac.new(sys.argv[1].encode(), text.encode(), hashlib.sha256).hexdigest())
END
}

test_cancel() {
        fresh; id=20250101T000000Z-restart-0123456789abcdef
        plan_answer 'done' null '"cancelled"' '""'; with_host --cancel "$id"
        expect '--cancel: done' 0 'spoolgate: done: -: cancelled'
        set -- "$work"/seen.*
        check '--cancel: the nonce of the one that is meant' sh -c "printf '%s\n' '${1##*/seen.}' | grep -qE '^[0-9]{8}T[0-9]{6}Z-cancel-0123456789abcdef\.json$'"
        check '--cancel: no arg' sh -c "grep -qE '^\{\"verb\":\"cancel\",\"requested_at\":\"[^\"]*\"\}$' '$1'"
        fresh; plan_answer denied '"arg-not-listed"' '"no request of yours"' null; with_host --cancel="$id.json"
        expect '--cancel: not found' 70 'spoolgate: denied: arg-not-listed: *'
        fresh; bad bad-id --cancel 20250101T000000Z-restart-0123
        bad conflict --cancel "$id" restart
        bad conflict --cancel "$id" --poll "$id"
        bad conflict --cancel "$id" --key k
}

test_explain() {
        fresh; plan_answer 'done' null '"planned"' '"podman restart web\n"'; with_host --explain restart web
        expect '--explain: what would be run' 0 'spoolgate: done: -: this would be run; *'
        check '--explain prints the argv' same 'podman restart web\n' "$top/out"
        set -- "$work"/seen.*
        check '--explain runs nothing' grep -q '"permission_scope":"plan"' "$1"
        fresh; plan_answer denied '"policy"' '"no"' null; with_host restart web --explain
        expect '--explain: why not' 70 'spoolgate: denied: policy: no'
        fresh; bad no-verb --explain
        bad bad-verb --explain Ping
        bad bad-arg --explain restart Web
        bad conflict --explain --scope full restart
        bad conflict --explain cancel
}

test_signing() {
        key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
        fresh; printf '%s\n' "$key" >"$work/key"; SPOOLGATE_KEY_FILE=$work/key; export SPOOLGATE_KEY_FILE
        run --async restart web --key k:1 --max-age 60 --timeout 20 --scope edit; only_request
        expect 'signing is silent' 0 ''
        check 'the whole request is signed' signed "$key" "$request"
        fresh; printf '%s' "$key" >"$work/key"; run --async ping; only_request
        check 'the least request is signed' signed "$key" "$request"
        if [ "$shell" != 'busybox sh' ]; then
                fresh; printf '%s\n' "$key" >"$work/key"; mkdir "$work/bin"
                for tool in awk cat date ls mv od readlink rm sed tr; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
                printf '#!/bin/sh\nexec %s "$@"\n' "$python" >"$work/bin/python3"; chmod 755 "$work/bin/python3"
                path=$work/bin run --async ping; only_request
                check 'python3 signs as well' signed "$key" "$request"
                rm "$work/bin/python3"; path=$work/bin run --async ping
                expect 'nobody signs' 64 'spoolgate: usage: cannot-sign: *'
        fi
        for content in '' abc "${key}0" "${key%?}G"; do
                fresh; printf '%s\n' "$content" >"$work/key"; run --async ping
                expect "no key '$content'" 64 'spoolgate: usage: bad-key-file: *'
                check 'an unsigned one is not sent' [ -z "$(ls -A "$spool/requests")" ]
        done
        fresh; run ping
        expect 'no key file' 64 'spoolgate: usage: bad-key-file: *'
        unset SPOOLGATE_KEY_FILE
}

# ---- each shell ---------------------------------------------------------------------------------------------

real_mv=$(command -v mv)
real_sleep=$(command -v sleep)
python=$(python3 -c 'import sys; print(sys.executable)')
shells=0
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 'busybox sh' dash bash
for shell; do
        if ! command -v "${shell%% *}" >/dev/null 2>&1; then
                printf 'ok - %s: not installed # SKIP\n' "$shell"
                continue
        fi
        shells=$((shells + 1))
        path=$PATH
        interpreter=$(command -v "$shell")
        if [ "$shell" = 'busybox sh' ]; then
                path=$top/applets
                mkdir "$path"
                for applet in sh awk cat date grep ls mv od readlink rm sed sleep sort tail tr; do
                        ln -s "$(command -v busybox)" "$path/$applet"
                done
                ln -s "$(command -v openssl)" "$path/openssl"
                interpreter=$path/sh
        fi
        for group in states decoding size json request_file publishing waiting signal poll follow usage spool lists cancel explain signing; do
                "test_$group"
        done
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$shells" -gt 0 ] || exit 77
[ "$failed" -eq 0 ]
