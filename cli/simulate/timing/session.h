/*
 * One simulated player, judged by the timing judge itself: once with acks and once without.
 */
#ifndef HS_SIMULATE_TIMING_SESSION_H
#define HS_SIMULATE_TIMING_SESSION_H

#include "cli/simulate/timing/client.h"
#include "validators/clock/timing.h"

/* What the judge is told besides timestamps. */
enum hs_timing_told { HS_TIMING_ACKS, HS_TIMING_NO_ACKS, HS_TIMING_TELLINGS };

const char *hs_timing_told_name(enum hs_timing_told told);

enum hs_timing_detector {
    HS_DETECTOR_DISCREPANCY, /* the compatible judge */
    HS_DETECTOR_PROVEN,
    HS_DETECTOR_SUSPECTED,
    HS_DETECTOR_DEFAULT, /* proven or suspected */
    HS_DETECTORS
};

/* The flag's name; "default" for the last. */
const char *hs_timing_detector_name(enum hs_timing_detector detector);

struct hs_timing_session {
    const struct hs_moves_rules *rules;
    enum hs_timing_profile profile;
    bool cheats;
    enum hs_timing_cheat cheat;
    double seconds; /* of an honest session; a cheat's ends HS_TIMING_HUNT after his first trick */
    uint64_t seed;
};

/* A cheat is looked for so long. */
#define HS_TIMING_HUNT 60.0

struct hs_timing_outcome {
    double seconds; /* played */
    struct hs_timing_findings {
        uint32_t flags[HS_DETECTORS]; /* moves that raised it, before any trick */
        float delay[HS_DETECTORS];    /* seconds from the first trick; negative: never */
        uint32_t refused;             /* moves with a reason, and not simulated */
        double claimed, granted;      /* seconds of moves made, and of those to be simulated */
        uint32_t bursts;              /* at the end, of the last minute */
        float speed;                  /* estimated at the end */
    } told[HS_TIMING_TELLINGS];
};

void hs_timing_session_play(const struct hs_timing_session *session, struct hs_timing_outcome *out);

#endif
