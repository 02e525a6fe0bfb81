#!/bin/bash
# run.sh GATE INSPECT: each trick of section 3 of the attack list, played on a real repository against the real gate.
# A row's number is that of the list. No trick may leave changed bytes or a changed mode accepted under `both`.
GATE=$(readlink -f "$1") INSPECT=$(readlink -f "$2")
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib.sh
. "$HERE/lib.sh"
# What needs another uid.
as_root() {
        export INSPECT=$TOP/bin/$(basename "$INSPECT")
        GATE=$TOP/bin/$(basename "$GATE")
        TOP=$TOP/root && mkdir "$TOP"
        ATTACK_AS_ROOT=1
        fresh
        chown 65534 .git
        refused 'own .git of another uid' 'error|the git directory belongs to another user'
        fresh
        chown 65534 deploy/compose.yaml
        refused 'own file of another uid' 'modified|*deploy/compose.yaml: belongs to another user'
        TOP=${TOP%/root}
}
as_user

MODIFIED='modified|*deploy/compose.yaml: differs from the last commit*'

fresh; check 'nothing' both 'ok|*'; check 'nothing' head 'ok|*'; check 'nothing' seal 'ok|*'
JAIL=seccomp check 'nothing, jail=seccomp' both 'ok|*'
fresh; evil; refused '01 plain edit' "$MODIFIED"; check '01 plain edit' seal 'integrity-modified|*compose.yaml: differs from the sealed one'
JAIL=seccomp refused '01 plain edit, jail=seccomp' "$MODIFIED"
fresh; rm $F; refused '01 deleted' 'modified|*compose.yaml: is in the last commit and missing here'
fresh; git update-index --skip-worktree $F; evil; refused '02 skip-worktree' "$MODIFIED"
fresh; git update-index --assume-unchanged $F; evil; refused '03 assume-unchanged' "$MODIFIED"
fresh; git config core.ignoreStat true; git add -u; evil; refused '25 core.ignoreStat' "$MODIFIED"
fresh; git config filter.x.clean "cat $OUT/good.yaml"; echo "$F filter=x" >.git/info/attributes; evil
refused '04 clean filter' "$MODIFIED"; git add $F; refused '04b clean filter, added' "$MODIFIED"
git config --unset filter.x.clean; refused '04c clean filter, gone again' "$MODIFIED"
fresh; git config filter.x.clean "cat $OUT/good.yaml"; echo "$F filter=x" >deploy/.gitattributes; evil; git add $F
refused '04d clean filter by .gitattributes' "$MODIFIED"
fresh; git config core.autocrlf true; sed -i 's/$/\r/' $F; git add $F 2>/dev/null; refused '05 autocrlf' "$MODIFIED"
fresh; git config core.autocrlf true; sed -i 's/$/\r/' deploy/stack.sh; git add deploy 2>/dev/null
refused '05b autocrlf in a script' 'modified|*stack.sh: differs from the last commit'
fresh; echo '* text eol=crlf' >.git/info/attributes; sed -i 's/$/\r/' $F; git add $F 2>/dev/null; refused '06 eol=crlf' "$MODIFIED"
fresh; printf '# $Id$\n' >>$F; echo "$F ident" >.git/info/attributes; git commit -qam id; seal
sed -i 's/\$Id\$/$Id: payload $/' $F; git add $F; refused '07 ident payload' "$MODIFIED"
fresh; echo "$F working-tree-encoding=UTF-16LE-BOM" >.git/info/attributes; iconv -t UTF-16LE "$OUT/good.yaml" >$F
git add $F 2>/dev/null; refused '08 working-tree-encoding' "$MODIFIED"

fresh; git checkout -q -b side; commit_evil; EVIL=$(git rev-parse HEAD); git checkout -q main
git replace "$BASE" "$EVIL"; git reset -q --hard; grep -q evil $F; truth '09 the replaced bytes are there' $? 0
refused '09 refs/replace of the commit' "$MODIFIED"
fresh; git checkout -q -b side; commit_evil; EVIL=$(git rev-parse HEAD); git checkout -q main
git replace "$BASE^{tree}" "$EVIL^{tree}"; git reset -q --hard; evil; refused '09t refs/replace of the tree' "$MODIFIED"
fresh; git checkout -q -b side; commit_evil; EVIL=$(git rev-parse "HEAD:$F"); git checkout -q main
git replace "$BASE:$F" "$EVIL"; git reset -q --hard; evil; refused '09b refs/replace of the blob' "$MODIFIED"
fresh; echo "$BASE" >.git/info/grafts; evil; refused '10 grafts' "$MODIFIED"
fresh; echo "$BASE" >.git/shallow; evil; refused '10b shallow' "$MODIFIED"

fresh; git clone -q . "$OUT/other" 2>/dev/null; (cd "$OUT/other" && F=$F && evil && git commit -qam evil)
EVIL=$(git -C "$OUT/other" rev-parse HEAD); echo "$OUT/other/.git/objects" >.git/objects/info/alternates
echo "$EVIL" >.git/refs/heads/main; evil; git reset -q
refused '11 alternates outside' 'error|an object of HEAD is not in the repository itself'
JAIL=seccomp refused '11 alternates outside, jail=seccomp' 'error|an object of HEAD is not in the repository itself'
fresh; mkdir -p "$OUT/o"; cp -r .git/objects "$OUT/o/"; rm -rf .git/objects; ln -s "$OUT/o/objects" .git/objects
refused '11b objects is a symlink' 'error|an object*'
fresh; git clone -q . "$OUT/other" 2>/dev/null; (cd "$OUT/other" && F=$F && evil && git commit -qam evil)
mv .git "$OUT/away"; echo "gitdir: $OUT/other/.git" >.git; evil
refused '12 gitfile to another repository' 'error|the git directory is not the one that was pinned at install'
fresh; git clone -q . "$OUT/other" 2>/dev/null; mv .git "$OUT/away"; mv "$OUT/other/.git" .git; evil
refused '12b .git replaced' 'error|the git directory is not the one that was pinned at install'
fresh; mv .git "$OUT/away"; ln -s "$OUT/away" .git; refused '12c .git is a symlink' 'error|the git directory is not*'
fresh; mkdir -p "$OUT/copy/deploy"; cp $F "$OUT/copy/deploy/"; git config core.worktree "$OUT/copy"; evil; refused '13 core.worktree' "$MODIFIED"
fresh; mkdir -p "$OUT/copy/deploy"; cp $F "$OUT/copy/deploy/"; printf '[core]\n\tworktree = %s\n' "$OUT/copy" >"$OUT/inc"
git config include.path "$OUT/inc"; evil; refused '13b include.path' "$MODIFIED"
fresh; git config core.trustctime false; git config core.checkStat minimal; git update-index --refresh; evil; touch -d '2020-01-02 03:04:05' $F
refused '14 same size and mtime, checkStat=minimal' "$MODIFIED"
fresh; evil; touch -d '2020-01-02 03:04:05' $F; refused '14b same size and mtime' "$MODIFIED"
fresh; git config core.fileMode false; chmod +x $F; refused '15 +x' 'modified|*compose.yaml: has another mode than in the last commit'
fresh; git config core.fileMode false; chmod -x deploy/stack.sh; refused '15 -x' 'modified|*stack.sh: has another mode than in the last commit'
fresh; chmod g+w $F; check '15 g+w' both 'integrity-unsealed|*compose.yaml: has another mode than the sealed one'
fresh; cp $F "$OUT/equal"; rm $F; ln -s "$OUT/equal" $F; refused '16 symlink to equal bytes' 'modified|*compose.yaml: is or lies behind a symbolic link*'
fresh; mv deploy real; ln -s real deploy; refused '16 parent is a symlink' 'modified|*compose.yaml: is or lies behind a symbolic link*'
fresh; ln $F "$OUT/second"; refused '17 second hard link' 'modified|*compose.yaml: has more than one hard link'
fresh; commit_evil; check '18 the agent commits' both 'integrity-unsealed|*compose.yaml: differs from the sealed one'
check '18 the agent commits' head 'ok|*'; check '18 the agent commits' seal 'integrity-modified|*'
fresh; git checkout -q -b side; commit_evil; EVIL=$(git rev-parse HEAD); git checkout -q main; git checkout -q --detach "$EVIL"
check '19 detached HEAD' both 'integrity-unsealed|*compose.yaml: differs from the sealed one'
fresh; git checkout -q -b side; commit_evil; EVIL=$(git rev-parse HEAD); echo "$EVIL" >.git/HEAD
check '19 HEAD written by hand' both 'integrity-unsealed|*'
fresh; git checkout -q -b side; commit_evil; echo 'ref: refs/heads/side' >.git/HEAD; check '19 HEAD re-pointed' both 'integrity-unsealed|*'
fresh; git checkout -q -b side; commit_evil; git rev-parse HEAD >"$OUT/id"; git checkout -q main; cp "$OUT/id" .git/refs/heads/main; evil
check '19 branch overwritten' both 'integrity-unsealed|*'

loose() { echo ".git/objects/${1%"${1#??}"}/${1#??}"; }
forge() { # of what: commit, its tree, a blob
        git checkout -q -b side; commit_evil
        good=$(git rev-parse "$BASE$1"); bad=$(git rev-parse "HEAD$1"); git checkout -q main; evil
        chmod u+w "$(loose "$good")"; cp -f "$(loose "$bad")" "$(loose "$good")"
}
fresh; forge '^{tree}'; refused '20 forged loose tree' 'error|an object of HEAD is damaged'
fresh; forge ''; refused '20 forged loose commit' 'error|an object of HEAD is damaged'
fresh; forge ':deploy'; refused '20 forged loose subtree' 'error|an object of HEAD is damaged'
fresh; forge ":$F"; refused '20 forged loose blob' "$MODIFIED"
fresh; printf 'services: {}\n' >deploy/compose.override.yaml; printf 'services: {}\n' >compose.yaml; echo compose.override.yaml >.git/info/exclude
check '21 untracked override beside: no effect, the argv names the files' both 'ok|*'
fresh; git config core.sparseCheckout true; echo '/x' >.git/info/sparse-checkout; git read-tree -mu HEAD 2>/dev/null; mkdir -p deploy; evil; refused '22 sparse checkout' "modified|*"
fresh; printf '#!/bin/sh\ntouch %s\nprintf "token\\0"\n' "$OUT/marker" >"$OUT/fsm"; chmod +x "$OUT/fsm"; git config core.fsmonitor "$OUT/fsm"
git update-index --fsmonitor 2>/dev/null; git status >/dev/null; rm -f "$OUT/marker"; evil; refused '23 fsmonitor that lies' "$MODIFIED"
[ ! -e "$OUT/marker" ]; truth '23 fsmonitor was not run' $? 0
fresh; mkdir "$OUT/hooks"; printf '#!/bin/sh\ntouch %s\n' "$OUT/marker" >"$OUT/hooks/post-index-change"; chmod +x "$OUT/hooks/post-index-change"
git config core.hooksPath "$OUT/hooks"; evil; refused '23b hooks' "$MODIFIED"; [ ! -e "$OUT/marker" ]; truth '23b no hook was run' $? 0
fresh; git config core.ignoreCase true; mv $F deploy/COMPOSE.yaml; refused '24 renamed by case' 'modified|*compose.yaml: is in the last commit and missing here'
fresh; rm -r deploy; git init -q deploy; F2=$F; F=compose.yaml; (cd deploy && evil && git add . && git commit -qm x); F=$F2; refused '26 nested repository' 'modified|*'
git rm -qr --cached deploy; git add deploy 2>/dev/null; git commit -qm sub; refused '26b nested repository, committed' 'modified|*compose.yaml: is not in the last commit*'
fresh; printf 'XXXX' | dd of=.git/index conv=notrunc 2>/dev/null; check '27 corrupt index, same bytes' both 'ok|*'
evil; refused '27 corrupt index' "$MODIFIED"; rm .git/index; refused '27b no index' "$MODIFIED"
fresh; rm $F; mkfifo $F; refused '29 FIFO in place of the file' 'modified|*compose.yaml: is not of the right type'
fresh; rm $F; mkdir $F; refused '29b directory in place of the file' 'modified|*compose.yaml: is not of the right type'
fresh; chmod 000 $F; refused '29c unreadable' 'modified|*compose.yaml: may not be opened'

fresh; git worktree add -q "$OUT/tree" 2>/dev/null; W=$(cat "$OUT/tree/.git"); mv .git "$OUT/away"; printf '%s\n' "$W" >.git; evil
refused '30 linked-worktree gitfile' 'error|the git directory is not the one that was pinned at install'
worktree() { fresh; git worktree add -q "$OUT/tree" 2>/dev/null; CO=$OUT/tree GITDIR=$TOP/w/co/.git/worktrees/tree; cd "$CO" || exit 2
        chmod 644 deploy/*; chmod 755 deploy/stack.sh; printf 'TOKEN=1\n' >.env; PIN=$("$GATE" pin "$GITDIR"); seal; }
worktree; check '30 linked worktree, supported' both 'ok|*'; JAIL=seccomp check '30 linked worktree, jail=seccomp' both 'ok|*'
evil; refused '30 linked worktree, edited' "$MODIFIED"
worktree; echo "gitdir: $OUT/none" >.git; evil; refused '30b linked worktree, gitfile rewritten' "$MODIFIED"
worktree; git clone -q --bare "$TOP/w/co" "$OUT/bare" 2>/dev/null; echo "$OUT/bare" >"$GITDIR/commondir"
refused '30c commondir elsewhere' "error|the linked worktree's commondir is not the one git makes"
worktree; echo '../../../.git' >"$GITDIR/commondir"; refused '30d commondir, other words' "error|the linked worktree's commondir*"
worktree; echo 'ref: refs/bisect/x' >"$GITDIR/HEAD"; mkdir -p "$GITDIR/refs/bisect"; git rev-parse main >"$GITDIR/refs/bisect/x"
check '30e a ref of the worktree alone' both 'ok|*'

fresh; git rm -q --cached $F; git commit -qm gone; echo $F >.git/info/exclude; evil
refused '32 untracked and excluded' 'modified|*compose.yaml: is not in the last commit'
fresh; git rm -q --cached $F; git commit -qm gone; UNTRACKED=1 seal; check '32b sealed as untracked' both 'ok|*'
check '32b sealed as untracked' head 'integrity-modified|*compose.yaml: is not in the last commit'
evil; check '32c sealed as untracked, edited' both 'integrity-unsealed|*compose.yaml: differs from the sealed one'
rm -rf .git; git init -q --object-format=sha256 -b main . 2>/dev/null && git add deploy && git commit -qm x && PIN=$("$GATE" pin "$GITDIR") &&
        refused '33 SHA-256 repository' 'error|the repository uses SHA-256 object ids*'
fresh; git config --unset-all extensions.objectformat; sed -i '$a\[Extensions]' .git/config; printf '\tobjectFormat = sha256\n' >>.git/config
refused '33b SHA-256 by config alone' 'error|the repository uses SHA-256 object ids*'
fresh; git config core.repositoryformatversion 1; git config extensions.worktreeConfig true; printf '[core]\n\tworktree = %s\n' "$OUT" >.git/config.worktree
check '34 worktreeConfig works' both 'ok|*'; evil; refused '34 worktreeConfig, edited' "$MODIFIED"
fresh; git config core.repositoryformatversion 1; git config extensions.partialClone origin; refused '34b partial clone' 'error|the repository is a partial clone*'
fresh; git config core.repositoryformatversion 1; git config extensions.refstorage reftable; refused '34c reftable' 'error|the repository keeps its refs in a reftable*'

fresh; printf '#!/bin/sh\ntouch %s\n' "$OUT/marker" >"$OUT/ssh"; chmod +x "$OUT/ssh"; git config remote.origin.url ssh://x/y
git config remote.origin.promisor true; git config core.sshCommand "$OUT/ssh"; rm -f "$(loose "$BASE")"
refused '90 promisor remote, HEAD object missing' 'error|an object of HEAD is not in the repository itself'
[ ! -e "$OUT/marker" ]; truth '90 sshCommand was not run' $? 0
fresh; git commit -q --allow-empty -m y; git gc -q 2>/dev/null; check 'packed repository' both 'ok|*'
P=$(ls .git/objects/pack/*.pack); chmod u+w "$P"; truncate -s 40 "$P"; refused '82 truncated pack' 'error|an object of HEAD*'
fresh; git gc -q 2>/dev/null; P=$(ls .git/objects/pack/*.idx); chmod u+w "$P"; dd if=/dev/urandom of="$P" bs=1 count=4000 seek=8 conv=notrunc 2>/dev/null
refused '82b bad pack index' 'error|an object of HEAD*'
fresh; rm -rf .git/refs/heads/main .git/packed-refs; refused 'unborn HEAD' 'error|the repository has no commit at HEAD'
fresh; git pack-refs --all; check 'packed refs' both 'ok|*'; mkdir -p .git/refs/heads/main; check 'packed refs, empty directory' both 'ok|*'

# Hostile parts of .git: a refusal (or no effect) within 2 s and 64 MiB.
for at in HEAD refs/heads/main packed-refs config; do
        fresh; [ $at = packed-refs ] && git pack-refs --all; rm -f .git/$at; mkfifo .git/$at
        bounded "86 FIFO as $at" both 'integrity-error|*'
        fresh; [ $at = packed-refs ] && git pack-refs --all; rm -f .git/$at; truncate -s 1T .git/$at
        bounded "86 1 TiB of $at" both 'integrity-error|*'
        fresh; [ $at = packed-refs ] && git pack-refs --all; mv .git/$at "$OUT/part"; ln -s "$OUT/part" .git/$at
        bounded "86 symlink as $at" both 'integrity-error|*'
done
fresh; L=$(loose "$BASE"); rm -f "$L"; mkfifo "$L"; bounded '86 FIFO as loose object' both 'integrity-error|the inspection of the repository took too long*'
fresh; L=$(loose "$BASE"); rm -f "$L"; truncate -s 1T "$L"; bounded '86 1 TiB loose object' both 'integrity-error|*'
fresh; mkfifo .git/objects/info/alternates; bounded '86 FIFO as alternates: not read' both 'ok|*'
fresh; rm -rf .git/objects/pack; mkfifo .git/objects/pack; bounded '86 FIFO as pack directory' both '*|*'
fresh; git gc -q 2>/dev/null; mkfifo .git/objects/pack/multi-pack-index; bounded '86 FIFO as multi-pack-index' both 'integrity-error|*'
fresh; git gc -q 2>/dev/null; P=$(ls .git/objects/pack/*.idx); rm -f "$P"; mkfifo "$P"; bounded '86 FIFO as pack index' both 'integrity-error|*'
fresh; git gc -q 2>/dev/null; P=$(ls .git/objects/pack/*.idx); rm -f "$P"; truncate -s 1T "$P"; bounded '86 1 TiB pack index' both 'integrity-error|*'
bomb() { # TYPE: an object of 1 GiB under its true id
        python3 - "$1" <<'P'
import hashlib, os, sys, zlib
kind = sys.argv[1].encode(); size = 1 << 30
h = hashlib.sha1(); z = zlib.compressobj(9); tmp = ".git/objects/bomb"
block = b"a" * (1 << 20)
with open(tmp, "wb") as f:
    head = kind + b" %d\0" % size
    h.update(head); f.write(z.compress(head))
    for _ in range(size // len(block)):
        h.update(block); f.write(z.compress(block))
    f.write(z.flush())
i = h.hexdigest(); os.makedirs(".git/objects/" + i[:2], exist_ok=True)
os.rename(tmp, ".git/objects/%s/%s" % (i[:2], i[2:])); print(i)
P
}
if command -v python3 >/dev/null; then
        fresh; bomb commit >.git/refs/heads/main; bounded '84 zip bomb as commit' both 'integrity-error|the inspection ran into its memory limit'
        fresh; T=$(bomb tree); printf 'tree %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n' "$T" |
                git hash-object -t commit --literally -w --stdin >.git/refs/heads/main; bounded '84 zip bomb as tree' both 'integrity-error|the inspection ran into its memory limit'
        fresh; python3 -c 'import sys; sys.stdout.writelines("%040x refs/heads/b%d\n" % (i, i) for i in range(2000000))' >.git/packed-refs
        rm .git/refs/heads/main; bounded '84 2 M packed refs' both 'integrity-error|the repository has no commit at HEAD'
        fresh; python3 -c 'print("x" * 30000000)' >.git/packed-refs; rm .git/refs/heads/main; bounded '84 packed-refs of one line' both 'integrity-error|HEAD or a ref*'
        fresh; python3 - "$BASE" <<'P' >"$OUT/tree"
import sys
for i in range(300000): sys.stdout.write("100644 blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\tf%06d\n" % i)
P
        git hash-object -w --stdin </dev/null >/dev/null; T=$(git mktree <"$OUT/tree"); git commit-tree -m big "$T" >.git/refs/heads/main
        bounded '84 tree of 300,000 entries' both 'integrity-*'
else
        skip '84 bombs' 'no python3'
fi
fresh; for i in $(seq 1 30); do echo "ref: refs/heads/r$((i + 1))" >.git/refs/heads/r$i; done; echo 'ref: refs/heads/r1' >.git/HEAD
bounded '84 30 symbolic refs' both 'integrity-error|HEAD or a ref*'
fresh; echo 'ref: refs/heads/main' >.git/refs/heads/main; bounded '84 ref to itself' both 'integrity-error|HEAD or a ref*'
for name in ../../../etc/passwd refs/../../../etc/passwd /etc/passwd refs/heads/.. 'refs/heads/a b' config refs/heads/x.lock; do
        fresh; echo "ref: $name" >.git/HEAD; bounded "84 HEAD: $name" both 'integrity-error|HEAD or a ref*'
done
fresh; printf 'ref: refs/heads/main\0x\n' >.git/HEAD; bounded '84 HEAD with a NUL' both 'integrity-error|HEAD or a ref*'
fresh; truncate -s 1T "$OUT/t"; rm $F; mv "$OUT/t" $F; bounded '28 1 TiB guarded file' both 'integrity-modified|*compose.yaml: is too big'

# The seal itself.
fresh; rm -r "$STATE/seal"; check 'no seal' both 'integrity-unsealed|*compose.yaml: is not in the seal|*'; check 'no seal' seal 'integrity-unsealed|*'
check 'no seal: env under head' head 'integrity-env|*.env: is not in the seal'
fresh; echo x >>"$STATE/seal/seal"; check 'damaged seal' both 'integrity-error|the seal is damaged'
fresh; : >"$STATE/seal/seal"; check 'empty seal' both 'integrity-error|the seal is damaged'
fresh; chmod 666 "$STATE/seal/seal"; check 'seal writable by others' both 'integrity-error|the seal is damaged'
fresh; GUARDED="$GUARDED deploy/new"; check 'a guarded path that the seal lacks' seal 'integrity-unsealed|*deploy/new: is not in the seal'
fresh; rm deploy/nginx.conf; git commit -qam rm; seal; check 'absent is a sealed state' both 'ok|*'; echo x >deploy/nginx.conf
check 'absent when sealed, here now' seal 'integrity-modified|*nginx.conf: was absent when it was sealed'

# Checked is what runs.
change() { (cd / && "$GATE" run "$CO" "$STATE" "$GITDIR" "$PIN" both sh -c "cd '$CO'; $1") | tail -1; }
fresh; truth '91 nothing changes' "$(change true)" changed
fresh; truth '91 edited during the run' "$(change "echo x >>$F")" "changed|$F"
fresh; truth '91 rewritten with the same bytes' "$(change "cp $F $OUT/x; mv $OUT/x $F")" "changed|$F"
fresh; truth '91 changed there and back' "$(change "mv $F $OUT/x; mv $OUT/x $F")" "changed|$F"
fresh; truth '91 touched' "$(change "touch -d '2020-01-02 03:04:05' $F")" "changed|$F"
fresh; truth '91 deleted' "$(change "rm $F")" "changed|$F"
fresh; truth '91 .env made a symlink' "$(change "mv .env $OUT/e; ln -s $OUT/e .env")" "changed|.env"
fresh; rm .env; seal; truth '91 .env appears' "$(change "touch .env")" "changed|.env"
fresh; sed s/good/evil/ $F >$F.EVIL
cd / || exit 2
"$GATE" race "${TRIES:-20000}" "$CO" "$STATE" "$GITDIR" "$PIN" seal; truth '91 swap racer' $? 0

if command -v strace >/dev/null && [ -z "${LOOSE:-}" ]; then
        fresh; cd / || exit 2
        strace -f -qq -o "$OUT/trace" "$GATE" check "$CO" "$STATE" "$GITDIR" "$PIN" both >/dev/null
        truth '90 programs started: the gate, the inspection' "$(grep -c 'execve(' "$OUT/trace")" 2
        sed -n '/landlock_restrict_self/,$p' "$OUT/trace" | grep -E 'open(at)?\(AT_FDCWD' | grep -v 'AT_FDCWD, "\./' | grep -v ' = -1 ' >"$OUT/opens"
        truth '90 opened after the jail closed, outside the objects' "$(wc -l <"$OUT/opens")" 0
        sed -n '/landlock_restrict_self/,$p' "$OUT/trace" | grep -cE '(v?fork|clone3?|socket|connect)\(' >"$OUT/forks"
        truth '90 forks and sockets in the jail' "$(cat "$OUT/forks")" 0
        sed -n '/execve.*inspect/,/landlock_restrict_self/p' "$OUT/trace" | grep -E 'openat?\(AT_FDCWD' | grep -vE '"/(usr/)?lib|"/etc/ld.so|= -1' >"$OUT/opens"
        truth '90 opened before it: libraries only' "$(wc -l <"$OUT/opens")" 0
        # A kernel that lacks a wall: refused, never looked at without.
        without() { # CALL ROW JAIL PATTERN
                local line
                line=$(cd / && JAIL=$3 strace -f -qq -o /dev/null -e "inject=$1" "$GATE" check "$CO" "$STATE" "$GITDIR" "$PIN" both 2>&1)
                # shellcheck disable=SC2254
                case $line in
                $4) passed=$((passed + 1)); say ok "$2" "${line%%|*}" ;;
                *) failed=$((failed + 1)); say FAIL "$2" "$line" ;;
                esac
        }
        jail="integrity-error|the kernel can't jail the inspection*"
        without landlock_create_ruleset:error=EOPNOTSUPP 'no Landlock' landlock 'integrity-error|the kernel has no Landlock*'
        without landlock_restrict_self:error=EPERM 'Landlock refuses' landlock "$jail"
        without prctl:error=EINVAL:when=2 'no seccomp' landlock "$jail"
        without landlock_create_ruleset:error=EOPNOTSUPP 'no Landlock, jail=seccomp' seccomp 'ok|*'
        without prctl:error=EINVAL 'no seccomp, jail=seccomp' seccomp "$jail"
        without prlimit64:error=EPERM 'no limits' landlock 'integrity-error|*'
        without openat2:error=ENOSYS 'no openat2' landlock 'gate: *'
else
        skip '90 no execve, no open outside; missing walls' 'no strace'
fi
finish
