#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Accuracy of text read as Unicode (docs/lab/languages.md): words against -e alnum on four corpora, five
# languages with one option, and their sentences in other character sets, guessed and told. Then each
# language is learned in each of its character sets and judged in each.
#
#   languages.sh BIN DATA
#
# BIN holds dbacl and dbacl-eval, DATA the unpacked corpora.
set -eu
bin=$(cd "$1" && pwd)
data=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for corpus in sms agnews imdb; do
  echo "$corpus:"
  "$bin/dbacl-eval" -s 'alnum: -H 20 -e alnum' -s 'word: -H 20 -e word' \
    "$data/$corpus/train.tsv" --test "$data/$corpus/test.tsv" | grep -E '^(options|alnum|word) '
done
echo '20newsgroups:'
"$bin/dbacl-eval" -s 'alnum: -H 20 -e alnum' -s 'word: -H 20 -e word' \
  "$data/20newsgroups/train" --test "$data/20newsgroups/test" | grep -E '^(options|alnum|word) '
echo 'spamassassin:'
mail='-T email -T email:headers -T email:theaders -T html:links -T html:alt -H 20'
"$bin/dbacl-eval" -s "alnum: $mail -e alnum" -s "word: $mail -e word" \
  "$data/spamassassin/train" --test "$data/spamassassin/test" | grep -E '^(options|alnum|word) '

set --
for language in ar de ja ru zh; do
  for part in train test; do
    awk -F '\t' -v own="$language" '$1 == own { print substr($0, length($1) + 2) }' \
      "$data/lang75/$part.tsv" >"$language.$part"
  done
  "$bin/dbacl" --quiet -H 20 -e word -l "./$language" "$language.train"
  set -- "$@" -c "./$language"
done

# Prints how many lines of a file are of a language: the lowest score wins.
right() {
  own=$1 file=$2
  shift 2
  "$bin/dbacl" --quiet "$@" -n -f 1 "$file" | awk -v own="$own" '
    { best = 1; for (k = 2; k <= 5; k++) if ($(2 * k) < $(2 * best)) best = k
      if ($(2 * best - 1) == own) right++ } END { print right + 0 }'
}

echo 'language  character set  sentences  right when guessed  when told'
rows='ar:utf-8 de:utf-8 ja:utf-8 ru:utf-8 zh:utf-8 ru:koi8-r ru:windows-1251 ru:iso-8859-5
  ru:cp866 ru:utf-16 de:iso-8859-1 de:windows-1252 ar:windows-1256 ar:iso-8859-6 ja:euc-jp
  ja:shift_jis ja:iso-2022-jp zh:gb18030 zh:utf-16'
for row in $rows; do
  language=${row%%:*} charset=${row#*:}
  iconv -c -f utf-8 -t "$charset" "$language.test" >encoded
  echo "$language $charset $(wc -l <"$language.test")" \
    "$(right "$language" encoded "$@") $(right "$language" encoded --charset "$charset" "$@")"
done

# The other four languages stay as they were learned from UTF-8.
echo 'language  learned in  judged in  sentences  right when both are guessed  when both are told'
for row in $rows; do
  language=${row%%:*} from=${row#*:}
  iconv -c -f utf-8 -t "$from" "$language.train" >learned
  mv "$language" kept
  for other in $rows; do
    test "${other%%:*}" = "$language" || continue
    to=${other#*:}
    iconv -c -f utf-8 -t "$to" "$language.test" >encoded
    "$bin/dbacl" --quiet -H 20 -e word -l "./$language" learned
    guessed=$(right "$language" encoded "$@")
    "$bin/dbacl" --quiet -H 20 -e word --charset "$from" -l "./$language" learned
    told=$(right "$language" encoded --charset "$to" "$@")
    echo "$language $from $to $(wc -l <"$language.test") $guessed $told"
  done
  mv kept "$language"
done
