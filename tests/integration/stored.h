/* Verdicts in the evidence store of a service under test. If anything fails, the test fails. */
#ifndef HS_TESTS_STORED_H
#define HS_TESTS_STORED_H

#include <check.h>
#include <jansson.h>

#include "tests/support/http/kept_service.h"
#include "tests/support/postgres.h"

enum { HS_STORED_ID = 33 };

enum hs_stored_in { HS_STORED_BOTH, HS_STORED_POSTGRES };

/* Adds a case with the tests of `add` over SQLite, and one with the same tests over a server of
   PostgreSQL, or prints why that one is skipped. HS_STORED_POSTGRES: only that one. `setup` of a
   test calls hs_stored_setup. */
void hs_stored_add_cases(Suite *suite, enum hs_stored_in stores, SFun setup, SFun teardown,
                         void (*add)(TCase *tests));

/* Calls hs_kept_setup. In the second case the service stores its verdicts in a new, empty
   database. */
void hs_stored_setup(struct hs_test_kept *kept);

/* The server of the second case. NULL: the test runs over SQLite. */
struct hs_test_postgres *hs_stored_server(void);
/* The database of the test. */
const char *hs_stored_database(void);

/* Removes the verdicts of all days, as retention does, but not the reviewed ones. The service must
   not run. */
void hs_stored_forget(struct hs_test_kept *kept);
/* The callers of a service with tokens: two tenants with all rights, and the game server of the
   first, which may not read evidence. */
enum hs_stored_caller { HS_STORED_ACME, HS_STORED_ZETA, HS_STORED_GAME, HS_STORED_CALLERS };

/* Starts the service with their tokens. Returns the value of kept->headers for each of them. */
const char *(*hs_stored_start_tenants(struct hs_test_kept *kept))[2];

/* Posts 21 frames, beginning at the time `from`. `s` is at the origin, and `t` is 5 m in front of
   `s`. Both have a rifle, and the accounts `account-s` and `account-t`. */
void hs_stored_frames(struct hs_test_kept *kept, const char *match, double from);

/* Claims of `s` or `t`, for matches whose frames begin at 10 s. */
enum hs_stored_claim {
    HS_STORED_FAIR,    /* the claim is accepted */
    HS_STORED_AWAY,    /* rejected: the shot starts where the shooter never was */
    HS_STORED_BESIDE,  /* rejected: the shot passes beside the target */
    HS_STORED_TOO_OLD, /* rejected: its time is further back than the rewind limit */
    HS_STORED_CLAIMS
};

/* Posts a claim and writes its verdict id. */
void hs_stored_post(struct hs_test_kept *kept, const char *match, const char *shooter, int shot,
                    enum hs_stored_claim claim, char id[HS_STORED_ID]);

/* Returns the reason that the verdict on such a claim has. */
const char *hs_stored_reason(enum hs_stored_claim claim);

/* Returns whether to check verdict i of a long list. PostgreSQL returns the same bytes as SQLite,
   so there each eighth verdict is enough. */
bool hs_stored_is_checked(size_t i);

/* Waits until every verdict so far is in the store. */
void hs_stored_wait(struct hs_test_kept *kept);

/* Sends GET for a path; the answer must be 200 and JSON. Returns a new reference. */
json_t *hs_stored_get(struct hs_test_kept *kept, const char *path);

/* Returns the verdicts of all pages of GET /v1/verdicts with this query (such as "" or "player=s"),
   a new reference. A page of a busy machine may end before it is full. */
json_t *hs_stored_list(struct hs_test_kept *kept, const char *query);

/* Downloads the verdicts of a list into one file and runs `recheck`: all must be identical.
   `recheck` leaves out moves, because their state is not stored. */
void hs_stored_recheck(struct hs_test_kept *kept, const json_t *verdicts);

/* Plays the demo's match and all scenarios, and waits until their verdicts are in the store. For
   that, the service must run with --default-ruleset metres. */
void hs_stored_play_all(struct hs_test_kept *kept);

/* Returns the path of the store's file of a day, of which the data directory must have only one.
   Valid until the next call. */
const char *hs_stored_file(struct hs_test_kept *kept);

#endif
