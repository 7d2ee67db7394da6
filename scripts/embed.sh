#!/bin/sh
# Print a C file that holds each file named as an argument as bytes, and a table of them:
#   const struct hs_embedded hs_embedded_files[] (see service/system/embedded.h), closed by a NULL name.
set -eu
echo '#include "service/system/embedded.h"'
n=0
for file in "$@"; do
    printf 'static const unsigned char file_%d[] = {\n' "$n"
    od -An -v -tx1 "$file" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
    echo '0};'
    n=$((n + 1))
done
echo 'const struct hs_embedded hs_embedded_files[] = {'
n=0
for file in "$@"; do
    printf '    {"%s", file_%d, sizeof file_%d - 1},\n' "$file" "$n" "$n"
    n=$((n + 1))
done
echo '    {0, 0, 0}};'
