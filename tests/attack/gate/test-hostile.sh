#!/bin/bash
# test-hostile.sh BUILD_ROOT SOURCE_ROOT: what the agent can make of .git, asked of the whole program: a refusal in time, and
# a `status` that is asked for at the same time is answered
# shellcheck source=tests/attack/gate/world.sh disable=SC2034
. "${0%/*}/world.sh"
begin "$@"
LIMIT=3000
[ -z "${LOOSE:-}" ] || LIMIT=20000
project script
watch
G=$P/.git
loose() { echo "$G/objects/${1:0:2}/${1:2}"; }
now() { echo $((${EPOCHREALTIME/./} / 1000)); }

# hostile NAME PATH: PATH has been moved to $T/good and something else may stand there
hostile() {
        local start restart
        start=$(now)
        (ask restart web; echo "$RC $(($(now) - start)) $ERR" >"$T/restart") &
        restart=$!
        ask status
        equal "$1: status is answered" "$RC $OUT" "0 good status"
        check "$1: in time" [ $(($(now) - start)) -lt $((LIMIT + 2000)) ]
        wait "$restart"
        read -r RC MS ERR < <(tr '\n' ' ' <"$T/restart")
        like "$1: integrity-error" "$RC $ERR" "70 spoolgate: denied: integrity-error: * spoolgate doctor -s demo"
        check "$1: within $LIMIT ms ($MS)" [ "$MS" -lt "$LIMIT" ]
        mirrors "$1: diagnostics" integrity-error ''
        rm -rf -- "$2"
        [ ! -e "$T/good" ] || mv "$T/good" "$2"
}

away() { # PATH
        [ ! -e "$1" ] || mv "$1" "$T/good"
}

ran "before"
HEAD=$(git_as rev-parse HEAD)
for at in HEAD config refs/heads/main; do
        away "$G/$at"
        mkfifo "$G/$at"
        hostile "86 FIFO as $at" "$G/$at"
        away "$G/$at"
        truncate -s 1T "$G/$at"
        hostile "86 1 TiB as $at" "$G/$at"
        away "$G/$at"
        ln -s "$T/good" "$G/$at"
        hostile "86 symlink as $at" "$G/$at"
done
at=$(loose "$HEAD")
away "$at"
mkfifo "$at"
hostile "86 FIFO as HEAD's commit" "$at"
away "$at"
head -c 200 /dev/urandom >"$at"
hostile "82 noise as HEAD's commit" "$at"
away "$at"
truncate -s 1T "$at"
hostile "86 1 TiB as HEAD's commit" "$at"
away "$at"
hostile "82 HEAD's commit is gone" "$at"
away "$G/HEAD"
echo 'ref: ../../../../etc/passwd' >"$G/HEAD"
hostile "84 HEAD leads out" "$G/HEAD"
away "$G/refs/heads/main"
for ((i = 0; i < 30; i++)); do echo "ref: refs/heads/l$((i + 1))" >"$G/refs/heads/l$i"; done
echo 'ref: refs/heads/l0' >"$G/refs/heads/l30"
echo 'ref: refs/heads/l0' >"$G/refs/heads/main"
hostile "84 a loop of refs" "$G/refs/heads/main"
rm "$G"/refs/heads/l*
mv "$G" "$T/good"
cp -r "$T/good" "$G"
hostile "12 another .git of equal contents" "$G"
mv "$G" "$T/good"
echo "gitdir: $T/good" >"$G"
hostile "68 a gitfile" "$G"
away "$G/config"
printf '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n' >"$G/config"
hostile "88 a partial clone" "$G/config"

# Objects of 1 GiB under their true ids; a packed-refs of 2 M lines
bomb() {
        (cd "$P" && perl -MCompress::Zlib -MDigest::SHA -e '
                my $h = Digest::SHA->new(1); my ($z) = deflateInit(-Level => 9); my $out = "";
                my $feed = sub { $h->add($_[0]); my ($o) = $z->deflate($_[0]); $out .= $o };
                $feed->("commit 1073741824\0"); my $mib = "a" x 1048576; $feed->($mib) for 1 .. 1024;
                my ($o) = $z->flush(); $out .= $o; my $id = $h->hexdigest;
                my ($d, $f) = (substr($id, 0, 2), substr($id, 2)); mkdir ".git/objects/$d";
                open(my $fh, ">", ".git/objects/$d/$f") or die; binmode $fh; print $fh $out; print $id')
}
if perl -MCompress::Zlib -MDigest::SHA -e '' 2>/dev/null; then
        away "$G/refs/heads/main"
        bomb >"$G/refs/heads/main"
        hostile "84 a zip bomb as HEAD's commit" "$G/refs/heads/main"
        away "$G/refs/heads/main"
        perl -e 'printf("%040x refs/heads/b%d\n", $_, $_) for 1 .. 2000000' >"$G/packed-refs"
        hostile "84 a packed-refs of 2 M lines without HEAD's" "$G/refs/heads/main"
        rm "$G/packed-refs"
else
        skip "84 bombs" "no perl with Compress::Zlib"
fi
ran "after all of it"
equal "nothing evil" "$(grep -vc good "$EFFECTS")" 0
unwatch
flow_end
