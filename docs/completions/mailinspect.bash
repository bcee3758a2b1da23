# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_mailinspect_categories() {
  compgen -f -- "$1"
  if [[ -n ${DBACL_PATH-} && $1 != [/.]* ]]; then
    (cd -- "$DBACL_PATH" 2>/dev/null && compgen -f -- "$1")
  fi
}
_mailinspect() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    -c|--category) mapfile -t COMPREPLY < <(_mailinspect_categories "$current"); return ;;
    -o|--scoring) mapfile -t COMPREPLY < <(:); return ;;
    -p|--style) mapfile -t COMPREPLY < <(:); return ;;
    -g|--list) mapfile -t COMPREPLY < <(:); return ;;
    -G|--hide) mapfile -t COMPREPLY < <(:); return ;;
    -s|--command) mapfile -t COMPREPLY < <(:); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '-c --category -I --interactive -o --scoring -p --style -z --reverse -g --list -G --hide -s --command -j --case-sensitive -i --wide --exact --json --help -V --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _mailinspect mailinspect
