#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How a filter of many folders sorts: learns so many messages of each folder of CORPUS/train, and
# classifies the others and CORPUS/test, with each caution.
#
#     benches/mail-folders.sh BIN CORPUS [MESSAGES]    a folder below train and test for each label
set -eu
bin=$1 corpus=$(realpath "$2") number=${3:-300}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for place in "$corpus"/train/*; do
  label=$(basename "$place" | tr . -)
  mkdir -p "learned/$label" "others/$label" "later/$label"
  # The same order each time: that of a checksum of the names.
  for file in "$place"/*; do
    echo "$(basename "$file" | cksum) $file"
  done | sort -n | sed 's/^[^/]*//' >files
  head -n "$number" files | xargs -I@ ln -s @ "learned/$label"
  tail -n "+$((number + 1))" files | xargs -I@ ln -s @ "others/$label"
  find "$corpus/test/$(basename "$place")" -type f | xargs -I@ ln -s @ "later/$label"
  echo "$label=learned/$label"
done >labels
echo "caution	messages	classified	right	unsure	wrong"
for caution in low normal high; do
  # shellcheck disable=SC2046 # labels have no blanks
  "$bin/dbacl" --quiet --mail-learn filter --caution "$caution" $(cat labels)
  for kind in others later; do
    find "$kind" -type l | sort | xargs "$bin/dbacl" --strict --mail-verdict filter --format tsv |
      awk -F '\t' -v row="$caution	$kind" '
        $1 == "id" { next }
        { split($1, path, "/"); all++; right += $2 == path[2]; unsure += $3 == "true"
          wrong += $3 != "true" && $2 != path[2] }
        END { printf "%s\t%d\t%.1f\t%.1f\t%.2f\n", row, all, 100 * right / all,
          100 * unsure / all, 100 * wrong / all }'
  done
  rm -r filter
done
