# SPDX-License-Identifier: GPL-3.0-or-later
# Clean Debian systems, for packaging/check-deb, check-image and try-all, which source this file. They
# need root, mmdebstrap and a network:
#
#   SUITE   which Debian (forky); BASE: a tarball of it that mmdebstrap has made before
#   MIRROR  where it comes from, if not from Debian's usual mirror
suite=${SUITE:-forky}
work=$(mktemp -d)
roots=
# Removes the folders of the systems, unless something is still mounted in them.
leave() {
  for root in $roots; do
    for inner in proc dev/pts dev; do umount "$root/$inner" 2>/dev/null || :; done
  done
  rm -rf --one-file-system "$work"
}
trap leave EXIT
trap 'exit 1' INT TERM
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
test "$(id -u)" = 0 || fail 'only root may make a clean system'

# base VARIANT: makes the tarball, with the packages of that variant of mmdebstrap.
base() {
  base=${BASE:-$work/base.tar}
  test -f "$base" || mmdebstrap --quiet --variant="$1" \
    --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$base" \
    ${MIRROR:+"$MIRROR"}
}

# fresh NAME: unpacks a clean system into $work/NAME.
fresh() {
  root=$work/$1
  mkdir "$root"
  tar -xf "$base" -C "$root" --exclude=./dev
  mkdir -p "$root/dev/pts" "$root/proc"
  for node in null zero full random urandom tty; do
    cp -a "/dev/$node" "$root/dev/"
  done
  mount -t proc proc "$root/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  roots="$roots $root"
  cp /etc/resolv.conf "$root/etc/"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  # Systems that are thrown away need no forced writes.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  inside "$1" apt-get -qq update
}

# unpack_image ARCHIVE: unpacks a container image into $work/bundle/rootfs.
unpack_image() {
  skopeo --insecure-policy copy --quiet "oci-archive:$1" "oci:$work/oci:dbacl"
  umoci unpack --image "$work/oci:dbacl" "$work/bundle"
}

# inside NAME COMMAND...: runs a command in the system NAME.
inside() {
  name=$1
  shift
  $apart chroot "$work/$name" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}" "$@"
}
# `unshare --net` runs commands without a network.
apart=
