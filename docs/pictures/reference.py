#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/pictures/reference.svg: the words of a category under its two measures.

    docs/pictures/reference.py [DBACL]      DBACL: the program, target/release/dbacl by default
"""

import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 420, 62, 20, 16, 52
LOW, HIGH = -80.0, 0.0  # bits, reference measure
FLOOR = -16.0  # bits, fitted measure
NAMED = ("the", "of", "whale", "ship", "i", "queequeg", "harpooneer")


def words(dbacl):
    """log2 Z, and of every feature (word, bits under the reference measure, bits under the category)."""
    text = ROOT / "testdata/demo/learn/melville"
    with tempfile.TemporaryDirectory() as folder:
        command = [dbacl, "-d", "-l", f"{folder}/melville", str(text)]
        dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    log_z = float(re.search(r"logZ (\S+)", dump)[1])
    found = []
    for line in dump.splitlines():
        row = re.match(r" *(\S+) +(\S+) +\d+ \S+ \[\](.*)\[\]\(1\)$", line)
        if row:
            weight, reference = float(row[1]), float(row[2])
            fitted = weight + reference - log_z
            found.append((row[3], reference / math.log(2), fitted / math.log(2)))
    return log_z / math.log(2), found


def x(bits):
    return LEFT + (bits - LOW) / (HIGH - LOW) * (WIDTH - LEFT - RIGHT)


def y(bits):
    return TOP + bits / FLOOR * (HEIGHT - TOP - BOTTOM)


def main():
    dbacl = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/dbacl")
    log_z, found = words(dbacl)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12">',
        "<title>Each word's probability under the reference measure and in the category</title>",
        "<style>.ink{fill:#1f2328}.line{stroke:#8c959f;fill:none}.dot{stroke:#0969da;fill:none;"
        "stroke-width:4;stroke-linecap:round;stroke-opacity:.5}"
        "@media(prefers-color-scheme:dark){.ink{fill:#e6edf3}.dot{stroke:#58a6ff}}</style>",
    ]
    for bits in range(int(LOW) + 10, 1, 20):
        out.append(f'<text class="ink" x="{x(bits):.0f}" y="{HEIGHT - 32}" text-anchor="middle">{bits}</text>')
    for bits in range(0, int(FLOOR) - 1, -3):
        out.append(f'<path class="line" stroke-opacity=".3" d="M{LEFT} {y(bits):.1f}H{WIDTH - RIGHT}"/>')
        out.append(f'<text class="ink" x="{LEFT - 8}" y="{y(bits) + 4:.0f}" text-anchor="end">{bits}</text>')
    # A word without a weight has p = ref / Z.
    out.append(
        f'<path class="line" stroke-dasharray="4 3" '
        f'd="M{x(FLOOR + log_z):.1f} {y(FLOOR):.1f}L{x(0):.1f} {y(-log_z):.1f}"/>'
    )
    out.append(f'<text class="ink" x="{x(-14):.0f}" y="{y(-15.2):.0f}" text-anchor="end">weight 0: p = ref / Z</text>')
    dots = sorted({(round(x(r)), round(y(p))) for _, r, p in found if r >= LOW})
    marks = "".join(f"M{a} {b}h0" for a, b in dots)
    out.append(f'<path class="dot" d="{marks}"/>')
    for word, reference, fitted in found:
        if word in NAMED:
            out.append(f'<text class="ink" x="{x(reference) + 5:.0f}" y="{y(fitted) - 5:.0f}" font-weight="bold">{word}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text class="ink" x="{middle:.0f}" y="{HEIGHT - 10}" text-anchor="middle">log₂ ref(x): what the characters alone predict</text>')
    out.append(f'<text class="ink" transform="translate(16 {HEIGHT / 2 - 20:.0f}) rotate(-90)" text-anchor="middle">log₂ p(x): the category</text>')
    out.append("</svg>\n")
    (ROOT / "docs/pictures/reference.svg").write_text("\n".join(out))


main()
