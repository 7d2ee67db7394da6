#include <stdlib.h>
#include <string.h>

#include "tests/support/fuzz/checks.h"
#include "tests/support/fuzz/stage.h"
#include "tests/support/fuzz/targets.h"
#include "tests/support/play/small_game.h"
#include "validators/base/encoding.h"
#include "validators/snapshot.h"

enum { HEAD = 20 }; /* bytes of the version and the layout tags, which the fuzzer would not guess */

static const char *save(const struct hs_match *match, struct hs_bytes *out)
{
    hs_match_save(match, out);
    return out->failed ? "out of memory" : NULL;
}

/* Saves a match that was read, reads these bytes, and saves again. Checks that both saves give the
   same bytes. */
static const char *check_again(const struct hs_match *match, const struct hs_bytes *bytes)
{
    struct hs_bytes again = {0};
    struct hs_match *read;
    enum hs_match_load result =
        hs_match_load(hs_fuzz_ruleset(), &hs_fuzz_limits, bytes->data, bytes->len, &read);
    HS_MUST(result == HS_MATCH_LOADED, "a saved match cannot be read");
    const char *fault = save(read, &again);
    if (fault == NULL &&
        (again.len != bytes->len || memcmp(again.data, bytes->data, again.len) != 0))
        fault = "a match that was read is saved as other bytes";
    struct hs_match_info a, b;
    hs_match_info(match, &a);
    hs_match_info(read, &b);
    if (fault == NULL && (a.players != b.players || a.movers != b.movers))
        fault = "somebody got lost";
    hs_match_destroy(read);
    free(again.data);
    return fault;
}

static const char *play_on(struct hs_match *match)
{
    const struct hs_small_game traffic = {.seed = 1, .has_rtt = true};
    struct hs_bytes bytes = {0};
    const char *fault = save(match, &bytes);
    if (fault == NULL)
        fault = check_again(match, &bytes);
    for (int tick = 0; tick < 3 && fault == NULL; tick++) {
        hs_small_game_frames(&traffic, match, tick);
        hs_small_game_moves(&traffic, match, tick);
        hs_small_game_shots(&traffic, match, tick);
    }
    free(bytes.data);
    return fault != NULL ? fault : hs_small_game_ends_of_time(1, match);
}

const char *hs_fuzz_snapshot(const uint8_t *data, size_t size)
{
    struct hs_match *match = hs_match_create(hs_fuzz_ruleset(), &hs_fuzz_limits);
    struct hs_bytes bytes = {0};
    HS_MUST(match != NULL, "out of memory");
    const char *fault = save(match, &bytes);
    hs_match_destroy(match);
    HS_MUST_HOLD(fault);
    uint8_t *input = malloc(HEAD + size); /* a block of the exact size, so that sanitizers notice
                                             reads past its end */
    HS_MUST(input != NULL, "out of memory");
    memcpy(input, bytes.data, HEAD);
    if (size > 0)
        memcpy(input + HEAD, data, size);
    free(bytes.data);
    enum hs_match_load result =
        hs_match_load(hs_fuzz_ruleset(), &hs_fuzz_limits, input, HEAD + size, &match);
    bool is_read = result == HS_MATCH_LOADED || result == HS_MATCH_LOADED_PARTLY;
    fault = is_read == (match != NULL) ? NULL : "a match and an error, or neither of them";
    if (is_read && fault == NULL)
        fault = play_on(match);
    hs_match_destroy(match);
    free(input);
    return fault;
}
