/*
 * A shooting gallery: shooters stand in a row and claim hits on one target. The gallery tests
 * claims while the service is short of a resource. All claims have the same time, each has a
 * different path, and all are honest. So each must be paid exactly once, whenever and however often
 * it is sent. Errors of the test itself fail the test (Check).
 */
#ifndef HS_TESTS_GALLERY_H
#define HS_TESTS_GALLERY_H

#include "tests/support/http/client.h"
#include "tests/support/play/follower.h"

enum { HS_GALLERY_SHOOTERS = 24, HS_GALLERY_CLAIMS = 480 };

/* The ruleset that the gallery needs as the default. */
extern const char hs_gallery_rules[];

/* The result of a claim. */
enum hs_gallery_answer {
    HS_GALLERY_PAID,         /* accepted, as a first answer or as a replay */
    HS_GALLERY_NOT_RECORDED, /* inconclusive with the reason not_recorded, or the request got 503 */
    HS_GALLERY_OTHER,        /* counted as a fault */
    HS_GALLERY_NO_ANSWER
};

struct hs_gallery {
    const char *match;
    struct hs_follower *follower;
    struct hs_follow_counts counts;
    struct hs_followed claims[HS_GALLERY_CLAIMS]; /* claim i belongs to shooter i modulo SHOOTERS */
    double damage;                                /* sum of the first payments */
    long not_recorded, unavailable, unanswered;
};

/* Creates a gallery. `key`: below 2^32; identifies this gallery in a run. */
struct hs_gallery *hs_gallery_create(const char *match, struct hs_follower *follower, uint64_t key);
void hs_gallery_destroy(struct hs_gallery *gallery);

/* Writes the body of a request. The body has the frames with all shooters, or only `now`, and then
   `members`. */
char *hs_gallery_body(bool frames, const char *members);

/* Posts the frames with all shooters; returns the status. */
long hs_gallery_post_frames(struct hs_gallery *gallery, struct hs_test_http *http);

/* Sends one claim. */
enum hs_gallery_answer hs_gallery_claim(struct hs_gallery *gallery, struct hs_test_http *http,
                                        int claim);

/* Checks one answer about a claim: an entry of `results` or `hits`. */
enum hs_gallery_answer hs_gallery_take(struct hs_gallery *gallery, struct hs_followed *item,
                                       const json_t *result);

/* Returns whether the claim was paid, and only once. */
bool hs_gallery_is_paid(const struct hs_gallery *gallery, int claim);

/* Prints the counts under a heading. All must be 0. */
void hs_gallery_judge(const struct hs_gallery *gallery, const char *heading);

#endif
