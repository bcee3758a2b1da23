#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""python-chess plays whole games with the adapter over both protocols and checks every move.

    drive.py ADAPTER MODELS [GAMES [ENGINE]]

GAMES (10) a colour and protocol, against a random mover, two half-moves deep, so that games are
short whatever the engine searches; or against ENGINE, which speaks UCI, a tenth of a second a move.
Prints SKIPPED when python-chess is not installed.
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


def play(engine, colour, seed, opponent=None, limit=300):
    rng = random.Random(seed)
    pace = chess.engine.Limit(time=0.1) if opponent else chess.engine.Limit(depth=2)
    board = chess.Board()
    slowest = 0.0
    game = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < limit:
        if board.turn == colour:
            started = time.monotonic()
            move = engine.play(board, pace, game=game).move
            slowest = max(slowest, time.monotonic() - started)
            assert move in board.legal_moves, f"illegal {move} in {board.fen()}"
        elif opponent:
            move = opponent.play(board, pace, game=game).move
            assert move in board.legal_moves, f"the other engine: illegal {move} in {board.fen()}"
        else:
            move = rng.choice(list(board.legal_moves))
        board.push(move)
    return board, slowest


def main():
    adapter, models = sys.argv[1:3]
    games = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    opponent = chess.engine.SimpleEngine.popen_uci(sys.argv[4].split()) if len(sys.argv) > 4 else None
    for protocol, popen in (
        ("uci", chess.engine.SimpleEngine.popen_uci),
        ("xboard", chess.engine.SimpleEngine.popen_xboard),
    ):
        engine = popen([adapter, "play", models])
        results, plies, slowest, points = {}, 0, 0.0, 0.0
        for colour in chess.COLORS:
            for seed in range(games):
                board, worst = play(engine, colour, seed, opponent)
                result = board.result(claim_draw=True)
                results[result] = results.get(result, 0) + 1
                won = {"1-0": chess.WHITE, "0-1": chess.BLACK}.get(result)
                points += 0.5 if won is None else float(won == colour)
                plies += board.ply()
                slowest = max(slowest, worst)
        # Unrelated positions and an analysis in between must not change the games that follow.
        board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1")
        assert engine.play(board, chess.engine.Limit(time=1)).move in board.legal_moves
        engine.ping()
        engine.quit()
        print(
            f"{protocol}: {2 * games} games, {plies} half-moves, {points:g} points, {results}, "
            f"slowest answer {slowest * 1000:.1f} ms"
        )
    if opponent:
        opponent.quit()


main()
