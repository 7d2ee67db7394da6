#!/bin/sh
# The scenario suite against a service under valgrind, and the geometry and history tests under
# valgrind themselves. Any invalid access, use of an unset value or lost block fails.
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
"${MAKE:-make}" --silent --no-print-directory "VARIANT=$(basename "$build")" $programs || exit 1

check='valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite'
export CK_FORK=no CK_TIMEOUT_MULTIPLIER=20
failed=0
run() {
    printf '== %s\n' "$*"
    "$@" || {
        echo "FAILED with code $?"
        failed=1
    }
}

# The tests put $HS_WRAP in front of the program they start, and look at its exit code. Each scenario
# is played once; what plays them again in other groups is too slow here.
run env CK_RUN_CASE=play HS_PROGRAM="$build/hindsight" HS_WRAP="$check" "$build/tests/integration/test_scenarios"
for suite in $suites; do
    # shellcheck disable=SC2086
    [ "$suite" = integration/test_scenarios ] || run $check "$build/tests/$suite"
done
if [ "$failed" -eq 0 ]; then
    echo "valgrind: nothing found"
else
    echo "valgrind: FAILED"
fi
exit "$failed"
