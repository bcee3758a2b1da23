# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of a run -> one page without scripts, the tables of a document, and a file without messages.

Rows of a table stand in the order of its first column, the best one first, whoever it is. The tests
of pairs are against the mail filter; what is significantly better than it is listed before anything
else.
"""

import html as markup
import json
import math
import re

import tasks

OURS = "dbacl_"
SURE = 0.05  # differences with a smaller chance of being accidental are called clear
STREAMS = ("immediate", "delayed", "partial", "active")


def rounded(value):
    """Numbers with as many digits as a table could want."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return value


def summary(record):
    """The record without single messages."""
    short = dict(record)
    short["results"] = []
    for one in record["results"]:
        parts = [
            {key: value for key, value in part.items() if key not in ("judged", "areas")}
            for part in one["parts"]
        ]
        kept = {key: one[key] for key in ("tool", "setting", "task", "failed") if key in one}
        short["results"].append(dict(kept, parts=parts))
    lines = [json.dumps(rounded(one), sort_keys=True) for one in short.pop("results")]
    head = json.dumps(rounded(short), sort_keys=True, indent=1).rstrip("}\n ")
    return head + ',\n "results": [\n' + ",\n".join(lines) + "\n]}\n"


def name_of(tool, setting):
    return f"{tool.replace('_', ' ')}, {setting}"


def percent(value, digits=2):
    return "-" if value is None or value != value else f"{100 * value:.{digits}f}"


def chance(value):
    if value is None or value != value:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


class Table:
    """Rows of cells below a head, of numbers or of words; a row may be marked as ours."""

    def __init__(self, head, rows, words=False):
        self.head, self.rows, self.words = head, rows, words

    def markdown(self):
        lines = ["| " + " | ".join(self.head) + " |", "|" + "---|" * len(self.head)]
        lines += ["| " + " | ".join(cells) + " |" for _, cells in self.rows]
        return "\n".join(lines) + "\n"

    def html(self):
        def row(kind, cells, ours):
            inside = "".join(f"<{kind}>{markup.escape(cell)}</{kind}>" for cell in cells)
            return f"<tr{' class=ours' if ours else ''}>{inside}</tr>\n"

        body = "".join(row("td", cells, ours) for ours, cells in self.rows)
        head = row("th", self.head, False)
        kind = " class=words" if self.words else ""
        return f"<table{kind}>\n<thead>{head}</thead>\n<tbody>\n{body}</tbody></table>\n"


def parts_of(record, task):
    """The parts of a task: {part: [(result, part)]}, the best ranking first."""
    found = {}
    for one in record["results"]:
        if one["task"] == task:
            for part in one["parts"]:
                found.setdefault(part["part"], []).append((one, part))
    for rows in found.values():
        rows.sort(key=lambda row: (order(row[1]), row[0]["tool"], row[0]["setting"]))
    return found


def order(part):
    return order_of(part.get("measures", {}))


def order_of(measured):
    area = measured.get("area")
    return 2.0 if area is None or area != area else area


def is_ours(one):
    return one["tool"].startswith(OURS)


def verdicts(rows, whole=False):
    """The table of one part of a task; the whole one has all intervals and chances."""
    head = ["tool", "(1-AUC) %", "wrong %", "unsure %", "lost %", "missed %", "error %", "lam %"]
    head += ["fewest %", "at 0.1 %", "at 1 %", "calibr."]
    head += [f"chance: {what}" for what in KINDS] if whole else []
    table = []

    def ranged(text, low, high, digits=2):
        return f"{text} ({percent(low, digits)}-{percent(high, digits)})"

    def share(found, digits=2):
        text = percent(found[0], digits)
        return ranged(text, *found[1:], digits) if whole else text

    for one, part in rows:
        m = part["measures"]
        wide = m.get("intervals", {})
        area = ranged(percent(m["area"], 3), *wide.get("area", (None, None)))
        cells = [name_of(one["tool"], one["setting"]), area]
        cells += [share(m[key]) for key in ("wrong", "unsure", "lost", "through", "error")]
        cells += [ranged(percent(m["lam"]), *wide.get("lam", (None, None)), 1), share(m["fewest"])]
        cells += [share(m[key], 1) for key in ("recall_0.001", "recall_0.01")]
        cells.append(percent(m.get("calibration"), 1))
        if whole:
            chances = part.get("paired", {})
            cells += [chance(chances.get(what.split()[-1])) for what in KINDS]
        table.append((is_ours(one), cells))
    return Table(head, table)


def learning(rows, points=6):
    """The errors of a stream as it goes on: a column for each sixth of its messages."""
    table, head = [], ["tool"]
    for one, part in rows:
        curve = part.get("curve") or []
        step = max(len(curve) // points, 1)
        pieces = [curve[at : at + step] for at in range(0, len(curve), step)]
        if len(head) == 1:
            head += [f"to {piece[-1][0]}" for piece in pieces]
        # Pieces of a curve have as many messages each, or one more.
        shares = [sum(share for _, share in piece) / len(piece) for piece in pieces]
        cells = [name_of(one["tool"], one["setting"]), *(percent(share, 1) for share in shares)]
        table.append((is_ours(one), cells))
    return Table(head, table)


def cold_start(found):
    """The table of the cold start: a column for each number of messages."""
    sizes = sorted(found, key=int)
    rows = {}
    for size in sizes:
        for one, part in found[size]:
            rows.setdefault((one["tool"], one["setting"]), {})[size] = part["measures"]
    table = []
    for key, cells in rows.items():
        last = cells.get(sizes[-1], {}).get("area")
        texts = [
            " / ".join(
                percent(value, digits)
                for value, digits in (
                    (m["area"], 1),
                    (m["lost"][0], 1),
                    (m["unsure"][0], 0),
                    (m["error"][0], 0),
                )
            )
            if (m := cells.get(size))
            else "-"
            for size in sizes
        ]
        table.append((9.0 if last is None else last, key, [name_of(*key), *texts]))
    table.sort()
    return Table(["tool"] + sizes, [(key[0].startswith(OURS), cells) for _, key, cells in table])


GROUPS = {
    "before, behind": ("preamble", "epilogue"),
    "plain copy": ("alternative",),
    "hidden by style": ("display", "class", "tiny", "white"),
    "title, comment": ("title", "comment"),
    "attached": ("attachment", "message"),
    "cut words": ("tags", "comments", "zero-width"),
    "random words": ("random-1000", "random-5000"),
    "repeated": ("repeated",),
    "in sight": ("visible",),
}


def attacks(rows):
    """Of the spam that was found undisguised, how much is classified ham, by kinds of disguise."""
    table = []
    for one, part in rows:
        counts, total = part["disguises"], 0.0
        cells = []
        for kinds in GROUPS.values():
            all_of = sum(sum(counts[kind].values()) for kind in kinds)
            share = sum(counts[kind]["ham"] for kind in kinds) / all_of if all_of else math.nan
            total += share
            cells.append(percent(share, 0))
        name = name_of(one["tool"], one["setting"])
        table.append((total, is_ours(one), [name, f"{part['caught']} of {part['tried']}", *cells]))
    table.sort(key=lambda row: (row[0] != row[0], row[0], row[2]))
    return Table(["tool", "found", *GROUPS], [(ours, cells) for _, ours, cells in table])


def costs(record):
    """What it takes: processor time, memory, size of the model."""
    batch = {
        (one["tool"], one["setting"]): part for one, part in parts_of(record, "batch").get("", [])
    }
    stream = {
        (one["tool"], one["setting"]): part
        for one, part in parts_of(record, "immediate").get("", [])
    }
    table = []
    for key in sorted(set(batch) | set(stream)):
        cost = batch.get(key, {}).get("cost", {})
        alone = stream.get(key, {}).get("cost", {})

        def shown(value, unit=1.0, digits=1):
            return "-" if not value else f"{value / unit:.{digits}f}"

        cells = [name_of(*key), shown(cost.get("learn_cpu_ms")), shown(cost.get("judge_cpu_ms"))]
        cells += [shown(alone.get("cpu_ms")), shown(cost.get("memory_kb"), 1024)]
        cells += [shown(cost.get("model_bytes"), 1e6)]
        table.append((key[0].startswith(OURS), cells))
    head = ["tool", "learn, ms", "judge, ms", "alone, ms", "memory, MB", "model, MB"]
    return Table(head, table)


def tools_table(record):
    rows = []
    for one in record["tools"]:
        state = one.get("version") or f"SKIPPED: {one['skipped']}"
        # Some tools say more than their name and version.
        state = re.sub(r"^This is | \(tentative name\)| \(compatible.*| using .*", "", state)
        rows.append(
            (
                one["tool"].startswith(OURS),
                [name_of(one["tool"], one["setting"]), state.strip(" ."), one["meaning"]],
            )
        )
    return Table(["tool, setting", "version", "what it does"], rows, words=True)


KINDS = {
    "ranking": lambda measured: measured["area"],
    "wrong": lambda measured: measured["wrong"][0],
    "errors": lambda measured: measured["error"][0],
    "lost": lambda measured: measured["lost"][0],
}
MAIN = ("dbacl_filter", "defaults")  # whose place the overview shows


# Parts whose neighbours say as much.
UNSHOWN = {("cold", "5"), ("cold", "20"), ("cold", "50"), ("cold", "100"), ("noise", "5 %")}


def overview(record):
    """A row for each part of a task: the mail filter's measures, and its place among others."""
    table = []
    for task, (_, title) in tasks.TASKS.items():
        for part, rows in parts_of(record, task).items():
            if (task, part) in UNSHOWN:
                continue
            name = f"{title}, {part} of each" if task == "cold" else f"{title} {part}".strip()
            own = [one for one in rows if (one[0]["tool"], one[0]["setting"]) == MAIN]
            if not own or "measures" not in own[0][1]:
                continue
            mine = own[0][1]["measures"]
            others = [one for one in rows if not is_ours(one[0])]

            def placed(value, shown):
                if not others:
                    return shown
                better = sum(value(one["measures"]) < value(mine) for _, one in others)
                return f"{shown} ({better + 1})"

            cells = [name, placed(lambda one: one["unsure"][0], percent(1 - mine["unsure"][0]))]
            cells.append(placed(order_of, percent(mine["area"], 3)))
            cells.append(placed(KINDS["wrong"], percent(mine["wrong"][0])))
            cells.append(placed(KINDS["lost"], percent(mine["lost"][0])))
            cells.append(placed(KINDS["errors"], percent(mine["error"][0])))
            best = others[0] if others else None
            if best:
                leader = name_of(best[0]["tool"], best[0]["setting"])
                cells.append(f"{leader}: {percent(best[1]['measures']['area'], 3)}")
            else:
                cells.append("-")
            table.append((False, cells))
    head = ["task", "decided %", "(1-AUC) %", "wrong %", "lost %", "error %"]
    return Table([*head, "best ranking of the others"], table)


def data(record):
    """All tools in all tasks, as the tab-separated file that documents cite."""
    head = ["task", "tool", "(1-AUC) %", "wrong %", "unsure %", "lost %", "missed %"]
    lines = [
        f"# Kept apart: each message is classified before it is learned, or is never learned; "
        f"{record['date']}; make field-document",
        "\t".join([*head, "error %", "ms a message"]),
    ]
    for task, (_, title) in tasks.TASKS.items():
        for part, rows in parts_of(record, task).items():
            for one, found in rows:
                m, cost = found.get("measures"), found.get("cost")
                if not m:
                    continue
                shares = [percent(m[key][0]) for key in ("wrong", "unsure", "lost", "through", "error")]
                spent = ""
                if cost and "learn_cpu_ms" in cost:
                    spent = f"{cost['learn_cpu_ms'] + cost['judge_cpu_ms']:.1f}"
                name = f"{title} {part}".strip()
                tool = name_of(one["tool"], one["setting"])
                lines.append("\t".join([name, tool, percent(m["area"], 3), *shares, spent]))
    return "\n".join(lines) + "\n"


def missing(record, task):
    """The settings that can be run and have no row of a task, as a sentence."""
    have = {(one["tool"], one["setting"]) for one in record["results"] if one["task"] == task}
    lack = [
        name_of(one["tool"], one["setting"])
        for one in record["tools"]
        if "skipped" not in one and (one["tool"], one["setting"]) not in have
    ]
    return f"Not run: {'; '.join(lack)}.\n" if lack and have else ""


def standing(record):
    """Who is clearly better or worse than the mail filter: (better, worse), lists of texts."""
    better, worse = [], []
    for task, (_, title) in tasks.TASKS.items():
        for part, rows in parts_of(record, task).items():
            place = f"{title.lower()}{', ' + part if part else ''}"
            basis = [
                found.get("measures")
                for one, found in rows
                if (one["tool"], one["setting"]) == ("dbacl_filter", "defaults")
            ]
            for what, value in KINDS.items():
                ahead, behind = [], []
                for one, found in rows:
                    chance = found.get("paired", {}).get(what.split()[-1])
                    if not basis or chance is None or chance >= SURE or is_ours(one):
                        continue
                    side = ahead if value(found["measures"]) < value(basis[0]) else behind
                    side.append(name_of(one["tool"], one["setting"]))
                for texts, names in ((better, ahead), (worse, behind)):
                    if names:
                        texts.append((place, what, names))
    return better, worse


def standing_text(rows):
    if not rows:
        return "None.\n"
    return "".join(f"- **{place}, {what}**: {'; '.join(names)}\n" for place, what, names in rows)


def wrapped(text, width=100):
    """Lists of a document in lines that are not too long."""
    lines = []
    for line in text.splitlines():
        while len(line) > width:
            cut = line.rfind(" ", 0, width + 1)
            lines.append(line[:cut])
            line = "  " + line[cut + 1 :]
        lines.append(line)
    return "\n".join(lines) + "\n"


COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888", "#b0603c")


def chart(title, series, across, logarithmic=False):
    """Curves as inline SVG: series {name: [(x, y in 0..1)]}; ours are thick."""
    points = [point for curve in series.values() for point in curve]
    if not points:
        return ""
    top = min(1.0, max(y for _, y in points) * 1.05) or 0.01
    place = math.log if logarithmic else float
    left, right = place(min(x for x, _ in points)), place(max(x for x, _ in points))
    span = right - left or 1.0

    def at(x, y):
        return f"{50 + 500 * (place(x) - left) / span:.1f},{230 - 210 * y / top:.1f}"

    height = max(260, 30 + 15 * len(series))
    out = [
        f"<figure><figcaption>{markup.escape(title)}</figcaption>\n"
        f'<svg viewBox="0 0 780 {height}" width="780" role="img">'
    ]
    for step in range(5):
        share = top * step / 4
        y = 230 - 210 * step / 4
        out.append(
            f'<path d="M50 {y}H550" stroke="#ddd"/><text x="45" y="{y + 4}" '
            f'text-anchor="end">{100 * share:.1f} %</text>'
        )
    for x in sorted({x for x, _ in points}) if logarithmic else (points[0][0], right):
        out.append(
            f'<text x="{at(x, 0).split(",")[0]}" y="246" text-anchor="middle">{x:.0f}</text>'
        )
    out.append(f'<text x="300" y="258" text-anchor="middle">{markup.escape(across)}</text>')
    ends = sorted(series.items(), key=lambda item: item[1][-1][1])
    for number, (name, curve) in enumerate(sorted(series.items())):
        colour = COLOURS[number % len(COLOURS)]
        dash = ("", ' stroke-dasharray="6 3"', ' stroke-dasharray="2 2"')[
            number // len(COLOURS) % 3
        ]
        thick = 3 if name.startswith("dbacl") else 1.2
        path = " ".join(at(x, y) for x, y in curve)
        out.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{thick}"{dash}><title>{markup.escape(name)}</title></polyline>'
        )
        line = [key for key, _ in ends].index(name)
        y = 20 + 15 * (len(ends) - 1 - line)
        out.append(
            f'<path d="M562 {y - 4}h18" stroke="{colour}" stroke-width="{thick}"{dash}/>'
            f'<text x="585" y="{y}">{markup.escape(name)}</text>'
        )
    return "\n".join(out) + "\n</svg></figure>\n"


def curves(record, task):
    """The charts of a task, if it has learning curves."""
    if task == "cold":
        found = parts_of(record, "cold")
        charts = ""
        for title, key in (("Errors", "error"), ("Lost", "lost")):
            series = {}
            for size in sorted(found, key=int):
                for one, part in found[size]:
                    point = (int(size), part["measures"][key][0])
                    series.setdefault(name_of(one["tool"], one["setting"]), []).append(point)
            charts += chart(f"{title} after a cold start", series, "messages of each kind", True)
        return charts
    series = {
        name_of(one["tool"], one["setting"]): part["curve"]
        for one, part in parts_of(record, task).get("", [])
        if part.get("curve")
    }
    return chart("Errors among the last messages", series, "messages classified") if series else ""


def sections(record, whole=False):
    """The tables of a run by name: {name: [(title, Table or text)]}; the whole ones or short."""
    better, worse = standing(record)
    found = {
        "overview": [("", overview(record))],
        "tools": [("", tools_table(record))],
        "behind": [("", standing_text(better))],
        "ahead": [("", standing_text(worse))],
        "cost": [("", costs(record))],
    }
    for task in tasks.TASKS:
        parts = parts_of(record, task)
        if task == "cold" and parts:
            found[task] = [("", cold_start(parts))]
            if whole:
                each = sorted(parts.items(), key=lambda item: int(item[0]))
                found[task] += [(f"{size} of each", verdicts(rows, True)) for size, rows in each]
        elif task == "attack" and parts:
            found[task] = [("", attacks(parts[""]))]
        else:
            found[task] = [(part, verdicts(rows, whole)) for part, rows in parts.items()]
        if task in STREAMS and parts:
            found[task].append(("Errors in % as messages go on", learning(parts[""])))
        if task in record["gaps"]:
            found[task].append(("", f"SKIPPED: {record['gaps'][task]}.\n"))
        if missing(record, task):
            found[task].append(("", missing(record, task)))
        for one in record["results"]:
            if one["task"] == task and "failed" in one:
                name = name_of(one["tool"], one["setting"])
                found[task].append(("", f"{name} has no row: it {one['failed']}.\n"))
    return found


def sizes(record):
    """The sizes of a run in words."""
    plan = record["plan"]
    corpora = ", ".join(
        f"{one['name']} ({one['mails']} messages, {one['ham']} of them ham)"
        for one in record["corpora"]
    )
    text = (
        f"Run of {record['date']}, plan `{plan['name']}`, on {record['processor']}. "
        f"Corpora: {corpora}. "
        f"A stream has {plan['stream']} messages. In active learning, {plan['labels']} of "
        f"{plan['asked']} messages may be labelled. With delayed feedback, labels come {plan['delay']} "
        f"messages later, and of {plan['late']} messages those after the first label count. "
        f"A batch has up to {plan['batch']} messages. A cold start is the mean of {plan['draws']} "
        f"draws, each tested on {plan['each']} messages of each kind. "
        f"{plan['disguised']} spam messages are disguised. "
    )
    load, count = record["load"], record["processors"]
    if load <= count + 1:
        return text + "The machine did little else.\n"
    return text + (
        f"The machine was busy ({load:.0f} processes on {count} processors), "
        "so elapsed times are not shown.\n"
    )


def document(record, text):
    """A document with its generated sections made again."""
    found = sections(record)
    found["run"] = [("", wrapped(sizes(record)))]

    def renewed(match):
        pieces = []
        for title, content in found.get(match[1], []):
            if title:
                pieces.append(f"**{title}**\n")
            table = isinstance(content, Table)
            pieces.append(content.markdown() if table else wrapped(content))
        inside = "\n".join(pieces) or "This run has no such results.\n"
        return f"<!-- field: {match[1]} -->\n{inside}<!-- field: end -->"

    return re.sub(r"<!-- field: (\w+) -->\n.*?<!-- field: end -->", renewed, text, flags=re.S)


MATRIX_STYLE = (
    "<style>text{fill:#1f2328;font:11px sans-serif}.head{font-weight:bold}.none{fill:#d0d7de66}"
    ".ours{fill:#0969da}.theirs{fill:#d1570a}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.none{fill:#30363d}}</style>"
)


def matrix(record):
    """Who is clearly better than whom, as SVG: tools down, parts of tasks across.

    The left half of a cell is the darker, the more measures the mail filter is clearly better at;
    the right half says the same of the other tool.
    """
    better, worse = standing(record)
    cells, columns = {}, []
    for side, rows in enumerate((worse, better)):
        for place, _, names in rows:
            for name in names:
                cells.setdefault((name, place), [0, 0])[side] += 1
    for task, (_, title) in tasks.TASKS.items():
        for part in parts_of(record, task):
            place = f"{title.lower()}{', ' + part if part else ''}"
            if any(key[1] == place for key in cells):
                columns.append(place)
    names = {name for name, _ in cells}

    def balance(name):
        return sum(cell[1] - cell[0] for key, cell in cells.items() if key[0] == name)

    left, top, wide, high = 178, 156, 30, 19
    order = sorted(names, key=lambda name: (-balance(name), name))
    width, height = left + wide * len(columns) + 60, top + high * len(order) + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Other filters beside the mail filter: who is clearly better, by task</title>",
        MATRIX_STYLE,
    ]
    for number, place in enumerate(columns):
        x = left + wide * number + 18
        label = markup.escape(place.removeprefix("change of source, "))
        out.append(f'<text transform="translate({x} {top - 6}) rotate(-50)">{label}</text>')
    for row, name in enumerate(order):
        y = top + high * row
        out.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{markup.escape(name)}</text>')
        for number, place in enumerate(columns):
            x = left + wide * number
            found = cells.get((name, place), [0, 0])
            for side, kind in enumerate(("ours", "theirs")):
                count, start = found[side], x + 1 + side * (wide / 2 - 1)
                shade = f'class="{kind}" fill-opacity="{0.25 + 0.25 * count:.2f}"'
                out.append(
                    f'<rect x="{start:g}" y="{y + 1}" width="{wide / 2 - 1:g}" height="{high - 2}" '
                    f"{shade if count else 'class=' + chr(34) + 'none' + chr(34)}/>"
                )
    y = height - 12
    out.append(
        f'<rect class="ours" x="{left}" y="{y - 10}" width="12" height="12"/>'
        f'<text x="{left + 18}" y="{y}">dbacl filter clearly better (darker: at more of 4 measures)'
        f'</text><rect class="theirs" x="{left + 370}" y="{y - 10}" width="12" height="12"/>'
        f'<text x="{left + 388}" y="{y}">the other tool</text>'
    )
    return "\n".join(out) + "\n</svg>\n"


CELLS = {
    "cold": ["Cells of the first table: (1-AUC) %, lost %, unsure %, errors %."],
    "attack": ["Cells: per cent of the disguised spam that is classified ham."],
}
STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: .5em 0 1.5em; font-size: 13px }
td, th { padding: 2px 8px; text-align: right; border-bottom: 1px solid #e4e4e4 }
td:first-child, th:first-child, .words td, .words th { text-align: left }
tr.ours { background: #fff3d6 }
figure { margin: 1em 0 }
figcaption { font-weight: bold }
svg text { font: 11px sans-serif; fill: #444 }
"""


def html(record):
    """One page, which loads nothing and runs nothing."""
    found = sections(record, whole=True)
    out = [
        "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>"
        "<title>Mail filters side by side</title>"
        f"<style>{STYLE}</style>\n<h1>Mail filters side by side</h1>\n",
        f"<p>{markup.escape(sizes(record))}</p>\n",
        "<p>Rows stand in order of (1-AUC), the best first; rows of dbacl are tinted. Numbers in "
        "brackets hold 95 % of the resamplings. <i>Wrong</i> are confident verdicts that are wrong, "
        "<i>unsure</i> is the share of messages without a confident verdict, <i>decided</i> that of all "
        "others, <i>missed</i> is spam called ham, <i>error</i> counts unsure messages as ham, "
        "<i>fewest</i> are the errors at the best of all thresholds, <i>at 0.1 %</i> is the spam found "
        "if so much ham may be lost. <i>Chance</i> is how likely so large a difference to the mail "
        "filter is if both are equally good; clear means a chance below 0.05.</p>\n",
    ]

    def put(title, name, *remarks):
        out.append(f"<h2>{markup.escape(title)}</h2>\n")
        out.extend(f"<p>{markup.escape(remark)}</p>\n" for remark in remarks)
        for part, content in found[name]:
            if part:
                out.append(f"<h3>{markup.escape(part)}</h3>\n")
            if isinstance(content, Table):
                out.append(content.html())
            else:
                lines = [line.lstrip("- ") for line in content.splitlines()]
                items = "".join(
                    f"<li>{markup.escape(line).replace('**', '')}</li>" for line in lines
                )
                out.append(f"<ul>{items}</ul>\n")

    put("The mail filter, and its place among the settings of other tools", "overview")
    put("What is clearly better than the mail filter", "behind")
    put("What is clearly worse than the mail filter", "ahead")
    for name, (act, title) in tasks.TASKS.items():
        if found[name]:
            put(title, name, act.__doc__, *CELLS.get(name, []))
            out.append(curves(record, name))
    put("What it takes", "cost")
    put("Tools", "tools")
    return "".join(out) + "</html>\n"
