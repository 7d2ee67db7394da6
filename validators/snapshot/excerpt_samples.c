/* Saves the samples around the times of a claim. Only the parts of a sample that differ from the
   previous sample are saved. One frame adds a sample to the histories of many players, so the
   histories often contain the same times. If the previous history in the excerpt also contains a
   time, the time is not written again. */
#include <string.h>

#include "validators/history/body_box.h"
#include "validators/match/players.h"
#include "validators/snapshot/excerpt.h"

/* An excerpt contains this many additional samples before and after the times of the claim. The
   additional samples show a human reader how the players moved. */
enum { MARGIN = 16 };

/* The excerpt contains this many of the shooter's newest posted round trips, because
   hs_connection_read uses this number of round trips. */
enum { ROUND_TRIPS = 4 };

/* ---- samples ---- */

/* Returns the current sample, or NULL after the last sample. */
static const struct hs_sample *current(struct hs_samples *samples)
{
    if (samples->next == samples->until)
        return NULL;
    if (samples->run == 0)
        samples->at = hs_history_run(samples->history, samples->next, &samples->run);
    return samples->at;
}

static void skip(struct hs_samples *samples, uint32_t count)
{
    samples->next += count;
    samples->run -= count;
    samples->at += count;
}

/* Skips all samples up to and including `time_us`. */
static void advance_past(struct hs_samples *samples, int64_t time_us)
{
    const struct hs_sample *is;
    while ((is = current(samples)) != NULL && is->time_us <= time_us)
        skip(samples, 1);
}

struct range {
    /* The samples from index `from` to index `until` - 1 are saved. The samples before posed_from
       are saved without a posted pose. */
    uint32_t from, posed_from, until;
};

/* Returns whether the player is dead or protected at sample `i`. If so, the excerpt must also
   contain the sample before sample `i`, because a rejection reports when the player died or became
   protected. */
static bool is_out(const struct hs_history *history, uint32_t i)
{
    const struct hs_state *state = hs_history_state(history, hs_history_at(history, i));
    return !state->alive || state->is_protected;
}

static struct range range_of(const struct hs_excerpt *excerpt, const struct hs_history *history,
                             bool of_mover, bool is_shooter)
{
    int64_t count = hs_history_count(history);
    int64_t from = hs_history_find(history, excerpt->from_us) - MARGIN;
    int64_t until = hs_history_find(history, excerpt->until_us) + 2 + MARGIN;
    struct range range = {.until = (uint32_t)(until > count || is_shooter ? count : until)};
    range.from = range.posed_from = (uint32_t)(from > 0 ? from : 0);
    while (!of_mover && range.from > 0 && is_out(history, range.from))
        range.from--;
    int found = 0;
    for (int64_t i = count - 1; is_shooter && i >= 0 && found < ROUND_TRIPS; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        found += sample->rtt_posted && sample->time_us <= excerpt->until_us ? 1 : 0;
        if (i < range.from)
            range.from = (uint32_t)i;
    }
    return range;
}

static void put_floats(const float *from, size_t count, struct hs_bytes *out)
{
    unsigned char *to = hs_bytes_reserve(out, count * sizeof(uint32_t));
    for (size_t i = 0; to != NULL && i < count; i++) {
        uint32_t word;
        memcpy(&word, &from[i], sizeof word);
        hs_bytes_store(to + i * sizeof word, word, sizeof word);
    }
}

static void get_floats(struct hs_loading *l, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = (uint32_t)hs_bytes_get(&l->reader, sizeof word);
        memcpy(&to[i], &word, sizeof word);
        l->is_damaged = l->is_damaged || !isfinite(to[i]);
    }
}

static size_t present_words(const struct hs_posted_pose *pose)
{
    return ((size_t)pose->bone_count + 63) / 64;
}

static void put_pose(const struct hs_posted_pose *pose, struct hs_bytes *out)
{
    put_floats(&pose->reach, 1, out);
    hs_bytes_put(out, pose->has_eye, 1);
    hs_bytes_put(out, pose->stride, 1);
    hs_bytes_put(out, pose->bone_count, 2);
    for (int i = 0; i < 3; i++)
        hs_bytes_put_real(out, pose->eye[i]);
    for (size_t i = 0; i < present_words(pose); i++)
        hs_bytes_put(out, pose->present[i], 8);
    for (uint16_t b = 0; b < pose->bone_count; b++)
        if (hs_posted_pose_has_bone(pose, b))
            put_floats(&pose->bones[(size_t)b * pose->stride], pose->stride, out);
}

static void get_pose(struct hs_loading *l, struct hs_posted_pose *pose)
{
    *pose = (struct hs_posted_pose){0};
    get_floats(l, &pose->reach, 1);
    pose->has_eye = hs_loading_flag(l);
    pose->stride = (uint8_t)hs_bytes_get_max(&l->reader, 1, HS_BONE_FLOATS_SCALED);
    pose->bone_count = (uint16_t)hs_bytes_get_max(&l->reader, 2, HS_MAX_BONES);
    for (int i = 0; i < 3; i++) {
        pose->eye[i] = hs_bytes_get_real(&l->reader);
        l->is_damaged = l->is_damaged || !isfinite(pose->eye[i]);
    }
    for (size_t i = 0; i < present_words(pose); i++)
        pose->present[i] = hs_bytes_get(&l->reader, 8);
    l->is_damaged = l->is_damaged || (pose->bone_count > 0 && pose->stride < HS_BONE_FLOATS) ||
                    !(pose->reach >= 0);
    memset(pose->bones, 0, sizeof(float) * pose->bone_count * pose->stride);
    for (uint16_t b = 0; b < pose->bone_count; b++)
        if (hs_posted_pose_has_bone(pose, b))
            get_floats(l, &pose->bones[(size_t)b * pose->stride], pose->stride);
}

/*
 * Each saved sample begins with two bytes that contain these bits. If the bit of a part is not set,
 * the part is the same as in the previous sample. In the first sample of a history, such a part is
 * zero. Most players stand still or walk, so most parts do not change from one sample to the next.
 * Leaving out the unchanged parts reduces the size of an excerpt, and the time to compress it, to
 * about a third.
 */
enum {
    PART_X = 1,
    PART_Y = 2,
    PART_Z = 4,
    /* If this bit is set, the sample contains its time, in eight bytes. If neither this bit nor
       IS_NEXT_TIME is set, the sample contains the time since the previous sample, in four bytes.
     */
    PART_TIME = 8,
    PART_ROTATION = 16,
    PART_AIM = 32,
    PART_RTT = 64,
    PART_INTERP = 128,
    PART_EVENT = 256,
    PART_STATE = 512,
    PART_POSE = 1024,    /* if not set, the sample has no pose, or IS_SAME_POSE is set */
    IS_SAME_POSE = 2048, /* the pose equals the last pose that was written */
    IS_RTT_POSTED = 4096,
    IS_NEXT_TIME = 8192, /* the time is the next time in the previous history */
    ALL_PARTS = 16383,
    RARE_PARTS = PART_ROTATION | PART_AIM | PART_RTT | PART_INTERP | PART_EVENT,
    /* This bit replaces one or more samples that are equal to the previous sample except for their
       times. The times are the next times in the previous history. All lower bits contain the
       number of these samples. */
    IS_REPEATED = 32768,
    MAX_REPEATED = IS_REPEATED - 1
};

/* Compares bytes, so 0.0 and -0.0 are different. */
static bool are_same(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

static unsigned differs(const void *a, const void *b, size_t size, unsigned part)
{
    return are_same(a, b, size) ? 0 : part;
}

/* Returns the number of samples, from the current sample on, that are adjacent in memory, but at
   most MAX_REPEATED. */
static uint32_t adjacent(const struct hs_samples *samples)
{
    uint32_t rest = samples->until - samples->next;
    uint32_t run = samples->run < rest ? samples->run : rest;
    return run < MAX_REPEATED ? run : MAX_REPEATED;
}

/* IS_REPEATED means that this range of bytes in struct hs_sample equals the range in the previous
   sample. The range contains all saved parts except the time, and the index of the pose. Two
   samples have equal indices only if neither sample has a pose. */
enum {
    REPEATED_FROM = offsetof(struct hs_sample, position),
    REPEATED_UNTIL = offsetof(struct hs_sample, jumped)
};

static bool is_repeated(const struct hs_sample *is, const struct hs_sample *was)
{
    return are_same((const char *)is + REPEATED_FROM, (const char *)was + REPEATED_FROM,
                    REPEATED_UNTIL - REPEATED_FROM);
}

static unsigned changed_parts(const struct hs_sample *is, const struct hs_sample *was,
                              bool is_next_time)
{
    uint64_t after_us = (uint64_t)is->time_us - (uint64_t)was->time_us;
    unsigned parts = differs(&is->position.x, &was->position.x, sizeof(double), PART_X) |
                     differs(&is->position.y, &was->position.y, sizeof(double), PART_Y) |
                     differs(&is->position.z, &was->position.z, sizeof(double), PART_Z);
    if (!are_same(is->rotation, was->rotation, sizeof is->rotation))
        parts |= PART_ROTATION;
    if (!are_same(is->aim, was->aim, sizeof is->aim))
        parts |= PART_AIM;
    if (is->rtt_us != was->rtt_us)
        parts |= PART_RTT;
    if (is->interp_us != was->interp_us)
        parts |= PART_INTERP;
    if (is->event != was->event)
        parts |= PART_EVENT;
    if (is_next_time)
        parts |= IS_NEXT_TIME;
    else if (after_us > UINT32_MAX)
        parts |= PART_TIME;
    return is->rtt_posted ? parts | IS_RTT_POSTED : parts;
}

static bool is_same_pose(const struct hs_posted_pose *a, const struct hs_posted_pose *b)
{
    size_t bones = sizeof(float) * a->bone_count * a->stride;
    return are_same(&a->reach, &b->reach, sizeof a->reach) && a->has_eye == b->has_eye &&
           a->stride == b->stride && a->bone_count == b->bone_count &&
           are_same(a->eye, b->eye, sizeof a->eye) &&
           are_same(a->present, b->present, sizeof a->present) &&
           are_same(a->bones, b->bones, bones);
}

/* Writes a coordinate, and returns the address where the next bytes belong. If `is_set` is 0, this
   address is `to`, so that the next bytes overwrite the coordinate. `to` must always have space for
   eight bytes. */
static unsigned char *put_coordinate(double value, unsigned is_set, unsigned char *to)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    hs_bytes_store(to, word, sizeof word);
    return to + (is_set != 0 ? sizeof word : 0);
}

static void put_rare_parts(const struct hs_sample *is, unsigned parts, struct hs_bytes *out)
{
    if (parts & PART_ROTATION)
        put_floats(is->rotation, 4, out);
    if (parts & PART_AIM)
        put_floats(is->aim, 3, out);
    if (parts & PART_RTT)
        hs_bytes_put(out, (uint32_t)is->rtt_us, 4);
    if (parts & PART_INTERP)
        hs_bytes_put(out, (uint32_t)is->interp_us, 4);
    if (parts & PART_EVENT)
        hs_bytes_put(out, is->event, 1);
}

static void put_sample(const struct hs_sample *is, const struct hs_sample *was, unsigned parts,
                       struct hs_bytes *out)
{
    enum { MAX_SIZE = 2 + 8 + 3 * 8 };
    unsigned char *begin = hs_bytes_reserve(out, MAX_SIZE), *to = begin;
    if (to == NULL)
        return;
    bool is_far = parts & PART_TIME;
    hs_bytes_store(to, parts, 2);
    hs_bytes_store(to + 2, (uint64_t)is->time_us - (is_far ? 0 : (uint64_t)was->time_us), 8);
    to += parts & IS_NEXT_TIME ? 2 : is_far ? 10 : 6;
    to = put_coordinate(is->position.x, parts & PART_X, to);
    to = put_coordinate(is->position.y, parts & PART_Y, to);
    to = put_coordinate(is->position.z, parts & PART_Z, to);
    out->len -= MAX_SIZE - (size_t)(to - begin);
    if (parts & RARE_PARTS)
        put_rare_parts(is, parts, out);
}

static void get_next_time(struct hs_loading *l, struct hs_samples *times, struct hs_sample *sample)
{
    const struct hs_sample *next = current(times);
    l->is_damaged = l->is_damaged || next == NULL;
    sample->time_us = next != NULL ? next->time_us : 0;
}

static double get_coordinate(struct hs_loading *l)
{
    double value = hs_bytes_get_real(&l->reader);
    l->is_damaged = l->is_damaged || !isfinite(value);
    return value;
}

/* Reads the next sample. Before the call, `sample` must contain the previous sample. */
static void get_sample(struct hs_loading *l, unsigned parts, struct hs_samples *times,
                       struct hs_sample *sample)
{
    if (parts & IS_NEXT_TIME)
        get_next_time(l, times, sample);
    else if (parts & PART_TIME)
        sample->time_us = hs_loading_time(l);
    else
        sample->time_us += (int64_t)hs_bytes_get(&l->reader, 4);
    if (parts & PART_X)
        sample->position.x = get_coordinate(l);
    if (parts & PART_Y)
        sample->position.y = get_coordinate(l);
    if (parts & PART_Z)
        sample->position.z = get_coordinate(l);
    if (parts & PART_ROTATION)
        get_floats(l, sample->rotation, 4);
    if (parts & PART_AIM)
        get_floats(l, sample->aim, 3);
    if (parts & PART_RTT)
        sample->rtt_us = hs_loading_delay(l);
    if (parts & PART_INTERP)
        sample->interp_us = hs_loading_delay(l);
    if (parts & PART_EVENT)
        sample->event = (uint8_t)hs_bytes_get_max(&l->reader, 1, HS_EVENT_LAUNCH);
    sample->rtt_posted = (parts & IS_RTT_POSTED) != 0;
}

/* ---- states ---- */

void hs_excerpt_put_state(struct hs_excerpt *excerpt, const struct hs_match *match,
                          const struct hs_state *state, struct hs_bytes *out)
{
    struct hs_excerpt_last *last = &excerpt->last;
    bool is_same = last->has_state && are_same(&last->state, state, sizeof *state);
    hs_bytes_put(out, is_same, 1);
    if (is_same)
        return;
    hs_saved_put(out, HS_SAVED_STATE, state);
    hs_bytes_put(out, state->tells_stance, 1);
    hs_bytes_put(out, state->stale, 1);
    hs_bytes_put_name(out, state->team == HS_NONE ? "" : match->teams[state->team].text);
    last->has_state = true;
    last->state = *state;
}

void hs_excerpt_get_state(struct hs_loading *l, struct hs_state *state)
{
    if (hs_loading_flag(l)) {
        l->is_damaged = l->is_damaged || !l->last.has_state;
        *state = l->last.state;
        return;
    }
    *state = (struct hs_state){0};
    hs_loading_get(l, HS_SAVED_STATE, state);
    state->tells_stance = hs_loading_flag(l);
    state->stale = (uint8_t)hs_bytes_get_max(&l->reader, 1, HS_STALE_ALL);
    hs_loading_team(l, state);
    l->last.has_state = true;
    l->last.state = *state;
}

static void put_state(struct hs_excerpt *excerpt, const struct hs_match *match,
                      const struct hs_history *history, const struct hs_sample *sample,
                      struct hs_bytes *out)
{
    if (match != NULL) {
        hs_excerpt_put_state(excerpt, match, hs_history_state(history, sample), out);
        return;
    }
    const struct hs_mover_state *state = hs_history_mover_state(history, sample);
    hs_saved_put(out, HS_SAVED_MOVER_STATE, state);
    hs_bytes_put(out, state->is_stale, 1);
}

/* The state while the samples of one history are written. */
struct writing {
    /* The samples to write, and the samples of the previous history. */
    struct hs_samples samples, times;
    uint32_t posed_from;
    const struct hs_sample *was; /* the last written sample */
    const struct hs_posted_pose *last_pose;
};

/* Skips the samples that are equal to the last written sample, and writes their number. `is` is the
   current sample. Most samples of an excerpt are skipped in this way, so the loop must be fast. The
   loop reads only samples that are adjacent in memory. */
static void put_repeated(struct writing *writing, const struct hs_sample *is, struct hs_bytes *out)
{
    const struct hs_sample *next = current(&writing->times), *was = writing->was;
    struct hs_samples *samples = &writing->samples, *times = &writing->times;
    if (next == NULL || was == NULL)
        return;
    uint32_t count = 0, max = adjacent(samples);
    max = adjacent(times) < max ? adjacent(times) : max;
    while (count < max && is[count].time_us == next[count].time_us && is_repeated(&is[count], was))
        count++;
    if (count == 0)
        return;
    hs_bytes_put(out, IS_REPEATED | count, 2);
    writing->was = &is[count - 1];
    skip(samples, count);
    skip(times, count);
}

static void put_next(struct hs_excerpt *excerpt, const struct hs_match *match,
                     struct writing *writing, const struct hs_sample *is, struct hs_bytes *out)
{
    static const struct hs_sample nothing;
    const struct hs_history *history = writing->samples.history;
    const struct hs_sample *was = writing->was, *next = current(&writing->times);
    bool is_next_time = next != NULL && next->time_us == is->time_us;
    const struct hs_posted_pose *pose =
        writing->samples.next >= writing->posed_from && is->posted_pose != HS_NO_POSTED_POSE
            ? hs_history_posted_pose(history, is)
            : NULL;
    unsigned parts = changed_parts(is, was != NULL ? was : &nothing, is_next_time);
    if (was == NULL || was->state != is->state)
        parts |= PART_STATE;
    if (pose != NULL)
        parts |= writing->last_pose != NULL && is_same_pose(pose, writing->last_pose) ? IS_SAME_POSE
                                                                                      : PART_POSE;
    put_sample(is, was != NULL ? was : &nothing, parts, out);
    if (pose != NULL && (parts & PART_POSE)) /* clang-tidy needs both conditions */
        put_pose(pose, out);
    if (parts & PART_STATE)
        put_state(excerpt, match, history, is, out);
    writing->last_pose = pose != NULL ? pose : writing->last_pose;
}

void hs_excerpt_put_history(struct hs_excerpt *excerpt, const struct hs_match *match,
                            const struct hs_history *history, bool is_shooter, struct hs_bytes *out)
{
    struct range range = range_of(excerpt, history, match == NULL, is_shooter);
    struct writing writing = {
        .samples = {.history = history, .next = range.from, .until = range.until},
        .times = excerpt->last.samples,
        .posed_from = range.posed_from,
    };
    const struct hs_sample *is;
    excerpt->last.samples = writing.samples;
    hs_bytes_put(out, range.until - range.from, 4);
    while ((is = current(&writing.samples)) != NULL) {
        put_repeated(&writing, is, out);
        if ((is = current(&writing.samples)) == NULL)
            break;
        put_next(excerpt, match, &writing, is, out);
        writing.was = is;
        skip(&writing.samples, 1);
        advance_past(&writing.times, is->time_us);
    }
}

/* The state while the samples of one history are read. */
struct reading {
    struct hs_history *history;
    bool of_mover;
    struct hs_samples times; /* the samples of the previous history */
    struct hs_sample sample;
    struct hs_state player;
    struct hs_mover_state mover;
    unsigned seen; /* the bits of all samples so far */
    bool has_pose;
    struct hs_posted_pose *pose; /* the last pose that was read */
};

static void insert(struct hs_loading *l, struct reading *reading)
{
    enum hs_insert_result result =
        hs_history_insert(reading->history, &l->match->ruleset->history, &reading->sample,
                          reading->of_mover ? (const void *)&reading->mover : &reading->player,
                          reading->has_pose ? reading->pose : NULL);
    l->no_memory = result == HS_INSERT_NO_MEMORY;
    l->is_damaged = result != HS_INSERT_STORED && !l->no_memory;
    advance_past(&reading->times, reading->sample.time_us);
}

static void get_next(struct hs_loading *l, struct reading *reading, unsigned parts)
{
    get_sample(l, parts, &reading->times, &reading->sample);
    if (parts & PART_POSE)
        get_pose(l, reading->pose);
    if ((parts & PART_STATE) && reading->of_mover) {
        hs_loading_get(l, HS_SAVED_MOVER_STATE, &reading->mover);
        reading->mover.is_stale = hs_loading_flag(l);
    } else if (parts & PART_STATE) {
        hs_excerpt_get_state(l, &reading->player);
    }
    unsigned seen = reading->seen |= parts;
    bool is_known = (seen & PART_STATE) && ((seen & PART_POSE) || !(parts & IS_SAME_POSE));
    l->is_damaged = l->is_damaged || !is_known;
    if (!hs_loading_is_fine(l))
        return;
    reading->has_pose = parts & (PART_POSE | IS_SAME_POSE);
    if (reading->has_pose && !reading->of_mover)
        hs_posted_pose_bound(reading->pose, l->match->ruleset->rigs[reading->player.rig]);
    insert(l, reading);
}

static void get_repeated(struct hs_loading *l, struct reading *reading, uint64_t count)
{
    l->is_damaged = reading->seen == 0 || reading->has_pose;
    for (uint64_t i = 0; i < count && hs_loading_is_fine(l); i++) {
        get_next_time(l, &reading->times, &reading->sample);
        if (hs_loading_is_fine(l))
            insert(l, reading);
    }
}

void hs_excerpt_get_history(struct hs_loading *l, struct hs_history *history, bool of_mover)
{
    union hs_posted_pose_space space;
    struct reading reading = {.history = history,
                              .of_mover = of_mover,
                              .times = l->last.samples,
                              .sample = {.posted_pose = HS_NO_POSTED_POSE},
                              .pose = &space.posted_pose};
    uint64_t count = hs_bytes_get_max(&l->reader, 4, l->match->limits.samples), i = 0;
    while (i < count && hs_loading_is_fine(l)) {
        unsigned parts = (unsigned)hs_bytes_get(&l->reader, 2);
        unsigned repeated = parts & IS_REPEATED ? parts & MAX_REPEATED : 0;
        i += parts & IS_REPEATED ? repeated : 1;
        if (i > count || parts == IS_REPEATED || (repeated == 0 && parts > ALL_PARTS))
            l->is_damaged = true;
        else if (repeated > 0)
            get_repeated(l, &reading, repeated);
        else
            get_next(l, &reading, parts);
    }
    l->last.samples = (struct hs_samples){.history = history, .until = hs_history_count(history)};
}
