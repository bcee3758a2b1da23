# SPDX-License-Identifier: GPL-3.0-or-later
# Other machines and C libraries on which programs of this repository are tried. Sourced in the
# repository's folder, not run.

products=${CARGO_TARGET_DIR:-$PWD/target}/machines

# describe MACHINE: sets target, linker (empty: the compiler's own choice), runner and tunables.
describe() {
  target=x86_64-unknown-linux-gnu linker='' runner='' tunables=''
  case $1 in
    native) target= ;;
    nofma) target='' tunables=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2 ;;
    old) runner='qemu-x86_64 -cpu Nehalem' ;;
    static) ;;
    musl) target=x86_64-unknown-linux-musl ;;
    arm64) target=aarch64-unknown-linux-gnu linker=aarch64-linux-gnu-gcc runner=qemu-aarch64 ;;
    arm64-musl) target=aarch64-unknown-linux-musl linker=aarch64-linux-gnu-gcc runner=qemu-aarch64 ;;
    s390x) target=s390x-unknown-linux-gnu linker=s390x-linux-gnu-gcc runner=qemu-s390x ;;
    i686) target=i686-unknown-linux-gnu linker=i686-linux-gnu-gcc ;;
    *)
      echo "$1: not known; see the first lines of testdata/signature/machine" >&2
      exit 2
      ;;
  esac
}

# missing: what the machine that was described lacks, if anything.
missing() {
  for program in $linker ${runner%% *}; do
    command -v "$program" >/dev/null || echo "$program"
  done
  test -z "$target" || {
    library=$(${RUSTC:-rustc} --print target-libdir --target "$target" 2>/dev/null) || library=
    ls "$library"/libstd-*.rlib >/dev/null 2>&1 || echo "Rust's standard library for $target"
  }
}

# compile OPTION...: builds for the machine that was described; what, the options of cargo say.
compile() {
  flags=
  test -z "$target" || flags='-C target-feature=+crt-static'
  if test -n "$linker"; then
    export "CARGO_TARGET_$(echo "$target" | tr 'a-z-' 'A-Z_')_LINKER=$linker"
  fi
  RUSTFLAGS=$flags ${CARGO:-cargo} build --quiet --profile demo --locked "$@" \
    --target-dir "$products" ${target:+--target "$target"} >&2
}

# command_of PROGRAM: the shell's words that run a program which was compiled for the machine that was
# described.
command_of() {
  echo "${tunables:+GLIBC_TUNABLES=$tunables }${runner:+$runner -0 ${1##*/} }'$products/${target:+$target/}demo/$1'"
}
