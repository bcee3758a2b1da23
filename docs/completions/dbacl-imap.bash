# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_dbacl_imap_categories() {
  compgen -f -- "$1"
  if [[ -n ${DBACL_PATH-} && $1 != [/.]* ]]; then
    (cd -- "$DBACL_PATH" 2>/dev/null && compgen -f -- "$1")
  fi
}
_dbacl_imap() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    --config) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --server) mapfile -t COMPREPLY < <(:); return ;;
    --port) mapfile -t COMPREPLY < <(:); return ;;
    --user) mapfile -t COMPREPLY < <(:); return ;;
    --password-command) mapfile -t COMPREPLY < <(:); return ;;
    --token-command) mapfile -t COMPREPLY < <(:); return ;;
    --filter) mapfile -t COMPREPLY < <(_dbacl_imap_categories "$current"); return ;;
    --folder) mapfile -t COMPREPLY < <(:); return ;;
    --sort) mapfile -t COMPREPLY < <(:); return ;;
    --unsure) mapfile -t COMPREPLY < <(:); return ;;
    --junk) mapfile -t COMPREPLY < <(:); return ;;
    --trash) mapfile -t COMPREPLY < <(:); return ;;
    --newest) mapfile -t COMPREPLY < <(:); return ;;
    --days) mapfile -t COMPREPLY < <(:); return ;;
    --certificates) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --state) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '--config --server --port --user --password-command --token-command --filter --folder --sort --unsure --junk --trash --move-spam --letter --newest --no-guesses --days --replace --plain --certificates --state --once --dry-run --check --status -h --help -V --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _dbacl_imap dbacl-imap
