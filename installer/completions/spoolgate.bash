# bash completion for spoolgate(1) and spoolgate-request(1)
# Options come from --help, projects from the configuration, verbs and args from the bridge itself.

_spoolgate_commands='approve audit cancel doctor explain install list pause policy reap resolve resume run seal show status tell uninstall
upgrade verbs'

# options of a usage text on stdin
_spoolgate_options() { grep -oE -e '--[a-z-]+' | sort -u; }

_spoolgate_slugs() {
        local file
        for file in "${XDG_CONFIG_HOME:-$HOME/.config}"/spoolgate/*/bridge.json; do
                [[ -e $file ]] && file=${file%/*} && printf '%s\n' "${file##*/}"
        done
}

_spoolgate_verbs() { "$@" verbs 2>/dev/null | awk '/^[a-z]/ { print $1 }'; }

_spoolgate_args() { # VERB COMMAND...
        local verb=$1
        shift
        "$@" verbs 2>/dev/null | awk -v verb="$verb" '/^[a-z]/ { on = $1 == verb } on && $1 == "args:" && $2 != "none:" { for (i = 2; i <= NF; i++) print $i }'
}

_spoolgate_requests() { # OUTCOME COMMAND...
        local outcome=$1
        shift
        "$@" audit --since 2d --json ${outcome:+--outcome "$outcome"} 2>/dev/null | grep -oE '"request":"[A-Za-z0-9.-]+"' | cut -d '"' -f 4 | sort -u
}

_spoolgate_reply() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_spoolgate() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]-}
        local -a words=() project=()
        local i

        COMPREPLY=()
        if ((COMP_CWORD == 1)); then
                _spoolgate_reply "$_spoolgate_commands --help --version"
                return
        fi
        case $prev in
        -s | --slug) _spoolgate_reply "$(_spoolgate_slugs)"; return ;;
        --verb) _spoolgate_reply "$(_spoolgate_verbs "${COMP_WORDS[0]}")"; return ;;
        --outcome) _spoolgate_reply 'done failed uncertain denied expired'; return ;;
        --stack) _spoolgate_reply 'script podman-compose docker-compose quadlet'; return ;;
        --launch) _spoolgate_reply 'scope direct'; return ;;
        --jail) _spoolgate_reply 'landlock seccomp'; return ;;
        --project | --spool) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
        --stack-bin | --compose | --env-file | --guard) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
        --since | --wait | --timeout | --lines | --service | --buildable | --exclude | --network | --agent-container | --agent-uid | --inspect-memory) return ;;
        esac
        if [[ $cur == -* ]]; then
                _spoolgate_reply "$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null | _spoolgate_options) --help"
                return
        fi
        for ((i = 2; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
                -s | --slug) project=(-s "${COMP_WORDS[i+1]}"); ((i++)) ;;
                --wait | --timeout | --lines) ((i++)) ;;
                -*) ;;
                *) words+=("${COMP_WORDS[i]}") ;;
                esac
        done
        # shellcheck disable=SC2317 # called by name: the program with the project behind the command
        _spoolgate_ask() { "${COMP_WORDS[0]}" "$@" "${project[@]}"; }
        case $command:${#words[@]} in
        run:0 | explain:0) _spoolgate_reply "$(_spoolgate_verbs _spoolgate_ask)" ;;
        run:1 | explain:1) _spoolgate_reply "$(_spoolgate_args "${words[0]}" _spoolgate_ask)" ;;
        approve:0) _spoolgate_reply "$(_spoolgate_requests denied _spoolgate_ask)" ;;
        resolve:0) _spoolgate_reply "$(_spoolgate_requests uncertain _spoolgate_ask)" ;;
        resolve:1) _spoolgate_reply 'done failed retry' ;;
        show:0 | cancel:0) _spoolgate_reply "$(_spoolgate_requests '' _spoolgate_ask)" ;;
        audit:0) _spoolgate_reply verify ;;
        esac
        unset -f _spoolgate_ask
}

_spoolgate_request() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]}
        local -a words=()
        local i

        COMPREPLY=()
        case $prev in
        --poll | --cancel) _spoolgate_reply "$("$program" --pending 2>/dev/null)"; return ;;
        --scope) _spoolgate_reply 'plan readonly edit full'; return ;;
        --wait | --key | --max-age | --timeout) return ;;
        esac
        if [[ $cur == -* ]]; then
                _spoolgate_reply "$("$program" --help 2>/dev/null | _spoolgate_options)"
                return
        fi
        for ((i = 1; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
                --wait | --key | --max-age | --timeout | --scope) ((i++)) ;;
                -*) ;;
                *) words+=("${COMP_WORDS[i]}") ;;
                esac
        done
        case ${#words[@]} in
        0) _spoolgate_reply "$("$program" --list 2>/dev/null | awk '{ print $1 }')" ;;
        1) _spoolgate_reply "$("$program" --list 2>/dev/null | awk -v verb="${words[0]}" '$1 == verb && $4 !~ /^\(/ { gsub(/\|/, " ", $4); print $4 }')" ;;
        esac
}

complete -F _spoolgate spoolgate
complete -F _spoolgate_request spoolgate-request
