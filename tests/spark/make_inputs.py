# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes text with a skewed vocabulary: FOLDER MEGABYTES PARTS DOCUMENTS."""

import itertools
import json
import os
import random
import sys

folder, size, parts, documents = sys.argv[1], *map(int, sys.argv[2:5])
draw = random.Random(7)
letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(120000)]
weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))


def text(length):
    chosen = draw.choices(words, cum_weights=weights, k=length // 7)
    return "".join(" ".join(chosen[at:at + 12]) + "\n" for at in range(0, len(chosen), 12))


blocks = [text(3 << 20) for _ in range(8)]
for part in range(parts):
    with open(os.path.join(folder, f"part-{part:02}.txt"), "w") as file:
        left = (size << 20) // parts
        for turn in itertools.count():
            block = blocks[(part * 3 + turn * 5) % 8][:max(left, 0)]
            left -= file.write(block[:block.rfind("\n") + 1])
            if left < 200:
                break
lines = blocks[0].splitlines()
with open(os.path.join(folder, "documents.ndjson"), "w") as file:
    for number in range(documents):
        record = {"id": number, "text": "\n".join(draw.sample(lines, 2))}
        file.write(json.dumps(record) + "\n")
