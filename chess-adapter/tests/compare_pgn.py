#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the games that the adapter reads from PGN files with those that python-chess reads.

    compare_pgn.py ADAPTER FILE-OR-FOLDER...

Prints the games that only one of the two reads, or reads differently. Such files are part of
other projects' packages: the sources of python-chess, pgn-extract, Scid and PyChess, and the npm
packages kokopu, chess.js, cm-pgn and @mliebelt/pgn-parser.
"""
import difflib
import logging
import pathlib
import subprocess
import sys
import tempfile

import chess.pgn

RESULTS = {"1-0", "0-1", "1/2-1/2"}


def read_game(text):
    """The next game; one that python-chess fails on is left out."""
    while True:
        try:
            return chess.pgn.read_game(text)
        except (IndexError, ValueError) as error:
            print(f"python-chess fails: {error!r}")


def theirs(path):
    """Gamelines of the standard games with moves and a legal start; `!` before those that are not read to the end."""
    lines = []
    with open(path, encoding="utf-8-sig", errors="replace") as text:
        while game := read_game(text):
            try:
                board = game.board()
            except ValueError:
                continue
            if type(board) is not chess.Board or board.chess960:
                continue
            words = []
            for move in game.mainline_moves():
                if not move:
                    words = []
                    break
                words.append(board.san_and_push(move))
            result = game.headers.get("Result", "*")
            if words:
                words += [result] if result in RESULTS else []
                lines.append(("! " if game.errors else "") + " ".join(words))
    return lines


def ours(adapter, path):
    with tempfile.TemporaryDirectory() as folder:
        command = [adapter, "prepare", "-o", folder, "--unfinished", "draw", "--keep-setup", path]
        told = subprocess.run(command, capture_output=True, text=True, errors="replace").stderr
        lines = pathlib.Path(folder, "all.txt").read_text().splitlines()
    return lines, [line for line in told.splitlines() if line.startswith(("  game", "ignored"))]


def main():
    logging.disable()
    adapter, *names = sys.argv[1:]
    paths = []
    for name in map(pathlib.Path, names):
        paths += sorted(name.rglob("*.pgn")) if name.is_dir() else [name]
    same = different = 0
    for path in paths:
        wanted = theirs(path)
        found, told = ours(adapter, path)
        rows = list(difflib.ndiff(wanted, found))
        changed = [row for row in rows if row[0] in "-+"]
        same += sum(row[0] == " " for row in rows)
        different += len(changed)
        if changed:
            print(f"== {path}", *told, *changed, sep="\n")
    print(f"{len(paths)} files: {same} games read the same, {different} lines differ")


main()
