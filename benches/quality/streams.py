#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mail filter that learns from a stream: each mail is judged, then learned.

    streams.py [--orders 20] [--mails 500] [--part train|test] DBACL MAIL

MAIL holds train/ham, train/spam, test/ham and test/spam, one file a mail. In each order so many
mails of one part come at random; --part train is for choosing rules. The filter is made by
--mail-learn when there is a mail of each kind, and every further mail is learned by --mail-correct.

Rows are parts of the streams, then whole streams. Columns:
  good as spam   good mails surely called spam, in % of the good mails; in the last row also how many
                 streams have more than 1 %, and the largest share
  spam as good   spams surely called good, in % of the spams
  unsure         mails of either kind without a sure verdict, in %
"""

import argparse
import os
import random
import shutil
import subprocess
import tempfile

from few import KINDS, files

PARTS = (50, 100, 200, 300, 500, 1000, 2000)


def verdict(program, folder, path):
    categories = [word for kind in KINDS for word in ("-c", os.path.join(folder, kind))]
    options = ["--strict", "--verdict", "--format", "tsv", "-F"]
    run = subprocess.run(
        [program, *options, *categories, path], capture_output=True, text=True, check=True
    )
    _, best, unsure, *_ = run.stdout.splitlines()[1].split("\t")
    return None if unsure == "true" else best


def stream(program, mails, room):
    """For each mail its kind and the sure verdict on it."""
    folder, found = os.path.join(room, "filter"), []
    is_made = False
    for kind in KINDS:
        os.mkdir(os.path.join(room, kind))
    for number, (kind, path) in enumerate(mails):
        found.append((kind, verdict(program, folder, path) if is_made else None))
        if is_made:
            with open(path, "rb") as mail:
                learn = [program, "--mail-correct", folder, kind]
                subprocess.run(learn, stdin=mail, capture_output=True, check=True)
            continue
        shutil.copy(path, os.path.join(room, kind, f"{number:05}"))
        is_made = {kind for kind, _ in found} == set(KINDS)
        if is_made:
            operands = [f"{kind}={os.path.join(room, kind)}" for kind in KINDS]
            learn = [program, "--mail-learn", folder, *operands]
            subprocess.run(learn, capture_output=True, check=True)
    return found


def share(found, kind, wrong):
    own = [said for label, said in found if label == kind]
    return 100 * own.count(wrong) / max(1, len(own))


def row(name, found, more=""):
    unsure = 100 * sum(said is None for _, said in found) / len(found)
    lost, through = share(found, "ham", "spam"), share(found, "spam", "ham")
    print(f"| {name} | {lost:.2f}{more} | {through:.2f} | {unsure:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dbacl")
    parser.add_argument("mail")
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--mails", type=int, default=500)
    parser.add_argument("--part", choices=("train", "test"), default="test")
    wanted = parser.parse_args()
    folders = {kind: os.path.join(os.path.abspath(wanted.mail), wanted.part, kind) for kind in KINDS}
    mails = [(kind, path) for kind, folder in folders.items() for path in files(folder)]
    streams = []
    for number in range(wanted.orders):
        order = random.Random(f"stream {number}").sample(mails, min(wanted.mails, len(mails)))
        with tempfile.TemporaryDirectory(prefix="streams.") as room:
            streams.append(stream(os.path.abspath(wanted.dbacl), order, room))
    print("| mails | good as spam | spam as good | unsure |")
    print("|---|---|---|---|")
    begin = 0
    for end in PARTS:
        found = [one for stream in streams for one in stream[begin:end]]
        if found:
            row(f"{begin + 1} to {min(end, wanted.mails)}", found)
        begin = end
    lost = [share(stream, "ham", "spam") for stream in streams]
    above = sum(one > 1 for one in lost)
    row("all", [one for stream in streams for one in stream], f" ({above}, {max(lost):.1f})")


main()
