/* Reads recorded streams, also broken ones, and compares answers. */
#include "cli/recheck/differences.h"
#include "cli/recheck/stream_reader.h"
#include "service/record/members.h"
#include "service/record/stream.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- pieces of JSON ---- */

static const struct {
    const char *text, *summary; /* summary NULL: broken */
} objects[] = {
    {"{}", ""},
    {" { } ", ""},
    {"{\"a\":1}", "a=1;"},
    {"{ \"a\" : [1, {\"b\":2}] , \"c\":\"x,}\\\"\" }", "a=[1, {\"b\":2}];c=\"x,}\\\"\";"},
    {"{\"a\":null,\"b\":-1.5e3}", "a=null;b=-1.5e3;"},
    {"", NULL},
    {"[]", NULL},
    {"{", NULL},
    {"{\"a\"}", NULL},
    {"{\"a\":}", NULL},
    {"{\"a\":1", NULL},
    {"{\"a\":1,}", NULL},
    {"{\"a\":1 \"b\":2}", NULL},
    {"{\"a\":\"open}", NULL},
    {"{\"a\":[1,2}", NULL},
    {"{\"a\":1}}", NULL},
    {"{\"a\":1} x", NULL},
    {"{a:1}", NULL},
    {"{\"a\\n\":1}", NULL},
};

START_TEST(members_come_one_after_the_other)
{
    const char *text = objects[_i].text;
    struct hs_pieces pieces = hs_pieces_of((struct hs_str){text, strlen(text)}, '{');
    struct hs_str key, value;
    char summary[256] = "";
    while (hs_pieces_next(&pieces, &key, &value)) {
        size_t len = strlen(summary);
        snprintf(summary + len, sizeof summary - len, "%.*s=%.*s;", (int)key.len, key.ptr,
                 (int)value.len, value.ptr);
    }
    ck_assert_msg(pieces.broken == (objects[_i].summary == NULL), "%s: %s", text, summary);
    if (objects[_i].summary != NULL)
        ck_assert_str_eq(summary, objects[_i].summary);
    ck_assert(!hs_pieces_next(&pieces, &key, &value));
}
END_TEST

START_TEST(elements_come_one_after_the_other)
{
    struct hs_str text = HS_STR("[1,[2,3], {\"a\":[]} ]"), value;
    struct hs_pieces pieces = hs_pieces_of(text, '[');
    ck_assert(hs_pieces_next(&pieces, NULL, &value) && hs_str_equal(value, HS_STR("1")));
    ck_assert(hs_pieces_next(&pieces, NULL, &value) && hs_str_equal(value, HS_STR("[2,3]")));
    ck_assert(hs_pieces_next(&pieces, NULL, &value) && hs_str_equal(value, HS_STR("{\"a\":[]}")));
    ck_assert(!hs_pieces_next(&pieces, NULL, &value) && !pieces.broken);
    ck_assert_ptr_null(hs_piece_text(HS_STR("1")).ptr);
    ck_assert_ptr_null(hs_piece_text(HS_STR("\"a\\tb\"")).ptr);
    ck_assert(hs_str_equal(hs_piece_text(HS_STR("\"ab\"")), HS_STR("ab")));
}
END_TEST

/* ---- streams ---- */

#define HEAD                                                                                       \
    "{\"format\":\"hindsight-stream\",\"version\":2,\"program\":\"0.1.0\",\"started\":\"now\"}\n"
#define RULES                                                                                      \
    "{\"ruleset\":\"metres\",\"revision\":\"sha256:ab\",\"document\":{\"name\":\"metres\"}}\n"
#define OPEN                                                                                       \
    "{\"open\":\"m\",\"opening\":1,\"ruleset\":\"sha256:ab\",\"max_players\":10,\"max_samples\":"  \
    "20,\"x\":[1]}\n"
#define ASK                                                                                        \
    "{\"match\":\"m\",\"request\":\"hits\",\"explain\":true,\"brief\":true,\"body\":{},"           \
    "\"answer\":{"                                                                                 \
    "\"a\":1}}\n"
#define GAP "{\"gap\":\"m\"}\n"

#define MAP "{\"map\":\"dm1\",\"revision\":\"q\",\"document\":{\"boxes\":[]}}\n"

static const struct {
    const char *text;
    const char *kinds; /* kinds of the lines, by the letters h r m o q g j */
    size_t interrupted;
    const char *error; /* NULL: no error */
} streams[] = {
    {HEAD, "h", 0, NULL},
    {HEAD RULES OPEN ASK GAP, "hroqg", 0, NULL},
    {HEAD RULES HEAD RULES, "hrhr", 0, NULL},
    {HEAD MAP
     "{\"open\":\"m\",\"opening\":1,\"ruleset\":\"r\",\"map\":\"dm1\",\"map_revision\":\"q\","
     "\"max_players\":1,\"max_samples\":8,\"max_movers\":1}\n",
     "hmo", 0, NULL},
    {HEAD "{\"open\":\"m\",\"opening\":1,\"ruleset\":\"r\",\"map\":\"dm1\",\"max_players\":1,\"max_"
          "samples\":8}\n" GAP,
     "h", 0, "line 2"},
    /* Lines that `serve` does not write: without the program, the limits, or the answer. */
    {"{\"format\":\"hindsight-stream\",\"version\":2}\n{\"open\":\"m\",\"ruleset\":\"r\"}\n"
     "{\"match\":\"m\",\"request\":\"hits\",\"body\":{},\"who\":\"ann\",\"truth\":null}\n",
     "hoq", 0, NULL},
    {"", "", 0, NULL},
    /* Files without the last line end, and files that are cut in the middle of a line. */
    {HEAD "{\"gap\":\"m\"}", "hg", 0, NULL},
    {HEAD RULES "{\"match\":\"m\",\"req", "hr", 1, NULL},
    {HEAD "{", "h", 1, NULL},
    {HEAD "{\"match\":\"m\",\"req\n" HEAD GAP, "hhg", 1, NULL},
    {HEAD "{\"gap\"\n" HEAD "{\"gap\"\n" HEAD, "hhh", 2, NULL},
    {HEAD "{\"match\":\"m\",\"req\n{\"format\n" HEAD "{\"gap\"\n{", "hh", 4, NULL},
    {"{\"format\":\"hindsight-stream\",\"version\":3,\"program\":\"0\"}\n"
     "{\"open\":\"m\",\"opening\":1,\"ruleset\":\"r\",\"max_players\":1,\"max_samples\":8,"
     "\"moves_lost\":true,\"state\":\"AAAA\"}\n"
     "{\"journal\":\"m\",\"layout\":\"1\",\"records\":\"\"}\n{\"journal\":\"m\",\"ended\":true}\n"
     "{\"gap\":\"m\",\"reason\":\"why\"}\n",
     "hojjg", 0, NULL},
    {HEAD "{\"journal\":\"m\",\"records\":\"\"}\n" GAP, "h", 0, "line 2"},
    /* Files that are broken elsewhere. */
    {HEAD "{\"gap\"\n", "h", 0, "line 2"},
    {HEAD "{\"gap\"\n" GAP, "h", 0, "line 2"},
    {HEAD "\n" GAP, "h", 0, "line 2"},
    {HEAD "{\"bogus\":\"m\"}\n" GAP, "h", 0, "line 2"},
    {HEAD "{\"gap\":\"m m\"}\n" GAP, "h", 0, "line 2"},
    {HEAD "{\"gap\":7}\n" GAP, "h", 0, "line 2"},
    {HEAD RULES "{\"match\":\"m\",\"request\":\"dance\",\"answer\":{}}\n" GAP, "hr", 0, "line 3"},
    {HEAD "{\"match\":\"m\",\"answer\":{}}\n" GAP, "h", 0, "line 2"},
    {HEAD "{\"open\":\"m\",\"opening\":1,\"ruleset\":\"r\",\"max_samples\":7}\n" GAP, "h", 0,
     "line 2"},
    {HEAD "{\"open\":\"m\",\"opening\":1,\"ruleset\":\"r\",\"max_players\":99999999999,\"max_"
          "samples\":20}\n" GAP,
     "h", 0, "line 2"},
    {HEAD "{\"ruleset\":\"m\",\"revision\":\"r\"}\n" GAP, "h", 0, "line 2"},
    /* Files that are not recordings. */
    {GAP, "", 0, "line 1"},
    {"hello", "", 0, "line 1"},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"program\":\"0\"}\n", "", 0,
     "line 1: is not the first line of a recording"},
    {"{\"format\":\"hindsight-stream\",\"version\":4,\"program\":\"9\"}\n", "", 0,
     "line 1: another version"},
};

START_TEST(streams_are_read_and_faults_found)
{
    char path[] = "/tmp/hs-stream-XXXXXX", kinds[32] = "";
    int file = mkstemp(path);
    size_t size = strlen(streams[_i].text);
    ck_assert_int_eq(write(file, streams[_i].text, size), (ssize_t)size);
    close(file);
    struct hs_stream_reader reader;
    struct hs_stream_line line;
    ck_assert(hs_stream_reader_open(&reader, path));
    for (size_t i = 0; hs_stream_reader_next(&reader, &line); i++)
        kinds[i] = "hrmoqgj"[line.kind];
    ck_assert_str_eq(kinds, streams[_i].kinds);
    ck_assert_uint_eq(reader.interrupted, streams[_i].interrupted);
    if (streams[_i].error == NULL)
        ck_assert_str_eq(reader.error, "");
    else
        ck_assert_msg(strncmp(reader.error, streams[_i].error, strlen(streams[_i].error)) == 0,
                      "%s", reader.error);
    hs_stream_reader_close(&reader);
    unlink(path);
}
END_TEST

START_TEST(lines_hold_what_was_written)
{
    char path[] = "/tmp/hs-stream-XXXXXX";
    static const char text[] = HEAD RULES OPEN ASK;
    int file = mkstemp(path);
    ck_assert_int_eq(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    struct hs_stream_reader reader;
    struct hs_stream_line line;
    ck_assert(hs_stream_reader_open(&reader, path));
    ck_assert(hs_stream_reader_next(&reader, &line));
    ck_assert(hs_str_equal(line.program, HS_STR("0.1.0")));
    ck_assert(hs_stream_reader_next(&reader, &line));
    ck_assert(hs_str_equal(line.name, HS_STR("metres")));
    ck_assert(hs_str_equal(line.revision, HS_STR("sha256:ab")));
    ck_assert(hs_str_equal(line.document, HS_STR("{\"name\":\"metres\"}")));
    ck_assert(hs_stream_reader_next(&reader, &line));
    ck_assert(hs_str_equal(line.revision, HS_STR("sha256:ab")));
    ck_assert(line.max_players == 10 && line.max_samples == 20);
    ck_assert(hs_stream_reader_next(&reader, &line));
    ck_assert(hs_str_equal(line.name, HS_STR("m")) && line.explain && line.brief);
    ck_assert_int_eq(line.route, HS_ROUTE_HITS_POST);
    ck_assert(hs_str_equal(line.body, HS_STR("{}")));
    ck_assert(hs_str_equal(line.answer, HS_STR("{\"a\":1}")));
    ck_assert_uint_eq(reader.number, 4);
    hs_stream_reader_close(&reader);
    unlink(path);
}
END_TEST

/* ---- saved bytes ---- */

/* The test vectors of RFC 4648, section 10. */
static const char *const vectors[][2] = {{"", ""},
                                         {"f", "Zg=="},
                                         {"fo", "Zm8="},
                                         {"foo", "Zm9v"},
                                         {"foob", "Zm9vYg=="},
                                         {"fooba", "Zm9vYmE="},
                                         {"foobar", "Zm9vYmFy"}};

static struct hs_str str_of(const struct hs_buffer *text)
{
    return (struct hs_str){text->data, text->len};
}

START_TEST(bytes_are_base64)
{
    size_t size;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        struct hs_buffer text = {0};
        hs_stream_encode(&text, vectors[i][0], strlen(vectors[i][0]));
        ck_assert(
            hs_str_equal(str_of(&text), (struct hs_str){vectors[i][1], strlen(vectors[i][1])}));
        unsigned char *bytes = hs_stream_decode(str_of(&text), &size);
        ck_assert_uint_eq(size, strlen(vectors[i][0]));
        ck_assert_int_eq(memcmp(bytes, vectors[i][0], size), 0);
        free(bytes);
        hs_buffer_free(&text);
    }
    unsigned char all[256];
    struct hs_buffer text = {0};
    for (unsigned i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)(31 * i);
    hs_stream_encode(&text, all, sizeof all);
    unsigned char *bytes = hs_stream_decode(str_of(&text), &size);
    ck_assert_uint_eq(size, sizeof all);
    ck_assert_int_eq(memcmp(bytes, all, size), 0);
    free(bytes);
    hs_buffer_free(&text);
    ck_assert_ptr_null(hs_stream_decode(HS_STR("Zm9"), &size));
    ck_assert_ptr_null(hs_stream_decode(HS_STR("Zm=v"), &size));
    ck_assert_ptr_null(hs_stream_decode(HS_STR("Zm9\""), &size));
}
END_TEST

/* ---- answers ---- */

#define RESULT(shot, verdict, reason, damage, rest)                                                \
    "{\"shot\":" #shot ",\"shooter\":\"ann\",\"verdict_id\":\"x\",\"verdict\":\"" verdict          \
    "\",\"reason\":\"" reason "\",\"damage_total\":" #damage rest ",\"replayed\":false}"
#define REPLAY(shot, verdict, reason, rest)                                                        \
    "{\"shot\":" #shot ",\"shooter\":\"ann\",\"verdict\":\"" verdict "\",\"reason\":\"" reason     \
    "\"" rest ",\"replayed\":true}"
#define ORIGIN(outcome, reason, measured, limit)                                                   \
    ",\"checks\":[{\"check\":\"shape\",\"outcome\":\"pass\"},{\"check\":\"origin\",\"outcome\":"   \
    "\"" outcome "\"," reason "\"measured\":" #measured ",\"limit\":" #limit                       \
    ",\"unit\":\"length\"}]"
#define MOVE(seq, verdict, reason, delta)                                                          \
    "{\"player\":\"ann\",\"seq\":" #seq ",\"verdict\":\"" verdict "\",\"reason\":\"" reason        \
    "\",\"delta_time\":" delta ",\"replayed\":false}"
#define NAMELESS_MOVE                                                                              \
    "{\"player\":\"ann\",\"verdict\":\"accepted\",\"reason\":\"ok\",\"delta_time\":0.1,"           \
    "\"replayed\":false}"
#define HITS(results) "{\"results\":[" results "],\"revision\":\"r\"}"

/* A brief answer, and a result in it whose shot number is its index. */
#define BRIEF(results, accepted) "{\"results\":[" results "],\"accepted\":" accepted "}"
#define AT(index, verdict, reason, damage)                                                         \
    "{\"index\":" index ",\"shot\":" index ",\"shooter\":\"ann\",\"verdict\":\"" verdict           \
    "\",\"reason\":\"" reason "\",\"damage_total\":" damage ",\"replayed\":false}"
#define MISS RESULT(1, "rejected", "no_intersection", 0, "")
#define HIT  RESULT(1, "accepted", "ok", 20, "")

static const struct {
    const char *before, *after;
    enum hs_route route;
    bool other_rules, fits;
    size_t claims, same, flipped, damaged, otherwise, replayed, replayed_otherwise, answers;
} pairs[] = {
    {HITS(HIT), HITS(HIT), HS_ROUTE_HITS_POST, false, true, 1, 1, 0, 0, 0, 0, 0, 0},
    {HITS(HIT "," MISS), HITS(HIT "," MISS), HS_ROUTE_SHOTS_POST, false, true, 2, 2, 0, 0, 0, 0, 0,
     0},
    {HITS(HIT), HITS(MISS), HS_ROUTE_HITS_POST, false, true, 1, 0, 1, 0, 0, 0, 0, 0},
    {HITS(HIT), HITS(MISS), HS_ROUTE_HITS_POST, true, true, 1, 0, 1, 0, 0, 0, 0, 0},
    {HITS(MISS), HITS(RESULT(1, "rejected", "wrong_target", 0, "")), HS_ROUTE_HITS_POST, true, true,
     1, 0, 1, 0, 0, 0, 0, 0},
    {HITS(HIT), HITS(RESULT(1, "accepted", "ok", 40, "")), HS_ROUTE_HITS_POST, true, true, 1, 0, 0,
     1, 0, 0, 0, 0},
    {HITS(HIT), HITS(RESULT(1, "accepted", "ok", 40, "")), HS_ROUTE_HITS_POST, false, true, 1, 0, 0,
     1, 0, 0, 0, 0},
    {HITS(HIT), HITS(RESULT(1, "accepted", "ok", 20, ",\"a\":1")), HS_ROUTE_HITS_POST, true, true,
     1, 1, 0, 0, 0, 0, 0, 0},
    {HITS(HIT), HITS(RESULT(1, "accepted", "ok", 20, ",\"a\":1")), HS_ROUTE_HITS_POST, false, true,
     1, 0, 0, 0, 1, 0, 0, 0},
    /* Moves, which are identified by player, and by seq if it exists. */
    {HITS(MOVE(1, "accepted", "ok", "0.01")), HITS(MOVE(1, "accepted", "ok", "0.01")),
     HS_ROUTE_MOVES_POST, false, true, 1, 1, 0, 0, 0, 0, 0, 0},
    {HITS(MOVE(1, "accepted", "ok", "0.01")), HITS(MOVE(1, "rejected", "stale", "0")),
     HS_ROUTE_MOVES_POST, true, true, 1, 0, 1, 0, 0, 0, 0, 0},
    {HITS(MOVE(1, "accepted", "ok", "0.01")), HITS(MOVE(1, "accepted", "ok", "0.02")),
     HS_ROUTE_MOVES_POST, true, true, 1, 0, 0, 1, 0, 0, 0, 0},
    {"{\"moves\":[" NAMELESS_MOVE "],\"hits\":[" HIT "]}",
     "{\"moves\":[" NAMELESS_MOVE "],\"hits\":[" HIT "]}", HS_ROUTE_TICKS_POST, false, true, 2, 2,
     0, 0, 0, 0, 0, 0},
    {HITS(MOVE(1, "accepted", "ok", "0.01")), HITS(MOVE(2, "accepted", "ok", "0.01")),
     HS_ROUTE_MOVES_POST, true, false, 0, 0, 0, 0, 0, 0, 0, 0},
    {HITS(MOVE(1, "accepted", "ok", "0.01")), HITS(HIT), HS_ROUTE_MOVES_POST, true, false, 0, 0, 0,
     0, 0, 0, 0, 0},
    /* Claims that were sent again. */
    {HITS(REPLAY(1, "accepted", "ok", "")), HITS(REPLAY(1, "accepted", "ok", "")),
     HS_ROUTE_HITS_POST, false, true, 0, 0, 0, 0, 0, 1, 0, 0},
    {HITS(REPLAY(1, "accepted", "ok", "")), HITS(REPLAY(1, "rejected", "duplicate", "")),
     HS_ROUTE_HITS_POST, false, true, 0, 0, 0, 0, 0, 1, 1, 0},
    {HITS(REPLAY(1, "accepted", "ok", "")), HITS(REPLAY(1, "rejected", "duplicate", "")),
     HS_ROUTE_HITS_POST, true, true, 0, 0, 0, 0, 0, 1, 0, 0},
    /* Brief answers: `accepted` items are left out, and the others have their index. */
    {BRIEF("", "3"), BRIEF("", "3"), HS_ROUTE_HITS_POST, false, true, 3, 3, 0, 0, 0, 0, 0, 0},
    {BRIEF(AT("1", "rejected", "no_intersection", "0"), "2"),
     BRIEF(AT("1", "rejected", "no_intersection", "0"), "2"), HS_ROUTE_HITS_POST, false, true, 3, 3,
     0, 0, 0, 0, 0, 0},
    {BRIEF(AT("1", "rejected", "no_intersection", "0"), "2"), BRIEF("", "3"), HS_ROUTE_HITS_POST,
     true, true, 3, 2, 1, 0, 0, 0, 0, 0},
    {BRIEF("", "3"),
     BRIEF(AT("0", "accepted", "ok", "20") "," AT("2", "rejected", "duplicate", "0"), "1"),
     HS_ROUTE_HITS_POST, true, true, 3, 1, 1, 1, 0, 0, 0, 0},
    {BRIEF(AT("1", "accepted", "ok", "20") "," AT("4", "rejected", "duplicate", "0"), "3"),
     BRIEF(AT("0", "rejected", "duplicate", "0") "," AT("4", "rejected", "duplicate", "0"), "3"),
     HS_ROUTE_HITS_POST, true, true, 5, 3, 1, 1, 0, 0, 0, 0},
    {BRIEF("", "3"), BRIEF("", "2"), HS_ROUTE_HITS_POST, false, true, 3, 3, 0, 0, 0, 0, 0, 1},
    {BRIEF("", "3"), BRIEF(HIT, "2"), HS_ROUTE_HITS_POST, true, false, 0, 0, 0, 0, 0, 0, 0, 0},
    {"{\"moves\":[],\"hits\":[],\"accepted\":{\"moves\":2,\"hits\":1},\"acks\":[0]}",
     "{\"moves\":[],\"hits\":[],\"accepted\":{\"moves\":2,\"hits\":1},\"acks\":[0]}",
     HS_ROUTE_TICKS_POST, false, true, 3, 3, 0, 0, 0, 0, 0, 0},
    {"{\"moves\":[],\"accepted\":{\"moves\":2},\"acks\":[0]}",
     "{\"moves\":[],\"accepted\":{\"moves\":2},\"acks\":[1]}", HS_ROUTE_TICKS_POST, false, true, 2,
     2, 0, 0, 0, 0, 0, 1},
    {"{\"moves\":[],\"accepted\":{\"moves\":2},\"acks\":[0]}",
     "{\"moves\":[],\"accepted\":{\"moves\":2},\"acks\":[1]}", HS_ROUTE_TICKS_POST, true, true, 2,
     2, 0, 0, 0, 0, 0, 0},
    /* Parts of answers that are not claims. */
    {"{\"stored\":2}", "{\"stored\":1}", HS_ROUTE_FRAMES_POST, false, true, 0, 0, 0, 0, 0, 0, 0, 1},
    {"{\"stored\":2}", "{\"stored\":1}", HS_ROUTE_FRAMES_POST, true, true, 0, 0, 0, 0, 0, 0, 0, 1},
    {"{\"frames\":{\"stored\":2},\"hits\":[" HIT "],\"revision\":\"r\"}",
     "{\"frames\":{\"stored\":2},\"hits\":[" HIT "],\"revision\":\"s\"}", HS_ROUTE_TICKS_POST, true,
     true, 1, 1, 0, 0, 0, 0, 0, 0},
    {"{\"frames\":{\"stored\":2},\"shots\":[" HIT "],\"hits\":[" HIT "],\"revision\":\"r\"}",
     "{\"frames\":{\"stored\":2},\"shots\":[" HIT "],\"hits\":[" MISS "],\"revision\":\"s\"}",
     HS_ROUTE_TICKS_POST, false, true, 2, 1, 1, 0, 0, 0, 0, 1},
    {"{\"match\":\"m\",\"verdicts\":{\"accepted\":1}}", "{\"match\":\"m\",\"verdicts\":{}}",
     HS_ROUTE_MATCH_DELETE, true, true, 0, 0, 0, 0, 0, 0, 0, 0},
    {"{\"match\":\"m\",\"verdicts\":{\"accepted\":1}}", "{\"match\":\"m\",\"verdicts\":{}}",
     HS_ROUTE_MATCH_DELETE, false, true, 0, 0, 0, 0, 0, 0, 0, 1},
    /* Answers to different requests. */
    {HITS(HIT), HITS(HIT "," MISS), HS_ROUTE_HITS_POST, false, false, 0, 0, 0, 0, 0, 0, 0, 0},
    {HITS(HIT "," MISS), HITS(HIT), HS_ROUTE_HITS_POST, false, false, 0, 0, 0, 0, 0, 0, 0, 0},
    {HITS(HIT), HITS(RESULT(2, "accepted", "ok", 20, "")), HS_ROUTE_HITS_POST, true, false, 0, 0, 0,
     0, 0, 0, 0, 0},
    {HITS("{\"shot\":1}"), HITS("{\"shot\":1}"), HS_ROUTE_HITS_POST, true, false, 0, 0, 0, 0, 0, 0,
     0, 0},
    {"{\"results\":7}", "{\"results\":7}", HS_ROUTE_HITS_POST, true, false, 0, 0, 0, 0, 0, 0, 0, 0},
    {"7", "{}", HS_ROUTE_HITS_POST, true, false, 0, 0, 0, 0, 0, 0, 0, 0},
};

static bool compare(struct hs_differences *differences, enum hs_route route, const char *before,
                    const char *after)
{
    struct hs_compared request = {HS_STR("m"), route, 12};
    return hs_differences_add(differences, &request, (struct hs_str){before, strlen(before)},
                              (struct hs_str){after, strlen(after)});
}

START_TEST(answers_are_compared)
{
    struct hs_differences d;
    hs_differences_init(&d, pairs[_i].other_rules, 10);
    bool fits = compare(&d, pairs[_i].route, pairs[_i].before, pairs[_i].after);
    ck_assert_int_eq(fits, pairs[_i].fits);
    if (fits) {
        ck_assert_uint_eq(d.hits + d.shots + d.moves, pairs[_i].claims);
        if (pairs[_i].route == HS_ROUTE_MOVES_POST)
            ck_assert_uint_eq(d.moves, pairs[_i].claims);
        if (pairs[_i].route == HS_ROUTE_SHOTS_POST)
            ck_assert_uint_eq(d.shots, pairs[_i].claims);
        ck_assert_uint_eq(d.same, pairs[_i].same);
        ck_assert_uint_eq(d.flipped, pairs[_i].flipped);
        ck_assert_uint_eq(d.damaged, pairs[_i].damaged);
        ck_assert_uint_eq(d.otherwise, pairs[_i].otherwise);
        ck_assert_uint_eq(d.replayed, pairs[_i].replayed);
        ck_assert_uint_eq(d.replayed_otherwise, pairs[_i].replayed_otherwise);
        ck_assert_uint_eq(d.answers_otherwise, pairs[_i].answers);
        bool differs =
            d.flipped + d.damaged + d.otherwise + d.replayed_otherwise + d.answers_otherwise;
        ck_assert_uint_eq(d.first_line, differs ? 12 : 0);
    }
    hs_differences_free(&d);
}
END_TEST

START_TEST(flips_carry_their_numbers_up_to_the_limit)
{
    struct hs_differences d;
    hs_differences_init(&d, true, 2);
    ck_assert(compare(&d, HS_ROUTE_HITS_POST,
                      HITS(RESULT(1, "rejected", "origin_mismatch", 0,
                                  ORIGIN("fail", "\"reason\":\"origin_mismatch\",", 0.62, 0.5))),
                      HITS(RESULT(1, "accepted", "ok", 20, ORIGIN("pass", "", 0.62, 0.75)))));
    ck_assert(compare(&d, HS_ROUTE_SHOTS_POST, HITS(RESULT(2, "rejected", "news", 0, "")),
                      HITS(RESULT(2, "inconclusive", "history_gap", 0, ""))));
    ck_assert(compare(&d, HS_ROUTE_HITS_POST, HITS(HIT), HITS(MISS)));
    ck_assert_uint_eq(d.flipped, 3);
    ck_assert_uint_eq(d.changed_count, 2);
    ck_assert_uint_eq(d.changed_left_out, 1);
    const struct hs_changed_claim *first = &d.changed[0], *second = &d.changed[1];
    ck_assert_str_eq(first->match.text, "m");
    ck_assert_str_eq(first->shooter.text, "ann");
    ck_assert_str_eq(first->kind.text, "hit");
    ck_assert_uint_eq(first->shot, 1);
    ck_assert_uint_eq(first->line, 12);
    ck_assert_str_eq(first->before.reason.text, "origin_mismatch");
    ck_assert_str_eq(first->before.check.text, "origin");
    ck_assert_str_eq(first->after.check.text, "origin");
    ck_assert_double_eq_tol(first->before.measured, 0.62, 1e-12);
    ck_assert_double_eq_tol(first->before.limit, 0.5, 1e-12);
    ck_assert_double_eq_tol(first->after.limit, 0.75, 1e-12);
    ck_assert_str_eq(second->kind.text, "shot");
    ck_assert_str_eq(second->before.check.text, "");
    /* A reason that is unknown to this program is counted under its own name. */
    const struct hs_reason_count *news = &d.reasons[HS_REASON_COUNT];
    ck_assert_str_eq(news->reason.text, "news");
    ck_assert_str_eq(news->verdict.text, "rejected");
    ck_assert(news->before == 1 && news->after == 0);
    ck_assert(d.reasons[HS_REASON_OK].before == 1 && d.reasons[HS_REASON_OK].after == 1);
    hs_differences_free(&d);
}
END_TEST

static Suite *create_suite(void)
{
    Suite *suite = suite_create("recheck");
    TCase *tests = tcase_create("recheck");
    tcase_add_loop_test(tests, members_come_one_after_the_other, 0,
                        sizeof objects / sizeof objects[0]);
    tcase_add_test(tests, elements_come_one_after_the_other);
    tcase_add_loop_test(tests, streams_are_read_and_faults_found, 0,
                        sizeof streams / sizeof streams[0]);
    tcase_add_test(tests, lines_hold_what_was_written);
    tcase_add_test(tests, bytes_are_base64);
    tcase_add_loop_test(tests, answers_are_compared, 0, sizeof pairs / sizeof pairs[0]);
    tcase_add_test(tests, flips_carry_their_numbers_up_to_the_limit);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return hs_run_suite(create_suite());
}
