#!/bin/sh
# Runs test programs, and ends with one line that counts their checks: sh tests/run.sh BUILD PROGRAM...
# A test that cannot run here prints "SKIP: why"; these lines are counted as skipped. The output of
# failed programs is repeated just before the last line, so that the end of a log shows it.
# Programs that compute (LONG and unlisted ones) run HS_TEST_JOBS at a time, by default one for each
# processor. Beside them run programs that mostly wait (WAITING), three times as many. Programs that
# measure time (ALONE) run last, one after the other. For a program of 10 s or more, the output has
# its time, and for how long it used a processor. A program that rarely uses one belongs in WAITING.
set -u

# Each list has its longest programs first, so that none of them runs alone at the end.
LONG='world_oracle scenarios sweep_oracle hit_reference golden simulated_hits play timing_scenarios
    observability scenario_frames work_budget timing_goal contract_generated scenes'
WAITING='webhook checkpoint_files checkpoint_maps readme events edge_time overload checkpoint_rules
    file_faults replicas moved_match checkpoint evidence contract_errors example linger kills
    memory_faults shared_matches shared_failures shared_rules evidence_postgres evidence_players tls log logging
    evidence_reviews http_fuzz library haproxy patience eviction'
ALONE='evidence_disk shares soak storm'

# `--one LOGS PROGRAM` runs one program for the rest of this script. LOGS/NAME gets its output, and
# LOGS/NAME.end three numbers: its exit code, its seconds, and its seconds of processor time.
if [ "${1:-}" = --one ]; then
    log=$2/$(printf %s "$3" | tr / _)
    began=$(date +%s)
    "$3" >"$log" 2>&1
    code=$?
    times >"$log.end" # its second line is about the program
    busy=$(tail -n 1 "$log.end" | tr 'ms' '  ' | awk '{printf "%d", 60 * ($1 + $3) + $2 + $4}')
    echo "$code $(($(date +%s) - began)) $busy" >"$log.end"
    exit 0
fi

build=$1
shift
# The time limit of a test that sets none itself, and a factor for all time limits. Check's default
# of 4 s is too short for a busy machine.
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-60}" CK_TIMEOUT_MULTIPLIER="${CK_TIMEOUT_MULTIPLIER:-3}"
export HS_PROGRAM="${HS_PROGRAM:-$build/hindsight}"
jobs=${HS_TEST_JOBS:-$(nproc)}
passed=0 failed=0 skipped=0
left=hindsight-data # the default folder of a service; every test must choose another one
[ -e "$left" ] && had_left=yes || had_left=no
logs=$(mktemp -d)
failures=$(mktemp)
trap 'rm -rf "$logs" "$failures"' EXIT

known=$(echo "$LONG $WAITING $ALONE" | tr -s '\n ' '  ')

# Prints the programs whose names the first argument lists, in the order of that list.
listed() {
    names=$1
    shift
    for name in $names; do
        for program in "$@"; do
            case $program in */test_"$name") printf '%s\n' "$program" ;; esac
        done
    done
}

unlisted() {
    for program in "$@"; do
        case " $known " in
        *" ${program##*/test_} "*) ;;
        *) printf '%s\n' "$program" ;;
        esac
    done
}

# Reads paths of programs and runs them, $1 at a time.
run_side_by_side() {
    xargs -r -P "$1" -n 1 sh "$script" --one "$logs"
}

script=$0
if [ "$jobs" -gt 1 ]; then
    { listed "$LONG" "$@"; unlisted "$@"; } >"$logs/computing"
    listed "$WAITING" "$@" >"$logs/waiting"
    echo "$(wc -l <"$logs/computing") programs that compute, $jobs at a time," \
        "beside $(wc -l <"$logs/waiting") that wait, $((3 * jobs)) at a time"
    run_side_by_side "$((3 * jobs))" <"$logs/waiting" &
    waiting=$! # sh starts it with SIGINT ignored
    trap 'kill "$waiting" 2>/dev/null; exit 130' INT TERM
    run_side_by_side "$jobs" <"$logs/computing"
    wait "$waiting"
    trap - INT TERM
    if [ "$had_left" = no ] && [ -e "$left" ]; then
        echo "FAILED: one of them left ./$left in the tree" | tee -a "$failures"
        failed=1 had_left=yes
    fi
fi
for program in "$@"; do
    printf '== %s\n' "${program#"$build"/tests/}"
    log=$logs/$(printf %s "$program" | tr / _)
    [ -e "$log.end" ] || sh "$0" --one "$logs" "$program"
    read -r code took busy <"$log.end"
    cat "$log"
    [ "$took" -lt 10 ] || echo "took $took s, busy for $busy s"
    skips=$(grep -c '^SKIP:' "$log")
    skipped=$((skipped + skips))
    checks=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), .*/\1/p' "$log" | tail -n 1)
    bad=$(sed -n 's/^[0-9]*%: .*Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 + \2/p' "$log" | tail -n 1)
    checks=${checks:-0} bad=$((${bad:-0}))
    if { [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; } || [ "$((checks + skips))" -eq 0 ]; then
        echo "FAILED: $program ended with code $code after $checks checks"
        bad=$((bad + 1)) checks=$((checks + 1))
    fi
    if [ "$bad" -ne 0 ]; then
        printf -- '-- %s (code %d)\n' "${program#"$build"/tests/}" "$code" >>"$failures"
        tail -n 60 "$log" >>"$failures"
    fi
    if [ "$had_left" = no ] && [ -e "$left" ]; then
        echo "FAILED: $program left ./$left in the tree" | tee -a "$failures"
        bad=$((bad + 1)) checks=$((checks + 1)) had_left=yes
    fi
    passed=$((passed + checks - bad))
    failed=$((failed + bad))
done
if [ -s "$failures" ]; then
    echo 'What failed:'
    cat "$failures"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
