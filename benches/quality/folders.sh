#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A mail filter of twenty folders as a stream: each post of 20 Newsgroups is judged, then learned under
# its group. Prints for each thousand posts, and for the second half, how many are right, unsure, and
# surely wrong, and what an update takes; the figures of docs/lab/refit.md.
#
#   folders.sh FOLDERS [FIRST [POSTS]]
#
# FOLDERS holds a folder for each group, with a post in each file. FIRST posts of each group are learned
# at once (10), then POSTS come one by one (all).
set -eu
cd "$(dirname "$0")/../.."
exec cargo run --quiet --release --locked --example folder_stream -- "$@"
