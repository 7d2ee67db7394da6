#!/bin/sh
# Runs one target, which tests/fuzz/run.sh has built: sh tests/fuzz/target.sh NAME runs|seconds N
set -u
name=$1 kind=$2 amount=$3
out=build/fuzz
program=$out/fuzz_$name corpus=$out/corpus/$name log=$out/fuzz_$name.log
most=4096
[ "$name" = snapshot ] && most=16384 # a saved match contains the names of its vocabularies
bound="-max_total_time=$amount"
[ "$kind" = runs ] && bound="-runs=$amount"

# AddressSanitizer keeps 1 MB of freed memory: enough to detect a use of it in the same run, and
# little enough for the processor's caches. With its default, a run would take a third of its time to
# fetch pages of memory.
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=1:thread_local_quarantine_size_kb=128:malloc_context_size=8}"
mkdir -p "$corpus"
cp tests/fuzz/corpus/"$name"/* "$corpus"/
began=$(date +%s)
"$program" "$bound" -max_len="$most" -timeout=10 -rss_limit_mb=2048 \
    -dict=tests/fuzz/json.dict -artifact_prefix="$out/crashes/$name-" -print_final_stats=1 \
    -reload=0 "$corpus" >"$log" 2>&1
code=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
echo "${runs:-0}" >"$out/$name.runs"
printf '  %-9s %5d s  %9s runs  %5d inputs\n' "$name" "$(($(date +%s) - began))" "${runs:-?}" \
    "$(find "$corpus" -type f | wc -l)"
if [ "$code" -ne 0 ]; then
    grep -v '^#' "$log" | head -n 60
    reproducer=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    echo "CRASH in fuzz_$name; again with: $program ${reproducer:-(no reproducer, see $log)}"
    exit 1
fi
[ -n "${CORPUS_UPDATE:-}" ] || exit 0
# Only new code makes an input worth keeping. With counters, each new loop count would add a file.
"$program" -merge=1 -use_counters=0 -max_len="$most" tests/fuzz/corpus/"$name" "$corpus" \
    >>"$log" 2>&1
