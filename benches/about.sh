# SPDX-License-Identifier: GPL-3.0-or-later
# Prints the commit, the date, the processor and the load of a measurement, without which its figures cannot
# be compared with later ones. The scripts beside it read this file; $here is the repository.
commit=$(git -C "$here" describe --always --dirty 2>/dev/null) || commit='unknown commit'
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null) || load=unknown
printf '%s, %s, %s x %s, load %s, %s\n' "$(date -u +%Y-%m-%d)" "$commit" "$(nproc)" \
  "${processor:-$(uname -m)}" "$load" "$(rustc --version 2>/dev/null || echo 'unknown compiler')"
