/* The webhook: batches, signatures, retries, bounds, reloads and the end of the service. */
#include <check.h>
#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "service/delivery/webhook.h"
#include "tests/integration/receiver.h"
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/play/verdict_source.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#define FIRST_SECRET  "the-first-secret-of-the-test"
#define SECOND_SECRET "the-second-secret-of-the-test"

static char directory[] = "/tmp/hindsight_webhook_XXXXXX";
static char secret_file[64], token_file[64];
static unsigned port; /* port of the receiver */
static char url[64];
static struct hs_receiver *receiver;
static struct hs_test_service service;
static struct hs_test_http *http;

static void write_secret(const char *text)
{
    hs_test_write_file(secret_file, text);
    ck_assert_int_eq(chmod(secret_file, 0600), 0);
}

static void start_receiver(void)
{
    receiver = hs_receiver_start(&port);
    ck_assert_ptr_nonnull(receiver);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/hook?x=1", port);
}

/* Starts the service with a webhook and further arguments, which end with NULL. */
static void start(const char *const *more)
{
    enum { MOST = 16 };
    const char *arguments[MOST] = {"--webhook", url, "--webhook-secret-file", secret_file};
    size_t count = 4;
    for (; more != NULL && *more != NULL; more++) {
        ck_assert_uint_lt(count, MOST - 1);
        arguments[count++] = *more;
    }
    ck_assert(hs_test_service_start(&service, arguments));
    http = hs_test_http_open(service.data_port);
}

static void stop(void)
{
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
}

static void setup(void)
{
    write_secret(FIRST_SECRET "\n");
    port = 0;
    start_receiver();
    start(NULL);
    hs_source_open(http, "m", NULL);
}

static void teardown(void)
{
    stop();
    hs_receiver_stop(receiver);
}

static void restart(const char *const *more)
{
    stop();
    start(more);
    hs_source_open(http, "m", NULL);
}

static void post(enum hs_source_claim claim, int first, int count)
{
    hs_source_post(http, "m", NULL, claim, first, count);
}

/* Waits until a metric has a value. */
static void await_metric(const char *name, double value)
{
    double now = 0;
    for (int tries = 0; tries < 3000 && (now = hs_metric(&service, name)) != value; tries++)
        hs_test_pause_ms(10);
    ck_assert_msg(now == value, "%s is %g, not %g", name, now, value);
}

static double results(const char *result)
{
    char name[96];
    snprintf(name, sizeof name, "hindsight_webhook_requests_total{result=\"%s\"}", result);
    return hs_metric(&service, name);
}

static size_t count_of(size_t i)
{
    json_t *list = hs_received_verdicts(hs_receiver_get(receiver, i));
    size_t count = json_array_size(list);
    json_decref(list);
    return count;
}

/* ---- what is sent ---- */

static bool is_signed(const struct hs_received *received, const char *secret)
{
    struct hmac_sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char hex[2 * SHA256_DIGEST_SIZE + 1] = "", wanted[128];
    long long seconds = 0;
    ck_assert_int_eq(sscanf(received->signature, "t=%lld,v1=", &seconds), 1);
    ck_assert_int_le(llabs(seconds - (long long)time(NULL)), 60);
    int len = snprintf(wanted, sizeof wanted, "%lld.", seconds);
    hmac_sha256_set_key(&context, strlen(secret), (const uint8_t *)secret);
    hmac_sha256_update(&context, (size_t)len, (const uint8_t *)wanted);
    hmac_sha256_update(&context, strlen(received->body), (const uint8_t *)received->body);
    hmac_sha256_digest(&context, sizeof digest, digest);
    base16_encode_update(hex, sizeof digest, digest);
    snprintf(wanted, sizeof wanted, "t=%lld,v1=%s", seconds, hex);
    return strcmp(wanted, received->signature) == 0;
}

START_TEST(a_batch_is_signed)
{
    post(HS_SOURCE_SHORT, 1, 2);
    post(HS_SOURCE_BARE, 1, 1);
    post(HS_SOURCE_FAR, 3, 1);
    hs_receiver_wait(receiver, 1);
    const struct hs_received *received = hs_receiver_get(receiver, 0);
    static const char *const reasons[] = {"degenerate_trace", "degenerate_trace",
                                          "coordinate_out_of_world"};
    json_t *list = hs_received_verdicts(received);
    ck_assert_uint_eq(json_array_size(list), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = json_array_get(list, i);
        ck_assert_str_eq(json_string_value(json_object_get(row, "reason")), reasons[i]);
        ck_assert_str_eq(json_string_value(json_object_get(row, "match")), "m");
        ck_assert_uint_eq(json_string_length(json_object_get(row, "verdict_id")), 32);
    }
    json_decref(list);
    ck_assert_str_eq(received->path, "/hook");
    ck_assert_str_eq(received->content_type, "application/json");
    ck_assert_uint_eq(strlen(received->key), 64);
    ck_assert(is_signed(received, FIRST_SECRET));
    ck_assert(!is_signed(received, SECOND_SECRET));
    await_metric("hindsight_webhook_delivered_total", 3);
    await_metric("hindsight_webhook_queue_length", 0);
    ck_assert_double_eq(hs_metric(&service, "hindsight_webhook_oldest_seconds"), 0);
}
END_TEST

/* The function in docs/delivery.md accepts the request. The function refuses another secret and
   another body.
 */
START_TEST(the_documented_function_verifies_it)
{
    int code;
    char body_file[96];
    post(HS_SOURCE_SHORT, 1, 1);
    hs_receiver_wait(receiver, 1);
    const struct hs_received *received = hs_receiver_get(receiver, 0);
    snprintf(body_file, sizeof body_file, "%s/body", directory);
    hs_test_write_file(body_file, received->body);
    const char *out =
        hs_test_shell(&code,
                      "{ sed -n '/^```python/,/^```/p' docs/delivery.md | grep -v '^```'\n"
                      "echo 'import sys'\n"
                      "echo 'body, header = open(sys.argv[1], \"rb\").read(), sys.argv[2]'\n"
                      "echo 'print(verify(b\"%s\", header, body), verify(b\"%s\", header, body),'\n"
                      "echo '      verify(b\"%s\", header, body + b\" \"))'\n"
                      "} | python3 - '%s' '%s'",
                      FIRST_SECRET, SECOND_SECRET, FIRST_SECRET, body_file, received->signature);
    ck_assert_int_eq(code, 0);
    ck_assert_str_eq(out, "True False False\n");
}
END_TEST

START_TEST(batches_are_bounded_and_prompt)
{
    size_t sum = 0;
    double before = hs_test_seconds();
    post(HS_SOURCE_SHORT, 1, 250);
    hs_receiver_wait(receiver, 2);
    /* A full batch is sent before the second is over. */
    ck_assert_uint_eq(count_of(0), HS_WEBHOOK_BATCH);
    ck_assert_uint_eq(count_of(1), HS_WEBHOOK_BATCH);
    hs_receiver_wait(receiver, 3);
    double waited = hs_receiver_get(receiver, 2)->at - before;
    ck_assert_msg(waited > 0.9 && waited < 10, "%g s", waited);
    for (size_t i = 0; i < 3; i++)
        sum += count_of(i);
    ck_assert_uint_eq(sum, 250);
    await_metric("hindsight_webhook_delivered_total", 250);
    ck_assert_str_ne(hs_receiver_get(receiver, 0)->key, hs_receiver_get(receiver, 1)->key);
}
END_TEST

START_TEST(the_list_of_verdicts_is_configurable)
{
    static const char *const more[] = {"--webhook-verdicts", "inconclusive,shadow_rejected", NULL};
    restart(more);
    post(HS_SOURCE_SHORT, 1, 1);
    post(HS_SOURCE_BARE, 1, 1);
    post(HS_SOURCE_FINE, 2, 2);
    hs_receiver_wait(receiver, 1);
    json_t *list = hs_received_verdicts(hs_receiver_get(receiver, 0));
    ck_assert_uint_eq(json_array_size(list), 2);
    const json_t *bare = json_array_get(list, 0), *fine = json_array_get(list, 1);
    ck_assert_str_eq(json_string_value(json_object_get(bare, "verdict")), "inconclusive");
    ck_assert_str_eq(json_string_value(json_object_get(fine, "verdict")), "accepted");
    const json_t *shadows = json_object_get(fine, "would_reject");
    ck_assert_str_eq(json_string_value(json_array_get(shadows, 0)), "fire_rate");
    json_decref(list);
}
END_TEST

/* The receiver gets the verdicts of all tenants, and each verdict names its tenant. */
START_TEST(verdicts_of_all_tenants_are_sent)
{
    static struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "a", .scopes = "\"admin\""},
    };
    const char *const more[] = {"--token-file", token_file, NULL};
    hs_test_tokens_write(token_file, tokens, 2);
    stop();
    start(more);
    for (int i = 0; i < 2; i++) {
        hs_source_open(http, tokens[i].tenant, tokens[i].header);
        hs_source_post(http, tokens[i].tenant, tokens[i].header, HS_SOURCE_SHORT, 1, 1);
    }
    await_metric("hindsight_webhook_delivered_total", 2);
    json_t *list = hs_received_verdicts(hs_receiver_get(receiver, 0));
    json_t *all = json_copy(list);
    if (hs_receiver_count(receiver) > 1) {
        json_t *others = hs_received_verdicts(hs_receiver_get(receiver, 1));
        json_array_extend(all, others);
        json_decref(others);
    }
    for (size_t i = 0; i < 2; i++)
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(all, i), "tenant")),
                         tokens[i].tenant);
    json_decref(all);
    json_decref(list);
}
END_TEST

/* ---- failures ---- */

static const struct {
    unsigned status;
    long pause_ms;
    const char *result;
} failures[] = {
    {500, 0, "refused"}, {404, 0, "refused"},   {302, 0, "refused"},
    {503, 0, "refused"}, {200, 8000, "failed"}, /* this answer comes later than the service waits */
};

/* The same bytes are sent again, with the same key and a new signature. */
START_TEST(a_failed_batch_is_sent_again)
{
    hs_receiver_answer(receiver, failures[_i].status, failures[_i].pause_ms, 2);
    post(HS_SOURCE_SHORT, 1, 1);
    hs_receiver_wait(receiver, 1);
    post(HS_SOURCE_FAR, 2, 1); /* this verdict waits for the next batch */
    hs_receiver_wait(receiver, 4);
    const struct hs_received *sent[4];
    for (size_t i = 0; i < 4; i++) {
        sent[i] = hs_receiver_get(receiver, i);
        ck_assert_str_eq(sent[i]->path, "/hook"); /* redirects are not followed */
        ck_assert(is_signed(sent[i], FIRST_SECRET));
    }
    for (size_t i = 1; i < 3; i++) {
        ck_assert_str_eq(sent[i]->body, sent[0]->body);
        ck_assert_str_eq(sent[i]->key, sent[0]->key);
    }
    ck_assert_str_ne(sent[2]->signature, sent[0]->signature); /* signed more than a second later */
    ck_assert_str_ne(sent[3]->key, sent[0]->key);
    await_metric("hindsight_webhook_delivered_total", 2);
    ck_assert_double_eq(results(failures[_i].result), 2);
    ck_assert_double_eq(results("accepted"), 2);
    /* The pauses grow: about 0.5 s to 1 s, then 1 s to 2 s. */
    double first = sent[1]->at - sent[0]->at, second = sent[2]->at - sent[1]->at;
    ck_assert_msg(first >= 0.45 && second >= 0.95, "%g s, then %g s", first, second);
}
END_TEST

START_TEST(a_receiver_that_is_away_gets_all_later)
{
    hs_receiver_stop(receiver);
    receiver = NULL;
    post(HS_SOURCE_SHORT, 1, 150);
    for (int tries = 0; tries < 1000 && results("failed") < 2; tries++)
        hs_test_pause_ms(10);
    ck_assert_double_ge(results("failed"), 2);
    ck_assert_double_eq(hs_metric(&service, "hindsight_webhook_queue_length"), 150);
    ck_assert_double_gt(hs_metric(&service, "hindsight_webhook_oldest_seconds"), 0.4);
    start_receiver(); /* starts again on the same port */
    await_metric("hindsight_webhook_delivered_total", 150);
    ck_assert_uint_eq(count_of(0), HS_WEBHOOK_BATCH);
}
END_TEST

START_TEST(a_certificate_is_verified)
{
    int code;
    char certificate[96], key[96], https[64];
    struct hs_test_service other;
    hs_test_shell(&code,
                  "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
                  "-days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1 "
                  "-keyout %s/key -out %s/crt 2>/dev/null && chmod 600 %s/key",
                  directory, directory, directory);
    ck_assert_int_eq(code, 0);
    snprintf(certificate, sizeof certificate, "%s/crt", directory);
    snprintf(key, sizeof key, "%s/key", directory);
    const char *const tls[] = {"--tls-cert", certificate, "--tls-key", key, NULL};
    ck_assert(hs_test_service_start(&other, tls));
    snprintf(https, sizeof https, "https://127.0.0.1:%u/", other.data_port);
    const char *const more[] = {"--webhook", https, NULL};
    restart(more);
    post(HS_SOURCE_SHORT, 1, 1);
    for (int tries = 0; tries < 1000 && results("failed") < 1; tries++)
        hs_test_pause_ms(10);
    ck_assert_double_ge(results("failed"), 1); /* the request got no answer, not even a 404 */
    ck_assert_double_eq(results("refused"), 0);
    ck_assert(hs_test_service_stop(&other));
}
END_TEST

/* ---- bounds ---- */

START_TEST(a_full_queue_drops_and_counts)
{
    static const char *const more[] = {"--webhook-queue-bytes", "65536", NULL};
    restart(more);
    hs_receiver_answer(receiver, 500, 0, 1000);
    post(HS_SOURCE_SHORT, 1, 500);
    double kept = hs_metric(&service, "hindsight_webhook_queue_length");
    double dropped = hs_metric(&service, "hindsight_webhook_dropped_total{reason=\"queue\"}");
    ck_assert_double_eq(kept + dropped, 500);
    ck_assert_msg(kept > 50 && kept < 300, "%g are kept", kept);
    hs_receiver_answer(receiver, 200, 0, 0);
    await_metric("hindsight_webhook_delivered_total", kept);
    post(HS_SOURCE_SHORT, 501, 10); /* there is space again */
    await_metric("hindsight_webhook_delivered_total", kept + 10);
}
END_TEST

START_TEST(old_verdicts_are_dropped_and_counted)
{
    static const char *const more[] = {"--webhook-age-seconds", "2", NULL};
    restart(more);
    hs_receiver_answer(receiver, 500, 0, 1000);
    post(HS_SOURCE_SHORT, 1, 3);
    await_metric("hindsight_webhook_dropped_total{reason=\"age\"}", 3);
    ck_assert_double_eq(hs_metric(&service, "hindsight_webhook_queue_length"), 0);
    hs_receiver_answer(receiver, 200, 0, 0);
    post(HS_SOURCE_FAR, 4, 1);
    await_metric("hindsight_webhook_delivered_total", 1);
}
END_TEST

/* ---- the secret ---- */

START_TEST(a_reload_replaces_the_secret)
{
    post(HS_SOURCE_SHORT, 1, 1);
    hs_receiver_wait(receiver, 1);
    write_secret("short");
    kill(service.pid, SIGHUP);
    await_metric("hindsight_config_last_reload_successful", 0);
    post(HS_SOURCE_SHORT, 2, 1);
    hs_receiver_wait(receiver, 2);
    ck_assert(is_signed(hs_receiver_get(receiver, 1), FIRST_SECRET));
    write_secret(SECOND_SECRET);
    kill(service.pid, SIGHUP);
    await_metric("hindsight_config_last_reload_successful", 1);
    post(HS_SOURCE_SHORT, 3, 1);
    hs_receiver_wait(receiver, 3);
    ck_assert(is_signed(hs_receiver_get(receiver, 2), SECOND_SECRET));
}
END_TEST

/* Starts the service with a faulty configuration; returns its stderr. */
static const char *refused(const char *const *arguments)
{
    static struct hs_test_run run;
    const char *all[14] = {"serve",          "--listen",    "127.0.0.1:0",
                           "--admin-listen", "127.0.0.1:0", "--data="};
    size_t count = 6;
    while (*arguments != NULL)
        all[count++] = *arguments++;
    hs_test_program_run(&run, all);
    ck_assert_int_eq(run.code, 2);
    return run.err;
}

/* `hindsight check-config` checks the file, too. */
static void expect_check_config(const char *end)
{
    char path[96], text[256];
    struct hs_test_run run;
    snprintf(path, sizeof path, "%s/configuration", directory);
    snprintf(text, sizeof text, "{\"webhook\":\"https://x/\",\"webhook_secret_file\":\"%s\"}",
             secret_file);
    hs_test_write_file(path, text);
    HS_TEST_RUN(&run, "check-config", path);
    size_t len = strlen(run.out), size = strlen(end);
    ck_assert_msg(len >= size && strcmp(run.out + len - size, end) == 0, "%s", run.out);
    ck_assert_int_eq(run.code, strcmp(end, "ok\n") == 0 ? 0 : 1);
}

START_TEST(a_webhook_needs_a_url_and_a_secret)
{
    static const char *const urls[] = {"ftp://x/", "https:///x", "x", "http://a b/",
                                       "https://user:word@x/"};
    write_secret(FIRST_SECRET);
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        const char *arguments[] = {"--webhook", urls[i], "--webhook-secret-file", secret_file,
                                   NULL};
        ck_assert_ptr_nonnull(strstr(refused(arguments), "must be a URL"));
    }
    const char *bare[] = {"--webhook", "https://x/", NULL};
    ck_assert_ptr_nonnull(strstr(refused(bare), "is also needed"));
    const char *words[] = {"--webhook-verdicts", "accepted", NULL};
    ck_assert_ptr_nonnull(strstr(refused(words), "must list"));
    const char *files[] = {"--webhook", "https://x/", "--webhook-secret-file", secret_file, NULL};
    write_secret("fifteen letters");
    ck_assert_ptr_nonnull(strstr(refused(files), "must contain 16 to 1024 bytes"));
    expect_check_config("must contain 16 to 1024 bytes\n");
    write_secret(FIRST_SECRET);
    expect_check_config("ok\n");
    ck_assert_int_eq(chmod(secret_file, 0644), 0);
    ck_assert_ptr_nonnull(strstr(refused(files), "everybody can read it"));
    ck_assert_int_eq(unlink(secret_file), 0);
    ck_assert_ptr_nonnull(strstr(refused(files), "cannot be read"));
}
END_TEST

/* ---- the end ---- */

START_TEST(the_end_of_the_service_sends_the_rest)
{
    hs_receiver_answer(receiver, 500, 0, 2); /* the rest is also sent after two failures */
    post(HS_SOURCE_SHORT, 1, 230);
    stop();
    size_t sum = 0, requests = hs_receiver_count(receiver);
    for (size_t i = 2; i < requests; i++)
        sum += count_of(i);
    ck_assert_uint_eq(sum, 230);
    start(NULL);
}
END_TEST

START_TEST(a_dead_receiver_does_not_hold_the_end)
{
    char text[65536];
    hs_receiver_answer(receiver, 200, 20000, 1000);
    post(HS_SOURCE_SHORT, 1, 1);
    hs_receiver_wait(receiver, 1);
    int log = dup(service.err);
    double before = hs_test_seconds();
    stop();
    ck_assert_double_lt(hs_test_seconds() - before, 10);
    ssize_t size = pread(log, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    close(log);
    ck_assert_ptr_nonnull(strstr(text, "the webhook failed"));
    ck_assert_ptr_nonnull(strstr(text, "verdicts were not delivered"));
    ck_assert_ptr_null(strstr(text, FIRST_SECRET));
    ck_assert_ptr_null(strstr(text, "hook?x=1"));
    start(NULL);
}
END_TEST

int main(void)
{
    char command[96];
    Suite *suite = suite_create("webhook");
    TCase *sending = tcase_create("sending"), *alone = tcase_create("configuration");
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(secret_file, sizeof secret_file, "%s/secret", directory);
    snprintf(token_file, sizeof token_file, "%s/tokens", directory);
    tcase_add_checked_fixture(sending, setup, teardown);
    tcase_set_timeout(sending, 120);
    tcase_add_test(sending, a_batch_is_signed);
    tcase_add_test(sending, the_documented_function_verifies_it);
    tcase_add_test(sending, batches_are_bounded_and_prompt);
    tcase_add_test(sending, the_list_of_verdicts_is_configurable);
    tcase_add_test(sending, verdicts_of_all_tenants_are_sent);
    tcase_add_loop_test(sending, a_failed_batch_is_sent_again, 0,
                        (int)(sizeof failures / sizeof failures[0]));
    tcase_add_test(sending, a_receiver_that_is_away_gets_all_later);
    tcase_add_test(sending, a_certificate_is_verified);
    tcase_add_test(sending, a_full_queue_drops_and_counts);
    tcase_add_test(sending, old_verdicts_are_dropped_and_counted);
    tcase_add_test(sending, a_reload_replaces_the_secret);
    tcase_add_test(sending, the_end_of_the_service_sends_the_rest);
    tcase_add_test(sending, a_dead_receiver_does_not_hold_the_end);
    suite_add_tcase(suite, sending);
    tcase_add_test(alone, a_webhook_needs_a_url_and_a_secret);
    suite_add_tcase(suite, alone);
    int failed = hs_run_suite(suite);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command) == 0 && failed == 0 ? 0 : 1;
}
