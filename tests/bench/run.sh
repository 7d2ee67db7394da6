#!/bin/sh
# Runs measuring programs, writes their JSON lines to the file OUT, and prints a table of them.
#   sh tests/bench/run.sh OUT PROGRAM...
set -u
out=$1
shift
export HS_PROGRAM="${HS_PROGRAM:-build/hindsight}"
mkdir -p "$(dirname "$out")"
: >"$out.part"
trap 'rm -f "$out.part"' EXIT
for program in "$@"; do
    if ! "$program" >>"$out.part"; then
        echo "FAILED: $program" >&2
        exit 1
    fi
done
cp "$out.part" "$out"
printf '%-24s %14s %-5s %s\n' figure value unit 'compared with'
sed -n 's/^{"name":"\([^"]*\)","value":\([^,]*\),"unit":"\([^"]*\)","baseline":"*\([^",]*\)"*,"ratio":\([^}]*\)}$/\1 \2 \3 \4 \5/p' \
    "$out" | while read -r name value unit baseline ratio; do
    [ "$baseline" = null ] && against='' || against="$ratio x $baseline"
    printf '%-24s %14s %-5s %s\n' "$name" "$value" "$unit" "$against"
done
echo "written to $out"
