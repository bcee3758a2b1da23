#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Few own mails with a general model, without one, and the general model alone: the tables of
docs/lab/refit.md.

    general.py [--from OTHERS] [--draws 20] [--sizes 5,10,20,50,100] [--part train|test] DBACL MAIL

MAIL holds train/ham, train/spam, test/ham and test/spam, one file a mail. The general model is
learned from OTHERS/ham and OTHERS/spam. Without --from it is learned from the older half of the
training part, by the newest date of each mail's Received fields; then own mails are drawn from the
newer half, and of the test part the mails of the same time are judged. For each size and draw so
many own mails of each kind are learned, by the rules of few.py, with and without the general model.

Columns, in % of the mails judged, means over the draws:
  good as spam   good mails surely called spam; in brackets how many draws have more than 1 %, and
                 the largest share
  spam as good   spams surely called good
  unsure         mails without a sure verdict; 2 good mails for each spam
  wrong          mails on the wrong side of even odds; in brackets what holds 95 % of 1,000
                 resamplings of the draws
  fewer wrong    by how much this is less than without the general model, in the same draws, with the
                 same interval
The row "general" is the general model alone: its own thresholds are those of its own mail, and are
not used by filters that begin with it.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

from few import KINDS, dbacl, draw, files, shares, verdicts_of

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
DATE = re.compile(r"(\d+) (%s) (\d{4}) ([\d:]+)" % "|".join(MONTHS))


def date(path):
    """The date of a mail's newest Received field; mail without one counts as the newest."""
    with open(path, encoding="latin-1") as mail:
        head = re.split(r"\r?\n\r?\n", mail.read(), maxsplit=1)[0]
    for field in re.split(r"\r?\n(?![ \t])", head):
        found = field.lower().startswith("received:") and DATE.search(field)
        if found:
            day, month, year, time = found.groups()
            return (int(year), MONTHS.index(month), int(day), time)
    return (9999, 0, 0, "")


def divide(mail, room):
    """Folders with the older half of the training part, and with the newer half and its test part."""
    older, newer = os.path.join(room, "older"), os.path.join(room, "newer")
    for kind in KINDS:
        own = sorted((date(path), path) for path in files(os.path.join(mail, "train", kind)))
        half = len(own) // 2
        parts = {
            os.path.join(older, kind): own[:half],
            os.path.join(newer, "train", kind): own[half:],
            os.path.join(newer, "test", kind): [
                (day, path)
                for day, path in ((date(path), path) for path in files(os.path.join(mail, "test", kind)))
                if day >= own[half][0]
            ],
        }
        for folder, mails in parts.items():
            os.makedirs(folder)
            for _, path in mails:
                os.symlink(path, os.path.join(folder, os.path.basename(path)))
    return older, newer


def interval(values):
    """What holds 95 % of the means of 1,000 resamplings."""
    chance = random.Random(1)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(1000))
    return f"({means[25]:.2f} to {means[974]:.2f})"


def row(size, name, rows, alone=None):
    good, missed, unsure, wrong = zip(*rows)
    mean = lambda column: sum(column) / len(column)
    above = sum(share > 1 for share in good)
    fewer = [without[3] - share for without, share in zip(alone, wrong)] if alone else None
    gain = f"{mean(fewer):.2f} {interval(fewer)}" if fewer else ""
    print(
        f"| {size} | {name} | {mean(good):.2f} ({above}, {max(good):.1f}) | {mean(missed):.2f} "
        f"| {mean(unsure):.1f} | {mean(wrong):.2f} {interval(wrong)} | {gain} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dbacl")
    parser.add_argument("mail")
    parser.add_argument("--from", dest="others")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sizes", default="5,10,20,50,100")
    parser.add_argument("--part", choices=("train", "test"), default="test")
    wanted = parser.parse_args()
    mail = os.path.abspath(wanted.mail)
    with tempfile.TemporaryDirectory(prefix="general.") as room:
        others = wanted.others
        if not others:
            others, mail = divide(mail, room)
        general = os.path.join(room, "general")
        operands = [f"{kind}={os.path.join(others, kind)}" for kind in KINDS]
        run = subprocess.run([wanted.dbacl, "--quiet", "--mail-learn", general, *operands])
        if run.returncode:
            sys.exit(run.returncode)
        print("| own mails of each | filter | good as spam | spam as good | unsure | wrong | fewer wrong |")
        print("|---|---|---|---|---|---|---|")
        for size in map(int, wanted.sizes.split(",")):
            rows = {"own": [], "general": [], "both": []}
            for number in range(wanted.draws):
                learned, judged = draw(mail, (size, size), number, wanted.part)
                for name, options in (("own", ()), ("both", ("--general", general))):
                    with tempfile.TemporaryDirectory(prefix="general.") as own:
                        rows[name].append(shares(dbacl(wanted.dbacl, own, learned, judged, options)))
                if wanted.part == "train" or not rows["general"]:
                    rows["general"].append(shares(verdicts_of(wanted.dbacl, general, judged)))
            row(size, "general", rows["general"])
            row(size, "own", rows["own"])
            row(size, "both", rows["both"], rows["own"])


main()
