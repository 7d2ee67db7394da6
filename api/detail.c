#include "api/detail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/digits.h"

/* The two forms of a sentence. vocabulary.h explains the placeholders in braces, such as {m}. */
struct sentence {
    /* For a row with a measured value. NULL: the reason never has a measured value. */
    const char *measured;
    /* For a row without a measured value. NULL: the reason always has a measured value. */
    const char *bare;
};

/* The sentences for each reason of a row. test_detail.c fails if a sentence is missing. */
static const struct sentence sentences[HS_REASON_COUNT] = {
#define X(id, name, verdict, check, measured, bare) {measured, bare},
    HS_REASONS(X)
#undef X
};

#define SHIELD_IN_DOUBT "the state of {p}, or of a mover that may shield them, is unknown at {h} s"

/* Sentences for reasons that have a special meaning in one check. */
static const struct {
    enum hs_check check;
    enum hs_reason reason;
    struct sentence sentence;
} special[] = {
    {HS_CHECK_IDENTITY,
     HS_REASON_HISTORY_TOO_SHORT,
     {NULL, "shot {n} may have been posted before a restart, or forgotten to save memory"}},
    {HS_CHECK_IDENTITY,
     HS_REASON_UNKNOWN_SHOOTER_HISTORY,
     {NULL, "the match has no space to remember a new shooter"}},
    {HS_CHECK_REWIND,
     HS_REASON_UNKNOWN_SHOOTER_HISTORY,
     {NULL, "no round trip of the shooter is known"}},
    {HS_CHECK_LATENCY,
     HS_REASON_HISTORY_TOO_SHORT,
     {"{T} differs by {m} s from the time expected from rtt and interp, {L} s, but both were last "
      "reported before a restart",
      NULL}},
    {HS_CHECK_BLAST,
     HS_REASON_HISTORY_TOO_SHORT,
     {"{t} s is {m} s before the oldest frame of {p}", SHIELD_IN_DOUBT}},
    {HS_CHECK_BLAST,
     HS_REASON_LOW_CONFIDENCE_GAP,
     {"the frames of {p} around {t} s are {m} s apart, {L} s", SHIELD_IN_DOUBT}},
    {HS_CHECK_BLAST,
     HS_REASON_HISTORY_GAP,
     {"{t} s is {m} s after the newest frame of {p}, {L} s", SHIELD_IN_DOUBT}},
};

/* Sentences for rows with a measured distance and the outcome `unknown`. The first sentence is for
   a mover whose place or state is unknown. The second sentence is for a shooter whose weapon is
   stale. */
static const char mover_is_unknown[] =
    "{v} may be in the way at {m}, before {l}, but its place or state at {t} s is unknown";
static const char weapon_is_stale[] =
    "the path misses {p} by {m}, {L}, but the weapon was last reported before a restart";

static const struct sentence move_sentences[HS_MOVE_CHECK_COUNT] = {
    [HS_MOVE_CHECK_FAST_CLOCK_PROVEN] = {"client_time is {m} s ahead of what ack allows, {L} s",
                                         NULL},
    [HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED] = {"the client's clock has gained {m} s, {L} s", NULL},
    [HS_MOVE_CHECK_TIMING_DISCREPANCY] = {"the client is {m} s ahead of the server, {L} s", NULL},
    [HS_MOVE_CHECK_TELEPORT] = {"the player moved {m} at once without a teleport or spawn, {L}",
                                NULL},
    [HS_MOVE_CHECK_SPEED] = {"the player moves {m} per second, {L}", NULL},
    [HS_MOVE_CHECK_ACCELERATION] = {"the player accelerates by {m} per second squared, {L}", NULL},
    [HS_MOVE_CHECK_GRAVITY] = {"the player is {m} above where gravity would have them, {L}", NULL},
    [HS_MOVE_CHECK_PATH] = {"the map or a mover blocks the path of length {l} after {m}", NULL},
    [HS_MOVE_CHECK_GROUND] = {"the player walked {m} s without ground below, {L} s", NULL},
    [HS_MOVE_CHECK_BASE] = {"the player is {m} from the mover that is their base, {L}",
                            "no mover in the frames has the name of the base"},
    [HS_MOVE_CHECK_STANCE] = {NULL, "the flags of the move do not fit the stance in the frames, or "
                                    "the player jumped in a mode without ground and gravity"},
};
static const char base_changes[] = "the player changed base {m} times within a short time, {L}";

/* ---- numbers ---- */

enum {
    NUMBER_MAX = 48,
    USUAL_DIGITS = 3,
    MAX_DIGITS = 4,
    COUNT_DIGITS = 9 /* counts are not rounded */
};

/* Writes a number with at most `digits` significant digits and without trailing zeros. Returns the
   number that the text represents. */
static double write_digits(double value, int digits, char out[NUMBER_MAX])
{
    char text[NUMBER_MAX];
    double shown;
    char *end = hs_digits_rounded(out, value, digits, &shown);
    if (end != NULL) {
        *end = '\0';
        return shown;
    }
    if (value == 0)
        return memcpy(out, "0", 2), 0;
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    double rounded = strtod(text, NULL);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    int decimals = digits - 1 - exponent;
    if (rounded == 0)
        snprintf(out, NUMBER_MAX, "0");
    else if (exponent < -6 || exponent > 15)
        snprintf(out, NUMBER_MAX, "%.*g", digits, rounded);
    else
        snprintf(out, NUMBER_MAX, "%.*f", decimals > 0 ? decimals : 0, rounded);
    size_t length = strlen(out);
    if (strchr(out, '.') == NULL || strchr(out, 'e') != NULL)
        return rounded;
    while (out[length - 1] == '0')
        length--;
    if (out[length - 1] == '.')
        length--;
    out[length] = '\0';
    return rounded;
}

/* Writes `first`, `second` and a terminating 0 to `out`. Returns the text. */
static struct hs_str join(char *out, const char *first, const char *second)
{
    struct hs_str before = hs_str_of(first), after = hs_str_of(second);
    memcpy(out, before.ptr, before.len);
    memcpy(out + before.len, after.ptr, after.len);
    out[before.len + after.len] = '\0';
    return (struct hs_str){out, before.len + after.len};
}

struct numbers {
    char measured[NUMBER_MAX + 10], limit[NUMBER_MAX];
    bool is_below; /* the measured value is below the limit */
};

static int side(double a, double b)
{
    return (a > b) - (a < b);
}

/* Writes the measured value and the limit with enough digits to show which of the two is larger. If
   MAX_DIGITS digits are not enough, the text of the measured value is "more than" or "less than",
   followed by the limit. */
static struct numbers numbers_of(enum hs_unit unit, double measured, double limit)
{
    struct numbers out = {.is_below = measured < limit};
    bool counts = unit == HS_UNIT_COUNTED && measured == floor(measured);
    int digits = counts ? COUNT_DIGITS : USUAL_DIGITS, max = counts ? COUNT_DIGITS : MAX_DIGITS;
    char text[NUMBER_MAX];
    double shown_limit = write_digits(limit, max, out.limit);
    for (; digits <= max; digits++)
        if (side(write_digits(measured, digits, text), shown_limit) == side(measured, limit))
            break;
    const char *side_text = digits <= max ? "" : out.is_below ? "less than " : "more than ";
    join(out.measured, side_text, digits <= max ? text : out.limit);
    return out;
}

/* Writes microseconds as seconds, rounded to milliseconds. */
static void write_seconds(int64_t us, char out[NUMBER_MAX])
{
    write_digits(round((double)us / 1e3) / 1e3, 16, out);
}

/* ---- the sentence ---- */

/* The data from which the text for a placeholder is made. */
struct words {
    struct numbers numbers;
    const struct hs_detail_claim *claim;
    const struct hs_hit_result *result;
    const struct hs_check_row *row;
};

static bool is_of_shooter(const struct words *words)
{
    const struct hs_check_row *row = words->row;
    if (hs_check_stage(row->check) < HS_CHECK_STAGE_SHOT)
        return false;
    return row->player.text[0] == '\0' ||
           hs_str_equal(hs_name_str(&row->player), words->claim->shooter);
}

static struct hs_str player_of(const struct words *words)
{
    const struct hs_check_row *row = words->row;
    bool about_shooter = hs_check_stage(row->check) >= HS_CHECK_STAGE_SHOT;
    if (row->player.text[0] != '\0')
        return hs_name_str(&row->player);
    if (about_shooter && row->reason != HS_REASON_UNKNOWN_TARGET_HISTORY)
        return HS_STR("the shooter");
    return words->claim->target.ptr != NULL ? words->claim->target : HS_STR("the target");
}

/* Returns the text for a placeholder. The result may be stored in the buffer `text`. */
static struct hs_str word_of(const struct words *words, char word, char text[HS_SENTENCE_MAX])
{
    const struct numbers *numbers = &words->numbers;
    const struct hs_detail_claim *claim = words->claim;
    int64_t time_us;
    if (word == 'm')
        return hs_str_of(numbers->measured);
    if (word == 'l')
        return hs_str_of(numbers->limit);
    if (word == 'L')
        return join(text, numbers->is_below ? "minimum " : "limit ", numbers->limit);
    if (claim == NULL || words->result == NULL || words->row == NULL)
        return HS_STR(""); /* sentences about moves contain only {m}, {l} and {L} */
    switch (word) {
    case 'p':
        return player_of(words);
    case 'v':
        return words->row->mover.text[0] != '\0' ? join(text, "mover ", words->row->mover.text)
                                                 : HS_STR("a wall");
    case 'w':
        return claim->weapon;
    case 'n':
        return (struct hs_str){text, (size_t)(hs_digits_unsigned(text, claim->shot) - text)};
    case 's':
        return hs_str_of(claim->is_shot ? "origin" : "start");
    case 'T':
        return hs_str_of(claim->is_shot ? "time" : "hit_time");
    case 'c':
        return hs_str_of(claim->is_shot ? "shot" : "claim");
    default: /* the placeholders f, h and t */
        time_us = word == 'f' || (word == 't' && is_of_shooter(words))
                      ? words->result->eye_time_us
                      : words->result->rewind.time_us;
        write_seconds(time_us, text);
        return hs_str_of(text);
    }
}

static void write_sentence(const char *text, const struct words *words, char out[HS_SENTENCE_MAX])
{
    size_t at = strlen(out);
    char composed[HS_SENTENCE_MAX];
    while (*text != '\0' && at + 1 < HS_SENTENCE_MAX) {
        struct hs_str piece = {text, strcspn(text, "{")};
        text += piece.len;
        if (piece.len == 0) {
            piece = word_of(words, text[1], composed);
            text += sizeof "{?}" - 1;
        }
        size_t left = HS_SENTENCE_MAX - 1 - at;
        size_t len = piece.len < left ? piece.len : left;
        memcpy(out + at, piece.len > 0 ? piece.ptr : "", len);
        at += len;
    }
    out[at] = '\0';
}

static const char *text_of(const struct hs_check_row *row)
{
    bool is_unknown_place = row->outcome == HS_OUTCOME_UNKNOWN && row->unit == HS_UNIT_LENGTH;
    if (is_unknown_place)
        return row->check == HS_CHECK_CONTACT ? weapon_is_stale : mover_is_unknown;
    if (row->of_whole_flight)
        return "the flight took {m} s, {L} s";
    if (row->of_fire_time && row->outcome == HS_OUTCOME_FAIL)
        return "{T} differs by {m} s from the time expected from fire_time, rtt and interp, {L} s";
    const struct sentence *sentence = &sentences[row->reason];
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (special[i].check == row->check && special[i].reason == row->reason)
            sentence = &special[i].sentence;
    bool has_measure = row->unit != HS_UNIT_NONE && sentence->measured != NULL;
    const char *text = has_measure ? sentence->measured : sentence->bare;
    return text != NULL ? text : "";
}

void hs_check_detail(const struct hs_detail_claim *claim, const struct hs_hit_result *result,
                     const struct hs_check_row *row, char out[HS_SENTENCE_MAX])
{
    struct words words = {.claim = claim, .result = result, .row = row};
    if (row->unit != HS_UNIT_NONE)
        words.numbers = numbers_of(row->unit, row->measured, row->limit);
    join(out, row->of_posted_shot ? "posted shot: " : "", "");
    write_sentence(text_of(row), &words, out);
}

void hs_move_detail(const struct hs_move_failure *failure, char out[HS_SENTENCE_MAX])
{
    enum hs_unit unit = (enum hs_unit)failure->unit;
    struct words words = {.numbers = numbers_of(unit, failure->measured, failure->limit)};
    bool is_of_bases = failure->check == HS_MOVE_CHECK_SPEED && unit == HS_UNIT_COUNTED;
    out[0] = '\0';
    const struct sentence *sentence = &move_sentences[failure->check];
    bool is_bare = unit == HS_UNIT_NONE || sentence->measured == NULL;
    write_sentence(is_of_bases ? base_changes
                   : is_bare   ? sentence->bare
                               : sentence->measured,
                   &words, out);
}

void hs_jump_detail(struct hs_str name, const struct hs_frame_jump *jump, char out[HS_SENTENCE_MAX])
{
    struct numbers numbers = numbers_of(HS_UNIT_LENGTH, jump->distance, jump->limit);
    char seconds[NUMBER_MAX];
    write_seconds(jump->elapsed_us, seconds);
    snprintf(out, HS_SENTENCE_MAX, "%.*s moved %s in %s s without a teleport or spawn, limit %s",
             (int)name.len, name.ptr, numbers.measured, seconds, numbers.limit);
}
