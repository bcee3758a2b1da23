#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of many folders that learned some mails in the wrong folder: the table of docs/lab/refit.md.

    wrong_folders.py [--draws 5] [--folders 5,10,20] [--wrong 0,one,0.02,0.05] [--learned 200]
                     DBACL FOLDERS

FOLDERS holds a folder for each category, with a mail in each file. For each number of folders and
draw, so many folders and mails of each are drawn and learned, and 150 others of each are judged.
The first folder is protected (0.1 %). Of the mails of each folder the share `wrong` is learned in
other folders, which chance chooses; `one` is one mail of all, of the second folder in the first.

Columns, in % of the mails judged, means over the draws:
  protected  mails of the protected folder that surely get another name; in brackets how many draws
             have more than 1 %, and the largest share
  others     mails of other folders that surely get another name
  unsure     mails without a sure verdict
  wrong      mails of which another folder is the more probable one
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

from few import files

JUDGED = 150


def draw(place, number_of_folders, size, wrong, number):
    """Mails to learn and mails to judge, by folder; the same mails for every share of wrong ones."""
    chance = random.Random(f"{number_of_folders} {size} {number}")
    names = sorted(name for name in os.listdir(place) if len(files(os.path.join(place, name))) >= size)
    names = chance.sample(names, number_of_folders)
    learned, judged = {}, {}
    for name in names:
        mails = files(os.path.join(place, name))
        chance.shuffle(mails)
        learned[name], judged[name] = mails[:size], mails[size : size + JUDGED]
    moved = []
    if wrong == "one":
        moved.append((names[1], names[0]))
    else:
        for name in names:
            others = [other for other in names if other != name]
            moved += [(name, chance.choice(others)) for _ in range(round(float(wrong) * size))]
    moved = [(learned[name].pop(0), other) for name, other in moved]
    for mail, other in moved:
        learned[other].append(mail)
    for own in learned.values():
        own.sort(key=os.path.basename)  # the order must not tell which mails are misfiled
    return learned, judged


def verdicts(program, room, learned, judged):
    """For each mail: its folder, the more probable folder, and whether that is sure."""
    label = {name: name.replace(".", "-") for name in learned}
    operands = []
    for name, mails in learned.items():
        own = os.path.join(room, label[name])
        os.mkdir(own)
        for number, path in enumerate(mails):
            os.symlink(os.path.abspath(path), os.path.join(own, f"{number:05}"))
        operands.append(f"{label[name]}={own}")
    folder = os.path.join(room, "filter")
    protected = label[next(iter(learned))]
    learn = [program, "--mail-learn", folder, "--protect", protected, *operands]
    run = subprocess.run(learn, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    categories = [word for name in label.values() for word in ("-c", os.path.join(folder, name))]
    found = []
    for name, mails in judged.items():
        options = ["--strict", "--verdict", "--format", "tsv", "-F"]
        run = subprocess.run([program, *options, *categories, *mails], capture_output=True, text=True)
        lines = [line.split("\t") for line in run.stdout.splitlines()[1:]]
        if len(lines) != len(mails):
            sys.exit(f"{len(lines)} verdicts for {len(mails)} mails: {run.stderr}")
        found += [(label[name], best, unsure != "true") for _, best, unsure, *_ in lines]
    return protected, found


def shares(protected, found):
    """(protected, others, unsure, wrong), in %."""

    def percent(wanted, among=lambda one: True):
        own = [one for one in found if among(one)]
        return 100 * sum(map(wanted, own)) / len(own)

    def is_misled(one):
        return one[2] and one[0] != one[1]

    return (
        percent(is_misled, lambda one: one[0] == protected),
        percent(is_misled, lambda one: one[0] != protected),
        percent(lambda one: not one[2]),
        percent(lambda one: one[0] != one[1]),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dbacl")
    parser.add_argument("folders_of_mail")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--folders", default="5,10,20")
    parser.add_argument("--wrong", default="0,one,0.02,0.05")
    parser.add_argument("--learned", type=int, default=200)
    wanted = parser.parse_args()
    print("| folders | wrong | protected mail surely elsewhere | others | unsure | wrong |")
    print("|---|---|---|---|---|---|")
    for number_of_folders in map(int, wanted.folders.split(",")):
        for wrong in wanted.wrong.split(","):
            rows = []
            for number in range(wanted.draws):
                mails = draw(
                    wanted.folders_of_mail, number_of_folders, wanted.learned, wrong, number
                )
                with tempfile.TemporaryDirectory(prefix="wrong_folders.") as room:
                    rows.append(shares(*verdicts(wanted.dbacl, room, *mails)))
            misled, others, unsure, mistaken = (sum(column) / len(rows) for column in zip(*rows))
            worst = [row[0] for row in rows]
            above = sum(share > 1 for share in worst)
            share = wrong if wrong == "one" else f"{100 * float(wrong):g} %"
            print(
                f"| {number_of_folders} | {share} | {misled:.2f} ({above}, {max(worst):.1f}) "
                f"| {others:.2f} | {unsure:.1f} | {mistaken:.2f} |",
                flush=True,
            )


main()
