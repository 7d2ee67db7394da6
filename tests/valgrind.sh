#!/bin/sh
# Plays the scenarios against a service under valgrind, and runs the geometry and history tests under
# valgrind. An invalid access, the use of an unset value or a lost block of memory is a failure.
#   sh tests/valgrind.sh BUILD     (after `make`)
set -u
build=$1
suites='integration/test_scenarios unit/validators/test_sweep unit/validators/test_history
    unit/validators/test_history_poses'

programs=''
for suite in $suites; do
    programs="$programs $build/tests/$suite"
done
# shellcheck disable=SC2086
"${MAKE:-make}" --silent --no-print-directory -j"$(nproc)" "VARIANT=$(basename "$build")" $programs || exit 1

check='valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite'
export CK_FORK=no CK_TIMEOUT_MULTIPLIER=20
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
run() {
    printf '== %s\n' "$*"
    "$@" || {
        code=$?
        echo "FAILED with code $code"
        touch "$logs/failed"
    }
}

# A program under valgrind uses one processor, so the other tests run at the same time as the
# scenarios. The tests start the service with $HS_WRAP in front, and check its exit code. Each
# scenario is played once: regrouped requests would take too long here.
run env CK_RUN_CASE=play HS_PROGRAM="$build/hindsight" HS_WRAP="$check" "$build/tests/integration/test_scenarios" \
    >"$logs/scenarios" 2>&1 &
for suite in $suites; do
    # shellcheck disable=SC2086
    [ "$suite" = integration/test_scenarios ] || run $check "$build/tests/$suite"
done
wait
cat "$logs/scenarios"
if [ -e "$logs/failed" ]; then
    echo "valgrind: FAILED"
    exit 1
fi
echo "valgrind: nothing found"
