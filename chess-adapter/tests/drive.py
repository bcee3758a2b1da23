#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""python-chess plays whole games with the adapter over both protocols and checks every move.

    drive.py ADAPTER MODELS [GAMES]

GAMES (10) a colour and protocol, against a random mover, two half-moves deep, so that games are
short whatever the engine searches. Prints SKIPPED when python-chess is not installed.
"""
import random
import sys
import time

try:
    import chess
    import chess.engine
except ImportError:
    print("SKIPPED: python-chess is not installed (pip install chess)")
    sys.exit(0)


def play(engine, colour, seed, limit=300):
    rng = random.Random(seed)
    board = chess.Board()
    slowest = 0.0
    game = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < limit:
        if board.turn == colour:
            started = time.monotonic()
            move = engine.play(board, chess.engine.Limit(depth=2), game=game).move
            slowest = max(slowest, time.monotonic() - started)
            assert move in board.legal_moves, f"illegal {move} in {board.fen()}"
        else:
            move = rng.choice(list(board.legal_moves))
        board.push(move)
    return board, slowest


def main():
    adapter, models = sys.argv[1:3]
    games = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    for protocol, popen in (
        ("uci", chess.engine.SimpleEngine.popen_uci),
        ("xboard", chess.engine.SimpleEngine.popen_xboard),
    ):
        engine = popen([adapter, "play", models])
        results, plies, slowest = {}, 0, 0.0
        for colour in chess.COLORS:
            for seed in range(games):
                board, worst = play(engine, colour, seed)
                result = board.result(claim_draw=True)
                results[result] = results.get(result, 0) + 1
                plies += board.ply()
                slowest = max(slowest, worst)
        # Unrelated positions and an analysis in between must not change the games that follow.
        board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1")
        assert engine.play(board, chess.engine.Limit(time=1)).move in board.legal_moves
        engine.ping()
        engine.quit()
        print(f"{protocol}: {2 * games} games, {plies} half-moves, {results}, slowest answer {slowest * 1000:.1f} ms")


main()
