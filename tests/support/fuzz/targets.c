#include "tests/support/fuzz/targets.h"

#include <string.h>

#include "api/matches.h"
#include "api/rulesets/document.h"
#include "api/ticks.h"
#include "tests/support/fuzz/body.h"
#include "tests/support/fuzz/checks.h"
#include "tests/support/fuzz/moves.h"
#include "tests/support/fuzz/shots.h"
#include "tests/support/fuzz/stage.h"

const struct hs_fuzz_target hs_fuzz_targets[HS_FUZZ_TARGETS] = {
    {"frames", hs_fuzz_frames},     {"hits", hs_fuzz_hits},       {"ticks", hs_fuzz_ticks},
    {"rulesets", hs_fuzz_rulesets}, {"headers", hs_fuzz_headers}, {"pointer", hs_fuzz_pointer},
    {"maps", hs_fuzz_maps},         {"moves", hs_fuzz_moves},     {"tokens", hs_fuzz_tokens},
    {"snapshot", hs_fuzz_snapshot}, {"shots", hs_fuzz_shots},
};

enum { SHOOTERS = 4 };

/* ---- hits ---- */

static void encode_hit(const struct hs_hit_claim *claim, const struct hs_hit_result *result,
                       struct hs_buffer *out)
{
    static const struct hs_verdict_id id = {"0123456789abcdef0123456789abcdef"};
    struct hs_writer writer = {.buffer = out};
    hs_hit_encode(&writer, claim, result, &id, true);
    hs_replayed_encode(&writer, false);
}

static const char *check_encoded_hit(const struct hs_hit_claim *claim,
                                     const struct hs_hit_result *first,
                                     const struct hs_hit_result *second)
{
    struct hs_buffer a = {0}, b = {0};
    encode_hit(claim, first, &a);
    encode_hit(claim, second, &b);
    const char *fault = hs_check_document(&a);
    if (fault == NULL && (a.len != b.len || memcmp(a.data, b.data, a.len) != 0))
        fault = "the same claim got two different results";
    hs_buffer_free(&a);
    hs_buffer_free(&b);
    return fault;
}

static const char *judge(const struct hs_match *match, const struct hs_hit_claim *claim,
                         int64_t now_us, struct hs_hit_result *result)
{
    struct hs_hit_result again;
    hs_hit_verify(match, claim, now_us, result);
    HS_MUST_HOLD(hs_check_hit_result(result));
    hs_hit_verify(match, claim, now_us, &again);
    return check_encoded_hit(claim, result, &again);
}

static int64_t now_of(const struct hs_ticks_request *request, size_t i,
                      const struct hs_match_info *info)
{
    if (request->fields & HS_TICKS_NOW)
        return request->now_us;
    return info->has_frames ? info->newest_us : request->hits.claims[i].hit_time_us;
}

static const char *judge_all(const struct hs_match *match, const struct hs_ticks_request *request,
                             struct hs_match *booked)
{
    struct hs_match_info info;
    hs_match_info(match, &info);
    for (size_t i = 0; i < request->hits.count; i++) {
        const struct hs_hit_claim *claim = &request->hits.claims[i];
        struct hs_hit_result result;
        HS_MUST_HOLD(judge(match, claim, now_of(request, i, &info), &result));
        if (booked != NULL)
            hs_hit_record(booked, claim, &result, HS_STR("{"));
    }
    return NULL;
}

const char *hs_fuzz_hits(const uint8_t *data, size_t size)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request request = {0};
    const char *fault;
    hs_fuzz_body_open(&body, data, size);
    fault = hs_fuzz_body_decode(&body, HS_ROUTE_HITS_POST, &request);
    if (fault == NULL && body.problem.code != HS_PROBLEM_NONE)
        fault = hs_check_problem(&body.problem, body.root);
    else if (fault == NULL)
        fault = judge_all(hs_fuzz_stage(), &request, NULL);
    hs_fuzz_body_close(&body);
    return fault;
}

/* ---- frames ---- */

static const char *check_state(const struct hs_match *match)
{
    const struct hs_match_head head = {.name = HS_STR("fuzz"),
                                       .ruleset = HS_STR("metres"),
                                       .map = HS_STR("dm4"),
                                       .revision = "sha256:0",
                                       .map_revision = "sha256:1"};
    struct hs_match_info info;
    hs_match_info(match, &info);
    if (!info.has_frames) /* if the match has no frames, the newest time is null, which is
                             correct */
        return NULL;
    struct hs_buffer buffer = {0};
    struct hs_writer writer = {.buffer = &buffer};
    hs_write_begin(&writer, '[');
    hs_match_encode_state(&writer, &head, match);
    hs_match_encode_summary(&writer, &head, match);
    hs_write_end(&writer, ']');
    const char *fault = hs_check_document(&buffer);
    hs_buffer_free(&buffer);
    return fault;
}

static const char *check_frames_answer(const struct hs_match *match,
                                       const struct hs_frames_request *request,
                                       const struct hs_malformed_items *malformed,
                                       const enum hs_frame_result *results, unsigned flags)
{
    struct hs_match_info info;
    struct hs_buffer buffer = {0};
    struct hs_writer writer = {.buffer = &buffer};
    hs_match_info(match, &info);
    struct hs_frames_counts counts;
    hs_frames_count(request, malformed, results, &counts);
    hs_frames_encode(&writer, request, malformed, results, counts.players[HS_FRAME_STORED], flags,
                     match, info.needs_resync);
    const char *fault = hs_check_document(&buffer);
    hs_buffer_free(&buffer);
    return fault;
}

static const char *post_all(struct hs_match *match, const struct hs_frames_request *request,
                            struct hs_fuzz_body *body)
{
    enum hs_frame_result *results =
        hs_arena_alloc(&body->arena, request->entries + 1, sizeof *results);
    unsigned flags = 0;
    for (size_t i = 0, done = 0; i < request->count; i++) {
        const struct hs_frame *frame = &request->frames[i];
        HS_MUST(hs_match_post_frame(match, frame, results + done, &flags), "out of memory");
        done += frame->player_count + frame->mover_count;
    }
    for (size_t i = 0; i < request->entries; i++)
        HS_MUST(results[i] < HS_FRAME_RESULT_COUNT, "a result not in the vocabulary");
    HS_MUST(flags >> HS_FRAME_FLAG_COUNT == 0, "frame flags that do not exist");
    HS_MUST_HOLD(hs_check_match(match, &hs_fuzz_limits));
    return check_frames_answer(match, request, &body->malformed, results, flags);
}

/* Lets each player shoot at the player who came after them, now or slightly earlier. Only a few
   players shoot, because verifying takes most of the time. */
static const char *shoot_at_some(struct hs_match *match, struct hs_str weapon)
{
    struct hs_player_info shooter, target;
    struct hs_match_info info;
    hs_match_info(match, &info);
    uint32_t cursor = 0;
    bool has_shooter = hs_match_next_player(match, &cursor, &shooter);
    for (uint32_t i = 1;
         has_shooter && i <= SHOOTERS && hs_match_next_player(match, &cursor, &target); i++) {
        struct hs_hit_claim claim = {.shot = 100 * weapon.len + i,
                                     .shooter = shooter.name,
                                     .target = target.name,
                                     .weapon = weapon,
                                     .hit_time_us = info.newest_us - (int64_t)(i % 3) * 30000,
                                     .start = shooter.position,
                                     .end = target.position};
        struct hs_hit_result result;
        HS_MUST_HOLD(judge(match, &claim, info.newest_us, &result));
        hs_hit_record(match, &claim, &result, HS_STR("{"));
        shooter = target;
    }
    return check_state(match);
}

static const char *frames_in_match(const struct hs_frames_request *request,
                                   struct hs_fuzz_body *body)
{
    struct hs_match *match = hs_match_create(hs_fuzz_ruleset(), &hs_fuzz_limits);
    const char *fault = match == NULL ? "out of memory" : post_all(match, request, body);
    if (fault == NULL)
        fault = shoot_at_some(match, (struct hs_str){0});
    if (fault == NULL)
        fault = shoot_at_some(match, HS_STR("blaster"));
    hs_match_destroy(match);
    return fault;
}

const char *hs_fuzz_frames(const uint8_t *data, size_t size)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request request = {0};
    const char *fault;
    hs_fuzz_body_open(&body, data, size);
    fault = hs_fuzz_body_decode(&body, HS_ROUTE_FRAMES_POST, &request);
    if (fault == NULL && body.problem.code != HS_PROBLEM_NONE)
        fault = hs_check_problem(&body.problem, body.root);
    else if (fault == NULL)
        fault = frames_in_match(&request.frames, &body);
    hs_fuzz_body_close(&body);
    return fault;
}

/* ---- ticks ---- */

static const char *tick_in_match(const struct hs_ticks_request *tick, struct hs_fuzz_body *body)
{
    struct hs_match *match = hs_match_create(hs_fuzz_ruleset(), &hs_fuzz_limits);
    const char *fault = match == NULL ? "out of memory" : NULL;
    if (fault == NULL && (tick->fields & HS_TICKS_FRAMES))
        fault = post_all(match, &tick->frames, body);
    if (fault == NULL && (tick->fields & HS_TICKS_MOVES))
        fault = hs_fuzz_judge_moves(match, &tick->moves);
    if (fault == NULL && (tick->fields & HS_TICKS_SHOTS))
        fault = hs_fuzz_judge_shots(match, tick);
    if (fault == NULL && (tick->fields & HS_TICKS_HITS))
        fault = judge_all(match, tick, match);
    if (fault == NULL)
        fault = check_state(match);
    hs_match_destroy(match);
    return fault;
}

const char *hs_fuzz_ticks(const uint8_t *data, size_t size)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request tick = {0};
    const char *fault;
    hs_fuzz_body_open(&body, data, size);
    fault = hs_fuzz_body_decode(&body, HS_ROUTE_TICKS_POST, &tick);
    if (fault == NULL && body.problem.code != HS_PROBLEM_NONE)
        fault = hs_check_problem(&body.problem, body.root);
    else if (fault == NULL)
        fault = tick_in_match(&tick, &body);
    hs_fuzz_body_close(&body);
    return fault;
}

/* ---- rulesets ---- */

static struct hs_ruleset *read_ruleset(const void *data, size_t size, struct hs_problem *problem)
{
    struct hs_fuzz_body body;
    struct hs_ruleset *ruleset = NULL;
    hs_fuzz_body_open(&body, data, size);
    if (body.root != NULL)
        ruleset = hs_ruleset_decode(&body.reader, body.root, (struct hs_str){0});
    *problem = body.problem;
    hs_fuzz_body_close(&body);
    return ruleset;
}

static void write_ruleset(const struct hs_ruleset *ruleset, struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    hs_ruleset_encode(&writer, ruleset);
}

/* Checks that a canonical ruleset can be read, and gives the same text again. */
static const char *check_form(const struct hs_buffer *form)
{
    struct hs_problem problem;
    struct hs_buffer again = {0};
    HS_MUST_HOLD(hs_check_document(form));
    struct hs_ruleset *ruleset = read_ruleset(form->data, form->len, &problem);
    HS_MUST(ruleset != NULL, "a written ruleset was refused");
    write_ruleset(ruleset, &again);
    hs_ruleset_destroy(ruleset);
    bool same = again.len == form->len && memcmp(again.data, form->data, form->len) == 0;
    hs_buffer_free(&again);
    HS_MUST(same, "a written ruleset is read as another one");
    return NULL;
}

static const char *use_ruleset(const struct hs_ruleset *ruleset)
{
    struct hs_buffer form = {0};
    write_ruleset(ruleset, &form);
    const char *fault = check_form(&form);
    hs_buffer_free(&form);
    HS_MUST_HOLD(fault);

    struct hs_match *match = hs_match_create(ruleset, &hs_fuzz_limits);
    fault = match != NULL && hs_fuzz_stage_play(match) ? NULL : "out of memory";
    if (fault == NULL)
        fault = hs_check_match(match, &hs_fuzz_limits);
    for (int i = 0; fault == NULL && i < ruleset->weapon_count && i < 4; i++)
        fault = shoot_at_some(match, hs_name_str(&ruleset->weapons[i]->name));
    hs_match_destroy(match);
    return fault;
}

const char *hs_fuzz_rulesets(const uint8_t *data, size_t size)
{
    struct hs_problem problem;
    struct hs_ruleset *ruleset = read_ruleset(data, size, &problem);
    if (ruleset == NULL)
        return hs_check_problem(&problem, NULL);
    const char *fault = problem.code == HS_PROBLEM_NONE ? use_ruleset(ruleset)
                                                        : "a ruleset with faults was returned";
    hs_ruleset_destroy(ruleset);
    return fault;
}
