#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a large corpus of a small one: make_corpus.py TRAIN.tsv MEGABYTES >BIG.tsv

The lines (label, tab, text) are repeated in random order until there are so many megabytes (10^6
bytes). In each line every fifth word or so is replaced by a word drawn from all lines, and every
hundredth by one that was never seen. The same arguments make the same bytes.
"""

import random
import sys


def main():
    path, size = sys.argv[1], int(sys.argv[2]) * 10**6
    with open(path, "rb") as file:
        rows = [line.rstrip(b"\n").split(b"\t", 1) for line in file]
    rows = [(label, text.split()) for label, text in rows]
    words = [word for _, text in rows for word in text]
    draw, out, written = random.Random(7), sys.stdout.buffer, 0
    while written < size:
        draw.shuffle(rows)
        for label, text in rows:
            new = list(text)
            for _ in range(len(new) // 5):
                new[int(draw.random() * len(new))] = words[int(draw.random() * len(words))]
            if new and draw.random() < len(new) / 100:
                new[int(draw.random() * len(new))] = b"w%x" % draw.getrandbits(32)
            written += out.write(label + b"\t" + b" ".join(new) + b"\n")
            if written >= size:
                break


if __name__ == "__main__":
    main()
