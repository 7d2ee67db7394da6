/*
 * The fixture of tests about one match of the stage (stage.h). Each test program that includes it
 * has its own copy.
 */
#ifndef HS_TESTS_FIXTURE_H
#define HS_TESTS_FIXTURE_H

#include "tests/support/play/stage.h"

/* The end of the history that hs_stage_play posts. */
#define NOW HS_MS(1000)

static struct hs_ruleset *rules;
static struct hs_match *match; /* at the beginning of a test it has no players */

static inline void open_stage(void)
{
    rules = hs_stage_ruleset();
    match = hs_stage_match(rules);
}

static inline void close_stage(void)
{
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}

#endif
