/*
 * The cost of reading the body of a tick with frames and moves of 64 players.
 *
 *   decode_ticks_64_us             a position, a rotation, an aim and a round trip for each player:
 *                                  18 KB
 *   decode_ticks_64x16_us          also 16 bones for each player: 75 KB
 *   decode_ticks_64x16_compact_us  the same data as tables with flat bones: 66 KB
 *
 * One baseline parses the same body with jansson, and decodes the tree. The other baseline reads
 * the same values with simdjson On-Demand, built for this processor. The values are compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ticks.h"
#include "tests/peers/simdjson_peer.h"
#include "tests/support/bench.h"
#include "tests/support/random.h"

enum { PLAYERS = HS_PEER_PLAYERS, BONES = HS_PEER_BONES, MAX_ITEMS = 1024 };

struct reading {
    struct hs_buffer body;
    bool is_compact;
    struct hs_simdjson *peer;
    struct hs_peer_tick tick;
};

static struct hs_random dice;

/* ---- the body ---- */

static void add_numbers(struct hs_buffer *body, int count, double most)
{
    for (int i = 0; i < count; i++)
        hs_buffer_printf(body, "%s%.4f", i > 0 ? "," : "", hs_random_between(&dice, -most, most));
}

/* Adds numbers in brackets: as a member with its name or, in a table, as a cell without a name. */
static void add_array(struct reading *reading, const char *name, int count, double most)
{
    if (reading->is_compact)
        hs_buffer_puts(&reading->body, ",[");
    else
        hs_buffer_printf(&reading->body, ",\"%s\":[", name);
    add_numbers(&reading->body, count, most);
    hs_buffer_puts(&reading->body, "]");
}

static void add_bones(struct reading *reading, int bones)
{
    hs_buffer_puts(&reading->body, reading->is_compact ? ",[" : ",\"bones\":[");
    for (int i = 0; i < bones; i++) {
        hs_buffer_puts(&reading->body, i > 0 ? "," : "");
        hs_buffer_puts(&reading->body, reading->is_compact ? "" : "[");
        add_numbers(&reading->body, 7, 1);
        hs_buffer_puts(&reading->body, reading->is_compact ? "" : "]");
    }
    hs_buffer_puts(&reading->body, "]");
}

static void add_player(struct reading *reading, int player, int bones)
{
    bool is_compact = reading->is_compact;
    hs_buffer_printf(&reading->body, "%s%s\"player%d\"", player > 0 ? "," : "",
                     is_compact ? "[" : "{\"player\":", player);
    add_array(reading, "position", 3, 500);
    add_array(reading, "rotation", 4, 1);
    if (bones > 0)
        add_bones(reading, bones);
    add_array(reading, "aim", 3, 1);
    hs_buffer_printf(&reading->body, ",%s%.4f%s",
                     is_compact ? "" : "\"rtt\":", hs_random_between(&dice, 0.01, 0.1),
                     is_compact ? "]" : "}");
}

static void add_move(struct reading *reading, int player)
{
    const char *comma = player > 0 ? "," : "";
    if (reading->is_compact)
        hs_buffer_printf(&reading->body, "%s[\"player%d\",12345,98.765,123.4375,\"walking\"", comma,
                         player);
    else
        hs_buffer_printf(&reading->body,
                         "%s{\"player\":\"player%d\",\"seq\":12345,\"client_time\":98.765,"
                         "\"received\":123.4375,\"mode\":\"walking\"",
                         comma, player);
    add_array(reading, "position", 3, 500);
    hs_buffer_puts(&reading->body, reading->is_compact ? "]" : "}");
}

/* Opens the brackets around players or moves. */
static void begin(struct reading *reading, const char *columns)
{
    if (reading->is_compact)
        hs_buffer_printf(&reading->body, "{\"columns\":[%s],\"rows\":", columns);
    hs_buffer_puts(&reading->body, "[");
}

static void end(struct reading *reading)
{
    hs_buffer_puts(&reading->body, reading->is_compact ? "]}" : "]");
}

static void write_body(struct reading *reading, int bones)
{
    hs_buffer_puts(&reading->body, "{\"frames\":[{\"time\":123.4375,\"players\":");
    begin(reading, bones > 0 ? "\"player\",\"position\",\"rotation\",\"bones\",\"aim\",\"rtt\""
                             : "\"player\",\"position\",\"rotation\",\"aim\",\"rtt\"");
    for (int i = 0; i < PLAYERS; i++)
        add_player(reading, i, bones);
    end(reading);
    hs_buffer_puts(&reading->body, "}],\"moves\":");
    begin(reading, "\"player\",\"seq\",\"client_time\",\"received\",\"mode\",\"position\"");
    for (int i = 0; i < PLAYERS; i++)
        add_move(reading, i);
    end(reading);
    hs_buffer_puts(&reading->body, "}");
}

/* ---- reading it ---- */

static void need(bool is_fine, const char *what)
{
    if (is_fine)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void compare(const struct hs_peer_tick *peer, const struct hs_ticks_request *tick)
{
    static const char what[] = "simdjson read other values";
    const struct hs_frame *frame = &tick->frames.frames[0];
    need(peer->time_us == frame->time_us && peer->player_count == frame->player_count &&
             peer->move_count == tick->moves.count,
         what);
    for (size_t i = 0; i < PLAYERS; i++) {
        const struct hs_peer_player *a = &peer->players[i];
        const struct hs_player_frame *b = &frame->players[i];
        const struct hs_peer_move *move = &peer->moves[i];
        const struct hs_move *other = &tick->moves.moves[i];
        need(hs_str_equal((struct hs_str){a->name, a->name_len}, b->player) &&
                 memcmp(a->position, &b->position, sizeof a->position) == 0 &&
                 memcmp(a->rotation, b->rotation, sizeof a->rotation) == 0 &&
                 memcmp(a->aim, b->aim, sizeof a->aim) == 0 && a->rtt_us == b->rtt_us &&
                 a->bone_count == b->bone_count && move->seq == other->seq &&
                 move->client_us == other->timestamp_us &&
                 move->received_us == other->received_us &&
                 hs_str_equal((struct hs_str){move->mode, move->mode_len}, other->mode) &&
                 memcmp(move->position, &other->position, sizeof move->position) == 0,
             what);
        for (size_t k = 0; k < a->bone_count; k++)
            need(memcmp(a->bones[k], b->bones[k].position, 3 * sizeof(double)) == 0 &&
                     memcmp(a->bones[k] + 3, b->bones[k].rotation, 4 * sizeof(double)) == 0,
                 what);
    }
}

/* Reads the body. If `peer` is not NULL, compares the values with those of the other reader. */
static void read_body(const struct reading *reading, bool is_direct,
                      const struct hs_peer_tick *peer)
{
    static struct hs_problem problem;
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = &problem, .arena = &arena, .max_items = MAX_ITEMS};
    struct hs_ticks_request tick = {0};
    const struct hs_str text = {reading->body.data, reading->body.len};
    json_t *root = NULL;
    hs_problem_init(&problem);
    if (is_direct) {
        need(hs_ticks_read_directly(&reader, text, HS_ROUTE_TICKS_POST, &tick), "not read");
    } else {
        root = hs_json_parse(text, &problem);
        need(root != NULL, "not parsed");
        hs_ticks_decode_body(&reader, root, HS_ROUTE_TICKS_POST, &tick);
    }
    need(problem.code == HS_PROBLEM_NONE && tick.moves.count == PLAYERS, "not decoded");
    if (peer != NULL)
        compare(peer, &tick);
    json_decref(root);
    hs_arena_free(&arena);
}

static void read_directly(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++)
        read_body(context, true, NULL);
}

static void read_tree(void *context, size_t count)
{
    for (size_t i = 0; i < count; i++)
        read_body(context, false, NULL);
}

static void read_on_demand(void *context, size_t count)
{
    struct reading *reading = context;
    for (size_t i = 0; i < count; i++)
        need(hs_simdjson_read(reading->peer, reading->is_compact, &reading->tick),
             "not read by simdjson");
}

static void bench(int bones, bool is_compact, const char *form)
{
    hs_bench_run *const runs[] = {read_directly, read_tree, read_on_demand};
    static struct reading reading;
    double ns[3];
    char name[64], jansson[64], simdjson[64];
    reading = (struct reading){.is_compact = is_compact};
    dice = hs_random_start(14, (uint64_t)bones);
    write_body(&reading, bones);
    need(!reading.body.failed, "out of memory");
    snprintf(name, sizeof name, "decode_ticks_%s_us", form);
    snprintf(jansson, sizeof jansson, "jansson_ticks_%s_us", form);
    snprintf(simdjson, sizeof simdjson, "simdjson_ticks_%s_us", form);
    if (hs_simdjson_is_there()) {
        reading.peer = hs_simdjson_create(reading.body.data, reading.body.len);
        need(reading.peer != NULL, "out of memory");
        read_on_demand(&reading, 1);
        read_body(&reading, true, &reading.tick);
        read_body(&reading, false, &reading.tick);
    }
    hs_bench_take_turns(runs, reading.peer != NULL ? 3 : 2, &reading, ns);
    hs_bench_print(jansson, ns[1] / 1e3, "us", NULL, 0);
    hs_bench_print(name, ns[0] / 1e3, "us", jansson, ns[1] / ns[0]);
    if (reading.peer != NULL) {
        hs_bench_print(simdjson, ns[2] / 1e3, "us", NULL, 0);
        hs_bench_print(name, ns[0] / 1e3, "us", simdjson, ns[2] / ns[0]);
        hs_simdjson_destroy(reading.peer);
    }
    hs_buffer_free(&reading.body);
}

int main(void)
{
    if (!hs_simdjson_is_there())
        fprintf(stderr, "built without libsimdjson-dev: not compared with simdjson\n");
    bench(0, false, "64");
    bench(BONES, false, "64x16");
    bench(BONES, true, "64x16_compact");
    return 0;
}
