#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Learns 200 MB in 24 parts on a Spark master and two workers on this machine, kills an executor in
# mid-job, and compares the category with that of one pass; classifies 100,000 documents and compares
# the results with those of one process. Does both again with words of any language, in text and mail of
# two languages. Prints SKIPPED and a reason where that cannot be done.
#
#   tests/spark/run.sh DBACL        SPARK_VENV=DIR keeps the installation of pyspark
#                                   SIZE_MB, PARTS and DOCUMENTS make a smaller test
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dbacl=$(realpath "${1:-$here/../../target/release/dbacl}")
job=$here/../../integrations/spark/dbacl_spark.py
skip() { echo "SKIPPED: $*"; exit 0; }
[ -x "$dbacl" ] || skip "no program at $dbacl"
command -v java >/dev/null || skip "no java"
command -v python3 >/dev/null || skip "no python3"

work=$(mktemp -d)
master= worker1= worker2= learner=
stop() {
    for id in $learner $worker1 $worker2 $master; do kill "$id" 2>/dev/null || true; done
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

venv=${SPARK_VENV:-$work/venv}
if ! [ -x "$venv/bin/spark-submit" ]; then
    python3 -m venv "$venv" 2>"$work/pip" || skip "no virtual environments: $(tail -1 "$work/pip")"
    "$venv/bin/pip" install -q pyspark >"$work/pip" 2>&1 ||
        skip "pyspark cannot be installed: $(tail -1 "$work/pip")"
fi
SPARK_HOME=$("$venv/bin/python" -c 'import pyspark, os; print(os.path.dirname(pyspark.__file__))')
export SPARK_HOME PYSPARK_PYTHON="$venv/bin/python" PYSPARK_DRIVER_PYTHON="$venv/bin/python"
export SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_LOCAL_DIRS="$work/local" LC_ALL=C
port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

"$venv/bin/python" "$here/make_inputs.py" "$work" "${SIZE_MB:-200}" "${PARTS:-24}" "${DOCUMENTS:-100000}"

class="$SPARK_HOME/bin/spark-class"
deploy=org.apache.spark.deploy
"$class" $deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0 >"$work/master" 2>&1 &
master=$!
sleep 3
for k in 1 2; do
    "$class" $deploy.worker.Worker --cores 1 --memory 1g --webui-port 0 --work-dir "$work/w$k" \
        "spark://127.0.0.1:$port" >"$work/worker$k" 2>&1 &
    eval "worker$k=$!"
done
submit() {
    "$venv/bin/spark-submit" --master "spark://127.0.0.1:$port" --conf spark.ui.enabled=false \
        --executor-memory 768m --conf spark.driver.host=127.0.0.1 \
        "$job" --dbacl "$dbacl" "$@"
}

set -- "$work"/part-*.txt
echo "one pass over $# files"
mkdir "$work/one" "$work/spark"
(cd "$work/one" && "$dbacl" -l ./category -w 2 -H 22 "$@")
echo "Spark, and one executor killed"
(cd "$work/spark" && exec "$venv/bin/spark-submit" --master "spark://127.0.0.1:$port" \
    --conf spark.ui.enabled=false --executor-memory 768m --conf spark.driver.host=127.0.0.1 \
    "$job" --dbacl "$dbacl" learn category "$@" --count-options '-w 2' --fit-options '-H 22' \
    >"$work/learn" 2>&1) &
learner=$!
# The executor is a child of the worker that we started; it is killed once it works on its parts.
killed=
for _ in $(seq 600); do
    kill -0 "$learner" 2>/dev/null || break
    child=$(ps -o pid=,args= --ppid "$worker1" | awk '/CoarseGrainedExecutorBackend/ { print $1; exit }')
    if [ -n "$child" ] && grep -q 'Finished task' "$work/learn"; then
        kill -9 "$child" && killed=$child
        break
    fi
    sleep 0.2
done
wait "$learner" || { tail -30 "$work/learn"; echo "FAILED: the job"; exit 1; }
learner=
[ -n "$killed" ] || { echo "FAILED: no executor was killed in mid-job"; exit 1; }
grep -q 'Lost executor\|ExecutorLostFailure\|Lost task' "$work/learn" ||
    { echo "FAILED: the job did not notice the loss"; exit 1; }
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
