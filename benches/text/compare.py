#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the table of docs/text.md: dbacl-text beside fastText, vowpalwabbit and scikit-learn.

    compare.py DBACL_TEXT DATA OUT [--sets sms,agnews,...] [--systems dbacl,fasttext,...]
               [--labels 0,1000] [--autotune SECONDS]

DATA holds the unpacked corpora: NAME/train.tsv and NAME/test.tsv (label, tab, text in each line),
or NAME/train/LABEL/FILE and NAME/test/LABEL/FILE. Files of folders become one line each. OUT is a
folder for what is made on the way; finished rows are kept there in rows.ndjson and are not made
again. The other systems come from PyPI: pip install fasttext-wheel vowpalwabbit scikit-learn
With fasttext-wheel 0.9.2 the search for settings (autotune) does not end in its time; that of
fasttext-community 0.11.9 does.

Every system sees the same lines in the same random order. fastText and vowpalwabbit get them in
lower case with punctuation apart, as fastText's tutorial prepares text; the others cut text
themselves. Nothing is tuned on test documents. "With the rest" also sees the documents that are not
learned, without their labels. Times are seconds of processor time, and memory is the peak of the
process.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time

SETS = ["sms", "lingspam", "agnews", "20newsgroups", "imdb", "lang75"]
# Sets whose labels show in characters rather than in words.
BY_CHARACTERS = {"lang75"}
WITH_REST = "dbacl-text with the rest"


def lines_of(folder, part):
    """Label and text of each document, as bytes of one line."""
    table = os.path.join(folder, part + ".tsv")
    if os.path.exists(table):
        with open(table, "rb") as file:
            for line in file:
                label, text = line.rstrip(b"\r\n").split(b"\t", 1)
                yield label, b" ".join(text.split())
        return
    root = os.path.join(folder, part)
    for label in sorted(os.listdir(root)):
        for name in sorted(os.listdir(os.path.join(root, label))):
            with open(os.path.join(root, label, name), "rb") as file:
                text = file.read().decode("utf-8", "replace").encode()
            yield label.encode(), b" ".join(text.split())


def some(rows, number):
    """`number` of the rows, evenly spread over them; all for 0."""
    if number == 0 or number >= len(rows):
        return rows
    return [rows[at * len(rows) // number] for at in range(number)]


def prepared(text):
    text = re.sub(rb"([.!?,'/()\"<>:;])", rb" \1 ", text)
    return b" ".join(text.decode("utf-8", "replace").lower().encode().split())


def write(path, rows, line):
    with open(path, "wb") as file:
        for label, text in rows:
            file.write(line(label, text) + b"\n")


class Run:
    """A process with its processor time, and its peak of memory in MB."""

    def __init__(self, command, stdin=None, stdout=subprocess.DEVNULL):
        begin = time.time()
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise RuntimeError(f"{command}: {said.decode(errors='replace')[-2000:]}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.wall = time.time() - begin
        self.memory = usage.ru_maxrss / 1024


def python(code, *arguments):
    return [sys.executable, "-c", code, *arguments]


def dbacl(*options):
    def system(program, work, name):
        kind = [option.replace("WORK", work) for option in options]
        if name in BY_CHARACTERS and "-e" not in kind:
            kind.append("--chars")
        model = work + "/dbacl.model"
        train = Run([program, "train", work + "/train.tsv", "-o", model, "--quiet", *kind])
        with open(work + "/texts", "rb") as texts, open(work + "/out", "wb") as out:
            judge = Run([program, "predict", model, "-"], stdin=texts, stdout=out)
        return train, judge, [model], lambda line: line.split(b"\t")[0]

    return system


def peer(train_code, predict_code, model_name):
    def system(_, work, name):
        model = work + "/" + model_name
        kind = "chars" if name in BY_CHARACTERS else "words"
        train = Run(python(train_code, work, model, kind))
        with open(work + "/out", "wb") as out:
            judge = Run(python(predict_code, work, model, kind), stdout=out)
        return train, judge, [model], lambda line: line.strip()

    return system


FASTTEXT = """
import sys, fasttext
work, model, kind = sys.argv[1:4]
options = {k: v.replace("WORK", work) if isinstance(v, str) else v for k, v in OPTIONS.items()}
m = fasttext.train_supervised(work + "/TRAIN", verbose=0, **options)
m.save_model(model)
"""
FASTTEXT_PREDICT = """
import sys, fasttext
work, model, _ = sys.argv[1:4]
m = fasttext.load_model(model)
for line in open(work + "/texts.prepared", encoding="utf-8", errors="replace"):
    print(m.f.predict(line, 1, 0.0, "strict")[0][1][9:] if line.strip() else "")
"""


def fasttext(train, **options):
    code = FASTTEXT.replace("TRAIN", train)
    return peer(code.replace("OPTIONS", repr(options)), FASTTEXT_PREDICT, "fasttext.bin")


VW = """
import sys, json
from vowpalwabbit import Workspace
work, model, kind = sys.argv[1:4]
lines = open(work + "/train.prepared", encoding="utf-8")
rows = [line.rstrip("\\n").split("\\t", 1) for line in lines]
labels = sorted({row[0] for row in rows})
clean = lambda text: text.replace(":", " ").replace("|", " ")
number = {label: at + 1 for at, label in enumerate(labels)}
vw = Workspace(f"--oaa {len(labels)} --loss_function logistic --ngram 2 -b 22 --quiet -f {model}")
import random
for epoch in range(5):
    order = list(range(len(rows)))
    random.Random(epoch).shuffle(order)
    for at in order:
        label, text = rows[at]
        vw.learn(f"{number[label]} | {clean(text)}")
vw.finish()
json.dump(labels, open(model + ".labels", "w"))
"""
VW_PREDICT = """
import sys, json
from vowpalwabbit import Workspace
work, model, _ = sys.argv[1:4]
labels = json.load(open(model + ".labels"))
vw = Workspace(f"-t -i {model} --quiet")
for line in open(work + "/texts.prepared", encoding="utf-8"):
    text = line.rstrip("\\n").replace(":", " ").replace("|", " ")
    print(labels[int(vw.predict(f"| {text}")) - 1])
"""
SKLEARN = """
import sys, pickle
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC
work, model, kind = sys.argv[1:4]
rows = [line.rstrip("\\n").split("\\t", 1) for line in open(work + "/train.tsv", encoding="utf-8")]
cut = dict(analyzer="char_wb", ngram_range=(1, 4)) if kind == "chars" else dict(ngram_range=(1, 2))
common = dict(sublinear_tf=True, min_df=2)
parts = [TfidfVectorizer(**common, **cut)]
if WITH_RUNS:
    parts.insert(0, TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **common))
pipeline = make_pipeline(make_union(*parts), LinearSVC())
pipeline.fit([row[1] for row in rows], [row[0] for row in rows])
pickle.dump(pipeline, open(model, "wb"))
"""
SKLEARN_PREDICT = """
import sys, pickle
work, model, _ = sys.argv[1:4]
pipeline = pickle.load(open(model, "rb"))
texts = [line.rstrip("\\n") for line in open(work + "/texts", encoding="utf-8")]
for label in pipeline.predict(texts):
    print(label)
"""


def sklearn(with_runs):
    """A linear SVM, also on runs of characters within words if `with_runs` says so."""
    return peer(SKLEARN.replace("WITH_RUNS", str(with_runs)), SKLEARN_PREDICT, "sklearn.pickle")


def systems(autotune):
    return {
        "dbacl-text": dbacl(),
        "dbacl-text --pairs": dbacl("--pairs"),
        "dbacl-text -e alnum": dbacl("-e", "alnum"),
        "dbacl-text --choose": dbacl("--choose"),
        WITH_REST: dbacl("--unlabelled", "WORK/rest"),
        "fastText": fasttext("train.fasttext"),
        # The settings of its tutorial; pairs of words are left out where characters tell.
        "fastText (tutorial)": lambda program, work, name: fasttext(
            "train.fasttext",
            epoch=25,
            lr=1.0,
            **({"minn": 2, "maxn": 4} if name in BY_CHARACTERS else {"wordNgrams": 2}),
            bucket=200000,
        )(program, work, name),
        "fastText (autotuned)": fasttext(
            "train.part", autotuneValidationFile="WORK/valid.part", autotuneDuration=autotune
        ),
        "vowpalwabbit": peer(VW, VW_PREDICT, "vw.model"),
        "scikit-learn": sklearn(with_runs=False),
        "scikit-learn with characters": sklearn(with_runs=True),
    }


def measure(truth, found):
    right = sum(a == b for a, b in zip(truth, found))
    labels = set(truth)
    f1 = 0
    for label in labels:
        hits = sum(a == b == label for a, b in zip(truth, found))
        both = truth.count(label) + found.count(label)
        f1 += 2 * hits / both if both else 0
    return 100 * right / len(truth), 100 * f1 / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--systems", default="")
    parser.add_argument("--labels", default="0,1000")
    parser.add_argument("--autotune", type=int, default=300)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    log = os.path.join(options.out, "rows.ndjson")
    known = {}
    if os.path.exists(log):
        for line in open(log):
            row = json.loads(line)
            known[row["set"], row["labels"], row["system"]] = row
    chosen = [system for system in options.systems.split(",") if system]
    for name in options.sets.split(","):
        folder = os.path.join(options.data, name)
        everything = list(lines_of(folder, "train"))
        # fastText learns in the order of the file, and learns nothing of documents sorted by label.
        random.Random(1).shuffle(everything)
        test = list(lines_of(folder, "test"))
        truth = [label for label, _ in test]
        for number in map(int, options.labels.split(",")):
            work = os.path.join(options.out, f"{name}-{number}")
            os.makedirs(work, exist_ok=True)
            rows = some(everything, number)
            tabbed = lambda label, text: label + b"\t" + text
            marked = lambda label, text: b"__label__" + label + b" " + prepared(text)
            write(work + "/train.tsv", rows, tabbed)
            write(work + "/train.prepared", rows, lambda label, text: tabbed(label, prepared(text)))
            write(work + "/train.fasttext", rows, marked)
            parts = [row for at, row in enumerate(rows) if at % 5], rows[::5]
            write(work + "/train.part", parts[0], marked)
            write(work + "/valid.part", parts[1], marked)
            write(work + "/texts", test, lambda _, text: text)
            learned = {id(row) for row in rows}
            rest = [row for row in everything if id(row) not in learned]
            write(work + "/rest", rest, lambda _, text: text)
            write(work + "/texts.prepared", test, lambda _, text: prepared(text))
            for title, system in systems(options.autotune).items():
                if chosen and title not in chosen or (name, number, title) in known:
                    continue
                if title == WITH_REST and not rest:
                    continue
                train, judge, files, label_of = system(options.program, work, name)
                found = [label_of(line) for line in open(work + "/out", "rb")]
                assert len(found) == len(truth), (title, len(found), len(truth))
                accuracy, f1 = measure(truth, found)
                size = sum(os.path.getsize(file) for file in files)
                row = {
                    "set": name,
                    "labels": number,
                    "system": title,
                    "accuracy": round(accuracy, 2),
                    "macro_f1": round(f1, 2),
                    "train_cpu": round(train.cpu, 2),
                    "train_wall": round(train.wall, 2),
                    "predict_cpu": round(judge.cpu, 2),
                    "memory": round(train.memory),
                    "size": round(size / 1e6, 2),
                }
                known[name, number, title] = row
                with open(log, "a") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)
    head = "set | labels | system | accuracy % | macro-F1 % | training s | prediction s"
    head += " | MB | memory MB"
    print("| " + head + " |\n|" + "---|" * 9)
    for name in options.sets.split(","):
        for number in (0, 1000):
            for title in systems(0):
                row = known.get((name, number, title))
                if row:
                    cells = [name, number or "all", title, row["accuracy"], row["macro_f1"]]
                    cells += [row["train_cpu"], row["predict_cpu"], row["size"], row["memory"]]
                    print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
