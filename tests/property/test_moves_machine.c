/*
 * Random sequences of moves of several players. Moves are honest, reordered, repeated, altered,
 * nonsense, from other epochs, or after resets and pauses. These rules hold for all sequences:
 *
 * - The sum of delta_time is at most the server time plus a second of credit. Each delta_time is in
 *   [0, max_delta * dilation], and all numbers are finite.
 * - A retry repeats its answer and changes nothing, and a bad timestamp changes nothing.
 * - The same sequence thirty days later gives the same bits.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/moves.h"

#define DEFAULT_SEED 20250612
#define FRAME_US     INT64_C(16667)
#define DAYS_30_US   INT64_C(2592000000000)

enum { PLAYERS = 3, MOVES = 400, CASES = 2000, LATELY = 32 };

/* Check's assertions write their place to a file each time. This is too slow for every move. */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("case %lu: %s", case_number, #condition);                                 \
    } while (0)

static unsigned long case_number;

static const char *const names[PLAYERS] = {"alice", "bob", "carl"};

/* The model's state of a player. */
struct client {
    /* newest timestamp of the client; arrival time of the newest accepted timestamp */
    int64_t clock_us, heard_us;
    uint64_t epoch, seq;
    double speed, dilation, granted_us, allowed_us;
    unsigned long judged;
    bool has_begun;
    struct hs_move lately[LATELY]; /* moves for retries, indexed by their number */
    unsigned long late_count;
    struct hs_vec position;
};

struct machine {
    struct hs_random random;
    struct hs_ruleset *ruleset;
    /* Three matches: one with the sequence, one with the same sequence 30 days later, one without
       the retries and the nonsense. */
    struct hs_match *match, *late, *plain;
    struct client clients[PLAYERS];
    int64_t now_us;
};

static unsigned long reasons[HS_MOVE_REASON_COUNT], replays, flagged, moves_made;

/* ---- comparison ---- */

static bool same_bits(double a, double b)
{
    uint64_t bits_a, bits_b;
    memcpy(&bits_a, &a, sizeof bits_a);
    memcpy(&bits_b, &b, sizeof bits_b);
    return bits_a == bits_b;
}

static bool same_vec(struct hs_vec a, struct hs_vec b)
{
    return same_bits(a.x, b.x) && same_bits(a.y, b.y) && same_bits(a.z, b.z);
}

static bool same_failures(const struct hs_move_result *a, const struct hs_move_result *b)
{
    for (int i = 0; i < a->failure_count; i++)
        if (a->failures[i].check != b->failures[i].check ||
            !same_bits(a->failures[i].measured, b->failures[i].measured) ||
            !same_bits(a->failures[i].limit, b->failures[i].limit))
            return false;
    return true;
}

/* Compares all members except `replayed`. */
static bool same_result(const struct hs_move_result *a, const struct hs_move_result *b)
{
    return a->verdict == b->verdict && a->reason == b->reason &&
           a->force_update == b->force_update && a->is_resolving == b->is_resolving &&
           a->delta_us == b->delta_us && a->raised == b->raised &&
           a->failure_count == b->failure_count && a->discrepancy_us == b->discrepancy_us &&
           a->lifetime_us == b->lifetime_us && a->credit_us == b->credit_us &&
           same_bits(a->speed, b->speed) && a->position == b->position &&
           same_bits(a->error, b->error) && same_vec(a->corrected, b->corrected) &&
           same_failures(a, b);
}

/* ---- moves ---- */

static int64_t chance_us(struct hs_random *random, double probability, int64_t most_us)
{
    return hs_random_chance(random, probability)
               ? (int64_t)(hs_random_unit(random) * (double)most_us)
               : 0;
}

static void disturb(struct machine *m, struct client *client, struct hs_move *move)
{
    static const double dilations[] = {0, 0.5, 1, 1, 1, 2};
    struct hs_random *random = &m->random;
    switch (hs_random_index(random, 60)) {
    case 0:
        client->clock_us += chance_us(random, 1, 5000000); /* a jump ahead */
        break;
    case 1:
        client->clock_us += chance_us(random, 1, 119000000);
        break;
    case 2:
        move->timestamp_us -= chance_us(random, 0.9, 300000); /* a late timestamp */
        break;
    case 3:
        /* a reset of the clock, at the right time or at another */
        client->clock_us -= m->ruleset->moves.reset_period_us;
        break;
    case 4:
        move->timestamp_us = hs_random_index(random, 400000000) - 100000000;
        break;
    case 5:
        move->timestamp_us = -(int64_t)hs_random_index(random, 3); /* no valid timestamp */
        break;
    case 6:
        client->epoch++;
        client->clock_us = 1 + hs_random_index(random, 2000000);
        client->seq = 0;
        break;
    case 7:
        if (move->epoch > 0) {
            move->epoch--;
            move->seq = 1000000 + moves_made; /* an older epoch, with a new number */
        }
        break;
    case 8:
        client->dilation = dilations[hs_random_index(random, 6)];
        break;
    case 9:
        m->now_us += chance_us(random, 1, 3000000); /* a stall */
        break;
    case 10:
        move->ack_us = move->received_us + chance_us(random, 0.5, 1000000);
        break;
    case 11:
        move->fields &= ~(unsigned)HS_MOVE_HAS_SEQ;
        break;
    case 12:
        move->kind = hs_random_chance(random, 0.5) ? HS_MOVE_OLD : HS_MOVE_PENDING;
        break;
    case 13:
        move->received_us -= chance_us(random, 1, 40000); /* receipt times out of order */
        break;
    case 14:
        client->position.x += 1e4; /* far away */
        break;
    default:
        break;
    }
}

static struct hs_move next_move(struct machine *m, struct client *client, const char *name)
{
    static const char *const modes[] = {"walking", "falling", "unheard-of"};
    struct hs_random *random = &m->random;
    int64_t dilated_us = (int64_t)((double)FRAME_US * client->speed * client->dilation);
    client->clock_us += dilated_us;
    m->now_us += hs_random_chance(random, 0.9) ? FRAME_US / PLAYERS : 0;
    struct hs_move move = {.player = hs_stage_str(name),
                           .fields = HS_MOVE_HAS_SEQ | HS_MOVE_HAS_ACK,
                           .seq = client->seq + 1,
                           .epoch = client->epoch,
                           .timestamp_us = client->clock_us,
                           .received_us = m->now_us,
                           .ack_us = m->now_us - 60000 - hs_random_index(random, 80000),
                           .dilation = client->dilation};
    if (hs_random_chance(random, 0.4)) {
        move.fields |= HS_MOVE_HAS_POSITION | HS_MOVE_HAS_VELOCITY | HS_MOVE_HAS_SERVER_POSITION;
        move.mode = hs_stage_str(modes[hs_random_index(random, 3)]);
        /* moves back and forth too suddenly */
        double side = hs_random_chance(random, 0.5) ? 1 : -1;
        client->position.x += side * hs_random_between(random, 0, 0.1);
        client->position.z += hs_random_chance(random, 0.05) ? 2 : 0;
        move.position = client->position;
        move.velocity = (struct hs_vec){hs_random_chance(random, 0.01) ? 300 : 5 * side, 0, 0};
        move.server_position = client->position;
        move.server_position.y += hs_random_chance(random, 0.1) ? 2 : 0;
    }
    int64_t clock_us = client->clock_us;
    uint64_t epoch = client->epoch;
    disturb(m, client, &move);
    if (client->clock_us != clock_us || client->epoch != epoch) {
        client->clock_us = client->clock_us > 0 ? client->clock_us : 1;
        move.timestamp_us = client->clock_us;
        move.epoch = client->epoch;
        move.seq = client->seq + 1;
    }
    return move;
}

/* ---- verdicts ---- */

static struct hs_move_result judge(struct hs_match *match, const struct hs_move *move)
{
    struct hs_move_result result;
    NEED(hs_match_check_move(match, move, &result));
    return result;
}

static struct hs_move_result judge_late(struct machine *m, const struct hs_move *move)
{
    struct hs_move late = *move;
    late.received_us += DAYS_30_US;
    late.ack_us += DAYS_30_US;
    return judge(m->late, &late);
}

static const struct hs_player_moves *state_of(const struct hs_match *match, const char *name)
{
    const struct hs_player *player = hs_players_find(&match->players, hs_stage_str(name));
    return player != NULL ? player->moves : NULL;
}

static void expect_sane(const struct machine *m, const struct hs_move *move,
                        const struct hs_move_result *result)
{
    double most_us = (double)m->ruleset->moves.max_delta_us * move->dilation;
    NEED(result->delta_us >= 0);
    NEED((double)result->delta_us <= most_us + 0.5);
    NEED(result->delta_us == 0 || result->verdict == HS_VERDICT_ACCEPTED);
    NEED(result->credit_us >= 0);
    NEED(result->credit_us <= m->ruleset->moves.credit_max_us);
    NEED(isfinite(result->speed) && isfinite(result->error));
    NEED(result->reason < HS_MOVE_REASON_COUNT);
    NEED(result->failure_count <= HS_MOVE_CHECK_COUNT);
}

/* The granted time must not exceed the server time, multiplied by the announced dilation, plus one
   second. */
static void expect_granted(const struct machine *m, struct client *client,
                           const struct hs_move *move, const struct hs_move_result *result)
{
    bool is_refused = result->reason >= HS_MOVE_STALE && result->reason <= HS_MOVE_CAPACITY;
    if (is_refused)
        return;
    if (!client->has_begun)
        client->allowed_us = (double)m->ruleset->moves.credit_max_us;
    else if (move->received_us > client->heard_us)
        client->allowed_us += (double)(move->received_us - client->heard_us) * move->dilation;
    if (!client->has_begun || move->received_us > client->heard_us)
        client->heard_us = move->received_us;
    client->has_begun = true;
    client->granted_us += (double)result->delta_us;
    client->judged++;
    NEED(m->ruleset->moves.prevention != HS_PREVENTION_CREDIT ||
         client->granted_us <= client->allowed_us + (double)client->judged);
}

static void count(const struct hs_move_result *result)
{
    moves_made++;
    reasons[result->reason]++;
    replays += result->replayed;
    flagged += result->raised != 0;
}

/* Posts a move with a bad timestamp. The move must be reported and counted, and have no other
   effect. */
static void post_bad(struct machine *m, const char *name, const struct hs_move *move)
{
    struct hs_move_checks before;
    const struct hs_player_moves *state = state_of(m->match, name);
    bool was_there = state != NULL;
    if (was_there)
        before = state->checks;
    struct hs_move_result result = judge(m->match, move), late = judge_late(m, move);
    count(&result);
    NEED(result.reason == HS_MOVE_BAD_TIMESTAMP);
    NEED(result.delta_us == 0);
    NEED(!result.force_update && result.raised == 0);
    NEED(same_result(&result, &late));
    state = state_of(m->match, name);
    NEED((state != NULL) == was_there);
    if (was_there)
        NEED(memcmp(&before, &state->checks, sizeof before) == 0);
}

static void post(struct machine *m, int who)
{
    struct client *client = &m->clients[who];
    struct hs_move move = next_move(m, client, names[who]);
    if (move.timestamp_us <= 0) {
        post_bad(m, names[who], &move);
        return;
    }
    struct hs_move_result result = judge(m->match, &move), late = judge_late(m, &move),
                          plain = judge(m->plain, &move);
    count(&result);
    expect_sane(m, &move, &result);
    NEED(same_result(&result, &late));
    NEED(same_result(&result, &plain));
    NEED(!result.replayed);
    expect_granted(m, client, &move, &result);
    /* The service may drop answers to numbers that are lower than all others. */
    if ((move.fields & HS_MOVE_HAS_SEQ) && move.epoch == client->epoch) {
        client->seq = move.seq;
        client->lately[client->late_count++ % LATELY] = move;
    }
}

/* Repeats one of the last moves, unchanged or with one change. */
static void repeat(struct machine *m, int who)
{
    struct client *client = &m->clients[who];
    if (client->late_count == 0)
        return;
    unsigned long kept = client->late_count < LATELY ? client->late_count : LATELY;
    struct hs_move move = client->lately[hs_random_index(&m->random, (int)kept)];
    bool is_altered = hs_random_chance(&m->random, 0.3);
    struct hs_move_checks before = state_of(m->match, names[who])->checks;
    if (is_altered)
        move.timestamp_us += 1 + hs_random_index(&m->random, 1000000);
    struct hs_move_result result = judge(m->match, &move), late = judge_late(m, &move);
    count(&result);
    NEED(same_result(&result, &late));
    NEED(memcmp(&before, &state_of(m->match, names[who])->checks, sizeof before) == 0);
    if (is_altered) {
        NEED(result.reason == HS_MOVE_DUPLICATE);
        NEED(result.delta_us == 0);
        return;
    }
    struct hs_move_result again = judge(m->match, &move);
    NEED(result.replayed && late.replayed && again.replayed);
    NEED(same_result(&result, &again));
    judge_late(m, &move);
}

/* ---- cases ---- */

static void random_rules(struct machine *m)
{
    struct hs_moves_rules *rules = &m->ruleset->moves;
    struct hs_random *random = &m->random;
    hs_ruleset_add_builtin_moves(m->ruleset, 100); /* centimetres per unit */
    rules->prevention =
        hs_random_chance(random, 0.8) ? HS_PREVENTION_CREDIT : HS_PREVENTION_RESOLUTION;
    rules->drift_allowance = hs_random_chance(random, 0.3) ? 0.02 : 0;
    rules->resolution_rate = hs_random_unit(random);
    rules->force_corrections = hs_random_chance(random, 0.3);
    rules->correction_interval_us = chance_us(random, 0.3, 500000);
    rules->epoch_interval_us = chance_us(random, 0.8, 5000000);
    rules->reset_period_us = hs_random_chance(random, 0.5) ? 240000000 : 6000000;
    rules->min_delta_us = hs_random_chance(random, 0.1) ? 17000 : 1;
    rules->max_delta_us = hs_random_chance(random, 0.7) ? 125000 : 30000;
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        m->ruleset->move_checks[i] = (enum hs_mode)hs_random_index(random, HS_MODE_COUNT);
}

static void run_case(uint64_t seed, unsigned long number)
{
    static struct machine m;
    memset(&m, 0, sizeof m);
    case_number = number;
    m.random = hs_random_start(seed, number);
    m.ruleset = hs_stage_ruleset();
    random_rules(&m);
    m.match = hs_stage_match(m.ruleset);
    m.late = hs_stage_match(m.ruleset);
    m.plain = hs_stage_match(m.ruleset);
    m.now_us = 1000000 + hs_random_index(&m.random, 1000000);
    for (int i = 0; i < PLAYERS; i++) {
        m.clients[i].dilation = 1;
        m.clients[i].speed = hs_random_chance(&m.random, 0.3) ? 4 : 1;
        m.clients[i].clock_us = 1 + hs_random_index(&m.random, 300000000);
    }
    for (int i = 0; i < MOVES; i++) {
        int who = hs_random_index(&m.random, PLAYERS);
        if (hs_random_chance(&m.random, 0.05))
            repeat(&m, who);
        else
            post(&m, who);
    }
    hs_match_destroy(m.match);
    hs_match_destroy(m.late);
    hs_match_destroy(m.plain);
    hs_ruleset_destroy(m.ruleset);
}

START_TEST(any_moves_give_results_within_bounds)
{
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    unsigned long cases = (unsigned long)hs_test_count("HS_MACHINE_CASES", CASES);
    printf("moves machine: seed %llu, %lu cases\n", (unsigned long long)seed, cases);
    for (unsigned long i = 0; i < cases; i++)
        run_case(seed, i);
    /* The reasons from `through_world` on need a map or movers, and `not_in_control` needs
       frames. */
    for (int i = 0; i < HS_MOVE_THROUGH_WORLD && cases >= CASES; i++)
        ck_assert_msg(reasons[i] > 0 || i == HS_MOVE_CAPACITY || i == HS_MOVE_MALFORMED ||
                          i == HS_MOVE_NOT_IN_CONTROL,
                      "never %s", hs_move_reason_name((enum hs_move_reason)i));
    printf("moves machine: %lu moves, %lu ok, %lu replays, %lu flagged\n", moves_made,
           reasons[HS_MOVE_OK], replays, flagged);
    ck_assert_uint_gt(reasons[HS_MOVE_OK], moves_made / 3);
    ck_assert_uint_gt(replays, moves_made / 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moves_machine");
    TCase *tcase = tcase_create("moves_machine");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, any_moves_give_results_within_bounds);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
