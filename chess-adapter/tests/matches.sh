#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Plays the matches of docs/chess.md, two games at a time, one with each colour. It may be stopped
# at any time, and goes on where it stopped.
#
#   matches.sh ADAPTER MODELS GAMELINES RESULTS KIND PAIRS [UNTIL]
#
# KIND: elo1700   half a second a move each against Stockfish limited to Elo 1,700
#       nodes1700 50,000 nodes a move each against the same Stockfish: about as many as an idle
#                 machine searches in a fifth of half a second
#       nodes1900 the same against Stockfish limited to Elo 1,900
#       clock     10 s and 0.1 s a move against Stockfish limited to Elo 1,900 and to 20,000 nodes a
#                 move
#       nosearch  a twentieth of a second a move against chess-adapter without a search
# GAMELINES is a file of gamelines (`chess-adapter prepare` writes all.txt). Lines far from each
# other give the openings, which are the same in every run. RESULTS is a folder: KIND.tsv gets a
# line for each pair of games (its number, the machine's load, the match's JSON), KIND.pgn the
# games. After UNTIL (HH:MM) no pair is begun. Pairs that failed are played again in the next run.
# STOCKFISH names that program.
set -eu
adapter=$1 models=$2 gamelines=$3 results=$4 kind=$5 pairs=$6 until=${7:-}
stockfish=${STOCKFISH:-/usr/games/stockfish}
mkdir -p "$results"
table=$results/$kind.tsv
touch "$table"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
lines=$(wc -l <"$gamelines")

# Plays the two games of opening $1 and appends their result.
play_pair() {
    number=$1
    line=$((number * 7919 % lines + 1))
    sed -n "${line}p" "$gamelines" >"$scratch/opening.txt"
    rm -f "$scratch/games.pgn"
    load=$(cut -d' ' -f1 /proc/loadavg)
    set -- match "$models" --games 2 --openings "$scratch/opening.txt" --opening-plies 8 --json \
        --pgn "$scratch/games.pgn" --deterministic --play strong
    case $kind in
    elo1700)
        set -- "$@" --go 'movetime 500' --opponent "$stockfish" --opponent-go 'movetime 500' \
            --opponent-set UCI_LimitStrength=true --opponent-set UCI_Elo=1700 ;;
    nodes1700 | nodes1900)
        set -- "$@" --go 'nodes 50000' --opponent "$stockfish" --opponent-go 'nodes 50000' \
            --opponent-set UCI_LimitStrength=true --opponent-set "UCI_Elo=${kind#nodes}" ;;
    clock)
        set -- "$@" --clock 10+0.1 --opponent "$stockfish" --opponent-go 'nodes 20000' \
            --opponent-set UCI_LimitStrength=true --opponent-set UCI_Elo=1900 ;;
    nosearch)
        set -- "$@" --go 'movetime 50' --opponent self --opponent-set Search=off ;;
    *) echo "no such match: $kind" >&2; exit 2 ;;
    esac
    if json=$(timeout 3600 "$adapter" "$@" 2>"$scratch/errors"); then
        cat "$scratch/games.pgn" >>"$results/$kind.pgn"
        printf '%s\t%s\t%s\n' "$number" "$load" "$(printf %s "$json" | tr -d '\n')" >>"$table"
    else
        echo "$kind pair $number failed: $(tail -n 1 "$scratch/errors")" >>"$results/failed.txt"
    fi
}

number=1
while [ "$number" -le "$pairs" ]; do
    if [ -n "$until" ] && [ "$(date +%H%M)" -ge "$(echo "$until" | tr -d :)" ]; then
        break
    fi
    grep -q "^$number	" "$table" || play_pair "$number"
    number=$((number + 1))
done

# The sums so far; half a point for a draw, games stopped at the limit by who is ahead.
awk -F '\t' -v kind="$kind" '
    function field(name,   at, rest) {
        at = index($3, "\"" name "\"")
        if (!at) return 0
        rest = substr($3, at + length(name) + 2)
        sub(/^[: ]*/, "", rest)
        return rest + 0
    }
    {
        load += $2
        won += field("won"); drawn += field("drawn"); lost += field("lost")
        gone += field("lost_on_time"); theirs += field("won_on_time")
        ahead += field("stopped_ahead"); level += field("stopped_level")
        behind += field("stopped_behind")
    }
    END {
        games = won + drawn + lost + ahead + level + behind
        if (!games) { print kind ": no games"; exit }
        share = (won + ahead + (drawn + level) / 2) / games
        z = 1.96; centre = (share + z * z / 2 / games) / (1 + z * z / games)
        half = z * sqrt(share * (1 - share) / games + z * z / 4 / games / games)
        half /= 1 + z * z / games
        printf "%s: %d games, won %d, drawn %d, lost %d, stopped ahead %d, level %d, behind %d; ", \
            kind, games, won, drawn, lost, ahead, level, behind
        printf "points %.1f %% (95 %%: %.1f to %.1f); lost on time %d, opponent %d; ", \
            100 * share, 100 * (centre - half), 100 * (centre + half), gone, theirs
        printf "mean load %.1f\n", load / NR
    }' "$table"
