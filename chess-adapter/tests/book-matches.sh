#!/bin/sh
# Games with the opening book, used in several ways, against the engine without it.
# book-matches.sh ADAPTER MODELS ALL.pgn GAMES: works in the current folder, writes book-matches.tsv.
set -eu
adapter=$1 models=$2 pgn=$3 games=$4
"$adapter" book "$pgn" --plies 40 -o book.txt
"$adapter" prepare "$pgn" -o prepared >/dev/null
# Beginnings of four half-moves, each once, evenly drawn.
cut -d' ' -f1-4 prepared/WhiteWin.txt | sort -u >all.txt
awk -v n="$(wc -l <all.txt)" -v want="$games" \
    'int(NR * want / n) > int((NR - 1) * want / n)' all.txt >openings.txt
printf 'book\tcolour\twon\tdrawn\tlost\tpoints\tlow\thigh\tseconds\tused at moves 3, 4, ...\n' \
    >book-matches.tsv

row() {
    name=$1 side=$2 begun=$(date +%s)
    shift 2
    "$adapter" match "$models" --play strong --go 'nodes 200' --opponent self --games "$games" \
        --side "$side" --openings openings.txt --opening-plies 4 --book book.txt --json "$@" \
        --opponent-set OwnBook=off --opponent-set BookInSearch=off \
        --opponent-set BookClusters=0 >score.json
    seconds=$(($(date +%s) - begun))
    python3 - "$name" "$side" "$seconds" >>book-matches.tsv <<'END'
import json, math, sys
name, side, seconds = sys.argv[1:]
score = json.load(open("score.json"))
# Games stopped after 200 half-moves count by material.
won, lost = score["won"] + score["stopped_ahead"], score["lost"] + score["stopped_behind"]
drawn = score["drawn"] + score["stopped_level"]
n, z = won + drawn + lost, 1.96
p = (won + drawn / 2) / n
middle, reach = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
bounds = [(middle + sign * reach) / (1 + z * z / n) for sign in (-1, 1)]
shares = [f"{100 * share:.1f}" for share in (p, *bounds)]
used = " ".join(str(count) for count in score.get("book_moves", [])[2:])
print(name, side, won, drawn, lost, *shares, seconds, used, sep="\t")
END
}

for side in both white black; do
    row 'none' "$side" --set OwnBook=off
done
row 'for White' white
row 'for Black' black
row 'for Black from move 11' black --set BookFrom=11
row 'in search' both --set BookInSearch=on
row 'in search, BookWeight=seed' both --set BookInSearch=on --set BookWeight=seed
row 'with clusters' both --clusters 2
