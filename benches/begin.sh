# SPDX-License-Identifier: GPL-3.0-or-later
# The scripts beside it read this file first. It sets $bin to the first argument, the folder of the
# programs, $here to the repository, $time to GNU time, without which the script ends, and $folder to
# a temporary folder that is removed when the script ends.
bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
time=/usr/bin/time
if ! test -x $time; then
  echo 'SKIPPED: GNU time is not installed'
  exit 0
fi
. "$here/benches/about.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
