#!/bin/sh
# Fuzzes for long: RUNS inputs go straight into the decoders, and REQUESTS requests over HTTP. Both
# run with AddressSanitizer (which also finds leaks) and UndefinedBehaviorSanitizer.
#   sh tests/fuzz/long.sh RUNS REQUESTS
# HS_SEED repeats the requests of an earlier run; without HS_SEED each run makes new ones. The last
# line of the output has the counts.
set -u
runs=${1:?how many inputs} requests=${2:?how many requests}
seed=${HS_SEED:-$(date +%s)}
build=build/address-undefined
began=$(date +%s)

sh tests/fuzz/run.sh --runs "$runs" || exit 1

"${MAKE:-make}" --silent --no-print-directory -j "$(nproc)" CC=clang-14 OPT=-O1 \
    SANITIZE=address,undefined "$build/hindsight" || exit 1
"${MAKE:-make}" --silent --no-print-directory -j "$(nproc)" \
    build/release/tests/integration/test_http_fuzz || exit 1
mkdir -p build/fuzz
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 HS_SEED=$seed \
    HS_HTTP_FUZZ_REQUESTS=$requests HS_PROGRAM=$build/hindsight \
    sh tests/run.sh build/release build/release/tests/integration/test_http_fuzz \
    >build/fuzz/http.log 2>&1
code=$?
cat build/fuzz/http.log
[ "$code" -eq 0 ] || exit 1

decoded=$(cat build/fuzz/runs)
answered=$(sed -n 's/^\([0-9]*\) requests over HTTP;.*/\1/p' build/fuzz/http.log)
echo "fuzzed $((decoded + answered)) requests in $(($(date +%s) - began)) s:" \
    "$decoded into the decoders, $answered over HTTP; nothing found"
