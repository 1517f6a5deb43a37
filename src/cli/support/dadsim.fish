# fish completion for dadsim: the program itself says what may stand where.
function __dadsim_candidates
    set -l current (commandline -ct)
    for candidate in (dadsim --complete (commandline -cp) 2>/dev/null)
        if string match -q ':files *' -- $candidate
            set -l files (string replace ':files ' '' -- $candidate)
            if test "$files" = /
                __fish_complete_directories $current
            else if test "$files" = '*'
                __fish_complete_path $current
            else
                __fish_complete_suffix $files
            end
        else
            echo $candidate
        end
    end
end
complete -c dadsim -f -a '(__dadsim_candidates)'
