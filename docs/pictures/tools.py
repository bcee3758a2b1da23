#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/pictures/tools.svg from benches/field/results.json: how well mail filters rank new
messages after few learned ones, and the processor time of a message.

    docs/pictures/tools.py > docs/pictures/tools.svg
"""

import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
STYLE = (
    "<style>text{fill:#1f2328;font:12px sans-serif}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".head{font-weight:bold}path{fill:none;stroke-width:1.5}.line{stroke:#d0d7de}"
    ".c0{stroke:#0969da;stroke-width:3}.c1{stroke:#cf222e}.c2{stroke:#1a7f37}.c3{stroke:#8250df}"
    ".c4{stroke:#bf8700}.c5{stroke:#57606a}.bar{fill:#8c959f}.ours{fill:#0969da}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.line{stroke:#30363d}.c0{stroke:#58a6ff}"
    ".c1{stroke:#ff7b72}.c2{stroke:#3fb950}.c3{stroke:#bc8cff}.c4{stroke:#d29922}.c5{stroke:#8b949e}"
    ".bar{fill:#6e7681}.ours{fill:#58a6ff}}</style>"
)
SHOWN = ("dbacl_filter", "bogofilter", "sylfilter", "spamprobe", "scikit", "fast_text")
LEFT, TOP, WIDE, HIGH = 46, 44, 240, 216
LEAST, MOST = 0.1, 50.0


def defaults(results, task):
    """Each tool's results of a task with its defaults: {tool: (title, parts)}."""
    titles = {one["tool"]: one["title"].split(",")[0].split(" logistic")[0] for one in results["tools"]}
    return {
        one["tool"]: (titles[one["tool"]], one["parts"])
        for one in results["results"]
        if one["task"] == task and one["setting"] == "defaults"
    }


def ranking(results, out):
    """Lines of (1-AUC) % against the messages learned of each kind."""
    found = defaults(results, "cold")
    counts = sorted({int(part["part"]) for _, parts in found.values() for part in parts})
    across = {count: LEFT + WIDE * at / (len(counts) - 1) for at, count in enumerate(counts)}

    def down(share):
        share = min(max(share, LEAST), MOST)
        return TOP + HIGH * math.log(MOST / share) / math.log(MOST / LEAST)

    out.append('<text class="head" x="10" y="20">Wrongly ranked pairs, % (1-AUC)</text>')
    for share in (0.1, 1, 10, 50):
        y = down(share)
        label = f"≤ {share:g}" if share == LEAST else f"{share:g}"
        out.append(f'<path class="line" d="M{LEFT} {y:.1f}h{WIDE}"/>')
        out.append(f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{label}</text>')
    for count, x in across.items():
        out.append(f'<text class="middle" x="{x:.1f}" y="{TOP + HIGH + 18}">{count}</text>')
    x = LEFT + WIDE / 2
    out.append(f'<text class="middle" x="{x:g}" y="{TOP + HIGH + 36}">messages learned of each kind</text>')
    said = []
    for number, tool in enumerate(tool for tool in SHOWN if tool in found):
        title, parts = found[tool]
        points = sorted((int(part["part"]), 100 * part["measures"]["area"]) for part in parts)
        path = "L".join(f"{across[count]:.1f} {down(share):.1f}" for count, share in points)
        out.append(f'<path class="c{number}" d="M{path}"/>')
        y = TOP + HIGH + 58 + 18 * (number // 2)
        x = LEFT + 130 * (number % 2)
        out.append(f'<path class="c{number}" d="M{x} {y - 4}h20"/><text x="{x + 26}" y="{y}">{title}</text>')
        said.append(f"{title} " + ", ".join(f"{share:.2f}" for _, share in points))
    return f"after learning {', '.join(map(str, counts))} of each kind: " + "; ".join(said)


def times(results, out):
    """Bars of the milliseconds to learn a message and to classify one, in a batch."""
    rows = []
    for tool, (title, parts) in defaults(results, "batch").items():
        cost = parts[0]["cost"]
        if tool not in ("dbacl_ordinary", "dbacl_server"):
            rows.append((cost["learn_cpu_ms"] + cost["judge_cpu_ms"], title, tool))
    left, wide = 420, 180
    out.append('<text class="head" x="330" y="20">Learning and classifying a message, ms</text>')
    longest = max(rows)[0]
    for row, (spent, title, tool) in enumerate(sorted(rows)):
        y = TOP + 24 * row
        width = max(wide * spent / longest, 1)
        kind = "ours" if tool == "dbacl_filter" else "bar"
        out.append(f'<text class="end" x="{left - 8}" y="{y + 12}">{title}</text>')
        out.append(f'<rect class="{kind}" x="{left}" y="{y}" width="{width:.1f}" height="15"/>')
        out.append(f'<text x="{left + width + 6:.1f}" y="{y + 12}">{spent:.1f}</text>')
    return "; ".join(f"{title} {spent:.1f}" for spent, title, _ in sorted(rows))


def main():
    results = json.loads((ROOT / "benches/field/results.json").read_text())
    out = []
    first, second = ranking(results, out), times(results, out)
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 360" role="img">')
    print(f"<title>Wrongly ranked pairs in %, {first}. Milliseconds of processor time to learn and to classify a message: {second}.</title>{STYLE}")
    print("\n".join(out))
    print("</svg>")


main()
