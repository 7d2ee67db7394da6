/* The queue of lines for the file of a recording: its order, its limit, large parts, and faulty
   files. */
#include "service/record/queue.h"
#include "service/system/clock.h"
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/run_suite.h"
#include "tests/unit/service/recording_file.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define START "{\"format\":\"hindsight-stream\"}\n"

static struct hs_line_queue *open_queue(size_t max_bytes)
{
    char error[256] = "";
    struct hs_line_queue *queue = hs_line_queue_open(hs_recording_path, max_bytes, error);
    ck_assert_msg(queue != NULL, "%s", error);
    return queue;
}

static bool put(struct hs_line_queue *queue, const char *line)
{
    struct hs_buffer text = {0};
    hs_buffer_puts(&text, line);
    bool taken = hs_line_queue_put(queue, &text);
    ck_assert(taken == (text.data == NULL));
    hs_buffer_free(&text);
    return taken;
}

enum { WRITERS = 4, LINES = 2000 };

struct putter {
    struct hs_line_queue *queue;
    int id;
};

static void *put_lines(void *context)
{
    const struct putter *putter = context;
    for (int i = 0; i < LINES; i++) {
        struct hs_buffer line = {0};
        hs_buffer_printf(&line, "%d %d\n", putter->id, i);
        if (!hs_line_queue_put(putter->queue, &line))
            hs_buffer_free(&line);
    }
    return NULL;
}

START_TEST(each_thread_keeps_its_order)
{
    struct hs_line_queue *queue = open_queue(1 << 24);
    pthread_t threads[WRITERS];
    struct putter putters[WRITERS];
    int next[WRITERS] = {0}, id, number, lines = 0;
    for (int i = 0; i < WRITERS; i++) {
        putters[i] = (struct putter){queue, i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_lines, &putters[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    hs_line_queue_close(queue);
    FILE *file = fopen(hs_recording_path, "r");
    while (fscanf(file, "%d %d\n", &id, &number) == 2) {
        ck_assert_int_lt(id, WRITERS);
        ck_assert_int_eq(number, next[id]++);
        lines++;
    }
    fclose(file);
    ck_assert_int_eq(lines, WRITERS * LINES);
}
END_TEST

START_TEST(what_does_not_fit_is_refused_and_the_rest_is_written)
{
    enum { BOUND = 100000 };
    struct hs_stalled_pipe drained;
    hs_stalled_pipe_open(&drained);
    struct hs_line_queue *queue = open_queue(BOUND);
    struct hs_buffer expected = {0};
    char line[1024];
    size_t refused = 0;
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "%d %0900d\n", i, 0);
        ck_assert_uint_le(hs_line_queue_bytes(queue), BOUND);
        if (put(queue, line))
            hs_buffer_puts(&expected, line);
        else
            refused++;
    }
    ck_assert_uint_gt(refused, 500);
    ck_assert_uint_gt(expected.len, BOUND / 2);
    /* A small line counts as more than its bytes. */
    size_t small = 0;
    while (put(queue, "\n")) {
        hs_buffer_puts(&expected, "\n");
        small++;
    }
    ck_assert_uint_lt(small, BOUND / 32);
    hs_stalled_pipe_resume(&drained);
    hs_line_queue_close(queue);
    hs_stalled_pipe_join(&drained);
    hs_buffer_append(&expected, "", 1);
    ck_assert_str_eq(drained.text.data, expected.data);
    hs_buffer_free(&expected);
    hs_stalled_pipe_close(&drained);
}
END_TEST

static atomic_int done_calls;

static void note_done(void *holder)
{
    atomic_fetch_add(&done_calls, 1);
    free(holder);
}

/* A thread can wait for space until the disk works again, up to a time limit. */
START_TEST(a_thread_can_wait_for_space)
{
    enum { BOUND = 200000 };
    struct hs_stalled_pipe drained;
    hs_stalled_pipe_open(&drained);
    struct hs_line_queue *queue = open_queue(BOUND);
    char line[1024];
    snprintf(line, sizeof line, "%0900d\n", 0);
    do { /* until the pipe is full, too */
        while (put(queue, line))
            continue;
        hs_test_pause_ms(50);
    } while (put(queue, line));
    int64_t began_us = hs_clock_us();
    ck_assert(!hs_line_queue_wait(queue, BOUND / 2, began_us + 50000));
    ck_assert_int_ge(hs_clock_us(), began_us + 50000);
    hs_stalled_pipe_resume(&drained);
    ck_assert(hs_line_queue_wait(queue, BOUND / 2, began_us + 60000000));
    ck_assert_uint_le(hs_line_queue_bytes(queue), BOUND / 2);
    hs_line_queue_close(queue);
    hs_stalled_pipe_join(&drained);
    hs_stalled_pipe_close(&drained);
}
END_TEST

START_TEST(a_large_part_is_written_from_where_it_is)
{
    enum { SIZE = 300000 };
    struct hs_line_queue *queue = open_queue(65536);
    struct hs_buffer head = {0};
    char *body = malloc(SIZE);
    memset(body, '1', SIZE);
    body[1] = '\n';
    body[5000] = '\r';
    body[SIZE - 1] = '\n';
    atomic_store(&done_calls, 0);
    hs_buffer_puts(&head, "{\"map\":");
    ck_assert(hs_line_queue_put_around(queue, &head, (struct hs_str){body, SIZE}, note_done, body));
    ck_assert_ptr_null(head.data);
    ck_assert(put(queue, "next\n"));
    hs_line_queue_close(queue);
    ck_assert_int_eq(atomic_load(&done_calls), 1);
    char *text = hs_test_read_file(hs_recording_path, NULL);
    ck_assert_uint_eq(strlen(text), 7 + SIZE + 2 + 5);
    ck_assert(memcmp(text, "{\"map\":1 1", 10) == 0);
    ck_assert_int_eq(text[7 + 5000], ' ');
    ck_assert_str_eq(text + 7 + SIZE - 2, "1 }\nnext\n");
    free(text);
}
END_TEST

START_TEST(a_large_part_that_is_refused_is_given_back_at_once)
{
    struct hs_line_queue *queue = open_queue(16); /* a limit smaller than what any line counts */
    struct hs_buffer head = {0};
    atomic_store(&done_calls, 0);
    hs_buffer_puts(&head, "{\"map\":");
    ck_assert(!hs_line_queue_put_around(queue, &head, HS_STR("1"), note_done, malloc(1)));
    ck_assert_int_eq(atomic_load(&done_calls), 1);
    hs_buffer_free(&head);
    hs_line_queue_close(queue);
}
END_TEST

START_TEST(a_file_is_continued)
{
    hs_test_write_file(hs_recording_path, START "one\ntw");
    struct hs_line_queue *queue = open_queue(65536);
    char error[256] = "";
    ck_assert_ptr_null(hs_line_queue_open(hs_recording_path, 65536, error));
    ck_assert_ptr_nonnull(strstr(error, "another process writes to it"));
    ck_assert(put(queue, "three\n"));
    hs_line_queue_close(queue);
    queue = open_queue(65536);
    ck_assert(put(queue, "four\n"));
    hs_line_queue_close(queue);
    char *text = hs_test_read_file(hs_recording_path, NULL);
    ck_assert_str_eq(text, START "one\ntw\nthree\nfour\n");
    free(text);
}
END_TEST

/* The file could be compressed, or another file of the user. The service does not change it. */
START_TEST(another_file_is_refused)
{
    static const char *const texts[] = {"\x1f\x8b\x08", "{\"format\":\"other\"}\n", "notes\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char error[256] = "";
        hs_test_write_file(hs_recording_path, texts[i]);
        ck_assert_ptr_null(hs_line_queue_open(hs_recording_path, 65536, error));
        ck_assert_msg(strstr(error, "is no recording") != NULL, "%s", error);
        char *text = hs_test_read_file(hs_recording_path, NULL);
        ck_assert_str_eq(text, texts[i]);
        free(text);
    }
}
END_TEST

START_TEST(a_new_file_is_the_owners_alone)
{
    struct stat status;
    mode_t mask = umask(0);
    hs_line_queue_close(open_queue(65536));
    umask(mask);
    ck_assert_int_eq(stat(hs_recording_path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
}
END_TEST

START_TEST(a_full_disk_ends_the_recording)
{
    char error[256] = "";
    struct hs_line_queue *queue = hs_line_queue_open("/dev/full", 65536, error);
    ck_assert_msg(queue != NULL, "%s", error);
    int tries = 0;
    while (put(queue, "line\n") && ++tries < 5000)
        hs_test_pause_ms(1);
    ck_assert_int_lt(tries, 5000);
    ck_assert(!put(queue, "line\n"));
    hs_line_queue_close(queue);
    ck_assert_ptr_null(hs_line_queue_open("/nonexistent/file", 65536, error));
    ck_assert_ptr_nonnull(strstr(error, "/nonexistent/file"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("line queue");
    TCase *queue = tcase_create("queue");
    tcase_add_checked_fixture(queue, hs_recording_set_up, hs_recording_tear_down);
    tcase_add_test(queue, each_thread_keeps_its_order);
    tcase_add_test(queue, what_does_not_fit_is_refused_and_the_rest_is_written);
    tcase_add_test(queue, a_thread_can_wait_for_space);
    tcase_add_test(queue, a_large_part_is_written_from_where_it_is);
    tcase_add_test(queue, a_large_part_that_is_refused_is_given_back_at_once);
    tcase_add_test(queue, a_file_is_continued);
    tcase_add_test(queue, another_file_is_refused);
    tcase_add_test(queue, a_new_file_is_the_owners_alone);
    tcase_add_test(queue, a_full_disk_ends_the_recording);
    suite_add_tcase(suite, queue);
    return hs_run_suite(suite);
}
