# fish completion for spoolgate-request(1), which lies in a project's spool
# Options come from --help, verbs and args from --list.

function __spoolgate_request
    set -l line (commandline -opc)
    $line[1] $argv 2>/dev/null
end

function __spoolgate_request_plain
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch $word
            case --wait --poll --cancel --key --max-age --timeout --scope
                set skip yes
            case '-*'
            case '*'
                echo $word
        end
    end
end

function __spoolgate_request_args
    __spoolgate_request --list | awk -v verb=(__spoolgate_request_plain)[1] '$1 == verb && $4 !~ /^\(/ { gsub(/\|/, "\n", $4); print $4 }'
end

complete -c spoolgate-request -f
complete -c spoolgate-request -n 'string match -q -- "-*" (commandline -ct)' -a "(__spoolgate_request --help | grep -oE -e '--[a-z-]+' | sort -u)"
complete -c spoolgate-request -n 'test (count (__spoolgate_request_plain)) -eq 0' -a "(__spoolgate_request --list | awk '{ print \$1 }')"
complete -c spoolgate-request -n 'test (count (__spoolgate_request_plain)) -eq 1' -a '(__spoolgate_request_args)'
complete -c spoolgate-request -l poll -x -a '(__spoolgate_request --pending)'
complete -c spoolgate-request -l cancel -x -a '(__spoolgate_request --pending)'
complete -c spoolgate-request -l scope -x -a 'plan readonly edit full'
for option in wait key max-age timeout
    complete -c spoolgate-request -l $option -x
end
