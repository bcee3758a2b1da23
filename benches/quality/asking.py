#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mail filter that asks for labels (`--mail-ask`), beside one that gets them for random messages.

    asking.py [--draws 3] [--begin 10] [--labels 200] [--drawn 0] DBACL MAIL

MAIL holds train/ham and train/spam, one file a message; the test part is not read. Of each draw,
half of the training part is classified, and the labels come from the other half. Both filters begin
with so many random messages of each kind. One then learns the true labels of the ten messages that
it asks about (or, with --drawn, of some of them and so many random ones), again and again; the other learns as many random messages.

Columns, in % of the messages classified, means over the draws, as in few.py.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

from few import KINDS, dbacl, files, shares, verdicts_of


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def parts(mail, number):
    """Messages with labels to be asked for, and messages to classify, by kind."""
    pool, judged = {}, {}
    for kind in KINDS:
        own = files(os.path.join(mail, "train", kind))
        random.Random(f"{kind} {number}").shuffle(own)
        pool[kind], judged[kind] = own[::2], own[1::2]
    return pool, judged


def asking(program, room, begin, pool, judged, labels, drawn):
    """The verdicts of a filter before and after it has asked for so many labels, and its spam; of
    each ten messages so many are drawn at random instead."""
    kinds, box = {}, os.path.join(room, "pool")
    os.mkdir(box)
    for kind in KINDS:
        for number, path in enumerate(pool[kind]):
            # The names must not tell the kinds.
            place = os.path.join(box, f"{random.Random(f'{number} {kind}').getrandbits(64):016x}")
            os.symlink(path, place)
            kinds[place] = kind
    before = dbacl(program, room, begin, judged)
    folder = os.path.join(room, "filter")
    given = {kind: len(begin[kind]) for kind in KINDS}
    first = {path for kind in KINDS for path in begin[kind]}
    known = {place for place in kinds if os.readlink(place) in first}
    while sum(given.values()) < labels:
        lines = run([program, "--mail-ask", folder, box]).splitlines()
        asked = dict.fromkeys(line.split("\t")[0].split(", message ")[0] for line in lines)
        asked = list(asked)[: 10 - drawn]
        others = sorted(set(kinds) - known - set(asked))
        asked += random.Random(len(known)).sample(others, min(drawn, len(others)))
        asked = asked[: labels - sum(given.values())]
        known.update(asked)
        if not asked:
            break
        for kind in KINDS:
            own = [path for path in asked if kinds[path] == kind]
            given[kind] += len(own)
            if own:
                run([program, "--mail-correct", folder, kind, *own])
    return before, verdicts_of(program, folder, judged), given["spam"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dbacl")
    parser.add_argument("mail")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--begin", type=int, default=10)
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--drawn", type=int, default=0)
    wanted = parser.parse_args()
    program, mail = os.path.abspath(wanted.dbacl), os.path.abspath(wanted.mail)
    rows = {"begin": [], "asked": [], "random": []}
    for number in range(wanted.draws):
        pool, judged = parts(mail, number)
        begin = {kind: pool[kind][: wanted.begin] for kind in KINDS}
        with tempfile.TemporaryDirectory(prefix="asking.") as room:
            before, verdicts, spam = asking(program, room, begin, pool, judged, wanted.labels, wanted.drawn)
        rows["begin"].append((*shares(before), wanted.begin))
        rows["asked"].append((*shares(verdicts), spam))
        rest = [(kind, path) for kind in KINDS for path in pool[kind][wanted.begin :]]
        random.Random(number).shuffle(rest)
        drawn = {kind: list(begin[kind]) for kind in KINDS}
        for kind, path in rest[: wanted.labels - 2 * wanted.begin]:
            drawn[kind].append(path)
        with tempfile.TemporaryDirectory(prefix="asking.") as room:
            verdicts = dbacl(program, room, drawn, judged)
        rows["random"].append((*shares(verdicts), len(drawn["spam"])))
    print("| labels | good as spam | spam as good | unsure | wrong | spam among them |")
    print("|---|---|---|---|---|---|")
    for name, own in rows.items():
        good, missed, unsure, wrong, spam = (sum(column) / len(own) for column in zip(*own))
        print(f"| {name} | {good:.2f} | {missed:.2f} | {unsure:.1f} | {wrong:.2f} | {spam:.0f} |")


if __name__ == "__main__":
    main()
