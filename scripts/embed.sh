#!/bin/sh
# Prints a C file with the bytes of files, and with a table of the files that ends with a NULL name:
#   const struct hs_embedded hs_embedded_files[] (see service/system/embedded.h)
#
#     sh scripts/embed.sh PLAIN... -- PAGE...
#
# The files before the -- keep their names and bytes. Files after it are compressed by gzip, and get
# names in one folder, console/FILE. So the imports in modules of a library are changed to that
# folder.
set -eu
file=$(mktemp)
trap 'rm -f "$file"' EXIT
rows=
n=0
is_page=false
echo '#include "service/system/embedded.h"'
for path in "$@"; do
    if [ "$path" = -- ]; then
        is_page=true
        continue
    fi
    printf 'static const unsigned char file_%d[] = {\n' "$n"
    if $is_page; then
        sed 's|"[./]*/build/three.module.js"|"./three.module.js"|' "$path" > "$file"
        name=console/$(basename "$path")
        size=$(wc -c < "$file")
        gzip -9 -n < "$file"
    else
        cat "$path" > "$file"
        name=$path
        size=0
        cat "$file"
    fi > "$file.bytes"
    od -An -v -tx1 "$file.bytes" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
    rm "$file.bytes"
    echo '0};'
    hash=$(sha256sum < "$file" | cut -c 1-32)
    rows="$rows
    {\"$name\", file_$n, sizeof file_$n - 1, $size, \"\\\"$hash\\\"\"},"
    n=$((n + 1))
done
echo "const struct hs_embedded hs_embedded_files[] = {$rows"
echo '    {0, 0, 0, 0, 0}};'
