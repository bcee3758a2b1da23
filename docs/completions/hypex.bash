# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_hypex() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    -s|--step) mapfile -t COMPREPLY < <(:); return ;;
    -h|--hash-size) mapfile -t COMPREPLY < <(:); return ;;
    -H|--max-hash-size) mapfile -t COMPREPLY < <(:); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '-s --step -v --verbose -h --hash-size -H --max-hash-size --help -V --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _hypex hypex
