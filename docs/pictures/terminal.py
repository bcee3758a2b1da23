#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/pictures/terminal.svg: a session with the mail filter, typed and answered as on a
terminal, with messages of testdata. Without animation the picture shows the whole session.

    docs/pictures/terminal.py BIN > docs/pictures/terminal.svg      BIN: folder with dbacl
"""

import fcntl
import html
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAIL = ROOT / "testdata/golden/inputs/email"
COLUMNS = 100
# Messages that are not learned: a newsletter unlike the other mail, and spam.
NEW = {"newsletter": "ham/hard_ham.00235.942d57", "offer": "spam/spam_2.01367.d681bf"}
SESSION = """\
# 199 good messages, 199 spam
dbacl --mail-learn filter ham=good spam=junk
# What are these?
dbacl --mail-verdict filter new/offer new/newsletter
# Why?
dbacl --mail-verdict --reasons filter new/newsletter
# This one is good: learn it
dbacl --mail-correct filter ham new/newsletter
dbacl --mail-verdict filter new/newsletter"""
STYLE = (
    "rect{fill:#0d1117}text{fill:#c9d1d9;font:12px DejaVu Sans Mono,Menlo,monospace;white-space:pre;"
    "animation:appear .01s backwards}.typed{fill:#79c0ff;animation-name:type}.note{fill:#8b949e}"
    "@keyframes appear{from{opacity:0}}@keyframes type{from{clip-path:inset(0 100% 0 0)}}"
    "@media(prefers-reduced-motion:reduce){text{animation:none}}"
)
# Seconds: a key, a pause before the next command.
KEY, PAUSE = 0.03, 1.5


def answer(command, folder, programs):
    """What a command prints on a terminal of `COLUMNS` columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    path = f"{programs}:{os.environ['PATH']}"
    environment = {"PATH": path, "TERM": "dumb", "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    run = subprocess.Popen(
        command.split(), cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not piece:
            break
        said += piece
    run.wait()
    os.close(ours)
    lines = said.decode().replace("\r\n", "\n").splitlines()
    return [line[at : at + COLUMNS] for line in lines for at in range(0, max(len(line), 1), COLUMNS)]


def sort(folder):
    """The messages of testdata in folders `good` and `junk`; two of them are `new`."""
    (folder / "new").mkdir()
    for name, path in NEW.items():
        shutil.copy(MAIL / path, folder / "new" / name)
    for label, kind in (("good", "ham"), ("junk", "spam")):
        (folder / label).mkdir()
        for message in sorted((MAIL / kind).iterdir()):
            if f"{kind}/{message.name}" not in NEW.values():
                shutil.copy(message, folder / label)


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    rows = []  # kind, text, seconds of typing, seconds before
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        sort(folder)
        for line in SESSION.splitlines():
            kind = "note" if line.startswith("#") else "typed"
            rows.append((kind, f"$ {line}", len(line) * KEY, PAUSE))
            if kind == "typed":
                rows += [("", said, 0, 0) for said in answer(line, folder, programs)]
    height = 17 * len(rows) + 18
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" role="img">')
    print(f'<style>{STYLE}</style><rect width="760" height="{height}" rx="6"/>')
    now = 0
    for number, (kind, said, typing, before) in enumerate(rows):
        now += before
        moves = f"animation-delay:{now:.2f}s"
        if typing:
            moves += f";animation-duration:{typing:.2f}s;animation-timing-function:steps({len(said)})"
        classes = f' class="typed {kind}"' if kind == "note" else f' class="{kind}"' if kind else ""
        place = f'x="12" y="{17 * number + 22}"'
        print(f'<text{classes} {place} style="{moves}">{html.escape(said, quote=False)}</text>')
        now += typing
    print("</svg>")


if __name__ == "__main__":
    main()
