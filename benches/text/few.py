#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How good classifiers of few labelled texts are, beside the usual recipes of scikit-learn.

    few.py DBACL-TEXT TRAIN.tsv TEST.tsv [NUMBER...]

Lines are a label, a tab and a text. For each NUMBER of labels (16, 64, 256, 1000), ten draws from TRAIN
with as many texts of each label; a Markdown row with right answers on TEST in %, mean and its standard error:
dbacl-text, the same with the other texts of TRAIN as texts without labels, and logistic regression and a
linear SVM on words and pairs by tf-idf.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile

DRAWS = 10


def read(path):
    with open(path, encoding="utf-8", errors="replace") as lines:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]


def ours(program, folder, learned, others, test):
    paths = {name: os.path.join(folder, name) for name in ("learned", "others", "test", "model")}
    for name, rows in (("learned", learned), ("test", test)):
        with open(paths[name], "w", encoding="utf-8") as file:
            file.writelines(f"{label}\t{text}\n" for label, text in rows)
    command = [program, "train", "-q", "--format", "tsv", "-o", paths["model"], paths["learned"]]
    if others:
        with open(paths["others"], "w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for _, text in others)
        command += ["--unlabelled", paths["others"]]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    texts = "".join(f"{text}\n" for _, text in test)
    run = subprocess.run([program, "predict", paths["model"]], input=texts, capture_output=True, text=True, check=True)
    return [line.split("\t")[0] for line in run.stdout.splitlines()]


def recipe(kind, learned, test):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    end = LogisticRegression(C=10, max_iter=1000) if kind == "logistic regression" else LinearSVC()
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), end)
    pipeline.fit([text for _, text in learned], [label for label, _ in learned])
    return list(pipeline.predict([text for _, text in test]))


def main():
    program, train, test, *numbers = sys.argv[1:]
    train, test = read(train), read(test)
    labels = sorted({label for label, _ in train})
    columns = ["dbacl-text", "with the other texts", "logistic regression", "linear SVM"]
    print("| labels | " + " | ".join(columns) + " |\n" + "|---" * (1 + len(columns)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for number in map(int, numbers or ["16", "64", "256", "1000"]):
            found = {column: [] for column in columns}
            for draw in range(DRAWS):
                rows = random.Random(draw).sample(train, len(train))
                learned = [row for one in labels for row in [r for r in rows if r[0] == one][:number // len(labels)]]
                known = set(learned)
                others = [row for row in train if row not in known]
                for column in columns:
                    if column in columns[:2]:
                        answers = ours(program, folder, learned, others if column == columns[1] else [], test)
                    else:
                        answers = recipe(column, learned, test)
                    right = sum(answer == label for answer, (label, _) in zip(answers, test))
                    found[column].append(100 * right / len(test))
            cells = [f"{statistics.mean(own):.1f} ± {statistics.stdev(own) / len(own) ** 0.5:.1f}" for own in found.values()]
            print(f"| {number} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
