# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_mailfoot() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    --seed) mapfile -t COMPREPLY < <(:); return ;;
    --jobs) mapfile -t COMPREPLY < <(:); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '--seed --jobs --help -V --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W 'prepare add learn run summarize plot review truth clean testsuite' -- "$current"; compgen -f -- "$current")
  fi
}
complete -o filenames -F _mailfoot mailfoot
