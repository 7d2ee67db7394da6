#!/bin/sh
# Tests the console in a headless Chromium, with a service that stores the verdicts of the demo.
#     sh tests/console/run.sh PROGRAM [Console.test_NAME...]
# HS_WRITE_PICTURES=1 writes the pictures that later runs are compared with, and those of docs/images.
set -eu
program=$1
shift
work=build/console
mkdir -p "$work"

# axe-core finds faults of accessibility: names, roles, contrast. Only this test needs it, so it
# comes from npm and not from Debian.
if [ ! -e "$work/node_modules/axe-core/axe.min.js" ]; then
    cp tests/console/package.json tests/console/package-lock.json "$work/"
    if ! command -v npm >/dev/null 2>&1 ||
        ! (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
        echo 'SKIP: npm cannot install axe-core. Not done: names, roles and contrast'
    fi
fi

# Only Debian's python3 finds Debian's package of selenium.
exec /usr/bin/python3 -B tests/console/test_console.py "$program" "$work" "$@"
