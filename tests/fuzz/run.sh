#!/bin/sh
# Fuzz every decoder for SECONDS in all, with libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer. Works on a copy of the corpus; what it finds stays in build/fuzz.
#   sh tests/fuzz/run.sh SECONDS [TARGET...]
#   CORPUS_UPDATE=1: afterwards, finds that reach new code are added to tests/fuzz/corpus.
set -u
seconds=${1:-60}
[ $# -gt 0 ] && shift
# Shares of the time: what a game server sends all day gets the most.
all='frames:5 hits:5 ticks:3 moves:3 rulesets:3 maps:2 headers:1 pointer:1 tokens:1 snapshot:2'
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

objects="$out/obj/tests/support/fuzz_targets.o $out/obj/tests/support/fuzz_checks.o"
objects="$objects $out/obj/tests/support/fuzz_stage.o $out/obj/tests/support/fuzz_edge.o"
objects="$objects $out/obj/tests/support/fuzz_body.o $out/obj/tests/support/fuzz_moves.o"
objects="$objects $out/obj/tests/support/fuzz_maps.o $out/obj/tests/support/map_reference.o"
objects="$objects $out/obj/tests/support/fuzz_tokens.o"
objects="$objects $out/obj/tests/support/fuzz_snapshot.o $out/obj/tests/support/small_game.o"
objects="$objects $out/obj/tests/support/world_cases.o $out/obj/tests/support/random.o"
mains=''
for entry in $wanted; do
    mains="$mains $out/obj/tests/fuzz/fuzz_${entry%:*}.o"
done
# shellcheck disable=SC2086
"${MAKE:-make}" --silent --no-print-directory VARIANT=fuzz CC=clang-14 \
    SANITIZE=fuzzer-no-link,address,undefined \
    $objects $mains "$out/libapp.a" "$out/libhindsight.a" || exit 1

mkdir -p "$out/crashes"
failed=0
for entry in $wanted; do
    name=${entry%:*}
    program=$out/fuzz_$name
    # shellcheck disable=SC2086
    clang-14 -fsanitize=fuzzer,address,undefined "$out/obj/tests/fuzz/fuzz_$name.o" $objects \
        "$out/libapp.a" "$out/libhindsight.a" $libs -lm -pthread -o "$program" || exit 1
    corpus=$out/corpus/$name
    mkdir -p "$corpus"
    cp tests/fuzz/corpus/"$name"/* "$corpus"/
    most=4096
    [ "$name" = snapshot ] && most=16384 # a saved match says what its vocabularies are
    time=$((seconds * ${entry#*:} / shares))
    [ "$time" -gt 0 ] || time=1
    log=$out/fuzz_$name.log
    "$program" -max_total_time="$time" -max_len="$most" -timeout=10 -rss_limit_mb=2048 \
        -dict=tests/fuzz/json.dict -artifact_prefix="$out/crashes/$name-" -print_final_stats=1 \
        -reload=0 "$corpus" >"$log" 2>&1
    code=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    printf '  %-9s %4d s  %9s runs  %5d inputs\n' "$name" "$time" "${runs:-?}" \
        "$(find "$corpus" -type f | wc -l)"
    if [ "$code" -ne 0 ]; then
        failed=1
        grep -v '^#' "$log" | head -n 60
        reproducer=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
        echo "CRASH in fuzz_$name; again with: $program ${reproducer:-(no reproducer, see $log)}"
    elif [ -n "${CORPUS_UPDATE:-}" ]; then
        # By new code alone: with counters, every other loop count would be worth a file.
        "$program" -merge=1 -use_counters=0 -max_len="$most" tests/fuzz/corpus/"$name" "$corpus" \
            >>"$log" 2>&1 || failed=1
    fi
done
[ "$failed" -eq 0 ] && echo "fuzzed for $seconds s: nothing found"
exit "$failed"
