#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many texts a classifier in front of a language model passes on, and how often the answers that
it keeps are right.

    router.py DBACL_TEXT FOLDER [--peers]

FOLDER has train.tsv and test.tsv of CLINC150, and none-of-these.txt: 1,000 questions with none of
its labels, of which 250, by a fixed seed, are examples to learn (`train --none`), and the others are
asked. A text is passed on where `predict --keep` answers none, or the label is less probable than
PROBABILITY; an answer that is kept is wrong for all texts without a label. Prints rows: keep,
probability, percent passed on of the texts with a label, of those without, and of all, and percent of
the kept answers that are right. With --peers, classifiers of scikit-learn learn the same texts, with
`none` as a label; each row then is at the confidence below which 15 % of the texts with a label lie.
"""

import os
import random
import subprocess
import sys
import tempfile


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def peers(learned, texts):
    """Label and confidence of each text, by scikit-learn."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.svm import LinearSVC

    def answers(cut, last, confidence):
        pipeline = make_pipeline(cut, last).fit([text for _, text in learned], [label for label, _ in learned])
        found = getattr(pipeline, confidence)(texts)
        return [(pipeline.classes_[own.argmax()], own.max()) for own in found]

    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    runs = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2)
    yield "linear SVM", answers(make_union(words, runs), LinearSVC(), "decision_function")
    yield "logistic regression", answers(words, LogisticRegression(C=10, max_iter=1000), "predict_proba")


def shares_of(rows, answers, least):
    """Percent passed on of texts with a label, of others, of all; percent of the rest that is right."""
    passed = {True: [], False: []}
    right = []
    for (truth, _, _), (label, confidence) in zip(rows, answers, strict=True):
        goes_on = label == "none" or confidence < least
        passed[truth != ""].append(goes_on)
        if not goes_on:
            right.append(label == truth)
    shares = [passed[True], passed[False], passed[True] + passed[False], right]
    return [f"{100 * sum(share) / len(share):.1f}" for share in shares]


def at_fifteen(rows, answers):
    own = [confidence if label != "none" else float("-inf") for (truth, _, _), (label, confidence) in zip(rows, answers) if truth]
    return shares_of(rows, answers, sorted(own)[len(own) * 15 // 100])


def main():
    program, folder, *wanted = sys.argv[1:]
    others = lines_of(os.path.join(folder, "none-of-these.txt"))
    random.Random(1).shuffle(others)
    with tempfile.TemporaryDirectory() as work:
        def write(name, lines):
            path = os.path.join(work, name)
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines)
            return path

        rows = [line.partition("\t") for line in lines_of(os.path.join(folder, "test.tsv"))]
        rows += [("", "\t", text) for text in others[250:]]
        texts, model = write("texts", [text for _, _, text in rows]), os.path.join(work, "model")
        train = [program, "train", os.path.join(folder, "train.tsv"), "-q", "-o", model]
        subprocess.run([*train, "--none", write("none", others[:250])], check=True)
        def ask(*options):
            words = [program, "predict", model, texts, "--input", "lines", *options]
            said = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
            answers = [line.split("\t") for line in said.splitlines()]
            return [(label, float(probability)) for label, probability in answers]

        if wanted == ["--peers"]:
            learned = [(label, text) for label, _, text in (line.partition("\t") for line in lines_of(os.path.join(folder, "train.tsv")))]
            learned += [("none", text) for text in others[:250]]
            print("system\tpassed on %\tof others %\tof all %\tright %")
            for title, answers in [("dbacl-text", ask()), *peers(learned, [text for _, _, text in rows])]:
                print(title, *at_fifteen(rows, answers), sep="\t", flush=True)
            return
        print("keep\tprobability\tpassed on %\tof others %\tof all %\tright %")
        for keep in ("0.9", "0.95", "0.98"):
            answers = ask("--keep", keep)
            for least in (0, 0.5, 0.8, 0.9, 0.95):
                print(keep, least, *shares_of(rows, answers, least), sep="\t")

main()
