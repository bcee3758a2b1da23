# SPDX-License-Identifier: GPL-3.0-or-later
# Where a bench begins, read by the scripts beside it: BIN, the first argument, as $bin; the
# repository as $here; GNU time as $time, without which there is nothing to do; and $folder, which
# goes when they end.
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
