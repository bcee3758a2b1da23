#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Trains a text classifier in blocks on a Spark master and two workers on this machine, kills an executor
# in mid-job, and compares the model with that of one process; compares what it says of 2,000 texts, and
# how many of 2,000 labelled ones it judges rightly. Prints SKIPPED and a reason where that cannot be done.
#
#   tests/spark/text.sh DBACL_TEXT WHEEL    SPARK_VENV=DIR keeps the installation of pyspark
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath -s "${1:-$here/../../target/release/dbacl-text}")
wheel=${2:-none}
job=$here/../../integrations/spark/dbacl_text_spark.py
. "$here/lib.sh"
[ -x "$program" ] || skip "no program at $program"
[ -f "$wheel" ] || skip "no wheel of the Python module: make python"
start_spark pandas pyarrow
"$venv/bin/pip" install -q --no-deps --force-reinstall "$wheel" >"$work/pip" 2>&1 ||
    skip "the wheel cannot be installed: $(tail -1 "$work/pip")"

"$venv/bin/python" - "$work" <<'MADE'
import random
import sys

draw = random.Random(5)
topics = [["w%d" % draw.randrange(3000) for _ in range(400)] for _ in range(4)]


def text(topic):
    words = [draw.choice(topics[topic] if draw.random() < 0.3 else topics[draw.randrange(4)])
             for _ in range(20)]
    return " ".join(words)


def lines(count):
    # Sorted by label, and of different length.
    return sorted((f"label {at % 4}\u00e4", text(at % 4)) for at in range(count))


with open(sys.argv[1] + "/train.tsv", "w", encoding="utf-8") as file:
    file.writelines(f"{label}\t{text}\n" for label, text in lines(20000))
more = lines(2000)
with open(sys.argv[1] + "/more.tsv", "w", encoding="utf-8") as file:
    file.writelines(f"{label}\t{text}\n" for label, text in more)
with open(sys.argv[1] + "/texts.txt", "w", encoding="utf-8") as file:
    file.writelines(f"{text}\n" for _, text in more)
MADE
cd "$work"
"$program" train train.tsv -o one.model --block 1500 --features 20000
echo "Spark, and one executor killed"
(run_by='exec' && spark "$job" train "$work/train.tsv" "$work/spark.model" --block 1500 \
    --features 20000 --partitions 5 >learn 2>&1) &
learner=$!
# In mid-job: the chains are there, and rounds are under way.
lose_executor learn 'Finished task 0.0 in stage 1[0-9]\.0'
cmp one.model spark.model
echo "ok: the models are the same"

spark "$job" predict spark.model texts.txt "$work/labels" -k 2 >predict 2>&1 ||
    { tail -30 predict; echo "FAILED: predict"; exit 1; }
"$program" predict one.model texts.txt -k 2 >expected
cat labels/part-* | cmp - expected
echo "ok: the labels are the same"

spark "$job" test spark.model more.tsv >found 2>said ||
    { tail -30 said; echo "FAILED: test"; exit 1; }
"$program" test one.model more.tsv --json >expected
"$venv/bin/python" - found expected <<'COMPARED'
import json
import sys

found, expected = (json.loads(open(name).read().splitlines()[-1]) for name in sys.argv[1:3])
accuracy = expected["accuracy"]
accuracy = accuracy["value"] if isinstance(accuracy, dict) else accuracy
assert found["documents"] == expected["documents"] == 2000, (found, expected)
assert abs(found["accuracy"] - accuracy) < 1e-6 and found["accuracy"] > 0.6, (found, expected)
print("ok: the accuracy is the same:", found["accuracy"])
COMPARED
# All texts in one block: the model of one machine without blocks.
head -n 4000 train.tsv | sort >few.tsv
printf 'other\tw1 w2 w3\nother\tw2 w3\n' >>few.tsv
"$program" train few.tsv -o one.model -q 2>/dev/null
spark "$job" train "$work/few.tsv" "$work/few.model" --block 5000 >learn 2>&1 ||
    { tail -30 learn; echo "FAILED: one block"; exit 1; }
cmp one.model few.model
echo "ok: the models of one block are the same"

# A line that is none is left out and reported with its file; data frames.
sed '100s/\t/ /' few.tsv >spoilt.tsv
sed 100d few.tsv >whole.tsv
"$program" train whole.tsv -o one.model -q 2>/dev/null
spark "$job" train "$work/spoilt.tsv" "$work/spoilt.model" --block 5000 >learn 2>&1 ||
    { tail -30 learn; echo "FAILED: a line without a tab"; exit 1; }
cmp one.model spoilt.model
grep -q 'left out: 1, such as' learn && grep -q 'file:.*spoilt.tsv: ' learn ||
    { cat learn; echo "FAILED: nothing was said of the line"; exit 1; }
echo "ok: a line without a tab is left out and reported"
spark "$here/frames.py" "$work" >found 2>said || { cat found; tail -30 said; echo "FAILED: frames"; exit 1; }
grep ^ok found
