#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What grows: the cost of each act with 1, 10 and 100 times the data (4, 16 and 64 folders).

    grows.py BIN [--runs 3] [ACT...]     BIN: folder with dbacl and dbacl-text; ACT: rows to measure

Texts and messages are made: words come as often as Zipf's law says, so that new ones keep coming, as
in natural text. Written are processor milliseconds (medians) and megabytes of memory, and by what
power of the data the time grows between the second and the third size: 1 is in proportion, 0 is not
at all. A row that grows by more than 1.15 is marked. Needs GNU time, whose start is in the times.
"""

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

SIZES = (1, 10, 100)
LETTERS = "etaoinshrdlucmfwypvbgkqjxz"


def word(rank):
    text = ""
    while rank:
        rank, letter = divmod(rank, len(LETTERS))
        text += LETTERS[letter]
    return text or "e"


class Texts:
    """Made texts; `lean` prefers some words, by a number."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.known = {}

    def word(self, lean):
        rank = int(self.chance.paretovariate(0.7))
        if rank < 200_000 and self.chance.random() < 0.2:
            rank = rank * 997 + 7 * lean + 1
        if rank not in self.known and len(self.known) < 1_000_000:
            self.known[rank] = word(rank)
        return self.known.get(rank) or word(rank)

    def text(self, words, lean=0):
        return " ".join(self.word(lean) for _ in range(words))


def run(*command, stdin=None, statuses=(0,)):
    """Processor seconds of a run that ends with one of the statuses, and its megabytes of memory.
    GNU time, which starts it, is so small that its own memory does not count."""
    with open(stdin or os.devnull, "rb") as given, tempfile.NamedTemporaryFile() as memory:
        command = ("/usr/bin/time", "-q", "-f", "%M", "-o", memory.name, *command)
        done = subprocess.Popen(command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = done.stderr.read()
        _, status, used = os.wait4(done.pid, 0)
        if os.waitstatus_to_exitcode(status) not in statuses:
            sys.exit(f"{' '.join(command)}: {said.decode()}")
        return used.ru_utime + used.ru_stime, int(memory.read()) / 1024


def write(path, lines):
    with open(path, "w") as file:
        file.writelines(line + "\n" for line in lines)
    return path


def message(texts, at, lean, words=150):
    return (
        f"From: user{at % 50}@example.org\nTo: me@example.com\nSubject: {texts.text(4, lean)}\n"
        f"Message-ID: <{at}@example.org>\nDate: Mon, 16 Nov 2026 10:00:00 +0000\n\n{texts.text(words, lean)}\n"
    )


def filter_of(bin_, room, number, folders=2):
    """A filter of so many messages in so many folders."""
    texts, folder = Texts(number), os.path.join(room, f"filter{number}-{folders}")
    names = []
    for lean in range(folders):
        path = os.path.join(room, f"box{number}-{lean}")
        name = ("ham", "spam")[lean] if folders == 2 else f"f{lean}"
        with open(path, "w") as box:
            for at in range(lean, number, folders):
                box.write("From a Mon Nov 16 10:00:00 2026\n" + message(texts, at, lean) + "\n")
        names.append(f"{name}={path}")
    return folder, [f"{bin_}/dbacl", "--quiet", "--mail-learn", folder, *names]


def rows(documents, labels):
    texts = Texts(documents + labels)
    return (f"label{at % labels}\t{texts.text(12, at % labels)}" for at in range(documents))


# Each act: what grows, at sizes; then a function of room and size that returns what is measured.
def learn(order):
    def act(bin_, room, size):
        texts = Texts(1)
        path = write(f"{room}/text", (texts.text(12) for _ in range(15_000 * size)))
        return lambda: run(f"{bin_}/dbacl", "--threads", "1", "-w", order, "-H", "24", "-l", f"{room}/category", path)

    return act


def classify(bin_, room, size):
    learn("1")(bin_, room, 1)()
    texts = Texts(2)
    path = write(f"{room}/other", (texts.text(12) for _ in range(15_000 * size)))
    return lambda: run(f"{bin_}/dbacl", "-c", f"{room}/category", "-c", f"{room}/category", path, statuses=(1, 2))


def categories(bin_, room, size):
    learn("1")(bin_, room, 1)()
    named = [f"{room}/c{number}" for number in range(size)]
    for name in named:
        os.path.exists(name) or os.link(f"{room}/category", name)
    texts = Texts(2)
    path = write(f"{room}/other", (texts.text(12) for _ in range(15_000)))
    return lambda: run(f"{bin_}/dbacl", *(part for name in named for part in ("-c", name)), path, statuses=range(256))


def mail_learn(bin_, room, size):
    _, command = filter_of(bin_, room, 100 * size)
    return lambda: run(*command)


def mail_folders(bin_, room, size):
    _, command = filter_of(bin_, room, 2000, size)
    return lambda: run(*command)


def mail_verdict(bin_, room, size):
    folder, command = filter_of(bin_, room, 100 * size)
    run(*command)
    path = write(f"{room}/one", [message(Texts(9), 9, 1)])
    return lambda: run(f"{bin_}/dbacl", "--mail-verdict", folder, path, statuses=range(3))


def mail_correct(bin_, room, size):
    folder, command = filter_of(bin_, room, 100 * size)
    run(*command)
    at = iter(range(1_000_000, 2_000_000))

    def act():
        path = write(f"{room}/one", [message(Texts(9), next(at), 1)])
        return run(f"{bin_}/dbacl", "--quiet", "--mail-correct", folder, "spam", path)

    return act


def text_train(bin_, room, size):
    path = write(f"{room}/rows.tsv", rows(1000 * size, 5))
    return lambda: run(f"{bin_}/dbacl-text", "train", path, "-o", f"{room}/model")


def text_labels(bin_, room, size):
    path = write(f"{room}/rows.tsv", rows(10_000, 5 * size))
    return lambda: run(f"{bin_}/dbacl-text", "train", path, "-o", f"{room}/model")


def text_predict(bin_, room, size):
    text_labels(bin_, room, size)()
    texts = Texts(4)
    path = write(f"{room}/texts", (texts.text(12) for _ in range(10_000)))
    return lambda: run(f"{bin_}/dbacl-text", "predict", f"{room}/model", stdin=path)


ACTS = [
    ("learn -w 1", "text, 0.45 to 45 MB", learn("1")),
    ("learn -w 2", "text, 0.45 to 45 MB", learn("2")),
    ("classify", "text, 0.45 to 45 MB", classify),
    ("classify 0.45 MB", "categories, 1 to 100", categories),
    ("mail-learn", "messages, 100 to 10,000", mail_learn),
    ("mail-learn, 2,000 messages", "folders, 4 to 64", mail_folders, (4, 16, 64)),
    ("mail-verdict", "messages learned, 100 to 10,000", mail_verdict),
    ("mail-correct", "messages learned, 100 to 10,000", mail_correct),
    ("text train", "documents, 1,000 to 100,000", text_train),
    ("text train, 10,000 documents", "labels, 5 to 500", text_labels),
    ("text predict, 10,000 texts", "labels, 5 to 500", text_predict),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("acts", nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    wanted = parser.parse_args()
    print("act\twhat grows\tms, first\tms, second\tms, third\tMB, first\tMB, second\tMB, third\tpower")
    for name, what, make, *sizes in ACTS:
        if wanted.acts and name not in wanted.acts:
            continue
        found = []
        sizes = sizes[0] if sizes else SIZES
        for size in sizes:
            with tempfile.TemporaryDirectory(prefix="grows.") as room:
                act = make(os.path.abspath(wanted.bin), room, size)
                found.append([act() for _ in range(wanted.runs)])
        seconds = [statistics.median(one for one, _ in runs) for runs in found]
        memory = [max(one for _, one in runs) for runs in found]
        power = math.log(seconds[2] / seconds[1]) / math.log(sizes[2] / sizes[1])
        cells = [*(f"{1000 * one:.0f}" if one >= 0.01 else f"{1000 * one:.1f}" for one in seconds)]
        cells += [f"{one:.0f}" for one in memory]
        print(name, what, *cells, f"{power:.2f}" + (" *" if power > 1.15 else ""), sep="\t", flush=True)


if __name__ == "__main__":
    main()
