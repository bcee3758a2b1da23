#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts of a mail filter that has learned few messages, beside bogofilter's.

    few.py [--draws 20] [--sizes 5,10,20] [--part train|test] [--wrong SHARE] [--peer COMMAND]
           DBACL MAIL

MAIL holds train/ham, train/spam, test/ham and test/spam, one file a message. For each size and draw
so many messages of each kind are drawn from the training part and learned. Then the messages of the
test part are classified, or with `--part train` (for choosing rules) 600 good messages and 300 spams
of the rest of the training part. A size such as 500:50 means 500 good messages and 50 spams. With
--wrong, this share of the messages of either kind is learned as the other kind.

Columns, in % of the messages classified, means over the draws:
  good as spam   good messages confidently classified as spam; in brackets how many draws have more
                 than 1 %, and the largest share
  spam as good   spams confidently classified as good
  unsure         messages of either kind without a confident verdict; 2 good messages for each spam
  wrong          messages on the wrong side of even odds
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

KINDS = ("ham", "spam")
# How Debian configures bogofilter: spam from 0.99 on, good mail up to 0.45.
SPAM, GOOD = 0.99, 0.45


def files(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def draw(mail, sizes, number, part, wrong=0.0):
    """Messages to learn and messages to classify, by kind."""
    learned, judged = {}, {}
    for kind, size, most in zip(KINDS, sizes, (600, 300)):
        all_files = files(os.path.join(mail, "train", kind))
        random.Random(f"{kind} {sizes} {number} {part}").shuffle(all_files)
        learned[kind] = all_files[:size]
        rest = all_files[size : size + most]
        judged[kind] = rest if part == "train" else files(os.path.join(mail, "test", kind))
    counts = {kind: round(wrong * len(learned[kind])) for kind in KINDS}
    good, spam = (learned[kind][: counts[kind]] for kind in KINDS)
    learned = {
        "ham": learned["ham"][counts["ham"] :] + spam,
        "spam": learned["spam"][counts["spam"] :] + good,
    }
    if wrong:
        # The order must not tell the filter which of the messages are spam.
        for own in learned.values():
            own.sort(key=os.path.basename)
    return learned, judged


def dbacl(program, room, learned, judged, options=()):
    """For each message: is it spam, the confident verdict, is spam more probable."""
    folder = os.path.join(room, "filter")
    operands = []
    for kind in KINDS:
        own = os.path.join(room, kind)
        os.mkdir(own)
        for number, path in enumerate(learned[kind]):
            os.symlink(path, os.path.join(own, f"{number:05}"))
        operands.append(f"{kind}={own}")
    learn = [program, "--mail-learn", folder, *options, *operands]
    run = subprocess.run(learn, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return verdicts_of(program, folder, judged)


def verdicts_of(program, folder, judged):
    """The same of the filter in `folder`."""
    verdicts = []
    for kind in KINDS:
        for path in judged[kind]:
            run = subprocess.run(
                [program, "--mail-filter", folder, path], capture_output=True, encoding="latin-1"
            )
            found = re.match(r"(?:From .*\n)?X-DBACL: (ham|spam|unsure) [\d.]+%(?: (\w+))?", run.stdout)
            if not found:
                sys.exit(f"{path}: no verdict: {run.stderr}")
            sure = None if found[1] == "unsure" else found[1]
            verdicts.append((kind == "spam", sure, (sure or found[2]) == "spam"))
    return verdicts


def bogofilter(program, room, learned, judged):
    """The same of bogofilter."""
    options = [program, "-d", room]
    for kind, flag in zip(KINDS, ("-n", "-s")):
        names = "".join(f"{path}\n" for path in learned[kind])
        subprocess.run([*options, flag, "-b"], input=names, text=True, check=True)
    verdicts = []
    for kind in KINDS:
        names = "".join(f"{path}\n" for path in judged[kind])
        run = subprocess.run([*options, "-TT", "-b"], input=names, text=True, capture_output=True)
        for line in run.stdout.splitlines():
            score = float(line.split()[-1])
            sure = "spam" if score >= SPAM else "ham" if score <= GOOD else None
            verdicts.append((kind == "spam", sure, score > 0.5))
    return verdicts


def shares(verdicts):
    """(good as spam, spam as good, unsure, wrong), in %."""
    good = [verdict for verdict in verdicts if not verdict[0]]
    spam = [verdict for verdict in verdicts if verdict[0]]

    def percent(found, own):
        return 100 * sum(map(found, own)) / len(own)

    def both(found):
        return (2 * percent(found, good) + percent(found, spam)) / 3

    return (
        percent(lambda one: one[1] == "spam", good),
        percent(lambda one: one[1] == "ham", spam),
        both(lambda one: one[1] is None),
        both(lambda one: one[2] != one[0]),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dbacl")
    parser.add_argument("mail")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sizes", default="5,10,20,50,100,200,500")
    parser.add_argument("--part", choices=("train", "test"), default="test")
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--peer", default="bogofilter")
    wanted = parser.parse_args()
    mail = os.path.abspath(wanted.mail)
    filters = [("dbacl", dbacl, wanted.dbacl)]
    if subprocess.run(["sh", "-c", 'command -v "$0"', wanted.peer], capture_output=True).returncode == 0:
        filters.append((wanted.peer, bogofilter, wanted.peer))
    print("| learned of each | filter | good as spam | spam as good | unsure | wrong |")
    print("|---|---|---|---|---|---|")
    for size in wanted.sizes.split(","):
        sizes = tuple(map(int, (size + ":" + size).split(":")[:2]))
        rows = {name: [] for name, *_ in filters}
        for number in range(wanted.draws):
            learned, judged = draw(mail, sizes, number, wanted.part, wanted.wrong)
            for name, judge, program in filters:
                with tempfile.TemporaryDirectory(prefix="few.") as room:
                    rows[name].append(shares(judge(program, room, learned, judged)))
        for name, own in rows.items():
            good, missed, unsure, wrong = (sum(column) / len(own) for column in zip(*own))
            worst = [row[0] for row in own]
            above = sum(share > 1 for share in worst)
            print(
                f"| {size} | {name} | {good:.2f} ({above}, {max(worst):.1f}) | {missed:.2f} "
                f"| {unsure:.1f} | {wrong:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
