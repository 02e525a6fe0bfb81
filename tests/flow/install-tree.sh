#!/bin/sh
# install-tree.sh BUILD PREFIX BINDIR LIBEXECDIR DATADIR MANDIR MAN - `meson install` into DESTDIR: every file that a
# package has to hold and no other, each mode as it has to be, and a program that finds the others from where it is.
set -u
LC_ALL=C
export LC_ALL
umask 022
build=$1 prefix=$2 bin=$3 libexec=$4 data=$5 man=$6 with_man=$7
top=$(mktemp -d "${TMPDIR:-/tmp}/tree.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM HUP
found=0

fail() {
        printf 'not ok %s\n' "$@"
        found=1
}

DESTDIR=$top/root meson install -C "$build" --no-rebuild >"$top/log" 2>&1 || { cat "$top/log"; exit 1; }
root=$top/root$prefix

{
        cat <<END
755 $bin/spoolgate
755 $libexec/spoolgate/spoolgate-drain
755 $libexec/spoolgate/spoolgate-inspect
755 $data/spoolgate/spoolgate-request
755 $data/spoolgate/agent/stop-hook
644 $data/spoolgate/agent/AGENTS.md
644 $data/spoolgate/agent/SKILL.md
644 $data/spoolgate/agent/settings.json
644 $data/spoolgate/policy/policy.conf
644 $data/spoolgate/units/spoolgate.path.in
644 $data/spoolgate/units/spoolgate.rearm.service.in
644 $data/spoolgate/units/spoolgate.service.in
644 $data/spoolgate/units/spoolgate.timer.in
644 $data/bash-completion/completions/spoolgate
777 $data/bash-completion/completions/spoolgate-request
644 $data/fish/vendor_completions.d/spoolgate-request.fish
644 $data/fish/vendor_completions.d/spoolgate.fish
644 $data/zsh/site-functions/_spoolgate
644 lib/systemd/catalog/spoolgate.catalog
END
        [ "$with_man" = no ] || for page in spoolgate.1 spoolgate-request.1 spoolgate.policy.5 spoolgate.verbs.5 spoolgate-protocol.7 \
                spoolgate-security.7 spoolgate-drain.8 spoolgate-inspect.8; do
                echo "644 $man/man${page##*.}/$page"
        done
} | sort >"$top/wanted"
(cd "$root" && find . \( -type f -o -type l \) -printf '%m %P\n') | sort >"$top/got"
cmp -s "$top/wanted" "$top/got" || fail 'the files (<: wanted, >: installed)' "$(diff "$top/wanted" "$top/got")"
[ -z "$(find "$top/root" -mindepth 1 -maxdepth 1 ! -name "$(printf '%s' "${prefix#/}" | cut -d / -f 1)")" ] || fail 'something is outside of the prefix'
[ -f "$root/$data/bash-completion/completions/spoolgate-request" ] || fail 'a link leads nowhere'
for program in "$root/$bin/spoolgate" "$root/$libexec/spoolgate/spoolgate-drain"; do
        "$program" --version | grep -q '^spoolgate.* [0-9]' || fail "$program --version"
done
sh "$root/$data/spoolgate/spoolgate-request" --help | grep -q '^Usage' || fail 'spoolgate-request --help'

# An install out of the tree takes its files from there. Root is refused: then as another one.
if [ "$bin:$libexec:$data" = bin:libexec:share ]; then
        as=
        [ "$(id -u)" -ne 0 ] || as='setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs'
        mkdir -p "$top/home" "$top/demo/.git/info"
        printf '#!/bin/sh\n' >"$top/stack"
        chmod 755 "$top/stack"
        [ -z "$as" ] || chown -R 65534:65534 "$top"
        # shellcheck disable=SC2086 # words
        (cd "$top/demo" && $as env -i HOME="$top/home" PATH=/usr/bin:/bin "$root/bin/spoolgate" install --stack script --stack-bin "$top/stack" \
                --service web --launch direct --no-units --agent-files) >"$top/log" 2>&1 || fail "spoolgate install: $(cat "$top/log")"
        cmp -s "$root/libexec/spoolgate/spoolgate-drain" "$top/home/.local/lib/spoolgate/demo/spoolgate-drain" || fail 'the pinned drain is another one'
        [ -x "$top/demo/untracked/spoolgate/agent/stop-hook" ] || fail 'no agent files'
fi
[ "$found" -ne 0 ] || echo 'ok the tree'
exit "$found"
