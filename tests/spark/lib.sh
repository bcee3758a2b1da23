# SPDX-License-Identifier: GPL-3.0-or-later
# A Spark master and two workers on this machine, for the tests beside this file, which source it.
# `start_spark PACKAGE...` names what they need beside pyspark. Prints SKIPPED and a reason where
# that cannot be done. $work is a folder that is removed in the end.
# shellcheck shell=sh
skip() { echo "SKIPPED: $*"; exit 0; }
command -v java >/dev/null || skip "no java"
command -v python3 >/dev/null || skip "no python3"

work=$(mktemp -d)
master='' worker1='' worker2='' learner=''
stop() {
    for id in $learner $worker1 $worker2 $master; do kill "$id" 2>/dev/null || true; done
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

start_spark() {
    venv=${SPARK_VENV:-$work/venv}
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv" 2>"$work/pip" ||
        skip "no virtual environments: $(tail -1 "$work/pip")"
    for package in pyspark "$@"; do
        "$venv/bin/python" -c "import $package" 2>/dev/null ||
            "$venv/bin/pip" install -q "$package" >"$work/pip" 2>&1 ||
            skip "$package cannot be installed: $(tail -1 "$work/pip")"
    done
    SPARK_HOME=$("$venv/bin/python" -c \
        'import pyspark, os; print(os.path.dirname(pyspark.__file__))')
    export SPARK_HOME PYSPARK_PYTHON="$venv/bin/python" PYSPARK_DRIVER_PYTHON="$venv/bin/python"
    export SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_LOCAL_DIRS="$work/local" LC_ALL=C
    port=$("$venv/bin/python" -c \
        'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    class="$SPARK_HOME/bin/spark-class"
    deploy=org.apache.spark.deploy
    "$class" $deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0 \
        >"$work/master" 2>&1 &
    master=$!
    sleep 3
    for k in 1 2; do
        "$class" $deploy.worker.Worker --cores 1 --memory 1g --webui-port 0 --work-dir "$work/w$k" \
            "spark://127.0.0.1:$port" >"$work/worker$k" 2>&1 &
        eval "worker$k=$!"
    done
}

# Runs a job; with run_by=exec in place of the shell, so that one in the background can be stopped.
run_by=''
spark() {
    $run_by "$venv/bin/spark-submit" --master "spark://127.0.0.1:$port" --conf spark.ui.enabled=false \
        --executor-memory 768m --conf spark.driver.host=127.0.0.1 "$@"
}

# Waits for the job $learner, which writes to the file that is given, and kills an executor once it
# works on its parts; with KILLS, so many executors, one after another. They are children of the
# worker that we started.
lose_executor() {
    killed=0 last=
    for _ in $(seq 6000); do
        kill -0 "$learner" 2>/dev/null && [ "$killed" -lt "${KILLS:-1}" ] || break
        child=$(ps -o pid=,args= --ppid "$worker1" |
            awk '/CoarseGrainedExecutorBackend/ { print $1; exit }')
        ended=$(grep -c "${2:-Finished task}" "$1") || :
        if [ -n "$child" ] && [ "$child" != "$last" ] && [ "$ended" -gt $((killed * 8)) ]; then
            kill -9 "$child" && killed=$((killed + 1)) last=$child
        fi
        sleep 0.2
    done
    wait "$learner" || { tail -30 "$1"; echo "FAILED: the job"; exit 1; }
    learner=
    [ "$killed" = "${KILLS:-1}" ] ||
        { echo "FAILED: $killed executors were killed in mid-job"; exit 1; }
    grep -q 'Lost executor\|ExecutorLostFailure\|Lost task' "$1" ||
        { echo "FAILED: the job did not notice the loss"; exit 1; }
}
