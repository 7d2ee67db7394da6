/* Claims with known verdicts, for tests of what happens with verdicts afterwards. The reason never
   depends on other claims. */
#ifndef HS_TESTS_VERDICT_SOURCE_H
#define HS_TESTS_VERDICT_SOURCE_H

#include "tests/support/http/client.h"

/* Kinds of claims, with the verdict and the reason that each gets. */
enum hs_source_claim {
    HS_SOURCE_SHORT, /* rejected, degenerate_trace */
    HS_SOURCE_FAR,   /* rejected, coordinate_out_of_world */
    HS_SOURCE_BARE,  /* inconclusive, no_weapon */
    HS_SOURCE_FINE,  /* accepted; from the second one on, fire_rate (in shadow mode) would reject */
};

/* Opens a match with the check `fire_rate` in shadow mode. Posts frames of `s`, who has a rifle,
   and of `u`, who has no weapon. `header`: "Authorization: ..." or NULL. */
void hs_source_open(struct hs_test_http *http, const char *match, const char *header);

/* Posts `count` claims with the shot numbers from `first` on. The test fails if one does not get
   its verdict. */
void hs_source_post(struct hs_test_http *http, const char *match, const char *header,
                    enum hs_source_claim claim, int first, int count);

#endif
