#!/bin/sh
# completions.sh BUILD SOURCE - each command is in each shell's completion, none is invented; the shells take the files;
# bash and fish, asked what could stand there, say what a stand-in for the program says.
set -u
LC_ALL=C
export LC_ALL
build=$1
cd "$2/installer/completions" || exit 2
agent=$2/src/agent/spoolgate-request
top=$(mktemp -d "${TMPDIR:-/tmp}/completions.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM HUP
found=0

fail() {
        printf 'not ok %s\n' "$@"
        found=1
}

"$build/src/spoolgate" --help | awk '/^  [a-z]/ { print $1 }' | sort >"$top/code"
[ -s "$top/code" ] || fail 'no commands'
# listed SHELL: the commands of its completion on stdin
listed() {
        sort >"$top/listed"
        cmp -s "$top/code" "$top/listed" && echo "ok $1: every command" && return
        fail "$1: commands of the program (<) and of the completion (>)"
        diff "$top/code" "$top/listed"
}
awk -v RS="'" '/^approve/ { gsub(/[ \n]+/, "\n"); print; exit }' spoolgate.bash | listed bash
sed -nE "s/^ +'([a-z]+):.*/\1/p" _spoolgate | listed zsh
# shellcheck disable=SC2016 # no expansion
sed -nE 's/^complete .* \$first -a ([a-z]+) .*/\1/p' spoolgate.fish | listed fish

# ---- a stand-in, and what is offered ------------------------------------------------------------------------

mkdir -p "$top/bin" "$top/config/spoolgate/demo" "$top/config/spoolgate/shop" "$top/spool/requests" "$top/spool/responses" "$top/spool/diagnostics"
: >"$top/config/spoolgate/demo/bridge.json"
: >"$top/config/spoolgate/shop/bridge.json"
cat >"$top/bin/spoolgate" <<'END'
#!/bin/sh
case "$*" in
'verbs -s shop') printf 'deploy         auto  mutating      60s  /bin/deploy\n' ;;
verbs) printf 'ping           auto  read-only     60s  (answered)\nrestart        auto  mutating     300s  /bin/x <arg>\n    args: web db\n' ;;
audit*--outcome*denied*) echo '{"seq":1,"request":"20260102T030405Z-up-0123456789abcdef.json","verb":"up"}' ;;
'seal --help') printf 'usage: spoolgate seal\n\n  -s, --slug SLUG  x\n  --check          y\n' ;;
esac
END
cp "$agent" "$top/spool/spoolgate-request"
printf '%s\n' '{"v":1,"verbs":[{"verb":"ping","class":"read-only","mode":"auto","arg":null},{"verb":"restart","class":"mutating","mode":"auto","arg":["web","db"]}]}' >"$top/spool/diagnostics/capabilities.json"
chmod 755 "$top/bin/spoolgate" "$top/spool/spoolgate-request"
ln -s "$top/spool/spoolgate-request" "$top/bin/spoolgate-request"
PATH=$top/bin:$PATH
XDG_CONFIG_HOME=$top/config
HOME=$top
export PATH XDG_CONFIG_HOME HOME

# bash_offers LINE: the last word is completed
bash_offers() {
        # shellcheck disable=SC2016,SC2317 # for the inner bash; called by name
        bash -c '. ./spoolgate.bash
                read -ra COMP_WORDS <<<"$1"
                [[ $1 != *" " ]] || COMP_WORDS+=("")
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                case ${COMP_WORDS[0]} in *request) _spoolgate_request ;; *) _spoolgate ;; esac
                printf "%s\n" "${COMPREPLY[@]}"' x "$1"
}

# zsh's own completion needs a terminal: its compadd and _describe are played here
zsh_offers() {
        # shellcheck disable=SC2016,SC2317
        zsh -f -c 'compadd() { shift; print -l -- "${(M)@:#$words[CURRENT]*}" }
                _describe() { compadd -- ${(P)2%%:*} }
                words=(${=1})
                [[ $1 != *" " ]] || words+=("")
                CURRENT=$#words
                service=$words[1]
                . ./_spoolgate' x "$1"
}

# shellcheck disable=SC2016,SC2317
fish_offers() { fish --no-config -c 'source spoolgate.fish; source spoolgate-request.fish; complete -C $argv[1]' -- "$1" | cut -f 1; }

# offer SHELL LINE WORD...
offer() {
        offer_shell=$1
        offer_line=$2
        shift 2
        "${offer_shell}_offers" "$offer_line" 2>&1 | sort -u | tr '\n' ' ' >"$top/offered"
        printf '%s\n' "$@" | sort -u | tr '\n' ' ' >"$top/wanted"
        cmp -s "$top/wanted" "$top/offered" && echo "ok $offer_shell: $offer_line" && return
        fail "$offer_shell: $offer_line: $(cat "$top/offered"), not $(cat "$top/wanted")"
}

for shell in bash zsh fish; do
        if ! command -v "$shell" >/dev/null 2>&1; then
                echo "ok $shell # SKIP not installed"
                continue
        fi
        for file in spoolgate*."$shell" _spoolgate; do
                case $shell:$file in
                zsh:_* | bash:*.bash | fish:*.fish) ;;
                *) continue ;;
                esac
                "$shell" -n "$file" || fail "$shell -n $file"
        done
        offer "$shell" 'spoolgate pa' pause
        offer "$shell" 'spoolgate status -s ' demo shop
        offer "$shell" 'spoolgate run ' ping restart
        offer "$shell" 'spoolgate run -s shop ' deploy
        offer "$shell" 'spoolgate explain restart ' web db
        offer "$shell" 'spoolgate approve ' 20260102T030405Z-up-0123456789abcdef.json
        offer "$shell" 'spoolgate seal --c' --check
        offer "$shell" 'spoolgate resolve x re' retry
        offer "$shell" 'spoolgate audit --outcome d' 'done' denied
        offer "$shell" 'spoolgate-request ' ping restart
        offer "$shell" 'spoolgate-request restart ' web db
        offer "$shell" 'spoolgate-request --ex' --explain
        offer "$shell" 'spoolgate-request --scope p' plan
done
exit "$found"
