#!/bin/sh
# Creates a folder with everything that a container needs to run the program: the program, its
# libraries, an unprivileged account and a place for data. It has no shell and no package manager.
# Usage: rootfs.sh PROGRAM FOLDER
set -eu
program=$1 root=$2
mkdir -p "$root/usr/bin" "$root/etc/hindsight/rules" "$root/var/lib/hindsight" "$root/tmp"
cp "$program" "$root/usr/bin/hindsight"
chmod 755 "$root/usr/bin/hindsight"
# Each line of ldd has the path of one file, including the loader; only the vdso has no path.
ldd "$program" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    mkdir -p "$root${library%/*}"
    cp -L "$library" "$root$library"
done
echo 'hindsight:x:65532:65532:Hindsight:/var/lib/hindsight:/nonexistent' >"$root/etc/passwd"
echo 'hindsight:x:65532:' >"$root/etc/group"
chmod 1777 "$root/tmp"
chown 65532:65532 "$root/var/lib/hindsight" 2>/dev/null || true # only root can do this; see Containerfile
