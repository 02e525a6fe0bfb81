# fish completion for spoolgate(1)
# Options come from --help, projects from the configuration, verbs and args from the bridge itself.

# The words before the cursor that are neither options nor their values, the program's name left out.
function __spoolgate_plain
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch $word
            case -s --slug --wait --timeout --lines --since --verb --outcome --request
                set skip yes
            case '-*'
            case '*'
                echo $word
        end
    end
end

# __spoolgate_at COMMAND N: is it word N of that command?
function __spoolgate_at
    set -l plain (__spoolgate_plain)
    test (count $plain) -eq $argv[2]; and test "$plain[1]" = $argv[1]
end

# The project on the line, as options.
function __spoolgate_project
    set -l line (commandline -opc)
    for i in (seq (count $line))
        if contains -- $line[$i] -s --slug; and test $i -lt (count $line)
            printf '%s\n' -s $line[(math $i + 1)]
        end
    end
end

function __spoolgate_options
    set -l plain (__spoolgate_plain)
    test (count $plain) -ge 1; and spoolgate $plain[1] --help 2>/dev/null | grep -oE -e '--[a-z-]+' | sort -u
    echo --help
end

function __spoolgate_slugs
    set -l config $XDG_CONFIG_HOME
    test -n "$config"; or set config ~/.config
    for file in $config/spoolgate/*/bridge.json
        basename (dirname $file)
    end
end

function __spoolgate_verbs
    spoolgate verbs (__spoolgate_project) 2>/dev/null | awk '/^[a-z]/ { print $1 }'
end

function __spoolgate_args
    set -l plain (__spoolgate_plain)
    spoolgate verbs (__spoolgate_project) 2>/dev/null | awk -v verb=$plain[2] '
        /^[a-z]/ { on = $1 == verb }
        on && $1 == "args:" && $2 != "none:" { for (i = 2; i <= NF; i++) print $i }'
end

function __spoolgate_requests
    spoolgate audit (__spoolgate_project) --since 2d --json $argv 2>/dev/null |
        grep -oE '"request":"[A-Za-z0-9.-]+"' | cut -d '"' -f 4 | sort -u
end

complete -c spoolgate -f
complete -c spoolgate -n 'test (count (__spoolgate_plain)) -eq 0' -a '--help --version'
complete -c spoolgate -n 'string match -q -- "-*" (commandline -ct)' -a '(__spoolgate_options)'
complete -c spoolgate -s s -l slug -x -a '(__spoolgate_slugs)' -d 'the project'

set -l first 'test (count (__spoolgate_plain)) -eq 0'
complete -c spoolgate -n $first -a approve -d 'run a request that policy refused'
complete -c spoolgate -n $first -a audit -d 'what was asked, decided and run'
complete -c spoolgate -n $first -a cancel -d 'end a waiting or running request'
complete -c spoolgate -n $first -a doctor -d 'what is wrong, and the line that mends it'
complete -c spoolgate -n $first -a explain -d 'which gate would decide now, and why'
complete -c spoolgate -n $first -a install -d 'pin this checkout to a bridge'
complete -c spoolgate -n $first -a list -d 'every project on this host'
complete -c spoolgate -n $first -a pause -d 'refuse what changes something, until resume'
complete -c spoolgate -n $first -a policy -d 'what is in force'
complete -c spoolgate -n $first -a reap -d 'remove leftovers of finished runs'
complete -c spoolgate -n $first -a resolve -d 'say what became of an uncertain request'
complete -c spoolgate -n $first -a resume -d 'end a pause'
complete -c spoolgate -n $first -a run -d 'run a verb by hand, through the gates'
complete -c spoolgate -n $first -a seal -d 'approve the guarded files as they are now'
complete -c spoolgate -n $first -a show -d 'the whole life of one request'
complete -c spoolgate -n $first -a status -d 'how a project stands, at one look'
complete -c spoolgate -n $first -a tell -d 'leave the agent a message'
complete -c spoolgate -n $first -a uninstall -d 'remove what install made'
complete -c spoolgate -n $first -a upgrade -d 'renew pinned programs and units'
complete -c spoolgate -n $first -a verbs -d 'everything this bridge can ever run'

for command in run explain
    complete -c spoolgate -n "__spoolgate_at $command 1" -a '(__spoolgate_verbs)'
    complete -c spoolgate -n "__spoolgate_at $command 2" -a '(__spoolgate_args)'
end
complete -c spoolgate -n '__spoolgate_at approve 1' -a '(__spoolgate_requests --outcome denied)'
complete -c spoolgate -n '__spoolgate_at resolve 1' -a '(__spoolgate_requests --outcome uncertain)'
complete -c spoolgate -n '__spoolgate_at resolve 2' -a 'done failed retry'
complete -c spoolgate -n '__spoolgate_at show 1' -a '(__spoolgate_requests)'
complete -c spoolgate -n '__spoolgate_at cancel 1' -a '(__spoolgate_requests)'
complete -c spoolgate -n '__spoolgate_at audit 1' -a verify
complete -c spoolgate -n '__fish_seen_subcommand_from audit' -l verb -x -a '(__spoolgate_verbs)'
complete -c spoolgate -n '__fish_seen_subcommand_from audit' -l outcome -x -a 'done failed uncertain denied expired'
complete -c spoolgate -n '__fish_seen_subcommand_from install' -l stack -x -a 'script podman-compose docker-compose quadlet'
complete -c spoolgate -n '__fish_seen_subcommand_from install' -l launch -x -a 'scope direct'
complete -c spoolgate -n '__fish_seen_subcommand_from install' -l jail -x -a 'landlock seccomp'
for option in project stack-bin compose env-file guard spool
    complete -c spoolgate -n '__fish_seen_subcommand_from install' -l $option -r -F
end
