#!/bin/sh
# Writes the list of options that PROGRAM prints into the documentation, between the lines
# "options: begin" and "options: end". Usage: docs.sh PROGRAM
set -eu
program=$1
put() {
    "$program" list-options "$1" >build/options.txt
    awk 'FNR == NR { list = list $0 "\n"; next }
         /options: end/ { printf "%s", list; inside = 0 }
         !inside
         /options: begin/ { inside = 1 }' build/options.txt "$2" >build/docs.tmp
    cmp -s build/docs.tmp "$2" || cat build/docs.tmp >"$2"
    rm -f build/docs.tmp build/options.txt
}
put markdown docs/configuration.md
put man deploy/hindsight.1
