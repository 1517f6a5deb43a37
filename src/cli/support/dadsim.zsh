#compdef dadsim
# zsh completion for dadsim: the program itself says what may stand where.
local line="${(j: :)words[1,CURRENT]}" candidate files=
local -a plain open told
for candidate in "${(@f)$(_call_program candidates ${words[1]} --complete ${(q)line} 2>/dev/null)}"; do
  if [[ $candidate == ":files "* ]]; then
    files=${candidate#:files }
  elif [[ -n $candidate ]]; then
    local text=${candidate%%$'\t'*} help=
    [[ $candidate == *$'\t'* ]] && help=" -- ${candidate#*$'\t'}"
    if [[ $text == *[=./] ]]; then
      open+=("$text")
    else
      plain+=("$text")
      told+=("$text$help")
    fi
  fi
done
(( ${#plain} )) && compadd -l -d told -a plain
(( ${#open} )) && compadd -S '' -a open
case $files in
  '') ;;
  /) _files -/ ;;
  '*') _files ;;
  *) _files -g "*$files" ;;
esac
