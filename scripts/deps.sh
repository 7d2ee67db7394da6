#!/bin/sh
# Installs the Debian packages that the arguments name, unless all of them are installed.
set -eu
# `make -j` runs this script several times at once, and apt-get can run only once.
exec 9<"$0"
flock 9
missing=
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "These packages are missing, and there is no apt-get here to install them:$missing" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "These packages are missing, and installing them needs root or sudo:" >&2
    echo "    apt-get install$missing" >&2
    exit 1
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
install="$as_root apt-get install -y -q --no-install-recommends $missing"
# shellcheck disable=SC2086
$install >/dev/null 2>&1 || { $as_root apt-get update -q >/dev/null; $install >/dev/null; }
