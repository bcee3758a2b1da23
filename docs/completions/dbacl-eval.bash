# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_dbacl_eval_categories() {
  compgen -f -- "$1"
  if [[ -n ${DBACL_PATH-} && $1 != [/.]* ]]; then
    (cd -- "$DBACL_PATH" 2>/dev/null && compgen -f -- "$1")
  fi
}
_dbacl_eval() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    -s|--set) mapfile -t COMPREPLY < <(:); return ;;
    --try) mapfile -t COMPREPLY < <(compgen -W 'mail text' -- "$current"); return ;;
    --filter) mapfile -t COMPREPLY < <(_dbacl_eval_categories "$current"); return ;;
    -k|--folds) mapfile -t COMPREPLY < <(:); return ;;
    --test) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --feedback) mapfile -t COMPREPLY < <(compgen -W 'immediate delayed: on-error' -- "$current"); return ;;
    --refresh) mapfile -t COMPREPLY < <(:); return ;;
    --order) mapfile -t COMPREPLY < <(compgen -W '1 2 3 4 5 6 7' -- "$current"); return ;;
    --index) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --positive) mapfile -t COMPREPLY < <(:); return ;;
    --seed) mapfile -t COMPREPLY < <(:); return ;;
    --html) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --verdicts) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    -t|--threads) mapfile -t COMPREPLY < <(:); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '-s --set --try --filter -k --folds --test --online --feedback --refresh --order --index --positive --seed --curve --json --html --verdicts -t --threads -q --quiet --help -V --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _dbacl_eval dbacl-eval
