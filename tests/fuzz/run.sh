#!/bin/sh
# Fuzzes every decoder with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and with
# mutations of JSON. Works on a copy of the corpus in build/fuzz, which also gets the new inputs.
#   sh tests/fuzz/run.sh SECONDS [TARGET...]       SECONDS for all targets together
#   sh tests/fuzz/run.sh --runs NUMBER [TARGET...] NUMBER inputs for all targets together
#   FUZZ_JOBS=N: N targets at a time (1; with --runs one for each processor)
#   CORPUS_UPDATE=1: afterwards, adds the inputs that reach new code to tests/fuzz/corpus
# The last line has the number of inputs that were run. The file build/fuzz/runs has it too.
set -u
kind=seconds amount=${1:-60} jobs=${FUZZ_JOBS:-1}
[ $# -gt 0 ] && shift
if [ "$amount" = --runs ]; then
    kind=runs amount=${1:?how many} jobs=${FUZZ_JOBS:-$(nproc)}
    shift
fi
# Each target has a share of the time or of the inputs. Requests that game servers send all the time
# have the largest shares. The slowest targets start first, so that none runs alone at the end.
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
# trace-cmp would call libFuzzer at every comparison, to learn the words and numbers that the code
# compares with. Without it a run takes a quarter less time, and the dictionary and the mutations
# have these words and numbers.
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
