/* Prints the golden hashes on a machine that has little more than a C library. `make golden-arm`
   builds this program for Arm and runs it under user-mode emulation. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/oracle/golden.h"

static bool is_golden(const char *what, const struct hs_golden *got, uint64_t want)
{
    bool same = got->hash == want && got->unknown == 0;
    printf("golden hash of %s: 0x%016" PRIx64 " (%zu played, %ld verdicts), %s\n", what, got->hash,
           got->played, got->verdicts, same ? "as everywhere" : "NOT the hash in golden.h");
    return same;
}

int main(void)
{
    static struct hs_golden matches, scenarios;
    hs_golden_matches(2, &matches);
    hs_golden_scenarios(2, &scenarios);
    bool fine = is_golden("matches", &matches, HS_GOLDEN_MATCHES);
    fine = is_golden("scenarios", &scenarios, HS_GOLDEN_SCENARIOS) && fine;
    static struct hs_golden_moves moves;
    hs_golden_moves(&moves);
    bool same = moves.hash == HS_GOLDEN_MOVES;
    printf("golden hash of moves: 0x%016" PRIx64 " (%ld moves), %s\n", moves.hash, moves.moves,
           same ? "as everywhere" : "NOT the hash in golden.h");
    fine = fine && same;
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
