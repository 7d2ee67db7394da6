/* Log lines. Each is one JSON object, whatever is logged. Their number and length are limited, and
   the program never waits for a reader. */
#include "service/watch/log.h"

#include "tests/support/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int kept_stderr, pipe_ends[2];

/* The log goes into a pipe, which holds 64 KiB until it is read. */
static void setup(void)
{
    kept_stderr = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe2(pipe_ends, O_CLOEXEC), 0);
    ck_assert_int_ge(dup2(pipe_ends[1], STDERR_FILENO), 0);
    ck_assert_int_ge(fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK), 0);
    hs_log_set_level(HS_LOG_INFO);
}

static void teardown(void)
{
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static char text[1 << 20];

/* Reads everything that was logged since the last call; returns the number of lines. */
static size_t read_lines(void)
{
    size_t len = 0, lines = 0;
    for (ssize_t got; (got = read(pipe_ends[0], text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)got;
    text[len] = '\0';
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert(len == 0 || text[len - 1] == '\n');
    return lines;
}

/* Returns the only new line as JSON: a new reference. */
static json_t *read_line(void)
{
    ck_assert_uint_eq(read_lines(), 1);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s in %s", error.text, text);
    return root;
}

/* No character in a text can end the line, the string or the object, or move a terminal's
   cursor. */
START_TEST(texts_cannot_break_out)
{
    static const char *const texts[] = {
        "\n{\"ts\":\"2020\",\"level\":\"error\",\"msg\":\"forged\"}\n",
        "\",\"level\":\"error\",\"x\":\"",
        "\\\",\"a\":\"\\",
        "\r\n\r\n",
        "\x1b[2J\x1b]0;title\x07",
        "\x7f\b\b\b",
        "\302\23331m",
        "\xe2\x80\xa8line\xe2\x80\xa9paragraph",
        "\t\v\f",
    };
    hs_log(HS_LOG_INFO, texts[_i], HS_LOG_TEXT("detail", texts[_i]));
    json_t *line = read_line();
    for (const char *at = text; *at != '\n'; at++)
        ck_assert_msg((unsigned char)*at >= 0x20 && (unsigned char)*at != 0x7f, "%s", text);
    ck_assert_ptr_null(strstr(text, "\xc2\x9b"));
    ck_assert_ptr_null(strstr(text, "\xe2\x80"));
    ck_assert_str_eq(json_string_value(json_object_get(line, "msg")), texts[_i]);
    ck_assert_str_eq(json_string_value(json_object_get(line, "detail")), texts[_i]);
    ck_assert_str_eq(json_string_value(json_object_get(line, "level")), "info");
    ck_assert_uint_eq(json_object_size(line), 4);
    json_decref(line);
}
END_TEST

START_TEST(any_bytes_give_a_valid_line)
{
    char bytes[256];
    for (int i = 0; i < 255; i++)
        bytes[i] = (char)(i + 1);
    bytes[255] = '\0';
    hs_log(HS_LOG_INFO, "bytes", HS_LOG_TEXT("detail", bytes));
    json_decref(read_line());
}
END_TEST

START_TEST(a_line_has_its_fields_and_time)
{
    hs_log(HS_LOG_WARN, "request", HS_LOG_TEXT("request_id", "r1"), HS_LOG_TEXT("match", ""),
           HS_LOG_NUMBER("status", -503));
    json_t *line = read_line();
    ck_assert_uint_eq(json_object_size(line), 5);
    ck_assert_str_eq(json_string_value(json_object_get(line, "level")), "warn");
    ck_assert_str_eq(json_string_value(json_object_get(line, "request_id")), "r1");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), -503);
    const char *ts = json_string_value(json_object_get(line, "ts"));
    int year, month, day, hour, minute, end = 0;
    double second;
    ck_assert_int_eq(sscanf(ts, "%4d-%2d-%2dT%2d:%2d:%9lfZ%n", &year, &month, &day, &hour, &minute,
                            &second, &end),
                     6);
    ck_assert_uint_eq(strlen(ts), 27);
    json_decref(line);

    hs_log(HS_LOG_DEBUG, "not at this level", HS_LOG_NUMBER("x", 1));
    ck_assert_uint_eq(read_lines(), 0);
    hs_log_set_level(HS_LOG_DEBUG);
    hs_log(HS_LOG_DEBUG, "at this one", HS_LOG_NUMBER("x", 1));
    ck_assert_uint_eq(read_lines(), 1);
}
END_TEST

/* A line that would be too long loses its last fields, and is still one object. */
START_TEST(lines_are_bounded)
{
    char *huge = malloc(100001);
    ck_assert_ptr_nonnull(huge);
    memset(huge, '\x01', 100000);
    huge[100000] = '\0';
    hs_log(HS_LOG_INFO, "long", HS_LOG_TEXT("first", "kept"), HS_LOG_TEXT("detail", huge),
           HS_LOG_TEXT("last", "x"));
    json_t *line = read_line();
    ck_assert_uint_le(strlen(text), 4096);
    ck_assert_str_eq(json_string_value(json_object_get(line, "first")), "kept");
    ck_assert_ptr_null(json_object_get(line, "detail"));
    ck_assert(json_is_true(json_object_get(line, "cut")));
    json_decref(line);
    free(huge);
}
END_TEST

static void wait_for_next_second(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    nanosleep(&(struct timespec){.tv_nsec = 999999999 - now.tv_nsec}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* The number of lines of each kind per second is limited. One line says how many are missing. */
START_TEST(kinds_are_limited)
{
    struct hs_log_limit limit = {.per_second = 5, .kind = "tests"};
    struct hs_log_limit other = {.per_second = 1, .kind = "others"}, none = {.kind = "all"};
    uint64_t before = hs_log_dropped();
    wait_for_next_second();
    int allowed = 0;
    for (int i = 0; i < 100; i++)
        allowed += hs_log_allowed(&limit);
    ck_assert_int_eq(allowed, 5);
    ck_assert(hs_log_allowed(&other)); /* a flood of one kind does not affect another kind */
    for (int i = 0; i < 1000; i++)
        ck_assert(hs_log_allowed(&none));
    ck_assert_uint_eq(hs_log_dropped() - before, 95);
    hs_log_report(&limit, false); /* reports nothing yet, because the second is not over */
    ck_assert_uint_eq(read_lines(), 0);
    wait_for_next_second();
    hs_log_report(&limit, false);
    hs_log_report(&limit, false);
    hs_log_report(&other, true);
    json_t *line = read_line();
    ck_assert_str_eq(json_string_value(json_object_get(line, "msg")), "log lines left out");
    ck_assert_str_eq(json_string_value(json_object_get(line, "kind")), "tests");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "lines")), 95);
    json_decref(line);
    ck_assert(hs_log_allowed(&limit));
}
END_TEST

enum { THREADS = 4, ROUNDS = 5000 };

static void *hammer(void *context)
{
    intptr_t allowed = 0;
    for (int i = 0; i < ROUNDS; i++)
        allowed += hs_log_allowed(context);
    return (void *)allowed;
}

START_TEST(limits_hold_between_threads)
{
    struct hs_log_limit limit = {.per_second = 1000, .kind = "tests"};
    uint64_t before = hs_log_dropped();
    pthread_t threads[THREADS];
    intptr_t allowed = 0;
    wait_for_next_second();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, &limit), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        allowed += (intptr_t)result;
    }
    ck_assert_int_ge(allowed, 1000);
    ck_assert_uint_eq(hs_log_dropped() - before + (uint64_t)allowed, THREADS * ROUNDS);
}
END_TEST

/* If nobody reads the log, the program does not wait. Lost lines are counted, and their number is
   logged when somebody reads again. */
START_TEST(a_full_pipe_is_not_waited_for)
{
    uint64_t before = hs_log_dropped();
    enum { LINES = 5000 };
    for (int i = 0; i < LINES; i++)
        hs_log(HS_LOG_INFO, "a line of some length, so that the pipe is full soon",
               HS_LOG_NUMBER("number", i));
    uint64_t lost = hs_log_dropped() - before;
    ck_assert_uint_gt(lost, 0);
    ck_assert_uint_eq(read_lines() + lost, LINES);
    hs_log(HS_LOG_INFO, "after", HS_LOG_NUMBER("number", LINES));
    ck_assert_uint_eq(read_lines(), 2);
    json_t *line = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(line, "kind")), "not read");
    ck_assert_uint_eq((uint64_t)json_integer_value(json_object_get(line, "lines")), lost);
    json_decref(line);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tests = tcase_create("lines");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, texts_cannot_break_out, 0, 9);
    tcase_add_test(tests, any_bytes_give_a_valid_line);
    tcase_add_test(tests, a_line_has_its_fields_and_time);
    tcase_add_test(tests, lines_are_bounded);
    tcase_add_test(tests, kinds_are_limited);
    tcase_add_test(tests, limits_hold_between_threads);
    tcase_add_test(tests, a_full_pipe_is_not_waited_for);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
