#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Measures the adapter: learning, master moves found, games against the random mover.
#
#   report.sh ADAPTER FOLDER [PGN]
#
# FOLDER keeps the models. PGN is the training collection; default: the shared masters (unpacked into FOLDER), else the
# shipped sample. Positions: the shared ones, else games of the sample that were kept back. GAMES (100) a match.
set -eu
adapter=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
shared=${DBACL_SHARED:-$here/../../../shared}
games=${GAMES:-100}
mkdir -p "$folder"
if [ $# -gt 2 ]; then
    pgn=$3
elif [ -r "$shared/data/chess/masters-46k.pgn.xz" ]; then
    pgn=$folder/masters.pgn
    [ -s "$pgn" ] || xz -dc "$shared/data/chess/masters-46k.pgn.xz" >"$pgn"
else
    pgn=$here/../testdata/masters.pgn
fi
positions=$shared/golden/inputs/chess
if [ ! -r "$positions/positions-black.tsv" ]; then
    # Every tenth game is kept back; ten positions a colour from each.
    positions=$folder
    awk -v kept="$folder/kept.pgn" -v rest="$folder/rest.pgn" \
        '/^\[Event /{n++} {print > (n % 10 == 0 ? kept : rest)}' "$pgn"
    pgn=$folder/rest.pgn
    "$adapter" prepare "$folder/kept.pgn" -o "$folder/kept" 2>/dev/null
    for colour in white black; do
        awk -v odd=$([ $colour = black ] && echo 1 || echo 0) '{
            line = ""; taken = 0
            for (i = 1; i < NF && taken < 10; i++) {
                if ((i - 1) % 2 == odd && i > 1 && (i * 7 + NR) % 5 == 0) { print line "\t" $i; taken++ }
                line = line (i > 1 ? " " : "") $i
            }
        }' "$folder/kept/all.txt" >"$folder/positions-$colour.tsv"
    done
fi
for preset in essay odds; do
    stamp=$folder/$preset/manifest.json
    if [ ! -s "$stamp" ] || [ "$pgn" -nt "$stamp" ]; then
        echo "learning from $pgn"
        "$adapter" learn "$pgn" -o "$folder/$preset" --preset $preset
    fi
done
echo
echo "Master moves found, per cent:"
"$adapter" evaluate "$folder/essay" --all-voices \
    --positions "$positions/positions-black.tsv" --positions "$positions/positions-white.tsv"
"$adapter" evaluate "$folder/odds" \
    --positions "$positions/positions-black.tsv" --positions "$positions/positions-white.tsv"
echo
echo "$games games against the random mover, stopped at 200 half-moves:"
play() { # name, side, options
    name=$1 side=$2
    shift 2
    printf '%-38s %-5s ' "$name" "$side"
    "$adapter" match --games "$games" --side "$side" "$@"
}
for side in black white; do
    play "full moves, engine 1" $side "$folder/essay" --essay 1
    play "full moves, engine 2" $side "$folder/essay" --essay 2
    play "full moves, engine 3" $side "$folder/essay" --essay 3
    play "engine 1 + mate keyword" $side "$folder/essay"
    play "engine 3 + mate keyword" $side "$folder/essay" --rule tactical
    play "engine 3 + mate keyword, no draws" $side "$folder/essay" --rule tactical --avoid-draws
    play "odds, human" $side "$folder/odds" --play human
done
