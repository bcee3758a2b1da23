# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
_dbacl_categories() {
  compgen -f -- "$1"
  if [[ -n ${DBACL_PATH-} && $1 != [/.]* ]]; then
    (cd -- "$DBACL_PATH" 2>/dev/null && compgen -f -- "$1")
  fi
}
_dbacl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $previous in
    -l|--learn) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    -c|--category) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    -T|--type) mapfile -t COMPREPLY < <(compgen -W 'text email email:headers email:theaders email:xheaders email:noheaders email:atts email:plain email:noplain email:unicode email:tags html html:links html:alt html:scripts html:styles html:forms html:comments xml' -- "$current"); return ;;
    -f|--filter) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    -e|--tokenizer) mapfile -t COMPREPLY < <(compgen -W 'alpha alnum graph char cef adp cef2 word glyph gram' -- "$current"); return ;;
    --charset) mapfile -t COMPREPLY < <(:); return ;;
    -w|--order) mapfile -t COMPREPLY < <(compgen -W '1 2 3 4 5 6 7' -- "$current"); return ;;
    -g|--regex) mapfile -t COMPREPLY < <(:); return ;;
    -G) mapfile -t COMPREPLY < <(:); return ;;
    -h|--hash-bits) mapfile -t COMPREPLY < <(:); return ;;
    -H|--max-hash-bits) mapfile -t COMPREPLY < <(:); return ;;
    -z|--min-count) mapfile -t COMPREPLY < <(:); return ;;
    -x|--decimate) mapfile -t COMPREPLY < <(:); return ;;
    -L|--reference) mapfile -t COMPREPLY < <(compgen -W 'uniform dirichlet maxent mle iid' -- "$current"); return ;;
    -q|--quality) mapfile -t COMPREPLY < <(compgen -W '1 2 3 4' -- "$current"); return ;;
    -o|--online) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    -O|--merge-online) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    --documents) mapfile -t COMPREPLY < <(compgen -W 'files mbox lines tsv ndjson' -- "$current"); return ;;
    --choices) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --cost) mapfile -t COMPREPLY < <(:); return ;;
    --blend) mapfile -t COMPREPLY < <(:); return ;;
    --contrast) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$current"); return ;;
    --fp) mapfile -t COMPREPLY < <(:); return ;;
    --keep) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --update) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    --learn-error) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    --unlearn) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    --correct) mapfile -t COMPREPLY < <(_dbacl_categories "$current"); return ;;
    --mail-learn) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --mail-filter) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --mail-correct) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --mail-ask) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --mail-review) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --check) mapfile -t COMPREPLY < <(:); return ;;
    --protect) mapfile -t COMPREPLY < <(:); return ;;
    --caution) mapfile -t COMPREPLY < <(compgen -W 'low normal high' -- "$current"); return ;;
    --reading) mapfile -t COMPREPLY < <(compgen -W 'blocks unicode classic' -- "$current"); return ;;
    --window) mapfile -t COMPREPLY < <(:); return ;;
    --general) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --count) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --merge) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --fit) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --place) mapfile -t COMPREPLY < <(:); return ;;
    --threads) mapfile -t COMPREPLY < <(:); return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W 'json ndjson tsv' -- "$current"); return ;;
    --input) mapfile -t COMPREPLY < <(compgen -W 'ndjson lines' -- "$current"); return ;;
    --lock-timeout) mapfile -t COMPREPLY < <(:); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '-l --learn -c --category -T --type -v --verbose -n --scores -N --probabilities -U --uncertainty -X --confidence -P --prior -R --random -f --filter -F --per-file -a --append -A --append-indented -s --by-line -Y --media -d --dump -D --debug -e --tokenizer --charset -w --order -j --keep-case -S --straddle -g --regex -G -i --international -h --hash-bits -H --max-hash-bits -z --min-count -x --decimate -L --reference -r --reference-only -q --quality -M --multinomial -1 --preload -0 --no-preload -o --online -O --merge-online -m --memory-map --verdict --explain --explain-html --refit --documents --choices --cost --blend --exact --once --contrast --always --fp --unsure --keep --update --learn-error --unlearn --correct --mail-learn --mail-filter --mail-correct --mail-ask --mail-review --check --protect --caution --reading --window --general --reasons --count --merge --fit --place --canonical --threads --format --input --line-buffered --lock-timeout --strict --quiet --keep-nul -V --help --version' -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _dbacl dbacl
