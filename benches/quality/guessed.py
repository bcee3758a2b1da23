#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mail filter of few labels, with and without good mail that nobody has labelled.

    guessed.py [--draws 5] [--own 10:10] [--guesses 200] [--reading NAME] [--part train|test] DBACL MAIL

MAIL is as few.py takes it. So many messages of each kind have labels. Guessed to be good mail are
messages of the rest of the training part, among them spam that looks alike:
  answered   another message names theirs in In-Reply-To or References
  people     they come from the sender of an answered message
  lists      they have a field List-Id
Columns as in few.py, and how many of the guesses are spam.
"""

import argparse
import os
import random
import re
import tempfile
from email.parser import BytesHeaderParser

from few import KINDS, dbacl, files, shares


class Head:
    """What an account's own folders say of a message."""

    def __init__(self, path):
        with open(path, "rb") as file:
            fields = BytesHeaderParser().parse(file)
        text = {name: str(fields.get(name, "")) for name in ("from", "message-id", "list-id")}
        self.id = text["message-id"].strip()
        address = re.search(r"[^\s<>\"]+@[^\s<>\"]+", text["from"])
        self.sender = address.group().lower() if address else ""
        self.is_list = bool(text["list-id"])
        others = f"{fields.get('in-reply-to', '')} {fields.get('references', '')}"
        self.answers = set(re.findall(r"<[^<>\s]+>", others))


def guesses_of(mail):
    """For each rule, the messages of the training part that it takes for good, with their kinds."""
    heads = {
        (kind, path): Head(path)
        for kind in KINDS
        for path in files(os.path.join(mail, "train", kind))
    }
    named = set().union(*(head.answers for (kind, _), head in heads.items() if kind == "ham"))
    answered = {one for one, head in heads.items() if head.id in named}
    people = {heads[one].sender for one in answered} - {""}
    return {
        "answered": answered,
        "people": {one for one, head in heads.items() if head.sender in people},
        "lists": {one for one, head in heads.items() if head.is_list},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dbacl")
    parser.add_argument("mail")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--own", default="10:10")
    parser.add_argument("--guesses", type=int, default=200)
    parser.add_argument("--reading", default="unicode")
    parser.add_argument("--part", choices=("train", "test"), default="test")
    wanted = parser.parse_args()
    mail = os.path.abspath(wanted.mail)
    sizes = dict(zip(KINDS, map(int, (wanted.own + ":" + wanted.own).split(":"))))
    guesses = guesses_of(mail)
    guesses["all"] = set().union(*guesses.values())
    rows = {"none": [], **{name: [] for name in guesses}}
    for number in range(wanted.draws):
        own, rest = {}, {}
        for kind in KINDS:
            every = files(os.path.join(mail, "train", kind))
            random.Random(f"{kind} {wanted.own} {number}").shuffle(every)
            own[kind], rest[kind] = every[: sizes[kind]], every[sizes[kind] :]
        part = {kind: files(os.path.join(mail, "test", kind)) for kind in KINDS}
        if wanted.part == "train":
            part = {kind: rest[kind][:most] for kind, most in zip(KINDS, (600, 300))}
            rest = {kind: rest[kind][len(part[kind]) :] for kind in KINDS}
        free = {(kind, path) for kind in KINDS for path in rest[kind]}
        for name, own_rows in rows.items():
            drawn = sorted(guesses.get(name, set()) & free)
            random.Random(number).shuffle(drawn)
            drawn = drawn[: wanted.guesses]
            learned = {"ham": own["ham"] + [path for _, path in drawn], "spam": own["spam"]}
            wrong = sum(kind == "spam" for kind, _ in drawn)
            with tempfile.TemporaryDirectory(prefix="guessed.") as room:
                verdicts = dbacl(
                    wanted.dbacl, room, learned, part, ("--reading", wanted.reading)
                )
            own_rows.append((*shares(verdicts), len(drawn), wrong))
    print("| guessed | good as spam | spam as good | unsure | wrong | messages | spam among them |")
    print("|---|---|---|---|---|---|---|")
    for name, own_rows in rows.items():
        good, missed, unsure, wrong, count, spam = (
            sum(column) / len(own_rows) for column in zip(*own_rows)
        )
        print(
            f"| {name} | {good:.2f} | {missed:.2f} | {unsure:.1f} | {wrong:.2f} "
            f"| {count:.0f} | {spam:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
