#!/bin/sh
# Run the Check programs named after the build folder and close with one line that counts all their
# checks. What cannot run here is no check: it prints "SKIP: why", and those lines are counted. What
# failed is printed once more just before the closing line, so that the end of a log shows it.
# Programs that compute run HS_TEST_JOBS at a time (as many as there are processors). At the same time
# those that mostly wait run, twice as many. Programs whose bounds compare what the machine does in
# some time run last, one after the other.
set -u

# The longest ones come first, so that nobody waits for them at the end.
LONG='world_oracle scenarios sweep_oracle golden contract_generated play timing_scenarios work_budget
    extending timing_goal simulated_hits recheck_restarts recheck scenario_frames match_life hit_reference'
WAITING='checkpoint_files readme checkpoint_maps contract_errors edge_time checkpoint_rules overload
    observability replicas example library tls moved_match memory_faults kills linger checkpoint
    haproxy patience logging eviction evidence_postgres'
ALONE='shares soak storm file_faults'

# One program, for the rest of this script: LOGS/NAME is what it wrote, LOGS/NAME.end its code and
# how many seconds it took.
if [ "${1:-}" = --one ]; then
    log=$2/$(printf %s "$3" | tr / _)
    began=$(date +%s)
    "$3" >"$log" 2>&1
    echo "$? $(($(date +%s) - began))" >"$log.end"
    exit 0
fi

build=$1
shift
# Where a test says no limit of its own: a busy machine is no failure (the library says 4 s).
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-60}"
export HS_PROGRAM="${HS_PROGRAM:-$build/hindsight}"
jobs=${HS_TEST_JOBS:-$(nproc)}
passed=0 failed=0 skipped=0
left=hindsight-data # by a service that was not told where to keep its data
[ -e "$left" ] && had_left=yes || had_left=no
logs=$(mktemp -d)
failures=$(mktemp)
trap 'rm -rf "$logs" "$failures"' EXIT

known=$(echo "$LONG $WAITING $ALONE" | tr -s '\n ' '  ')

# The programs among the other arguments that the first one lists, in its order.
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

# Runs the programs whose names come in, so many at a time.
run_side_by_side() {
    xargs -r -P "$1" -n 1 sh "$script" --one "$logs"
}

script=$0
if [ "$jobs" -gt 1 ]; then
    { listed "$LONG" "$@"; unlisted "$@"; } >"$logs/computing"
    listed "$WAITING" "$@" >"$logs/waiting"
    echo "$(wc -l <"$logs/computing") programs that compute, $jobs at a time," \
        "beside $(wc -l <"$logs/waiting") that wait, $((2 * jobs)) at a time"
    run_side_by_side "$((2 * jobs))" <"$logs/waiting" &
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
    read -r code took <"$log.end"
    cat "$log"
    [ "$took" -lt 10 ] || echo "took $took s"
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
