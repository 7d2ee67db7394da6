#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/oracle/golden.h"
#include "tests/support/random.h"
#include "validators/moves.h"
#include "validators/ruleset.h"

enum { STREAMS = 64, MOVES = 4000 };

static void mix(struct hs_golden_moves *golden, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        golden->hash = (golden->hash ^ (value & 0xff)) * UINT64_C(1099511628211);
}

static void mix_number(struct hs_golden_moves *golden, double value)
{
    mix(golden, (uint64_t)(int64_t)floor(value * 1e4 + 0.5));
}

static void mix_result(struct hs_golden_moves *golden, const struct hs_move_result *r)
{
    golden->moves++;
    golden->reasons[r->reason]++;
    mix(golden, (uint64_t)r->verdict * 64 + (uint64_t)r->reason);
    mix(golden, (uint64_t)r->delta_us);
    mix(golden, (uint64_t)r->force_update * 2 + r->is_resolving);
    mix(golden, (uint64_t)r->discrepancy_us);
    mix(golden, (uint64_t)r->lifetime_us);
    mix(golden, (uint64_t)r->credit_us);
    mix(golden, (uint64_t)r->position);
    mix_number(golden, r->speed);
    for (uint16_t i = 0; i < r->failure_count; i++) {
        golden->raised[r->failures[i].check]++;
        mix(golden, (uint64_t)r->failures[i].check * 16 + r->failures[i].mode);
        mix_number(golden, r->failures[i].measured);
        mix_number(golden, r->failures[i].limit);
    }
}

/* A client and its connection. The speed of its clock changes, its packets are late, lost or held
   back, and its player runs, jumps and is teleported. */
struct client {
    struct hs_random random;
    struct hs_move move;
    double clock_us, speed, velocity, height, rise;
    int64_t now_us, held_us;
    bool hovers;
};

static void change_something(struct client *c)
{
    switch (hs_random_index(&c->random, 7)) {
    case 0:
        c->speed = hs_random_between(&c->random, 0.9, 1.6);
        break;
    case 1:
        c->speed = 1;
        break;
    case 2:
        c->held_us = c->now_us + hs_random_index(&c->random, 1500000);
        break;
    case 3:
        c->velocity = hs_random_between(&c->random, 0, 900);
        break;
    case 4:
        c->move.position.x += hs_random_between(&c->random, -3000, 3000);
        break;
    case 5:
        c->hovers = !c->hovers && c->height > 0;
        break;
    default:
        c->rise = hs_random_between(&c->random, 100, 900);
        break;
    }
}

static void make_move(struct client *c)
{
    struct hs_move *m = &c->move;
    double step_us = 16667;
    c->now_us += 16667;
    c->clock_us += step_us * c->speed;
    if (hs_random_index(&c->random, 100) == 0)
        change_something(c);
    double wrapped = c->clock_us - 240e6 * floor(c->clock_us / 240e6);
    int64_t arrives = c->now_us + 30000 + hs_random_index(&c->random, 20000);
    arrives = arrives > c->held_us ? arrives : c->held_us;
    m->timestamp_us = (int64_t)wrapped;
    m->received_us = arrives > m->received_us ? arrives : m->received_us;
    m->ack_us = c->now_us - 40000 - hs_random_index(&c->random, 20000);
    m->seq++;
    m->kind = hs_random_index(&c->random, 20) == 0 ? HS_MOVE_OLD : HS_MOVE_NEW;
    m->position.x += c->velocity * step_us / 1e6;
    c->rise = c->hovers ? 0 : c->rise - 980 * step_us / 1e6;
    c->height += c->rise * step_us / 1e6;
    if (c->height <= 0)
        c->height = c->rise = 0;
    m->mode = c->height > 0 ? HS_STR("falling") : HS_STR("walking");
    m->position.z = c->height;
    m->velocity = (struct hs_vec){c->velocity, 0, c->rise};
    m->server_position = m->position;
    m->server_position.y += hs_random_index(&c->random, 40) == 0 ? 2 : 1;
}

static bool play(struct hs_match *match, struct hs_golden_moves *out, uint64_t stream)
{
    char name[16];
    int len = snprintf(name, sizeof name, "p%d", (int)stream);
    struct client c = {.random = hs_random_start(20240229, stream), .speed = 1, .now_us = 1000000};
    c.clock_us = hs_random_between(&c.random, 1e6, 239e6);
    c.move = (struct hs_move){.player = {name, (size_t)len},
                              .fields = HS_MOVE_HAS_SEQ | HS_MOVE_HAS_POSITION |
                                        HS_MOVE_HAS_VELOCITY | HS_MOVE_HAS_SERVER_POSITION,
                              .dilation = 1};
    if (stream % 2 == 0)
        c.move.fields |= HS_MOVE_HAS_ACK;
    for (int i = 0; i < MOVES; i++) {
        struct hs_move_result result;
        make_move(&c);
        if (hs_random_index(&c.random, 50) == 0)
            continue; /* the packet is lost */
        if (!hs_match_check_move(match, &c.move, &result))
            return false;
        mix_result(out, &result);
    }
    return true;
}

void hs_golden_moves(struct hs_golden_moves *out)
{
    static const struct hs_match_limits limits = {.players = STREAMS, .samples = 2, .movers = 1};
    *out = (struct hs_golden_moves){.hash = UINT64_C(14695981039346656037)};
    struct hs_ruleset *rules = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    struct hs_match *match = rules != NULL ? hs_match_create(rules, &limits) : NULL;
    for (uint64_t stream = 0; match != NULL && stream < STREAMS; stream++)
        if (!play(match, out, stream))
            break;
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}
