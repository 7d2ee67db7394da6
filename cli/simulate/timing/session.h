/*
 * One simulated player. The library's timing checks process the player's moves twice: once with
 * acks, and once without acks.
 */
#ifndef HS_SIMULATE_TIMING_SESSION_H
#define HS_SIMULATE_TIMING_SESSION_H

#include "cli/simulate/timing/cheats.h"
#include "cli/simulate/timing/profiles.h"
#include "validators/clock/timing.h"

/* What the checks get: timestamps with acks, or only timestamps. */
enum hs_timing_input { HS_TIMING_ACKS, HS_TIMING_NO_ACKS, HS_TIMING_INPUTS };

extern const char *const hs_timing_input_names[HS_TIMING_INPUTS];

enum hs_timing_detector {
    HS_DETECTOR_DISCREPANCY, /* timing_discrepancy (validators/clock/compat.h) */
    HS_DETECTOR_PROVEN,
    HS_DETECTOR_SUSPECTED,
    HS_DETECTOR_DEFAULT, /* fast_clock_proven or fast_clock_suspected */
    HS_DETECTORS
};

/* The names of the flags, and "default" for the last detector. */
extern const char *const hs_timing_detector_names[HS_DETECTORS];

struct hs_timing_session {
    const struct hs_moves_rules *rules;
    enum hs_timing_profile profile;
    bool cheats;
    enum hs_timing_cheat cheat;
    double seconds; /* length of an honest session */
    uint64_t seed;
};

/* Seconds. A cheat's session ends this long after the start of cheating, or as soon as every
   detector has found the cheat. */
#define HS_TIMING_SEARCH 60.0

struct hs_timing_outcome {
    double seconds; /* length of the session */
    struct hs_timing_findings {
        uint32_t flags[HS_DETECTORS]; /* flagged moves while the player was honest */
        float delay[HS_DETECTORS];    /* seconds from the start of cheating to the first flag;
                                         negative: no flag */
        uint32_t refused;             /* refused moves, which are not simulated */
        double claimed, granted;      /* seconds of movement: claimed by moves; granted by checks */
        uint32_t bursts;              /* packet bursts in the last minute of the session */
    } with[HS_TIMING_INPUTS];
};

void hs_timing_session_play(const struct hs_timing_session *session, struct hs_timing_outcome *out);

#endif
