/*
 * The cost of reading the body of a tick with frames and moves of 64 players.
 *
 *   read_tick_64_us      a position, a rotation, an aim and a round trip for each player: 18 KB
 *   read_tick_64x16_us   the same with 16 bones for each player: 75 KB
 *
 * The baseline parses the same body with jansson, and decodes the tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/ticks.h"
#include "tests/support/bench.h"
#include "tests/support/random.h"

enum { PLAYERS = 64, BONES = 16, MAX_ITEMS = 1024 };

static struct hs_random dice;

static void add_numbers(struct hs_buffer *body, const char *key, int count, double most)
{
    hs_buffer_printf(body, "%s[", key);
    for (int i = 0; i < count; i++)
        hs_buffer_printf(body, "%s%.4f", i > 0 ? "," : "", hs_random_between(&dice, -most, most));
    hs_buffer_puts(body, "]");
}

static void add_player(struct hs_buffer *body, int player, int bones)
{
    hs_buffer_printf(body, "%s{\"player\":\"player%d\"", player > 0 ? "," : "", player);
    add_numbers(body, ",\"position\":", 3, 500);
    add_numbers(body, ",\"rotation\":", 4, 1);
    for (int i = 0; i < bones; i++)
        add_numbers(body, i == 0 ? ",\"bones\":[" : ",", 7, 1);
    hs_buffer_puts(body, bones > 0 ? "]" : "");
    add_numbers(body, ",\"aim\":", 3, 1);
    hs_buffer_printf(body, ",\"rtt\":%.4f}", hs_random_between(&dice, 0.01, 0.1));
}

static void write_body(struct hs_buffer *body, int bones)
{
    hs_buffer_puts(body, "{\"frames\":[{\"time\":123.4375,\"players\":[");
    for (int i = 0; i < PLAYERS; i++)
        add_player(body, i, bones);
    hs_buffer_puts(body, "]}],\"moves\":[");
    for (int i = 0; i < PLAYERS; i++) {
        hs_buffer_printf(body,
                         "%s{\"player\":\"player%d\",\"seq\":12345,\"client_time\":98.765,"
                         "\"received\":123.4375,\"mode\":\"walking\"",
                         i > 0 ? "," : "", i);
        add_numbers(body, ",\"position\":", 3, 500);
        hs_buffer_puts(body, "}");
    }
    hs_buffer_puts(body, "]}");
}

static void need(bool is_fine)
{
    if (is_fine)
        return;
    fprintf(stderr, "a body was not read\n");
    exit(1);
}

static void read_body(const struct hs_buffer *body, bool is_direct)
{
    static struct hs_problem problem;
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = &problem, .arena = &arena, .max_items = MAX_ITEMS};
    struct hs_ticks_request tick = {0};
    const struct hs_str text = {body->data, body->len};
    hs_problem_init(&problem);
    if (is_direct) {
        need(hs_ticks_read_directly(&reader, text, HS_ROUTE_TICKS_POST, &tick));
    } else {
        json_t *root = hs_json_parse(text, &problem);
        need(root != NULL);
        hs_ticks_decode_body(&reader, root, HS_ROUTE_TICKS_POST, &tick);
        json_decref(root);
    }
    need(problem.code == HS_PROBLEM_NONE && tick.moves.count == PLAYERS);
    hs_arena_free(&arena);
}

static void read_directly(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++)
        read_body(context, true);
}

static void read_tree(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++)
        read_body(context, false);
}

static void bench(int bones, const char *name, const char *baseline)
{
    hs_bench_run *const runs[] = {read_directly, read_tree};
    double ns[2];
    struct hs_buffer body = {0};
    dice = hs_random_start(14, (uint64_t)bones);
    write_body(&body, bones);
    need(!body.failed);
    hs_bench_take_turns(runs, 2, &body, ns);
    hs_bench_print(baseline, ns[1] / 1e3, "us", NULL, 0);
    hs_bench_print(name, ns[0] / 1e3, "us", baseline, ns[1] / ns[0]);
    hs_buffer_free(&body);
}

int main(void)
{
    bench(0, "read_tick_64_us", "jansson_tick_64_us");
    bench(BONES, "read_tick_64x16_us", "jansson_tick_64x16_us");
    return 0;
}
