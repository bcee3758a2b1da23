# SPDX-License-Identifier: GPL-3.0-or-later
# Prints what is measured and where, for the scripts beside it: figures without their commit and
# processor cannot be compared later. Reads $here, the repository.
commit=$(git -C "$here" describe --always --dirty 2>/dev/null) || commit='unknown commit'
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
printf '%s, %s, %s x %s, %s\n' "$(date -u +%Y-%m-%d)" "$commit" "$(nproc)" \
  "${processor:-$(uname -m)}" "$(rustc --version 2>/dev/null || echo 'unknown compiler')"
