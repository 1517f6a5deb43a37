# bash completion for dadsim: the program itself says what may stand where.
_dadsim() {
  local line=${COMP_LINE:0:COMP_POINT} candidate files= current
  COMPREPLY=()
  current=${line##*[[:blank:]]}
  while IFS= read -r candidate; do
    case $candidate in
      ":files "*) files=${candidate#:files } ;;
      *) COMPREPLY+=("${candidate%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" --complete "$line" 2>/dev/null)
  if [ -n "$files" ]; then
    local name
    while IFS= read -r name; do
      if [ -d "$name" ]; then
        COMPREPLY+=("$name/")
      elif [ "$files" = "*" ] || [[ $files != / && $name == *"$files" ]]; then
        COMPREPLY+=("$name")
      fi
    done < <(compgen -f -- "$current")
  fi
  # Readline begins a new word behind '=' and ':': what stands before is in the line already.
  local i break
  for break in = :; do
    if [[ $COMP_WORDBREAKS == *$break* && $current == *$break* ]]; then
      for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"${current%"$break"*}$break"}; done
      current=${current##*"$break"}
    fi
  done
  if [ "${#COMPREPLY[@]}" -eq 1 ]; then
    case ${COMPREPLY[0]} in
      *= | *. | */) compopt -o nospace 2>/dev/null ;;
    esac
  fi
}
complete -F _dadsim dadsim
