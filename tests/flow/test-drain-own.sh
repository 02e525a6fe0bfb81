#!/bin/bash
# test-drain-own.sh BUILD_ROOT SOURCE_ROOT - own verbs (verbs.json), LANES_READ out of bounds, redact.conf that doesn't hold
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project

cat >"$T/tool.tmp" <<'TOOL'
#!/bin/sh
here=${0%/*}
echo "own $*" >>"$here/effects"
case $1 in
look) pwd; env | sort; echo "args $#" ;;
slow) exec sleep 30 ;;
scoped) cat /proc/self/cgroup ;;
*) echo "got $1" ;;
esac
TOOL
as_user cp "$T/tool.tmp" "$HOST/tool"
as_user chmod 755 "$HOST/tool"
own() { # ROW...: verbs.json of these rows
        (
                IFS=,
                printf '{"v":1,"verbs":[%s]}\n' "$*"
        ) >"$CONF/.v"
        flow_own "$CONF/.v"
        mv "$CONF/.v" "$CONF/verbs.json"
}
row() { # NAME CLASS LAUNCH CWD WORD [ENV [ARG [TIMEOUT]]]
        printf '{"name":"%s","class":"%s","launch":"%s","cwd":"%s","argv":["%s",%s],"env":%s,"arg":%s,"timeout_sec":%s}' \
                "$1" "$2" "$3" "$4" "$HOST/tool" "$5" "${6-{\}}" "${7-null}" "${8-20}"
}
modes=(MODE_look=auto MODE_here=auto MODE_pick=auto MODE_slow-one=auto MODE_heavy=auto)
# shellcheck disable=SC2016
good=("$(row look read-only direct host '"look"' '{"APP_MODE":"a b","X":"$HOME"}')"
        "$(row here read-only direct checkout '"look"')"
        "$(row pick mutating direct host '"pick","{arg}"' '{}' '{"enum":["alpha","beta-2"]}')"
        "$(row slow-one read-only direct host '"slow"' '{}' null 1)"
        "$(row heavy mutating scope host '"scoped"')")
flow_policy "${modes[@]}"
own "${good[@]}"

# ---- what a good file gives --------------------------------------------------------------------------------------------------

request look
look=$NAME
request here
here=$NAME
request pick alpha
pick=$NAME
request pick gamma
gamma=$NAME
request pick
none=$NAME
request look alpha
extra=$NAME
request slow-one
slow=$NAME
request heavy
heavy=$NAME
request pick beta-2 '"permission_scope":"readonly"'
tight=$NAME
request look '' '"permission_scope":"plan"'
plan=$NAME
drain
equal "the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
expect "an own verb" "$look" state=done exit=0
like "its cwd is no checkout, its env the literals, never expanded" "$(cat "$S/archive/$look.log")" "/"$'\n'"APP_MODE=a b"$'\n'*"X=\$HOME"$'\n'"args 1"
expect "cwd checkout" "$here" state=done
like "runs there" "$(cat "$S/archive/$here.log")" "$P"$'\n'*
check "with none of the other's literals" test "$(grep -c APP_MODE "$S/archive/$here.log")" = 0
expect "an arg of the enum" "$pick" state=done 'output=got pick\n'
expect "one that is not" "$gamma" state=denied reason=arg-not-listed
expect "none" "$none" state=denied reason=arg-missing
expect "one too many" "$extra" state=denied reason=arg-unexpected
expect "its own timeout" "$slow" state=failed reason=timeout
check "is kept" test "$(field "$slow" duration_ms)" -ge 1000 -a "$(field "$slow" duration_ms)" -lt 4000
expect "launch scope where the bridge file says direct" "$heavy" state=done
expect "a mutating one under a read-only scope" "$tight" state=denied reason=scope
expect "a plan" "$plan" state=done reason=null message=planned
like "tells the argv" "$(field "$plan" output)" "*$HOST/tool look*"
equal "what ran" "$(grep '^own' "$EFFECTS" | sort | tr '\n' ';')" "own look;own look;own pick alpha;own scoped;own slow;"
equal "the literal stands as one word of the audit log" "$(grep '"event":"start"' "$STATE/audit.log" | grep -c '"verb":"pick","arg":"alpha"')" 1
flow_policy # no MODE_ line of theirs
request look
drain
expect "no MODE_ line: denied" "$NAME" state=denied reason=policy

# ---- launch scope without a manager: never a run outside of it ---------------------------------------------------------------

flow_policy "${modes[@]}"
: >"$EFFECTS"
sed -i 's/"launch": "direct"/"launch": "scope"/' "$CONF/bridge.json"
request heavy
heavy=$NAME
request look
drain
expect "a scope and no manager: failed" "$heavy" state=failed reason=spawn exit=null
like "its message says so" "$(field "$heavy" message)" '*the user manager could not be reached*systemctl --user status'
expect "a direct one runs all the same" "$NAME" state=done
equal "nothing ran outside of a scope" "$(grep -c scoped "$EFFECTS")" 0
equal "nobody is left behind" "$(pgrep -cf "$HOST/tool scoped")" 0
flow_bridge

# ---- a bad file: every own verb refused, the built-in ones work --------------------------------------------------------------

bad() { # CASE PATTERN ROW...: one bad row among good ones
        local what=$1 pattern=$2 status
        shift 2
        own "${good[@]}" "$@"
        : >"$EFFECTS"
        request look
        refused=$NAME
        request status
        status=$NAME
        request restart web
        drain
        expect "$what: own verbs are refused" "$refused" state=denied reason=host-config
        like "$what: the message says why" "$(field "$refused" message)" "*verbs.json*$pattern*"
        expect "$what: a built-in look works" "$status" state=done
        expect "$what: a built-in change works" "$NAME" state=done
        equal "$what: no own verb ran" "$(grep -c '^own' "$EFFECTS")" 0
}
bad "the name of a built-in" restart "$(row restart mutating direct host '"x"')"
bad "a hard-denied name" exec "$(row exec mutating direct host '"x"')"
bad "a verb twice" look "$(row look read-only direct host '"x"')"
bad "a program in the checkout" checkout '{"name":"in","class":"mutating","argv":["'"$P"'/x"],"timeout_sec":20}'
bad "a relative program" argv '{"name":"rel","class":"mutating","argv":["sh"],"timeout_sec":20}'
bad "a placeholder inside a word" arg "$(row inside mutating direct host '"x{arg}"' '{}' '{"enum":["a"]}')"
bad "a placeholder without an enum" arg "$(row bare mutating direct host '"{arg}"')"
bad "an env name that steers the loader" env "$(row env mutating direct host '"x"' '{"LD_PRELOAD":"/x"}')"
bad "an enum of the wrong shape" arg "$(row shape mutating direct host '"{arg}"' '{}' '{"enum":["-rf"]}')"
bad "a timeout out of bounds" timeout "$(row time mutating direct host '"x"' '{}' null 7201)"
bad "an unknown key" shell '{"name":"key","class":"mutating","argv":["/bin/true"],"shell":true}'
bad "no JSON" verbs.json '{'
own "${good[@]}"
chmod 666 "$CONF/verbs.json"
request look
drain
expect "a verbs.json that others may write" "$NAME" state=denied reason=host-config
own "${good[@]}"
request look
drain
expect "mended, they work again" "$NAME" state=done

# ---- a watching drain reads a changed file -----------------------------------------------------------------------------------

drain_start --watch "$SLUG"
request look
check "a watcher runs own verbs" await answered "$NAME" "done"
own '{'
request look
check "a file broken under it" await answered "$NAME" denied
expect "refuses" "$NAME" reason=host-config
own "${good[@]}"
request here
check "and mended" await answered "$NAME" "done"
kill -TERM "$DRAIN_PID"
drain_wait
equal "it ends well" "$RC" 0

# ---- LANES_READ is bounded ---------------------------------------------------------------------------------------------------

for lanes in 0 17 -1 x 3.5 99999999999999999999; do
        flow_policy "${modes[@]}" "LANES_READ=$lanes"
        request status
        drain
        expect "LANES_READ=$lanes: nothing runs" "$NAME" state=denied reason=host-config
        like "LANES_READ=$lanes: the message names the line" "$(field "$NAME" message)" "*policy.conf:*LANES_READ*"
done
flow_policy "${modes[@]}" LANES_READ=16
: >"$EFFECTS"
names=()
for i in {1..17}; do
        request logs gate
        names+=("$NAME")
done
drain_start
for i in {1..16}; do entered; done
check "LANES_READ=16: the sixteenth runs" await answered "${names[15]}" running
expect "the seventeenth waits" "${names[16]}" state=queued
equal "sixteen have begun" "$(effects 'logs gate')" 16
for i in {1..16}; do let_go "$i"; done
entered
let_go x
drain_wait
count=0
for name in "${names[@]}"; do
        if answered "$name" "done"; then count=$((count + 1)); fi
done
equal "all are answered" $count 17
flow_policy

# ---- redact.conf that doesn't hold: nothing is run whose output it would not clean --------------------------------------------

for line in 'bad (' 'NAME-only' 'UPPER[ x' 'empty x*'; do
        printf '%s\n' "$line" >"$CONF/redact.conf"
        flow_own "$CONF/redact.conf"
        : >"$EFFECTS"
        request status
        drain
        expect "redact.conf '$line': nothing runs" "$NAME" state=denied reason=host-config
        like "redact.conf '$line': the message names the line" "$(field "$NAME" message)" '*redact.conf:1:*'
        equal "redact.conf '$line': nothing ran" "$(cat "$EFFECTS")" ""
done
rm "$CONF/redact.conf"
request status
drain
expect "without it, all is well" "$NAME" state=done
check "the audit log's chain holds" audit_chain
flow_end
