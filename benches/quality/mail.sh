#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How good is dbacl on mail? Learns the training part of a corpus, judges the rest, prints the table of
# docs/lab/ordinary.md.
#
#   benches/quality/mail.sh              the table
#   benches/quality/mail.sh --choose     compare option sets by cross-validation in the training part
#
# DBACL_BIN           folder with dbacl; built if not given
# DBACL_MAIL_CORPUS   folder with train/ham, train/spam, test/ham, test/spam, one file a message; without it,
#                     ../shared/data/spamassassin/spamassassin.tar.xz is unpacked if present
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
export LC_ALL=C
unset DBACL_PATH DBACL_STRICT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

corpus=${DBACL_MAIL_CORPUS:-}
archive=$root/../shared/data/spamassassin/spamassassin.tar.xz
[ -n "$corpus" ] || [ ! -f "$archive" ] || {
  tar -xJf "$archive" -C "$work"
  corpus=$work/spamassassin
}
[ -d "$corpus/train/ham" ] || {
  echo "SKIPPED: no mail corpus; see DBACL_MAIL_CORPUS in $0"
  exit 77
}
profile=${DBACL_PROFILE:-release}
target=${CARGO_TARGET_DIR:-$root/target}
if [ -z "${DBACL_BIN:-}" ]; then
  cargo build --quiet --manifest-path "$root/Cargo.toml" --profile "$profile" --bin dbacl
  DBACL_BIN=$target/$profile
fi
cargo build --quiet --manifest-path "$root/Cargo.toml" --profile "$profile" --example ranking
ranking=$target/$profile/examples/ranking
dbacl=$DBACL_BIN/dbacl

headers="-T email:headers -T email:theaders -T email:xheaders -T html:links -T html:alt"
mkdir "$work/models"

# judge TRAIN TEST OPTION...: lines KIND VERDICT SCORE for the messages of TEST.
judge() {
  train=$1 test=$2
  shift 2
  for kind in ham spam; do
    "$dbacl" --quiet "$@" -l "$work/models/$kind" "$train/$kind"
  done
  for kind in ham spam; do
    # The verdict is dbacl's own; messages are ranked by the difference of the scores per token:
    # FILE ham SCORE * TOKENS spam SCORE * TOKENS
    find "$test/$kind" ! -type d | sort >"$work/files"
    xargs -n 1000000 "$dbacl" -vF -c "$work/models/ham" -c "$work/models/spam" <"$work/files" \
      >"$work/verdicts" 2>/dev/null || :
    xargs -n 1000000 "$dbacl" -nvF -c "$work/models/ham" -c "$work/models/spam" <"$work/files" \
      >"$work/scores" 2>/dev/null || :
    paste -d ' ' "$work/verdicts" "$work/scores" |
      awk -v kind=$kind 'NF != 11 || $1 != $3 { exit 1 } { print kind, $2, $5 - $9 }'
  done
}

# bogofilter TRAIN TEST, as Debian configures it.
judge_bogofilter() {
  mkdir "$work/bogofilter"
  for kind in ham spam; do
    [ $kind = ham ] && register=-n || register=-s
    find "$1/$kind" ! -type d | sort | bogofilter -d "$work/bogofilter" $register -b
  done
  for kind in ham spam; do
    find "$2/$kind" ! -type d | sort >"$work/files"
    bogofilter -d "$work/bogofilter" -v -b <"$work/files" | sed 's/.*X-Bogosity: \([A-Za-z]*\).*/\1/' >"$work/verdicts"
    bogofilter -d "$work/bogofilter" -TT -b <"$work/files" | paste -d ' ' "$work/verdicts" - |
      awk -v kind=$kind '{ print kind, $1 == "Spam" ? "spam" : "ham", $3 }'
  done
}

heading() {
  echo "| $1 | errors, % (95 %) | ham judged spam | spam missed | (1−AUC) % | spam found at 0.1 % | at 1 % |"
  echo "|---|---|---|---|---|---|---|"
}

option_sets() {
  cat <<END
-T email
-T email -H 20
-T email -H 20 -e adp
-T email -H 20 -w 2
-T email -H 20 -T email:noheaders -e adp
-T email -H 20 -T email:headers -T email:theaders -T html:links -T html:alt -e cef2
-T email -H 20 $headers -e cef2
-T email -H 20 $headers -e cef -j
-T email -H 20 $headers -e adp
-T email -H 20 $headers -e adp -j
-T email -H 20 $headers -L dirichlet -e cef2
-T email -H 22 $headers -e adp -w 2
-T email -H 22 $headers -e alnum -j -w 2
-T email -H 22 $headers -e graph -w 2
-T email -H 22 $headers -e cef2 -w 2
-T email -H 22 $headers -e cef -w 2 -S
-T email -H 22 $headers -e cef -j -w 2
END
}

if [ "${1:-}" = --choose ]; then
  # Four folds: every fourth message, in the order of names.
  for fold in 0 1 2 3; do
    for part in train test; do
      mkdir -p "$work/fold$fold/$part/ham" "$work/fold$fold/$part/spam"
    done
    for kind in ham spam; do
      find "$corpus/train/$kind" ! -type d | sort | awk -v fold=$fold -v to="$work/fold$fold" -v kind=$kind '
        { print "ln -s \x27" $0 "\x27 \x27" to "/" (NR % 4 == fold ? "test" : "train") "/" kind "/\x27" }' | sh
    done
  done
  heading "options, cross-validated"
  option_sets | while read -r options; do
    for fold in 0 1 2 3; do
      # shellcheck disable=SC2086
      judge "$work/fold$fold/train" "$work/fold$fold/test" $options
    done | "$ranking" "\`$options\`"
  done
  exit
fi

heading "filter"
row() {
  name=$1
  shift
  judge "$corpus/train" "$corpus/test" "$@" | "$ranking" "$name"
}
row '`-T email` (31,000 features at most)' -T email
row '`-T email -H 20`' -T email -H 20
row '`-T email -H 20 -e adp` (the same: `adp` is the default)' -T email -H 20 -e adp
row '`-T email -H 20 -w 2`' -T email -H 20 -w 2
# shellcheck disable=SC2086
row 'TREC-style: `-T email -H 22 … -e cef -j -w 2`' -T email -H 22 $headers -e cef -j -w 2
if command -v bogofilter >/dev/null; then
  judge_bogofilter "$corpus/train" "$corpus/test" |
    "$ranking" "bogofilter $(bogofilter --version | sed -n '1s/.*version //p')"
fi
