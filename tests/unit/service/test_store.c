/* The client of the store, against a private redis-server. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/store/documents.h"
#include "service/store/store.h"
#include "service/system/address.h"
#include "service/system/clock.h"
#include "service/watch/metrics.h"
#include "tests/support/clock.h"
#include "tests/support/run_suite.h"
#include "tests/support/store/redis.h"

enum { PATIENCE_MS = 10000, ASK_US = 5000000 };

static struct hs_test_redis redis;
static struct hs_metrics *metrics;
static struct hs_store *store;

static void open_store(const char *addresses, const char *password_file)
{
    static char kept[128]; /* the store borrows it */
    char error[256];
    snprintf(kept, sizeof kept, "%s", addresses);
    metrics = hs_metrics_create();
    ck_assert_ptr_nonnull(metrics);
    store = hs_store_start(kept, password_file, metrics, error);
    ck_assert_msg(store != NULL, "%s", error);
}

static void close_store(void)
{
    hs_store_stop(store, 1000000);
    hs_metrics_destroy(metrics);
    store = NULL;
    metrics = NULL;
}

/* Waits until the store is up, or down. */
static bool becomes(bool is_up)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        int lane = 0;
        while (lane < HS_STORE_LANES && hs_store_is_up(store, (enum hs_store_lane)lane) == is_up)
            lane++;
        if (lane == HS_STORE_LANES)
            return true;
        hs_test_pause_ms(1);
    }
    return false;
}

static void setup(void)
{
    ck_assert(hs_test_redis_start(&redis, 0, NULL));
    open_store(redis.address, "");
    ck_assert(becomes(true));
}

static void teardown(void)
{
    close_store();
    hs_test_redis_stop(&redis);
}

static enum hs_store_result ask(const struct hs_store_script *script,
                                const struct hs_str *arguments, size_t count, char *text,
                                size_t size)
{
    struct redisReply *reply;
    enum hs_store_result result = hs_store_ask(store, HS_STORE_URGENT, HS_STORE_CATALOG, ASK_US,
                                               script, arguments, count, &reply);
    text[0] = '\0';
    if (reply != NULL && reply->str != NULL)
        snprintf(text, size, "%s", reply->str);
    else if (reply != NULL)
        snprintf(text, size, "%lld", reply->integer);
    freeReplyObject(reply);
    return result;
}

#define ASK(script, text, ...)                                                                     \
    ask((script), (const struct hs_str[]){__VA_ARGS__},                                            \
        sizeof((const struct hs_str[]){__VA_ARGS__}) / sizeof(struct hs_str), (text),              \
        sizeof(text))

START_TEST(commands_get_their_replies)
{
    char text[256];
    ck_assert_int_eq(ASK(NULL, text, HS_STR("SET"), HS_STR("a"), ((struct hs_str){"\0\r\n", 3})),
                     HS_STORE_OK);
    ck_assert_str_eq(text, "OK");
    ck_assert_int_eq(ASK(NULL, text, HS_STR("STRLEN"), HS_STR("a")), HS_STORE_OK);
    ck_assert_str_eq(text, "3");
    ck_assert_int_eq(ASK(NULL, text, HS_STR("LPUSH"), HS_STR("a"), HS_STR("b")), HS_STORE_REFUSED);
    ck_assert(strncmp(text, "WRONGTYPE", 9) == 0);
}
END_TEST

/* The server forgets its scripts, for example in a restart. */
START_TEST(unknown_scripts_are_sent_whole)
{
    struct hs_store_script script;
    char text[256];
    hs_store_script_init(&script, "return redis.call('INCRBY', KEYS[1], ARGV[1])");
    for (int i = 1; i <= 3; i++) {
        if (i == 2)
            hs_test_redis_ask(&redis, "SCRIPT FLUSH");
        ck_assert_int_eq(ASK(&script, text, HS_STR("1"), HS_STR("sum"), HS_STR("5")), HS_STORE_OK);
        ck_assert_int_eq(atoi(text), 5 * i);
    }
    hs_store_script_init(&script, "return redis.error_reply('NO WAY')");
    ck_assert_int_eq(ASK(&script, text, HS_STR("0")), HS_STORE_REFUSED);
}
END_TEST

/* ---- many commands ---- */

enum { MANY = 2000 };

static struct hs_store_call calls[MANY];
static atomic_int ended, lost, lates, last;

static void end_call(struct hs_store_call *call, enum hs_store_result result,
                     struct redisReply **reply)
{
    (void)reply;
    if (result == HS_STORE_LOST)
        atomic_fetch_add(&lost, 1);
    /* replies come in the order of the commands */
    else if ((int)(call - calls) == atomic_load(&last) + 1)
        atomic_fetch_add(&last, 1);
    atomic_fetch_add(&ended, 1);
}

static void count_late(struct hs_store_call *call)
{
    (void)call;
    atomic_fetch_add(&lates, 1);
}

static int submit_on(enum hs_store_lane lane, int from, int count, int64_t budget_us,
                     const struct hs_str *arguments, size_t argument_count)
{
    int accepted = 0;
    for (int i = from; i < from + count; i++) {
        calls[i] = (struct hs_store_call){
            .op = HS_STORE_CATALOG, .budget_us = budget_us, .late = count_late, .done = end_call};
        accepted += hs_store_submit(store, lane, &calls[i], NULL, arguments, argument_count);
    }
    return accepted;
}

static int submit(int from, int count, int64_t budget_us)
{
    const struct hs_str arguments[] = {HS_STR("INCR"), HS_STR("counter")};
    return submit_on(HS_STORE_URGENT, from, count, budget_us, arguments, 2);
}

static bool wait_for(atomic_int *counter, int value)
{
    for (int i = 0; i < PATIENCE_MS && atomic_load(counter) < value; i++)
        hs_test_pause_ms(1);
    return atomic_load(counter) == value;
}

static void clear_counts(void)
{
    atomic_store(&ended, 0);
    atomic_store(&lost, 0);
    atomic_store(&lates, 0);
    atomic_store(&last, -1);
}

static void expect_all_in_order(void)
{
    ck_assert(wait_for(&ended, MANY));
    ck_assert_int_eq(atomic_load(&last), MANY - 1);
    ck_assert_int_eq(atomic_load(&lost), 0);
    ck_assert_str_eq(hs_test_redis_ask(&redis, "GET counter"), "2000");
    ck_assert_uint_eq(hs_store_backlog(store, HS_STORE_URGENT), 0);
}

START_TEST(commands_are_pipelined_in_order)
{
    clear_counts();
    ck_assert_int_eq(submit(0, MANY, 0), MANY);
    expect_all_in_order();
}
END_TEST

/* The server forgets its scripts again and again. No command overtakes those that must be sent
   again. */
START_TEST(commands_that_are_sent_again_stay_in_order)
{
    enum { PIECE = 20, PAUSE_US = 20 };
    struct hs_store_script script;
    const struct hs_str arguments[] = {HS_STR("1"), HS_STR("counter")};
    hs_store_script_init(&script, "return redis.call('INCR', KEYS[1])");
    clear_counts();
    for (int i = 0; i < MANY; i++) {
        if (i % PIECE == 0)
            hs_test_redis_ask(&redis, "SCRIPT FLUSH");
        calls[i] = (struct hs_store_call){.op = HS_STORE_CATALOG, .done = end_call};
        ck_assert(hs_store_submit(store, HS_STORE_URGENT, &calls[i], &script, arguments, 2));
        /* So replies come while commands are sent. */
        for (int64_t until_us = hs_clock_us() + PAUSE_US; hs_clock_us() < until_us;) {
        }
    }
    expect_all_in_order();
}
END_TEST

/* A hung server: commands are late, then lost, and the link returns by itself. */
START_TEST(a_hung_server_loses_its_connections)
{
    clear_counts();
    kill(redis.pid, SIGSTOP);
    ck_assert_int_eq(submit(0, 10, 5000), 10);
    ck_assert(wait_for(&lates, 10));
    ck_assert(hs_store_is_late(store, HS_STORE_URGENT, 1000));
    ck_assert(wait_for(&ended, 10));
    ck_assert_int_eq(atomic_load(&lost), 10);
    ck_assert(becomes(false));
    ck_assert_int_eq(submit(0, 1, 0), 0);
    hs_test_pause_ms(300);
    ck_assert(!hs_store_is_up(store, HS_STORE_URGENT)); /* the server accepts connections, but does
                                                           nothing more */
    kill(redis.pid, SIGCONT);
    ck_assert(becomes(true));
    ck_assert(!hs_store_is_late(store, HS_STORE_URGENT, 1000));
    char text[64];
    ck_assert_int_eq(ASK(NULL, text, HS_STR("SET"), HS_STR("after"), HS_STR("1")), HS_STORE_OK);
    ck_assert_str_eq(text, "OK"); /* not the reply to an earlier command */
}
END_TEST

/* The server sends a reply every 0.1 s. On a patient link none of them is late, although the last
   ones take longer than their budget. */
START_TEST(a_patient_link_waits_while_replies_come)
{
    enum { COUNT = 8, BUDGET_US = 400000 };
    const struct hs_str slow[] = {HS_STR("BLPOP"), HS_STR("nothing"), HS_STR("0.1")};
    const struct {
        enum hs_store_lane lane;
        int lates;
    } cases[] = {{HS_STORE_URGENT, COUNT - BUDGET_US / 100000}, {HS_STORE_READS, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clear_counts();
        ck_assert_int_eq(submit_on(cases[i].lane, 0, COUNT, BUDGET_US, slow, 3), COUNT);
        ck_assert(wait_for(&ended, COUNT));
        ck_assert_int_eq(atomic_load(&lost), 0);
        ck_assert_int_ge(atomic_load(&lates), cases[i].lates);
        ck_assert(cases[i].lates > 0 || atomic_load(&lates) == 0);
    }
}
END_TEST

/* A patient link counts from the last reply: a command that is sent while the server hangs waits
   only for the rest of the budget. */
START_TEST(a_patient_link_does_not_wait_for_a_hung_server)
{
    enum { BUDGET_US = 300000, FIRST_MS = 150 };
    const struct hs_str arguments[] = {HS_STR("INCR"), HS_STR("counter")};
    clear_counts();
    kill(redis.pid, SIGSTOP);
    ck_assert_int_eq(submit_on(HS_STORE_READS, 0, 1, BUDGET_US, arguments, 2), 1);
    hs_test_pause_ms(FIRST_MS);
    ck_assert_int_eq(submit_on(HS_STORE_READS, 1, 1, BUDGET_US, arguments, 2), 1);
    int64_t began_us = calls[1].began_us;
    ck_assert(wait_for(&lates, 2));
    ck_assert_int_lt(hs_clock_us() - began_us, BUDGET_US);
    kill(redis.pid, SIGCONT);
    ck_assert(wait_for(&ended, 2));
}
END_TEST

/* The server does not know the script, and is busy when it is asked. So the command is late before
   it is sent again, and takes longer than its budget then. */
START_TEST(a_command_that_is_sent_again_is_late_once)
{
    enum { BUDGET_US = 5000 };
    const struct hs_str slow[] = {HS_STR("BLPOP"), HS_STR("nothing"), HS_STR("0.15")};
    const struct hs_str keys = HS_STR("0");
    struct hs_store_script script;
    hs_store_script_init(&script, "for i = 1, 1e7 do end return 1"); /* some 100 ms */
    clear_counts();
    calls[0] = (struct hs_store_call){
        .op = HS_STORE_CATALOG, .budget_us = BUDGET_US, .late = count_late, .done = end_call};
    ck_assert_int_eq(submit_on(HS_STORE_READS, 1, 1, 0, slow, 3), 1);
    ck_assert(hs_store_submit(store, HS_STORE_READS, &calls[0], &script, &keys, 1));
    ck_assert(wait_for(&ended, 2));
    ck_assert_int_eq(atomic_load(&lost), 0);
    ck_assert_int_eq(atomic_load(&lates), 1);
}
END_TEST

START_TEST(a_restarted_server_is_found_again)
{
    unsigned port = redis.port;
    hs_test_redis_stop(&redis);
    ck_assert(becomes(false));
    ck_assert(hs_test_redis_start(&redis, port, NULL));
    ck_assert(becomes(true));
}
END_TEST

/* A replica accepts no writes, so the link looks for the primary. */
START_TEST(the_primary_is_chosen)
{
    struct hs_test_redis replica;
    char port[16], addresses[80], text[64];
    snprintf(port, sizeof port, "%u", redis.port);
    const char *const extra[] = {"--replicaof", "127.0.0.1", port, NULL};
    ck_assert(hs_test_redis_start(&replica, 0, extra));
    close_store();
    snprintf(addresses, sizeof addresses, "%s,%s", replica.address, redis.address);
    open_store(addresses, "");
    ck_assert(becomes(true));
    ck_assert_int_eq(ASK(NULL, text, HS_STR("SET"), HS_STR("a"), HS_STR("1")), HS_STORE_OK);
    ck_assert_str_eq(hs_test_redis_ask(&redis, "GET a"), "1");
    hs_test_redis_stop(&redis);
    ck_assert(becomes(false));
    ck_assert_str_eq(hs_test_redis_ask(&replica, "REPLICAOF NO ONE"), "OK");
    ck_assert(becomes(true));
    ck_assert_int_eq(ASK(NULL, text, HS_STR("SET"), HS_STR("b"), HS_STR("1")), HS_STORE_OK);
    hs_test_redis_stop(&replica);
}
END_TEST

START_TEST(passwords_come_from_a_file)
{
    char path[] = "/tmp/hindsight-password-XXXXXX", error[256], text[64];
    const char *const extra[] = {"--requirepass", "geheim", NULL};
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, "geheim\n", 7), 7);
    close(file);
    close_store();
    hs_test_redis_stop(&redis);
    ck_assert(hs_test_redis_start(&redis, 0, extra));
    open_store(redis.address, path);
    ck_assert(becomes(true));
    ck_assert_int_eq(ASK(NULL, text, HS_STR("SET"), HS_STR("a"), HS_STR("1")), HS_STORE_OK);
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_ptr_null(hs_store_start(redis.address, path, metrics, error));
    ck_assert_ptr_nonnull(strstr(error, "everybody can read it"));
    unlink(path);
    close_store();
    open_store(redis.address, "");
    hs_test_pause_ms(200);
    ck_assert(!hs_store_is_up(store, HS_STORE_URGENT));
}
END_TEST

/* ---- names ---- */

static struct hs_shared_name arena(struct hs_str revision, struct hs_str canary, const char *owner)
{
    return (struct hs_shared_name){.kind = HS_SHARED_RULESET,
                                   .name = HS_STR("arena"),
                                   .owner = hs_str_of(owner),
                                   .revision = revision,
                                   .canary = canary,
                                   .share = canary.len > 0 ? 0.5 : 0};
}

static enum hs_shared_result put(struct hs_str revision, struct hs_str canary, const char *owner)
{
    struct hs_shared_name name = arena(revision, canary, owner);
    return hs_shared_put_name(store, &name, false);
}

static void note_name(void *context, const struct hs_shared_name *name)
{
    snprintf(context, 64, "%.*s %.*s %g", (int)name->revision.len, name->revision.ptr,
             (int)name->canary.len, name->canary.ptr, name->share);
}

static void expect_name(const char *wanted)
{
    char found[64] = "";
    ck_assert(hs_shared_names(store, note_name, found));
    ck_assert_str_eq(found, wanted);
}

/* A name needs its documents and its owner. A canary whose ruleset another replica has replaced
   does not bring that ruleset back. */
START_TEST(a_name_needs_its_documents_and_its_owner)
{
    const struct hs_str none = {"", 0}, a = HS_STR("sha256:aa"), b = HS_STR("sha256:bb"),
                        c = HS_STR("sha256:cc"), text = HS_STR("{}");
    ck_assert_int_eq(put(a, none, ""), HS_SHARED_LOST);
    ck_assert(hs_shared_put_document(store, HS_SHARED_RULESET, none, a, text));
    ck_assert(hs_shared_put_document(store, HS_SHARED_RULESET, none, b, text));
    ck_assert(hs_shared_put_document(store, HS_SHARED_RULESET, none, c, text));
    ck_assert_int_eq(put(a, none, ""), HS_SHARED_DONE);
    ck_assert_int_eq(put(b, none, "zeta"), HS_SHARED_FOREIGN);
    ck_assert_int_eq(put(a, c, ""), HS_SHARED_DONE);
    expect_name("sha256:aa sha256:cc 0.5");
    ck_assert_int_eq(put(b, none, ""), HS_SHARED_DONE);
    ck_assert_int_eq(put(a, c, ""), HS_SHARED_LOST);
    expect_name("sha256:bb  0");
    ck_assert_int_eq(put(b, c, ""), HS_SHARED_DONE);
    expect_name("sha256:bb sha256:cc 0.5");
}
END_TEST

/* Two replicas send a name to an empty store, and the upload of the second replica replaces the
   documents. These documents must not expire either. */
START_TEST(the_documents_of_a_known_name_do_not_expire)
{
    const struct hs_str none = {"", 0}, revisions[] = {HS_STR("sha256:aa"), HS_STR("sha256:bb")},
                        text = HS_STR("{}");
    struct hs_shared_name name = arena(revisions[0], revisions[1], "");
    for (int replica = 0; replica < 2; replica++) {
        for (int i = 0; i < 2; i++) {
            const char *key = revisions[i].ptr;
            hs_test_redis_ask(&redis, "DEL hs:v1:{catalog}:ruleset/%s", key);
            ck_assert(hs_shared_put_document(store, HS_SHARED_RULESET, none, revisions[i], text));
        }
        ck_assert_int_eq(hs_shared_put_name(store, &name, true), HS_SHARED_DONE);
        for (int i = 0; i < 2; i++)
            ck_assert_str_eq(
                hs_test_redis_ask(&redis, "TTL hs:v1:{catalog}:ruleset/%s", revisions[i].ptr),
                "-1");
    }
}
END_TEST

/* An upload that fails after its first piece leaves a key that expires. */
START_TEST(a_broken_upload_expires)
{
    hs_test_redis_ask(&redis, "ACL SETUSER default -expire");
    ck_assert(!hs_shared_put_document(store, HS_SHARED_MAP, HS_STR("hall"), HS_STR("sha256:aa"),
                                      HS_STR("{}")));
    char key[256];
    snprintf(key, sizeof key, "%s", hs_test_redis_ask(&redis, "KEYS hs:v1:{catalog}:map/*"));
    ck_assert_int_gt(atoi(hs_test_redis_ask(&redis, "STRLEN %s", key)), 0);
    ck_assert_int_gt(atoi(hs_test_redis_ask(&redis, "TTL %s", key)), 0);
}
END_TEST

START_TEST(a_question_ends_with_the_store)
{
    char text[64];
    ck_assert_int_eq(ASK(NULL, text, HS_STR("PING")), HS_STORE_OK);
    hs_store_end_asking(store);
    ck_assert_int_eq(ASK(NULL, text, HS_STR("PING")), HS_STORE_LOST);
}
END_TEST

START_TEST(lists_of_addresses_are_accepted_or_refused)
{
    static const struct {
        const char *text;
        bool is_valid;
    } cases[] = {{"127.0.0.1:6379", true}, {"redis-1:6379,redis-2:6380", true},
                 {"[::1]:6379", true},     {"", false},
                 {"redis", false},         {"redis:", false},
                 {"redis:0", false},       {"redis:65536", false},
                 {"redis:63x", false},     {":6379", false},
                 {"a:1,", false},          {",a:1", false},
                 {"::1:6379", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(hs_address_list_is_valid(cases[i].text) == cases[i].is_valid, "%s",
                      cases[i].text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *texts = tcase_create("texts"), *server = tcase_create("server");
    signal(SIGPIPE, SIG_IGN);
    tcase_add_test(texts, lists_of_addresses_are_accepted_or_refused);
    suite_add_tcase(suite, texts);
    tcase_set_timeout(server, 60);
    tcase_add_checked_fixture(server, setup, teardown);
    if (hs_test_redis_program() != NULL) {
        tcase_add_test(server, commands_get_their_replies);
        tcase_add_test(server, unknown_scripts_are_sent_whole);
        tcase_add_test(server, commands_are_pipelined_in_order);
        tcase_add_test(server, commands_that_are_sent_again_stay_in_order);
        tcase_add_test(server, a_hung_server_loses_its_connections);
        tcase_add_test(server, a_patient_link_waits_while_replies_come);
        tcase_add_test(server, a_patient_link_does_not_wait_for_a_hung_server);
        tcase_add_test(server, a_command_that_is_sent_again_is_late_once);
        tcase_add_test(server, a_restarted_server_is_found_again);
        tcase_add_test(server, the_primary_is_chosen);
        tcase_add_test(server, passwords_come_from_a_file);
        tcase_add_test(server, a_name_needs_its_documents_and_its_owner);
        tcase_add_test(server, the_documents_of_a_known_name_do_not_expire);
        tcase_add_test(server, a_broken_upload_expires);
        tcase_add_test(server, a_question_ends_with_the_store);
    } else {
        printf("SKIP: redis-server is not installed\n");
    }
    suite_add_tcase(suite, server);
    return hs_run_suite(suite);
}
