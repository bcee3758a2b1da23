#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How good classifiers of few labelled texts are, beside the usual recipes of scikit-learn.

    few.py DBACL-TEXT FOLDER [NUMBER...]

FOLDER has documents to learn and to test, as compare.py reads them. For each NUMBER of labels (16, 64, 256,
1000), ten draws of documents to learn with as many of each label; a Markdown row with right answers on the
test documents in %, mean and its standard error: dbacl-text, the same with the other documents without their
labels, and logistic regression and a linear SVM on words and pairs by tf-idf.
"""

import random
import statistics
import sys
import tempfile

from compare import dbacl, lines_of, measure, write

DRAWS = 10


def ours(*options):
    system = dbacl(*options)

    def answers(program, work, learned, texts):
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


SYSTEMS = {
    "dbacl-text": ours(),
    "with the other texts": ours("--unlabelled", "WORK/rest"),
    "logistic regression": recipe(logistic_regression),
    "linear SVM": recipe(linear_svm),
}


def main():
    program, folder, *numbers = sys.argv[1:]
    everything, test = list(lines_of(folder, "train")), list(lines_of(folder, "test"))
    labels = sorted({label for label, _ in everything})
    truth, texts = [label for label, _ in test], [text for _, text in test]
    print("| labels | " + " | ".join(SYSTEMS) + " |\n" + "|---" * (1 + len(SYSTEMS)) + "|")
    with tempfile.TemporaryDirectory() as work:
        write(work + "/texts", test, lambda _, text: text)
        for number in map(int, numbers or ["16", "64", "256", "1000"]):
            right = {title: [] for title in SYSTEMS}
            for draw in range(DRAWS):
                rows = random.Random(draw).sample(everything, len(everything))
                learned = [row for one in labels for row in [r for r in rows if r[0] == one][:number // len(labels)]]
                known = set(learned)
                write(work + "/train.tsv", learned, lambda label, text: label + b"\t" + text)
                write(work + "/rest", [row for row in everything if row not in known], lambda _, text: text)
                for title, answers in SYSTEMS.items():
                    right[title].append(measure(truth, answers(program, work, learned, texts))[0])
            cells = [f"{statistics.mean(own):.1f} ± {statistics.stdev(own) / len(own) ** 0.5:.1f}" for own in right.values()]
            print(f"| {number} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
