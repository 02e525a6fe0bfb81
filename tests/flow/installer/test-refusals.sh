#!/bin/bash
# Bad input to the installer: a clear message each, with the remedy on a line of its own, and nothing half-written.
. "${BASH_SOURCE[0]%/*}/begin.sh"
begin "$1" "$2"
NL=$'\n'

compose() { # TEXT
        printf '%b' "$1" >"$P/compose.yaml"
}

fresh
rm -r "$P/.git"
refused "no repository" "spoolgate install: no git repository at $P or above it${NL}git init $P" --stack script --stack-bin "$STACK"
mkdir "$W/elsewhere"
refused "no repository by --project" "*no git repository at $W/elsewhere or above it*" --project "$W/elsewhere" --stack script --stack-bin "$STACK"
refused "no such project" "*$W/gone: No such file or directory" --project "$W/gone"

fresh
mkdir "$P/sub"
refused "project is no root" "*$P/sub is not the root of its checkout*${NL}spoolgate install --project $P" --project "$P/sub"
echo junk >"$W/gitfile"
rm -r "$P/.git"
cp "$W/gitfile" "$P/.git"
refused "a .git that is none" "*$P/.git: is neither a folder nor a gitfile" --stack script --stack-bin "$STACK"

fresh
refused "spool outside" "*--spool ../x: lies outside the checkout*${NL}spoolgate install --spool untracked/spoolgate" --stack script --stack-bin "$STACK" --spool ../x
refused "spool absolute" "*--spool /tmp/x: must be relative*" --stack script --stack-bin "$STACK" --spool /tmp/x
refused "spool is the checkout" "*--spool .: *" --stack script --stack-bin "$STACK" --spool .
refused "spool climbs back" "*--spool a/../..: *" --stack script --stack-bin "$STACK" --spool a/../..
refused "spool in .git" "*lies in git's own folder*" --stack script --stack-bin "$STACK" --spool .git/x
mkdir "$W/target"
ln -s "$W/target" "$P/untracked"
refused "spool behind a link" "*untracked/spoolgate is or lies behind a symbolic link*" --stack script --stack-bin "$STACK"
rm "$P/untracked"
mkdir "$P/untracked"
ln -s "$W/target" "$P/untracked/spoolgate"
refused "spool is a link" "*untracked/spoolgate is or lies behind a symbolic link*" --stack script --stack-bin "$STACK"
rm "$P/untracked/spoolgate"
mkdir "$P/untracked/spoolgate"
ln -s "$W/target" "$P/untracked/spoolgate/requests"
refused "requests is a link" "*untracked/spoolgate/requests is or lies behind a symbolic link*" --stack script --stack-bin "$STACK"
rm -r "$P/untracked/spoolgate"
echo x >"$P/untracked/spoolgate"
refused "spool is a file" "*untracked/spoolgate is not of the right type*" --stack script --stack-bin "$STACK"
equal "the link's target is untouched" "$(ls -A "$W/target")" ""

fresh
GATE_ENV=(XDG_STATE_HOME="$P/state")
refused "state in the checkout" "*the state folder $P/state/spoolgate/demo lies in the checkout*" --stack script --stack-bin "$STACK"
GATE_ENV=(XDG_CONFIG_HOME="$P/config")
refused "configuration in the checkout" "*the configuration folder * lies in the checkout*" --stack script --stack-bin "$STACK"
ln -s "$P" "$W/back"
GATE_ENV=(XDG_STATE_HOME="$W/back/state")
refused "state in the checkout by a link" "*the state folder * lies in the checkout*" --stack script --stack-bin "$STACK"
GATE_ENV=(HOME="$P")
refused "home is the checkout" "*lies in the checkout*" --stack script --stack-bin "$STACK"
GATE_ENV=(HOME=relative)
refused "no home" "*HOME is not set to an absolute path" --stack script --stack-bin "$STACK"
GATE_ENV=()

fresh
refused "no stack to be seen" "*no compose file: which stack is it?*script podman-compose*${NL}spoolgate install --stack script --stack-bin PATH"
refused "unknown stack" "*unknown stack 'k8s'; there are script podman-compose*" --stack k8s
refused "script without a program" "*the script stack needs its program${NL}spoolgate install --stack script --stack-bin PATH" --stack script
refused "program absent" "*--stack-bin /nowhere/x: /nowhere/x is no executable file" --stack script --stack-bin /nowhere/x
refused "program by an unknown name" "*--stack-bin no-such-tool: no-such-tool was not found*" --stack script --stack-bin no-such-tool
refused "program is a folder" "*is no executable file" --stack script --stack-bin "$T"
refused "bad slug" "*'Bad_Slug' is no slug*" --slug Bad_Slug --stack script --stack-bin "$STACK"
refused "long slug" "*is no slug*" --slug a123456789012345678901234567890x --stack script --stack-bin "$STACK"
refused "bad launch" "*--launch maybe: is neither scope nor direct" --launch maybe --stack script --stack-bin "$STACK"
refused "bad service name" "*--service Web: no request can name it*" --service Web --stack script --stack-bin "$STACK"
refused "buildable is no service" "*--buildable db: is not among the services" --service web --buildable db --stack script --stack-bin "$STACK"
refused "bad network" "*this can't be a bridge file: *network*" --network --x --stack script --stack-bin "$STACK"
refused "guard outside" "*--guard ../x: lies outside the checkout*" --guard ../x --stack script --stack-bin "$STACK"
refused "env file outside" "*--env-file /etc/passwd: lies outside the checkout*" --env-file /etc/passwd --stack script --stack-bin "$STACK"

refused "no compose file" "*no compose file in it${NL}spoolgate install --stack podman-compose --compose FILE" --stack podman-compose
refused "compose file absent" "*gone.yaml: does not exist" --compose gone.yaml
refused "compose file outside" "*--compose /etc/passwd: lies outside the checkout*" --compose /etc/passwd
compose 'services:\n  web:\n    image: "x\n'
refused "YAML error" "spoolgate install: compose.yaml:[34]: *"
compose 'services:\n  web:\n  db: {image: x}\n'
refused "service is no map" "spoolgate install: compose.yaml:2: a service must be a map"
compose 'services:\n  web: {image: x}\n\tdb: y\n'
refused "a tab" "spoolgate install: compose.yaml:3: *"
compose 'a: &a [*b]\n'
refused "unknown alias" "spoolgate install: compose.yaml:1: found undefined alias"
compose 'services: {}\n'
refused "no services" "*compose.yaml: no services that a request could name*" --stack podman-compose
compose 'volumes: {}\n'
refused "no services key" "*compose.yaml: no services*"
compose 'services:\n  web: {image: x}\n'
refused "service not in the file" "*--service api: no such service in compose.yaml" --service api
refused "everything excluded" "*no services*" --exclude web
rm "$P/compose.yaml"
ln -s /etc/passwd "$P/compose.yaml"
refused "compose file is a link" "*compose.yaml: is or lies behind a symbolic link*"
rm "$P/compose.yaml"
mkfifo "$P/compose.yaml"
refused "compose file is a FIFO" "*compose.yaml: is not of the right type" --compose compose.yaml
rm "$P/compose.yaml"
compose 'services:\n  web: {image: x}\n'
chmod 000 "$P/compose.yaml"
install
equal "unreadable compose file: exit" "$RC" 1
like "unreadable compose file: text" "$ERR" "*compose.yaml: may not be opened"
equal "unreadable compose file: nothing written" "$(ls -A "$H")$(ls -A "$P")" "$(printf '.git\ncompose.yaml')"

fresh
install --stack script --stack-bin "$STACK" --slug mine
equal "first install" "$RC" 0
mkdir -p "$W/other/.git"
refused "slug taken" "*the slug mine is taken by the checkout $P${NL}spoolgate install --slug ANOTHER" --project "$W/other" --slug mine --stack script --stack-bin "$STACK"
refused "second slug" "*the checkout $P is installed as mine*${NL}spoolgate uninstall -s mine" --slug second --stack script --stack-bin "$STACK"
chmod 770 "$H/.config/spoolgate/mine"
refused "a configuration that others may write" "*permissions that are too wide${NL}chmod go-w $H/.config/spoolgate/mine" --stack script --stack-bin "$STACK"
chmod 700 "$H/.config/spoolgate/mine"

fresh
mv "$PREFIX/libexec/spoolgate/spoolgate-drain" "$T/away"
refused "no drain to pin" "*spoolgate-drain is in none of *" --stack script --stack-bin "$STACK"
mv "$T/away" "$PREFIX/libexec/spoolgate/spoolgate-drain"

fresh
for word in --frobnicate extra; do
        install "$word"
        equal "usage $word: exit" "$RC" 64
        like "usage $word: text" "$ERR" "spoolgate install: $word*${NL}spoolgate install --help"
done
install --slug
equal "usage without a value: exit" "$RC" 64
like "usage without a value: text" "$ERR" "*--slug needs a value*"
gate frobnicate
equal "unknown command: exit" "$RC" 64
gate
equal "no command: exit" "$RC" 64
gate install --help
equal "help: exit" "$RC" 0
like "help: text" "$OUT" "usage: spoolgate install*--dry-run*"
flow_end
