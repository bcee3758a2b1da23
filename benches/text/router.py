#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many texts a classifier in front of a language model passes on, and how often the answers that
it keeps are right.

    router.py DBACL_TEXT FOLDER

FOLDER has train.tsv and test.tsv of CLINC150, and none-of-these.txt: 1,000 questions with none of
its labels, of which 250, by a fixed seed, are examples to learn (`train --none`), and the others are
asked. A text is passed on where `predict --keep` answers none, or the label is less probable than
PROBABILITY; an answer that is kept is wrong for all texts without a label. Prints rows: keep,
probability, percent passed on of the texts with a label, of those without, and of all, and percent of
the kept answers that are right.
"""

import os
import random
import subprocess
import sys
import tempfile


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def main():
    program, folder = sys.argv[1:]
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
        print("keep\tprobability\tpassed on %\tof others %\tof all %\tright %")
        for keep in ("0.9", "0.95", "0.98"):
            words = [program, "predict", model, texts, "--input", "lines", "--keep", keep]
            said = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
            answers = [line.split("\t") for line in said.splitlines()]
            for least in (0, 0.5, 0.8, 0.9, 0.95):
                passed = {True: [], False: []}
                right = []
                for (truth, _, _), (label, probability) in zip(rows, answers, strict=True):
                    goes_on = label == "none" or float(probability) < least
                    passed[truth != ""].append(goes_on)
                    if not goes_on:
                        right.append(label == truth)
                shares = [passed[True], passed[False], passed[True] + passed[False], right]
                shares = [f"{100 * sum(share) / len(share):.1f}" for share in shares]
                print(keep, least, *shares, sep="\t")


main()
