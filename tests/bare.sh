#!/bin/sh
# Types the commands of README.md on a bare Debian 12: as a user without sudo, as a user with sudo,
# and as root. They must print what the page says.
#     sh tests/bare.sh [--with-tests] [MIRROR]
# Packages come from MIRROR, or from the sources of Debian 12 that apt has on this machine.
# --with-tests also types `make test` and `make fuzz`. Needs root and debootstrap. Everything runs
# in separate namespaces, so all processes and mounts end with the script.
set -eu
codename=bookworm

skip() {
    echo "SKIP: $1. Not done: README.md on a bare Debian 12"
    exit 0
}

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# ---- outside: the folder and the namespaces ----

inside= # the first process of the namespaces, which end with it
clean() {
    [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true
    wait || true
    rm -rf --one-file-system "$folder"
}

if [ "${1:-}" != --inside ]; then
    not_typed='^make (test|fuzz)'
    [ "${1:-}" != --with-tests ] || { not_typed='^$' && shift; }
    [ "$(id -u)" -eq 0 ] || skip 'it needs root'
    for program in debootstrap unshare ip script jq; do
        command -v "$program" >/dev/null 2>&1 || skip "$program is not installed"
    done
    folder=$(mktemp -d)
    chmod 755 "$folder"
    trap clean EXIT
    trap 'exit 130' HUP INT TERM
    if [ -n "${1:-}" ]; then
        echo "deb $1 $codename main"
    else
        # shellcheck disable=SC2016 # the variables are apt-get's
        apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
            awk -v name="$codename" 'index($2, name) == 1 && !seen[$0]++ { print "deb", $0, "main" }'
    fi >"$folder/sources.list"
    [ -s "$folder/sources.list" ] || skip "apt has no source of $codename here, and no mirror was named"
    git archive --format=tar -o "$folder/tree.tar" HEAD
    unshare --mount --pid --fork --kill-child --mount-proc sh "$0" --inside "$folder" "$not_typed" &
    inside=$!
    wait "$inside"
    inside=
    exit 0
fi

# ---- inside ----

folder=$2 not_typed=$3
export TMPDIR="$folder"

step() {
    printf '\n=== %s\n' "$1"
}

make_root() {
    root=$folder/$1
    cp -a "$folder/base" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
}

# From now on, `user` gives the commands, in the committed tree in the user's home.
become() {
    user=$1 home=$2
    [ "$user" = root ] || useradd --root "$root" --create-home --shell /bin/bash "$user"
    mkdir "$root$home/hindsight"
    tar -xf "$folder/tree.tar" -C "$root$home/hindsight"
    chroot "$root" chown -R "$user:" "$home"
}

# Prints the words that run a command as the user, without the variables of this environment.
login() {
    echo "chroot --userspec=$user $root env -i -C $home/hindsight HOME=$home TERM=dumb LANG=C.UTF-8" \
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

# Types a part of the page, without the commands that match the regular expression.
type_page() {
    # shellcheck disable=SC2046 # words
    HS_README_SKIP=$2 sh tests/readme.sh "$1" $(login) bash --norc --noprofile --noediting -i
}

if [ "${4:-}" = --service ]; then # in a network of its own, where the page's ports are free
    root=$5 user=root home=/root
    ip link set lo up
    echo fail-with-body >"$root$home/.curlrc" # curl fails if the service refuses a request
    type_page service "$not_typed"
    exit 0
fi

step 'a bare Debian 12'
mirror=$(awk -v name="$codename" '$3 == name { print $2; exit }' "$folder/sources.list")
if ! debootstrap --variant=minbase "$codename" "$folder/base" "$mirror" >"$folder/log" 2>&1; then
    tail -n 20 "$folder/log"
    fail 'debootstrap'
fi
cp "$folder/sources.list" "$folder/base/etc/apt/"
cp /etc/resolv.conf /etc/hosts "$folder/base/etc/"
# There apt uses the settings of this machine for its sources, and assumes "yes" to its question.
{ apt-config dump Acquire && echo 'APT::Get::Assume-Yes "true";'; } >"$folder/base/etc/apt/apt.conf.d/99bare"

step 'a user without sudo'
make_root users
become root /root
type_page setup '^make'
become player /home/player
# shellcheck disable=SC2046 # words
if $(login) make demo >"$folder/log" 2>&1; then
    fail "make demo needs neither root nor sudo: $(cat "$folder/log")"
fi
cat "$folder/log"
grep -q 'needs root or sudo' "$folder/log" || fail 'make demo does not say what it needs'
missing=$(sed -n 's/^ *apt-get install //p' "$folder/log")

step 'a user with sudo'
chroot "$root" apt-get install -qq sudo >/dev/null 2>&1
echo 'player ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/player"
type_page setup '^apt-get|^make (example|test|fuzz)'
# shellcheck disable=SC2086 # a list of words
if [ -z "$missing" ] || ! chroot "$root" dpkg-query -W $missing >/dev/null; then
    fail "this was said to be missing, and was not needed: $missing"
fi

step 'root'
make_root root
become root /root
type_page setup "$not_typed"
unshare --net sh "$0" --inside "$folder" "$not_typed" --service "$root"
