# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_bayesol_categories() {
  compgen -f -- "$1"
  if [[ -n ${DBACL_PATH-} && $1 != [/.]* ]]; then
    (cd -- "$DBACL_PATH" 2>/dev/null && compgen -f -- "$1")
  fi
}
_bayesol() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    -c|--risk) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --category) mapfile -t COMPREPLY < <(_bayesol_categories "$current"); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '-c --risk -v --verbose -n --risks -N --ranking -D --debug -i --wide --json --explain --relaxed --category --nats --help -V --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _bayesol bayesol
