#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/pictures/verdicts.svg from benches/results/mail-transfers.tsv: which share of messages
the mail filter classifies correctly, wrongly, or calls unsure, by the number of messages it has learned.

    docs/pictures/verdicts.py > docs/pictures/verdicts.svg
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
STYLE = (
    "<style>text{fill:#1f2328;font:13px sans-serif}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".right{fill:#2da44e}.unsure{fill:#d4a72c}.wrong{fill:#cf222e}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.right{fill:#3fb950}.unsure{fill:#d29922}"
    ".wrong{fill:#f85149}}</style>"
)
LEFT, WIDE, STEP, BAR = 130, 430, 30, 20


# Of the 3,692 messages of SpamAssassin's training part three quarters are learned at a time.
IN_ALL = 2769


def rows(table):
    """(messages learned, of how many kinds, shares right, unsure, wrong), for new messages of
    SpamAssassin; two good messages count for each spam."""
    for line in table.splitlines():
        name, reading, *cells = line.split("\t") if "\t" in line else (line, "")
        few = re.fullmatch(r"(\d+) \+ \1 messages", name)
        if reading != "blocks" or not few and name != "SpamAssassin, 4-fold":
            continue
        lost, missed, unsure = (float(cell) / 100 for cell in cells[-3:])
        wrong = (2 * lost + missed) / 3
        learned, of = (int(few.group(1)), "each") if few else (IN_ALL, "in all")
        yield learned, of, 1 - unsure - wrong, unsure, wrong


def main():
    table = sorted(rows((ROOT / "benches/results/mail-transfers.tsv").read_text()))
    height = 44 + STEP * len(table) + 24
    title = "; ".join(
        f"{learned} {of}: {100 * right:.0f} % right, {100 * unsure:.0f} % unsure, {100 * wrong:.1f} % wrong"
        for learned, of, right, unsure, wrong in table
    )
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height}" role="img">',
        f"<title>Verdicts on new messages after learning {title}.</title>{STYLE}",
        '<text x="10" y="24">learned</text>',
    ]
    for place, (kind, label) in enumerate((("right", "right"), ("unsure", "unsure"), ("wrong", "wrong"))):
        x = LEFT + 110 * place
        out.append(f'<rect class="{kind}" x="{x}" y="12" width="14" height="14"/>')
        out.append(f'<text x="{x + 20}" y="24">{label}</text>')
    for row, (learned, of, *shares) in enumerate(table):
        y = 44 + STEP * row
        out.append(f'<text class="end" x="{LEFT - 12}" y="{y + 15}">{learned:,} {of}</text>')
        x = float(LEFT)
        for kind, share in zip(("right", "unsure", "wrong"), shares):
            width = WIDE * share
            if width > 0:
                out.append(
                    f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}"/>'
                )
            x += width
        out.append(
            f'<text x="{LEFT + WIDE + 10}" y="{y + 15}">{100 * shares[2]:.1f} % wrong</text>'
        )
    print("\n".join(out) + "\n</svg>")


if __name__ == "__main__":
    main()
