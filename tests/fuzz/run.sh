#!/bin/sh
# Fuzz every decoder with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, with mutations
# that know JSON. Works on a copy of the corpus; what it finds stays in build/fuzz.
#   sh tests/fuzz/run.sh SECONDS [TARGET...]       for so long in all
#   sh tests/fuzz/run.sh --runs NUMBER [TARGET...] so many inputs in all
#   FUZZ_JOBS=N: so many targets at a time (1; with --runs one for each processor)
#   CORPUS_UPDATE=1: afterwards, finds that reach new code are added to tests/fuzz/corpus.
# The last line says how many inputs were run; they are in build/fuzz/runs, too.
set -u
kind=seconds amount=${1:-60} jobs=${FUZZ_JOBS:-1}
[ $# -gt 0 ] && shift
if [ "$amount" = --runs ]; then
    kind=runs amount=${1:?how many} jobs=${FUZZ_JOBS:-$(nproc)}
    shift
fi
# Shares: what a game server sends all day gets the most. The slowest first, so that none is left
# to run alone at the end.
all='frames:6 rulesets:3 hits:10 ticks:7 moves:6 snapshot:4 shots:4 maps:6 tokens:4 headers:5 pointer:5'
out=build/fuzz
libs=$(pkg-config --libs libmicrohttpd jansson nettle libcurl zlib)

wanted='' shares=0
for entry in $all; do
    case " ${*:-${entry%:*}} " in *" ${entry%:*} "*)
        wanted="$wanted $entry"
        shares=$((shares + ${entry#*:}))
        ;;
    esac
done
if [ "$shares" -eq 0 ]; then
    echo "no such target: $*" >&2
    exit 2
fi

objects="$out/obj/tests/fuzz/mutator.o"
for name in fuzz/targets fuzz/checks fuzz/stage fuzz/edge fuzz/body fuzz/moves fuzz/shots fuzz/maps \
    fuzz/tokens fuzz/snapshot fuzz/json_mutate fuzz/json_outline oracle/map_reference oracle/world_cases \
    play/small_game random; do
    objects="$objects $out/obj/tests/support/$name.o"
done
mains=''
for entry in $wanted; do
    mains="$mains $out/obj/tests/fuzz/fuzz_${entry%:*}.o"
done
# Without a call at every comparison a run takes a quarter less time; what those would find out, the
# words and numbers to compare with, the dictionary and the mutations know.
# shellcheck disable=SC2086
"${MAKE:-make}" --silent --no-print-directory -j"$(nproc)" VARIANT=fuzz CC=clang-14 \
    SANITIZE=fuzzer-no-link,address,undefined CFLAGS=-fno-sanitize-coverage=trace-cmp \
    $objects $mains "$out/libapp.a" "$out/libhindsight.a" || exit 1

mkdir -p "$out/crashes"
rm -f "$out"/*.runs
for entry in $wanted; do
    name=${entry%:*}
    # shellcheck disable=SC2086
    clang-14 -fsanitize=fuzzer,address,undefined "$out/obj/tests/fuzz/fuzz_$name.o" $objects \
        "$out/libapp.a" "$out/libhindsight.a" $libs -lm -pthread -o "$out/fuzz_$name" || exit 1
    share=$(((amount * ${entry#*:} + shares - 1) / shares))
    echo "$name $kind $share"
done | xargs -n 3 -P "$jobs" sh tests/fuzz/target.sh
code=$?
runs=$(cat "$out"/*.runs | awk '{ runs += $1 } END { printf "%d", runs }')
echo "$runs" >"$out/runs"
[ "$code" -eq 0 ] && echo "fuzzed with $runs inputs: nothing found"
exit "$code"
