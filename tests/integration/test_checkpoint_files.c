/* The checkpoint directory, and damaged or replaced files in it. */
#include "service/checkpoint/file.h"
#include "tests/support/clock.h"
#include "tests/support/http/client.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hs_test_kept kept;

static void setup(void)
{
    hs_kept_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

/* ---- damage ---- */

static void change(const char *name, long at, int with)
{
    int file = open(hs_kept_path(&kept, name), O_RDWR);
    ck_assert_int_ge(file, 0);
    off_t size = lseek(file, 0, SEEK_END);
    unsigned char byte;
    off_t place = at >= 0 ? at : size + at;
    if (with < 0) {
        ck_assert_int_eq(ftruncate(file, place), 0);
    } else {
        ck_assert_int_eq(pread(file, &byte, 1, place), 1);
        byte = (unsigned char)(byte ^ with);
        ck_assert_int_eq(pwrite(file, &byte, 1, place), 1);
    }
    close(file);
}

/* Overwrites the byte at `at` with `with`. If `at` is negative, it counts from the end. If `with`
   is negative, cuts the file at `at`. `both`: damages the previous checkpoint, too. */
static const struct damage {
    long at;
    int with;
    bool both;
    int restored;
} damages[] = {
    {0, -1, false, 2},  {4, -1, false, 2},   {8, -1, false, 2},    {20, -1, false, 2},
    {-1, -1, false, 2}, {-30, -1, false, 2}, {-500, -1, false, 2}, {0, 1, false, 2},
    {7, 3, false, 2},   {12, 1, false, 2},   {16, 64, false, 2},   {23, 64, false, 2},
    {100, 1, false, 2}, {-1, 1, false, 2},   {-40, 1, false, 2},   {-3000, 255, false, 2},
    {0, -1, true, 0},   {7, 3, true, 0},     {0, 1, true, 0},
};

static void check_damage(const struct damage *damage)
{
    change("checkpoint", damage->at, damage->with);
    if (damage->both)
        change("checkpoint.previous", damage->at, damage->with);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), damage->restored);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoint_files_refused_total"),
                        damage->both ? 2 : 1);
    ck_assert_int_eq(access(hs_kept_path(&kept, "checkpoint.damaged"), F_OK), 0);
    if (damage->restored > 0)
        hs_kept_holds(hs_kept_hit(&kept, "m", 1, 11), "\"replayed\":true");
    hs_kept_stop(&kept);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoint_files_refused_total"), 0);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), damage->restored);
    hs_kept_stop(&kept);
}

START_TEST(damaged_files)
{
    int code;
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "m", 10);
    hs_kept_frames(&kept, "n", 10);
    free(hs_kept_hit(&kept, "m", 1, 11));
    hs_kept_wait(&kept);
    hs_kept_wait(&kept); /* now the previous checkpoint has the same state */
    hs_kept_kill(&kept);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        hs_test_shell(&code, "%s '%s' '%s/good' && rm -rf '%s' && cp -r '%s/good' '%s'",
                      i == 0 ? "cp -r" : ":", kept.data, kept.directory, kept.data, kept.directory,
                      kept.data);
        ck_assert_int_eq(code, 0);
        printf("damage %zu\n", i);
        check_damage(&damages[i]);
    }
}
END_TEST

/* A process that is killed while it writes leaves a partial file. No service reads it. */
START_TEST(pieces_are_not_read)
{
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "m", 10);
    hs_kept_stop(&kept);
    FILE *file = fopen(hs_kept_path(&kept, "checkpoint.new"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("HSCHKPT", file);
    fclose(file);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoint_files_refused_total"), 0);
    hs_kept_stop(&kept);
    ck_assert_int_ne(access(hs_kept_path(&kept, "checkpoint.new"), F_OK), 0);
}
END_TEST

/* ---- other things that have the name of a file ---- */

static void put_in_the_way(const char *name, const char *with)
{
    int code;
    hs_test_shell(&code, "rm -rf '%s'; %s '%s'", hs_kept_path(&kept, name), with,
                  hs_kept_path(&kept, name));
    ck_assert_int_eq(code, 0);
}

/* A directory, a FIFO or a link may have the name of one of the files. The service still starts at
   once with the files that it can read. The service logs the other files, and writes its files
   again. */
START_TEST(names_that_are_no_files)
{
    static const struct {
        const char *name, *with;
        int restored, refused;
    } rows[] = {
        {"checkpoint", "mkfifo", 1, 1},          {"checkpoint", "mkdir", 1, 1},
        {"checkpoint.new", "mkfifo", 1, 0},      {"checkpoint.new", "ln -s /dev/full", 1, 0},
        {"checkpoint.previous", "mkfifo", 1, 0}, {"checkpoint.damaged", "mkfifo", 1, 0},
        {"maps/map.new", "mkfifo", 1, 0},
    };
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "m", 10);
    hs_kept_wait(&kept);
    hs_kept_wait(&kept); /* now the previous checkpoint has the same state */
    hs_kept_stop(&kept);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%s %s\n", rows[i].with, rows[i].name);
        put_in_the_way(rows[i].name, rows[i].with);
        hs_kept_start(&kept, NULL);
        ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), rows[i].restored);
        ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoint_files_refused_total"),
                            rows[i].refused);
        hs_kept_wait(&kept);
        hs_kept_stop(&kept);
    }
    /* A map is put and read back although each of its file names belongs to a FIFO. */
    hs_kept_start(&kept, NULL);
    put_in_the_way("maps/map.new", "mkfifo");
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/maps/dm1",
                                    "{\"boxes\":[{\"min\":[0,0,0],\"max\":[1,1,1]}]}"),
                     201);
    hs_kept_wait(&kept);
    hs_kept_stop(&kept);
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/maps/dm1", NULL), 200);
    hs_kept_stop(&kept);
    int code;
    hs_test_shell(&code, "cd '%s/maps' && for map in ????*; do rm $map && mkfifo $map; done",
                  kept.data);
    ck_assert_int_eq(code, 0);
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/maps/dm1", NULL), 404);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- the directory ---- */

/* Runs the program with a data directory and expects it to fail; returns its log. */
static const char *refused_with(const char *where)
{
    int code;
    const char *output = hs_test_shell(
        &code,
        "timeout 20 %s serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --data='%s' 2>&1",
        getenv("HS_PROGRAM"), where);
    ck_assert_int_eq(code, 1);
    return output;
}

START_TEST(directories_that_cannot_be_used)
{
    char file[160];
    hs_kept_start(&kept, NULL);
    const char *output = refused_with(kept.data);
    ck_assert_msg(strstr(output, "another process uses the data directory") != NULL, "%s", output);
    snprintf(file, sizeof file, "%s/checkpoint", kept.data);
    hs_kept_wait(&kept);
    hs_kept_stop(&kept);
    output = refused_with(file);
    ck_assert_msg(strstr(output, "cannot be written to: Not a directory") != NULL, "%s", output);
    strcat(file, "/below");
    output = refused_with(file);
    ck_assert_msg(strstr(output, "cannot be created: Not a directory") != NULL, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "switch checkpoints off: --data="));
    output = refused_with("/proc/self"); /* a directory where no file can be created */
    ck_assert_msg(strstr(output, "cannot be written to") != NULL, "%s", output);
    put_in_the_way("lock", "mkfifo");
    output = refused_with(kept.data);
    ck_assert_msg(strstr(output, "cannot be written to: lock: it is not a regular file") != NULL,
                  "%s", output);
    put_in_the_way("lock", "touch");
    ck_assert_int_eq(rmdir(hs_kept_path(&kept, "maps")), 0);
    FILE *in_the_way = fopen(hs_kept_path(&kept, "maps"), "w");
    ck_assert_ptr_nonnull(in_the_way);
    fclose(in_the_way);
    output = refused_with(kept.data);
    ck_assert_msg(strstr(output, "/maps cannot be used: Not a directory") != NULL, "%s", output);
}
END_TEST

/* ---- a disk that cannot be written ---- */

#define FAILED "hindsight_checkpoints_total{result=\"failed\"}"

/* Puts a directory in the place of the file until `count` more checkpoints fail. */
static void stand_in_the_way(const char *path, int count)
{
    double before = hs_kept_metric(&kept, FAILED);
    int tries = 0;
    while (mkdir(path, 0700) != 0 && tries++ < 1000) /* a checkpoint is written */
        hs_test_pause_ms(10);
    for (tries = 0; tries < 1000 && hs_kept_metric(&kept, FAILED) < before + count; tries++)
        hs_test_pause_ms(10);
    ck_assert_double_ge(hs_kept_metric(&kept, FAILED), before + count);
}

static int lines_of_failures(void)
{
    FILE *log = fdopen(dup(kept.service.err), "r");
    char line[8192];
    int count = 0;
    ck_assert_ptr_nonnull(log);
    rewind(log);
    while (fgets(line, sizeof line, log) != NULL)
        count += strstr(line, "a checkpoint cannot be written: the previous one stays") != NULL &&
                 strstr(line, "Is a directory") != NULL;
    fclose(log);
    return count;
}

/* The service goes on, logs the failure, keeps the previous files, and tries again. */
START_TEST(failed_writes_are_tried_again)
{
    char path[200];
    snprintf(path, sizeof path, "%s", hs_kept_path(&kept, "checkpoint.new"));
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "m", 10);
    free(hs_kept_hit(&kept, "m", 1, 11));
    hs_kept_wait(&kept);
    stand_in_the_way(path, 2);
    ck_assert_double_ge(hs_kept_metric(&kept, "hindsight_checkpoint_lag_seconds"), 1);
    hs_kept_frames(&kept, "late", 10);
    ck_assert_int_ge(lines_of_failures(), 2);
    hs_kept_kill(&kept);
    ck_assert_int_eq(rmdir(path), 0);

    hs_kept_start(&kept, NULL);
    /* No checkpoint with this match could be written, but the journal has the match. */
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), 2);
    hs_kept_holds(hs_kept_hit(&kept, "m", 1, 11), "\"replayed\":true");
    stand_in_the_way(path, 1);
    hs_kept_frames(&kept, "late", 10);
    ck_assert_int_eq(rmdir(path), 0);
    hs_kept_wait(&kept);
    hs_kept_kill(&kept);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), 2);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- few file descriptors ---- */

/*
 * Opens connections until one gets no answer for some time. Returns the number of connections. They
 * stay open.
 */
static int take_connections(unsigned port, const char *request, int fds[], int most)
{
    struct hs_raw_answer answer;
    for (int i = 0; i < most; i++) {
        fds[i] = hs_raw_connect(port);
        ck_assert_int_ge(fds[i], 0);
        ck_assert(hs_raw_send(fds[i], request, strlen(request)));
        struct pollfd poller = {.fd = fds[i], .events = POLLIN};
        if (poll(&poller, 1, 500) == 0)
            return i + 1; /* this connection waits until the service accepts it */
        hs_raw_read(fds[i], false, &answer);
    }
    return most;
}

static struct stat checkpoint_status(void)
{
    struct stat status = {0};
    ck_assert_int_eq(stat(hs_kept_path(&kept, "checkpoint"), &status), 0);
    return status;
}

/* Waits for a checkpoint that began after this call: the second one that ends after the call. */
static void wait_for_file(void)
{
    for (int times = 0; times < 2; times++) {
        struct stat before = checkpoint_status(), now = before;
        for (int tries = 0; tries < 3000 && now.st_mtim.tv_sec == before.st_mtim.tv_sec &&
                            now.st_mtim.tv_nsec == before.st_mtim.tv_nsec;
             tries++) {
            hs_test_pause_ms(10);
            now = checkpoint_status();
        }
        ck_assert_msg(now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
                          now.st_mtim.tv_nsec != before.st_mtim.tv_nsec,
                      "no checkpoint was written for 30 s");
    }
}

static const char *const few[] = {"prlimit --nofile=128:128", "prlimit --nofile=256:256",
                                  "prlimit --nofile=700:700"};

/* Both listeners have their max number of connections, and the service still discards bodies that
   it refused. Nevertheless there are file descriptors for checkpoints, maps and operators. */
START_TEST(connections_leave_descriptors_for_files)
{
    enum { MOST = 700 };
    static int data[MOST], admin[MOST], ended[MOST];
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    setenv("HS_WRAP", few[_i], 1);
    const char *const arguments[] = {"--threads", "4", "--idle-seconds", "60", NULL};
    hs_kept_start(&kept, arguments);
    unsetenv("HS_WRAP");
    hs_kept_frames(&kept, "m", 10);
    hs_kept_wait(&kept);
    unsigned ports[] = {kept.service.data_port, kept.service.admin_port};
    for (int i = 0; i < 2; i++)
        take_connections(ports[i],
                         "POST /v1/matches/m/frames HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 999999999\r\n\r\n",
                         ended, 60);
    static const char get[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    int data_count = take_connections(ports[0], get, data, MOST);
    int admin_count = take_connections(ports[1], get, admin, MOST);
    printf("%s: %d and %d connections\n", few[_i], data_count - 1, admin_count - 1);
    ck_assert_int_gt(data_count, 40);
    ck_assert_int_gt(admin_count, 15);
    wait_for_file();
    for (int i = 0; i < admin_count; i++)
        close(admin[i]);
    ck_assert_double_eq(hs_kept_metric(&kept, FAILED), 0);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/maps/dm1",
                                    "{\"boxes\":[{\"min\":[0,0,0],\"max\":[1,1,1]}]}"),
                     201);
    wait_for_file();
    ck_assert_double_eq(
        hs_kept_metric(&kept, "hindsight_checkpoint_map_files_total{result=\"failed\"}"), 0);
    hs_kept_kill(&kept); /* a normal end would wait for all connections */
}
END_TEST

START_TEST(too_few_descriptors_to_start)
{
    int code;
    const char *output =
        hs_test_shell(&code,
                      "timeout 20 prlimit --nofile=40:40 $HS_PROGRAM serve --threads 4 "
                      "--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --data=%s 2>&1",
                      kept.data);
    ck_assert_int_eq(code, 1);
    ck_assert_msg(strstr(output, "the limit of open files is 40, and at least ") != NULL, "%s",
                  output);
}
END_TEST

/* If the newest checkpoint of a clean end is damaged, the previous one and the journals between
   both contain every payment. */
START_TEST(the_previous_checkpoint_has_its_journals)
{
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "m", 10);
    hs_kept_wait(&kept);
    hs_kept_frames(&kept, "m", 11);
    hs_kept_holds(hs_kept_hit(&kept, "m", 1, 12), "\"verdict\":\"accepted\"");
    hs_kept_stop(&kept);
    FILE *file = fopen(hs_kept_path(&kept, HS_CHECKPOINT_NAME), "r+");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 4; i++)
        fputc(0xff, file);
    fclose(file);
    hs_kept_start(&kept, NULL);
    hs_kept_holds(hs_kept_hit(&kept, "m", 1, 12), "\"replayed\":true");
    hs_kept_stop(&kept);
}
END_TEST

/* ---- starts that fail ---- */

static void note_final(void *context, enum hs_checkpoint_type type, const void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    *(bool *)context = *(bool *)context || type == HS_CHECKPOINT_FINAL;
}

static bool is_final(void)
{
    bool final = false;
    int directory = open(kept.data, O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(hs_checkpoint_read(directory, HS_CHECKPOINT_NAME, note_final, &final),
                     HS_CHECKPOINT_READ);
    close(directory);
    return final;
}

/* After a clean end, the files say that no claim was verified since. If a start fails because its
   address is in use, the files must still say so. */
START_TEST(an_address_that_is_taken)
{
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "m", 0);
    hs_kept_wait(&kept);
    ck_assert(!is_final());
    hs_kept_stop(&kept);
    ck_assert(is_final());
    int code;
    const char *output = hs_test_shell(&code,
                                       "$HS_PROGRAM serve --data=%s --listen 192.0.2.1:1 "
                                       "--admin-listen 127.0.0.1:0 --no-auth --insecure 2>&1",
                                       kept.data);
    ck_assert_int_eq(code, 1);
    ck_assert_msg(strstr(output, "cannot listen on 192.0.2.1:1") != NULL, "%s", output);
    ck_assert(is_final());
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), 1);
    hs_kept_stop(&kept);
}
END_TEST

/* Matches that do not fit are counted separately, and the others are restored. */
START_TEST(less_space_than_before)
{
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "a", 0);
    hs_kept_frames(&kept, "b", 0);
    hs_kept_stop(&kept);
    const char *const arguments[] = {"--max-matches", "1", NULL};
    hs_kept_start(&kept, arguments);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), 1);
    ck_assert_double_eq(
        hs_kept_metric(&kept, "hindsight_checkpoint_matches_total{result=\"no_room\"}"), 1);
    hs_kept_stop(&kept);
}
END_TEST

/* If checkpoints are off, no file is written, and the metrics show that they are off. */
START_TEST(switched_off)
{
    const char *const arguments[] = {"--data=", NULL};
    ck_assert(hs_test_service_start(&kept.service, arguments));
    kept.http = hs_test_http_open(kept.service.admin_port);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_WRITTEN), 0);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoint_lag_seconds"), 0);
    ck_assert_int_ne(access("hindsight-data", F_OK), 0);
    hs_kept_stop(&kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint_files");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, damaged_files);
    tcase_add_test(tests, pieces_are_not_read);
    tcase_add_test(tests, names_that_are_no_files);
    tcase_add_test(tests, directories_that_cannot_be_used);
    tcase_add_test(tests, the_previous_checkpoint_has_its_journals);
    tcase_add_test(tests, failed_writes_are_tried_again);
    tcase_add_loop_test(tests, connections_leave_descriptors_for_files, 0, 3);
    tcase_add_test(tests, too_few_descriptors_to_start);
    tcase_add_test(tests, an_address_that_is_taken);
    tcase_add_test(tests, less_space_than_before);
    tcase_add_test(tests, switched_off);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
