#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How good classifiers of few labelled texts are, beside the usual recipes of scikit-learn.

    few.py [--words FILE] [--systems NAME,...] DBACL-TEXT FOLDER [NUMBER...]

FOLDER has documents to learn and to test, as compare.py reads them. For each NUMBER of labels (16, 64, 256,
1000), ten draws of documents to learn with as many of each label; a Markdown row with right answers on the
test documents in %, mean and its standard error: dbacl-text, the same with the names of the labels, with the
other documents without their labels, and logistic regression and a linear SVM on words and pairs by tf-idf.
FILE has lines of a label, a tab, and words that describe it, each of which is then a further document.
"""

import argparse
import random
import statistics
import tempfile

from compare import dbacl, lines_of, measure, write

DRAWS = 10


def ours(*options, words=()):
    system = dbacl(*options)

    def answers(program, work, learned, texts):
        write(work + "/train.tsv", learned + list(words), lambda label, text: label + b"\t" + text)
        label_of = system(program, work, None)[3]
        with open(work + "/out", "rb") as lines:
            return [label_of(line) for line in lines]

    return answers


def recipe(last_step):
    def answers(program, work, learned, texts):
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline

        pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), last_step())
        pipeline.fit([text for _, text in learned], [label.decode() for label, _ in learned])
        return [label.encode() for label in pipeline.predict(texts)]

    return answers


def logistic_regression():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10, max_iter=1000)


def linear_svm():
    from sklearn.svm import LinearSVC

    return LinearSVC()


PEERS = {"logistic regression": recipe(logistic_regression), "linear SVM": recipe(linear_svm)}
OTHERS = ("--unlabelled", "WORK/rest")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--words")
    parser.add_argument("--systems", help="those of the table's columns that are wanted, with commas between")
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("numbers", nargs="*", type=int, default=[16, 64, 256, 1000])
    asked = parser.parse_args()
    program, folder = asked.program, asked.folder
    systems = {
        "dbacl-text": ours(),
        "label names": ours("--label-names"),
        "with the other texts": ours(*OTHERS),
        "label names and the other texts": ours("--label-names", *OTHERS),
    }
    if asked.words:
        with open(asked.words, "rb") as lines:
            rows = [line.rstrip(b"\n").split(b"\t") for line in lines]
        words = [(label, word) for label, text in rows for word in text.split()]
        systems["words"] = ours(words=words)
        systems["words and the other texts"] = ours(*OTHERS, words=words)
    systems |= PEERS
    if asked.systems:
        systems = {title: systems[title] for title in asked.systems.split(",")}
    everything, test = list(lines_of(folder, "train")), list(lines_of(folder, "test"))
    labels = sorted({label for label, _ in everything})
    truth, texts = [label for label, _ in test], [text for _, text in test]
    print("| labels | " + " | ".join(systems) + " |\n" + "|---" * (1 + len(systems)) + "|")
    with tempfile.TemporaryDirectory() as work:
        write(work + "/texts", test, lambda _, text: text)
        for number in asked.numbers:
            right = {title: [] for title in systems}
            for draw in range(DRAWS):
                rows = random.Random(draw).sample(everything, len(everything))
                learned = [row for one in labels for row in [r for r in rows if r[0] == one][:number // len(labels)]]
                known = set(learned)
                write(work + "/rest", [row for row in everything if row not in known], lambda _, text: text)
                for title, answers in systems.items():
                    right[title].append(measure(truth, answers(program, work, learned, texts))[0])
            cells = [f"{statistics.mean(own):.1f} ± {statistics.stdev(own) / len(own) ** 0.5:.1f}" for own in right.values()]
            print(f"| {number} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
