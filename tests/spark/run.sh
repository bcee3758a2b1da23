#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Learns 200 MB in 24 parts on a Spark master and two workers on this machine, kills an executor in
# mid-job, and compares the category with that of one pass; classifies 100,000 documents and compares
# the results with those of one process. Does both again with words of any language, in text and mail of
# two languages. Prints SKIPPED and a reason where that cannot be done.
#
#   tests/spark/run.sh DBACL        SPARK_VENV=DIR keeps the installation of pyspark
#                                   SIZE_MB, PARTS and DOCUMENTS make a smaller or larger test,
#                                   of ORDER -w; KILLS executors are killed
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dbacl=$(realpath -s "${1:-$here/../../target/release/dbacl}")
job=$here/../../integrations/spark/dbacl_spark.py
. "$here/lib.sh"
[ -x "$dbacl" ] || skip "no program at $dbacl"
start_spark
"$venv/bin/python" "$here/make_inputs.py" "$work" "${SIZE_MB:-200}" "${PARTS:-24}" "${DOCUMENTS:-100000}"
submit() { spark "$job" --dbacl "$dbacl" "$@"; }

set -- "$work"/part-*.txt
echo "one pass over $# files"
mkdir "$work/one" "$work/spark"
(cd "$work/one" && "$dbacl" -l ./category -w "${ORDER:-2}" -H 22 "$@")
echo "Spark, and ${KILLS:-1} of its executors killed"
(cd "$work/spark" && run_by='exec' && submit learn category "$@" \
    --count-options "-w ${ORDER:-2}" --fit-options '-H 22' >"$work/learn" 2>&1) &
learner=$!
lose_executor "$work/learn"
# The name of the file is in its first line; both are called the same.
sed -i 1d "$work/one/category" && sed -i 1d "$work/spark/category"
cmp "$work/one/category" "$work/spark/category"
echo "ok: the categories are the same"

(cd "$work" && "$dbacl" -l ./a part-00.txt && "$dbacl" -l ./b -w 2 part-01.txt)
"$dbacl" --strict --input ndjson -c "$work/a" -c "$work/b" "$work/documents.ndjson" >"$work/results"
submit classify "$work/documents.ndjson" "$work/out" -c "$work/a" -c "$work/b" --partitions 8 \
    >"$work/classify" 2>&1 || { tail -30 "$work/classify"; echo "FAILED: classify"; exit 1; }
cat "$work"/out/part-* | cmp - "$work/results"
echo "ok: $(wc -l <"$work/results") results are the same"

# The same once more with a small input: text and mail of any language.
"$venv/bin/python" "$here/make_languages.py" "$work"
compare() { # NAME COUNT_OPTIONS CLASSIFY_OPTIONS FILE...: the category and what it says of documents
    name=$1 options=$2
    shift 2
    # shellcheck disable=SC2086
    (cd "$work/one" && "$dbacl" $options -l "./$name" "$@")
    (cd "$work/spark" && submit learn "$name" "$@" --count-options "$options") >"$work/learn" 2>&1 ||
        { tail -30 "$work/learn"; echo "FAILED: learn with $options"; exit 1; }
    sed 1d "$work/one/$name" >"$work/expected"
    sed 1d "$work/spark/$name" | cmp - "$work/expected"
    echo "ok: $options: the categories are the same"
}
for language in russian japanese; do
    compare "text-$language" '-e word' "$work/$language".*.txt
    compare "mail-$language" '-T email:unicode -e word' "$work/$language".*.mbox
done
for kind in text mail; do
    set -- -c "$work/spark/$kind-russian" -c "$work/spark/$kind-japanese"
    "$dbacl" --strict --input ndjson "$@" "$work/languages.$kind.ndjson" >"$work/results"
    submit classify "$work/languages.$kind.ndjson" "$work/out-$kind" "$@" --partitions 3 \
        >"$work/classify" 2>&1 || { tail -30 "$work/classify"; echo "FAILED: classify $kind"; exit 1; }
    cat "$work/out-$kind"/part-* | cmp - "$work/results"
    for language in russian japanese; do
        [ "$(grep -c "^{\"id\":\"$language [0-9]*\",\"best\":\"$kind-$language\"" "$work/results")" = 20 ] ||
            { head -2 "$work/results"; echo "FAILED: 20 of $kind are $language"; exit 1; }
    done
    echo "ok: $(wc -l <"$work/results") results of $kind of two languages are the same"
done
