/*
 * Replicas that share matches through a private redis-server. Two of them run from the start. The
 * tests play one match, `m`. Faults end the test (Check).
 */
#ifndef HS_TESTS_SHARED_PAIR_H
#define HS_TESTS_SHARED_PAIR_H

#include "tests/support/http/kept_service.h"
#include "tests/support/store/redis.h"

enum { HS_PAIR_COUNT = 3, HS_PAIR_PATIENCE_MS = 10000, HS_PAIR_SETTLE_MS = 700 };

#define HS_PAIR_STATE     "hs:v1:{/m}:state"
#define HS_PAIR_OWNER     "hs:v1:{/m}:own"
#define HS_PAIR_ACCEPTED  "\"verdict\":\"accepted\""
#define HS_PAIR_REPLAYED  "\"replayed\":true"
#define HS_PAIR_UNDURABLE "\"durable\":false"
#define HS_PAIR_FORGOTTEN "\"reason\":\"number_forgotten\""
#define HS_PAIR_RELEASED  "hindsight_match_takeovers_total{source=\"released\",result=\"restored\"}"

extern struct hs_test_redis hs_pair_redis;
extern struct hs_test_kept hs_pair[HS_PAIR_COUNT]; /* the last one does not run at first */

/* Checked fixture. */
void hs_pair_setup(void);
void hs_pair_teardown(void);

/* Waits until a series of a replica has a value. */
void hs_pair_wait(struct hs_test_kept *replica, const char *series, double value);

/* Returns whether the store has a key. */
bool hs_pair_has(const char *key);
void hs_pair_wait_for_state(void);

/* Claims a hit (hs_kept_hit), and returns whether the answer contains a text. */
bool hs_pair_holds(struct hs_test_kept *replica, int shot, double time, const char *what);

/* Claims a hit, which must be accepted. Repeats the claim until the store has the payment: on a
   busy machine the first answer may say that the payment is not durable yet. */
void hs_pair_pay(struct hs_test_kept *replica, int shot, double time);

/* Claims a hit, and returns the status. The first function also returns the answer, which the
   caller frees; the second one the code of the problem, or "". */
long hs_pair_send_claim(struct hs_test_kept *replica, int shot, double time, char **answer);
long hs_pair_claim(struct hs_test_kept *replica, int shot, double time, char code[64]);

#endif
