# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_dbacl_server() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    --config) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --default) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --models) mapfile -t COMPREPLY < <(:); return ;;
    --spamc) mapfile -t COMPREPLY < <(:); return ;;
    --rspamd) mapfile -t COMPREPLY < <(:); return ;;
    --milter) mapfile -t COMPREPLY < <(:); return ;;
    --metrics) mapfile -t COMPREPLY < <(:); return ;;
    --status) mapfile -t COMPREPLY < <(:); return ;;
    --teach) mapfile -t COMPREPLY < <(:); return ;;
    --user) mapfile -t COMPREPLY < <(:); return ;;
    --remove) mapfile -t COMPREPLY < <(:); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '--config --default --models --spamc --rspamd --milter --metrics --status --reasons --opensmtpd --teach --judge --user --check --health --list --remove -h --help -V --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _dbacl_server dbacl-server
