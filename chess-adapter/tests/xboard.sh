#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A real xboard without display plays matches with the adapter: against fairymax and against itself.
#
#   xboard.sh ADAPTER MODELS [GAMES [ENGINE...]]
#
# Instead of these, against each ENGINE, without a depth: by the clock.
# Fails on an illegal move, a loss on time, an error line or a process left behind. Prints SKIPPED when a program is missing.
set -u
adapter=$1 models=$2 games=${3:-4}
test $# -lt 3 && shift $# || shift 3
PATH=$PATH:/usr/games
for program in xboard xvfb-run fairymax; do
    command -v $program >/dev/null || { echo "SKIPPED: no $program (apt-get install xboard xvfb fairymax)"; exit 0; }
done
case $adapter in /*) ;; *) adapter=$PWD/$adapter ;; esac
case $models in /*) ;; *) models=$PWD/$models ;; esac
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# Two half-moves of looking ahead: the clocks are heeded, and a game is soon over.
ours="$adapter play --search 2"
# A name of their own tells these engines from others that are running.
ln -s "$models" "$folder/models" && models=$folder/models
failed=0

play() { # name, engine 1, engine 2, which of them is ours
    side=$4
    timeout 3600 xvfb-run -a xboard -noGUI -fcp "$2" -scp "$3" -mg "$games" -tc 0:20 -inc 0.1 -mps 0 \
        -xponder -sgf "$folder/$1.pgn" -popupExitMessage false -debug -nameOfDebugFile "$folder/$1.debug" \
        >"$folder/$1.out" 2>&1
    status=$?
    played=$(grep -c '^\[Result ' "$folder/$1.pgn" 2>/dev/null)
    score=$(grep -a 'final score' "$folder/$1.out" "$folder/$1.debug" | tail -n 1 | sed 's/.*: Match/Match/')
    bad=$(grep -aE "<($side) *: *(Error \(|Illegal move|tellusererror|telluser)|>($side) *: rejected" "$folder/$1.debug" | head -n 3)
    forfeits=$(grep -aiE 'forfeits|illegal|time|exited|terminated' "$folder/$1.pgn" | grep -viE '^\[Time' | head -n 3)
    if [ $status -ne 0 ] || [ "${played:-0}" -ne "$games" ] || [ -n "$bad" ] || [ -n "$forfeits" ]; then
        echo "FAIL $1: status $status, $played of $games games; $bad $forfeits"
        failed=1
    else
        echo "$1: $played games, $score"
    fi
}

if [ $# -gt 0 ]; then
    for engine; do play "${engine%% *}" "$adapter play --play strong $models" "$engine" first; done
else
    play fairymax "$ours $models" fairymax first
    play itself "$ours $models" "$ours --name second $models" 'first|second'
fi
sleep 1
left=$(ps -eo args | grep -F "$models" | grep -v grep)
[ -z "$left" ] || { echo "FAIL processes left behind: $left"; failed=1; }
exit $failed
