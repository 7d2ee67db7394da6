#!/bin/sh
# Builds the golden test for 64-bit Arm and runs it under user-mode emulation.
#   sh tests/arm/run.sh BUILD SOURCE...
# `make golden-arm` passes the sources: those of the golden test that need no HTTP. Besides the C
# library they need only jansson. Its Debian package for arm64 is unpacked into BUILD, with package
# lists from this system's sources. Nothing is installed, and arm64 is not added to this system.
set -eu
build=$1
shift
arm_cc=${ARM_CC:-aarch64-linux-gnu-gcc}
sysroot=$build/sysroot
mkdir -p "$build"
build=$(cd "$build" && pwd)

fetch() {
    lists=$build/apt
    mkdir -p "$lists/state/lists/partial" "$lists/cache/archives/partial" "$lists/packages"
    set -- -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State="$lists/state" -o Dir::State::status=/dev/null -o Dir::Cache="$lists/cache" \
        -o Acquire::Languages=none -o APT::Sandbox::User=root
    # An update may fail because another source of this system has no arm64. That is harmless: if
    # the package is missing, the download below fails.
    apt-get "$@" update >"$lists/update.log" 2>&1 || cat "$lists/update.log" >&2
    (cd "$lists/packages" && apt-get "$@" download libjansson-dev >/dev/null)
    rm -rf "$sysroot"
    for package in "$lists"/packages/libjansson-dev_*_arm64.deb; do
        dpkg-deb -x "$package" "$sysroot"
    done
}

[ -f "$sysroot/usr/lib/aarch64-linux-gnu/libjansson.a" ] || fetch

for level in -O0 -O3; do
    $arm_cc -std=c11 $level -g -ffp-contract=off -fno-math-errno -D_GNU_SOURCE -I. \
        -isystem "$sysroot/usr/include" tests/arm/golden.c "$@" \
        "$sysroot/usr/lib/aarch64-linux-gnu/libjansson.a" -static -lm -pthread \
        -o "$build/golden$level"
    printf 'Arm, %s, %s:\n' "$arm_cc" "$level"
    qemu-aarch64 "$build/golden$level"
done
