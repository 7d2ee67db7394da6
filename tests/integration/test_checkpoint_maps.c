/* Maps survive the process, each in its own file. */
#include "tests/support/http/client.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

#define MAPS(result)  "hindsight_checkpoint_maps_total{result=\"" result "\"}"
#define FILES(result) "hindsight_checkpoint_map_files_total{result=\"" result "\"}"

/* A slope and a box between `s` and `t`. No short decimal represents their coordinates. */
static const char hall[] =
    "{\"vertices\":[[240.1,-100.7,0],[260.3,-100.2,333.3],[250.9,170.1,0.1],[-0.0,1e-300,900.7]],"
    "\"triangles\":[[0,1,2],[2,3,0]],"
    "\"boxes\":[{\"min\":[270.123456789,-50,0.1],\"max\":[271.1,-0.0,300.7]}]}";
/* The normal of the slope in answers. */
#define SLOPE "\"normal\":[-0.964458,0.038561,-0.261407]"

static const char other[] = "{\"boxes\":[{\"min\":[0,900,0],\"max\":[10,910,10]}]}";
static const char wait_hit[] =
    "{\"hits\":[{\"shot\":9,\"shooter\":\"s\",\"hit_time\":15,\"start\":[0,0,160],"
    "\"end\":[500,0,160],\"target\":\"t\"}]}";

static long put(const char *path, const char *body)
{
    return hs_kept_status(&kept, "PUT", path, body);
}

/* Returns the number of map files. `path` gets the path of one of them. */
static int files_of_maps(char path[256])
{
    char directory[128];
    snprintf(directory, sizeof directory, "%s/maps", kept.data);
    DIR *files = opendir(directory);
    int count = 0;
    ck_assert_ptr_nonnull(files);
    for (struct dirent *file; (file = readdir(files)) != NULL;) {
        if (file->d_name[0] == '.')
            continue;
        snprintf(path, 256, "%s/%.100s", directory, file->d_name);
        count++;
    }
    closedir(files);
    return count;
}

/* Plays shots of `s` in many directions, with `explain`, so the answers say where each shot touches
   the map. Opens the match and ends it. */
static char *play(const char *match)
{
    enum { SHOTS = 48 };
    static char body[SHOTS * 200];
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    ck_assert_int_eq(put(path, "{\"map\":\"hall\"}"), 201);
    hs_kept_frames(&kept, match, 10);
    int len = snprintf(body, sizeof body, "{\"now\":11.05,\"hits\":[");
    for (int i = 0; i < SHOTS; i++)
        len += snprintf(body + len, sizeof body - (size_t)len,
                        "%s{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":11,\"start\":[0,0,160],"
                        "\"end\":[500,%d.37,%d.91],\"target\":\"t\"}",
                        i > 0 ? "," : "", i + 1, 7 * i - 160, 20 + 13 * i);
    snprintf(body + len, sizeof body - (size_t)len, "]}");
    snprintf(path, sizeof path, "/v1/matches/%s/hits?explain=true", match);
    char *answer = hs_kept_post(&kept, path, body);
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", path, NULL), 200);
    hs_test_mask_ids(answer);
    return answer;
}

/* After a restart the map exists under its name, and the match uses it at once. The map and the
   match give the same verdicts as before. */
START_TEST(a_map_and_its_match_go_on)
{
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"hall\"}"), 201);
    char *map = hs_kept_get(&kept, "/v1/maps/hall"), *match = hs_kept_get(&kept, "/v1/matches/m"),
         *before = play("n");
    ck_assert_ptr_nonnull(strstr(before, SLOPE));
    for (int round = 0; round < 4; round++) {
        hs_kept_end(&kept, round);
        hs_kept_start(&kept, NULL);
        ck_assert_double_eq(hs_kept_metric(&kept, MAPS("restored")), 1);
        ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_maps"), 1);
        ck_assert_double_eq(hs_kept_metric(&kept, FILES("written")), 0);
        hs_kept_same(&kept, "/v1/maps/hall", map);
        if (round == 0)
            hs_kept_same(&kept, "/v1/matches/m", match);
        hs_kept_holds(hs_kept_hit(&kept, "m", 100 + round, 15 + 100 * round),
                      "\"verdict\":\"inconclusive\"");
        hs_kept_frames(&kept, "m", 14 + 100 * round);
        hs_kept_holds(hs_kept_hit(&kept, "m", 1 + round, 15 + 100 * round),
                      "\"reason\":\"occluded_world\"");
        char *after = play("n");
        ck_assert_str_eq(after, before);
        free(after);
    }
    hs_kept_stop(&kept);
    free(map);
    free(match);
    free(before);
}
END_TEST

/* The map is written once, however many checkpoints follow, and however often the map is put
   again. */
START_TEST(a_map_is_written_once)
{
    char path[256];
    struct stat first, now;
    hs_kept_start(&kept, NULL);
    double empty = hs_kept_metric(&kept, "hindsight_map_bytes");
    ck_assert_double_eq(empty, 0);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    hs_kept_wait(&kept);
    double bytes =
        /* the mesh was written to the file and freed, so only the world of the map counts */
        hs_kept_metric(&kept, "hindsight_map_bytes");
    char shown[64];
    snprintf(shown, sizeof shown, "\"bytes\":%.0f,", bytes);
    hs_kept_holds(hs_kept_get(&kept, "/v1/maps/hall"), shown);
    ck_assert_double_eq(hs_kept_metric(&kept, FILES("written")), 1);
    ck_assert_int_eq(files_of_maps(path), 1);
    ck_assert_int_eq(stat(path, &first), 0);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 200);
    ck_assert_int_eq(put("/v1/maps/same", hall), 201);
    hs_kept_wait(&kept);
    ck_assert_int_eq(files_of_maps(path), 1);
    ck_assert_int_eq(stat(path, &now), 0);
    ck_assert(now.st_ino == first.st_ino && now.st_mtim.tv_nsec == first.st_mtim.tv_nsec);
    ck_assert_double_eq(hs_kept_metric(&kept, FILES("written")), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_map_bytes"), 2 * bytes);
    ck_assert_int_eq(put("/v1/maps/hall", other), 200); /* the file stays, because `same` uses it */
    hs_kept_stop(&kept);
    ck_assert_int_eq(files_of_maps(path), 2);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, MAPS("restored")), 2);
    ck_assert_double_eq(hs_kept_metric(&kept, FILES("written")), 0);
    hs_kept_stop(&kept);
}
END_TEST

/* A deleted map is restored for a match that uses it, but not under its name. When the match ends,
   the map's file is deleted, too. */
START_TEST(a_deleted_map_does_not_come_back)
{
    char path[256];
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    ck_assert_int_eq(put("/v1/maps/free", other), 201);
    ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"hall\"}"), 201);
    hs_kept_wait(&kept);
    ck_assert_int_eq(files_of_maps(path), 2);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/maps/hall", NULL), 204);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/maps/free", NULL), 204);
    for (int round = 0; round < 2; round++) {
        hs_kept_end(&kept, round + 1);
        hs_kept_start(&kept, NULL);
        ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/maps/hall", NULL), 404);
        ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/maps/free", NULL), 404);
        ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"hall\"}"), 200);
        ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_maps"), 0);
        hs_kept_frames(&kept, "m", 14 + 100 * round);
        hs_kept_holds(hs_kept_hit(&kept, "m", 1 + round, 15 + 100 * round),
                      "\"reason\":\"occluded_world\"");
    }
    hs_kept_wait(&kept);
    ck_assert_int_eq(files_of_maps(path), 1);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/matches/m", NULL), 200);
    hs_kept_wait(&kept);
    hs_kept_wait(&kept); /* now the previous checkpoint does not refer to the map either */
    ck_assert_int_eq(files_of_maps(path), 0);
    hs_kept_stop(&kept);
}
END_TEST

/* A map file stays as long as the previous checkpoint refers to it, because a start may need that
   checkpoint. */
START_TEST(the_previous_checkpoint_has_its_maps)
{
    char path[256];
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    hs_kept_stop(&kept);
    hs_kept_start_with(&kept, "--checkpoint-seconds",
                       "3600"); /* one checkpoint at the start, and one at the end */
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/maps/hall", NULL), 204);
    hs_kept_stop(&kept);
    ck_assert_int_eq(files_of_maps(path), 1);
    ck_assert_int_eq(truncate(hs_kept_path(&kept, "checkpoint"), 12), 0);
    hs_kept_start_with(&kept, "--checkpoint-seconds", "3600");
    ck_assert_double_eq(hs_kept_metric(&kept, MAPS("restored")), 1);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/maps/hall", NULL), 204);
    hs_kept_stop(&kept);
    ck_assert_int_eq(files_of_maps(path), 1);
    /* now neither of the two checkpoints refers to the map */
    hs_kept_start_with(&kept, "--checkpoint-seconds", "3600");
    ck_assert_int_eq(files_of_maps(path), 0);
    hs_kept_stop(&kept);
}
END_TEST

static void spoil(int way, const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    if (way == 0)
        ck_assert_int_eq(unlink(path), 0);
    if (way == 1)
        ck_assert_int_eq(truncate(path, status.st_size - 1), 0);
    if (way == 2) {
        FILE *file = fopen(path, "r+");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_eq(fseek(file, 60, SEEK_SET), 0);
        ck_assert_int_eq(fputc(0x55, file), 0x55);
        fclose(file);
    }
}

/* A match is never verified without its walls. The match waits for the map with which it was
   opened. */
START_TEST(a_map_without_its_file_is_waited_for)
{
    char path[256];
    for (int way = 0; way < 3; way++) {
        hs_kept_start(&kept, NULL);
        ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
        ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"hall\"}"), 201);
        for (int round = 0; round < 2; round++) { /* the match waits even after another restart */
            hs_kept_end(&kept, round);
            if (round == 0) {
                ck_assert_int_eq(files_of_maps(path), 1);
                spoil(way, path);
            }
            hs_kept_start(&kept, NULL);
            ck_assert_double_eq(hs_kept_metric(&kept, way == 0 ? MAPS("missing") : MAPS("damaged")),
                                1);
            ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/maps/hall", NULL), 404);
            ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"hall\"}"), 200);
            ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"yard\"}"), 422);
            ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/matches/m/hits", wait_hit), 503);
            ck_assert_double_eq(
                hs_kept_metric(&kept, "hindsight_requests_shed_total{reason=\"awaiting_map\"}"), 1);
        }
        ck_assert_int_eq(put("/v1/maps/hall", other), 201);
        ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/matches/m/hits", wait_hit), 503);
        ck_assert_int_eq(put("/v1/maps/hall", hall), 200);
        hs_kept_frames(&kept, "m", 14);
        hs_kept_holds(hs_kept_hit(&kept, "m", 1, 15), "\"reason\":\"occluded_world\"");
        hs_kept_end(&kept, 1);
        hs_kept_start(&kept, NULL); /* so the file of the map was written again */
        ck_assert_double_eq(hs_kept_metric(&kept, MAPS("restored")), 1);
        ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/matches/m/hits", wait_hit), 200);
        ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/matches/m", NULL), 200);
        ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/maps/hall", NULL), 204);
        hs_kept_stop(&kept);
    }
}
END_TEST

/* If a map cannot be written, the matches are still saved. The service tries to write the map
   again. */
START_TEST(a_map_that_cannot_be_written_is_tried_again)
{
    char path[256];
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    hs_kept_stop(&kept);
    ck_assert_int_eq(files_of_maps(path), 1);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0); /* a directory has the name of the file */
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, MAPS("damaged")), 1);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"hall\"}"), 201);
    hs_kept_wait(&kept);
    ck_assert_double_gt(hs_kept_metric(&kept, FILES("failed")), 0);
    ck_assert_double_eq(hs_kept_metric(&kept, FILES("written")), 0);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoints_total{result=\"failed\"}"), 0);
    ck_assert_int_eq(rmdir(path), 0);
    hs_kept_wait(&kept);
    ck_assert_double_eq(hs_kept_metric(&kept, FILES("written")), 1);
    hs_kept_kill(&kept);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, MAPS("restored")), 1);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/matches/m/hits", wait_hit), 200);
    hs_kept_stop(&kept);
}
END_TEST

/* The limits of the new process also count for restored maps. Maps that matches need are restored
   first. */
START_TEST(bounds_hold_for_maps)
{
    static char large[1 << 16] = "{\"boxes\":[";
    size_t len = strlen(large);
    for (int i = 0; i < 1500; i++)
        len += (size_t)snprintf(large + len, sizeof large - len,
                                "%s{\"min\":[%d,0,0],\"max\":[%d,1,1]}", i > 0 ? "," : "", i, i);
    snprintf(large + len, sizeof large - len, "]}");
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(put("/v1/maps/large", large), 201);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    ck_assert_int_eq(put("/v1/matches/m", "{\"map\":\"hall\"}"), 201);
    hs_kept_wait(&kept);
    ck_assert_double_gt(hs_kept_metric(&kept, "hindsight_map_bytes"), 65536);
    hs_kept_stop(&kept);
    hs_kept_start_with(&kept, "--map-bytes", "65536");
    ck_assert_double_eq(hs_kept_metric(&kept, MAPS("no_room")), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, MAPS("restored")), 1);
    ck_assert_double_le(hs_kept_metric(&kept, "hindsight_map_bytes"), 65536);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/maps/large", NULL), 404);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/maps/hall", NULL), 200);
    ck_assert_int_eq(put("/v1/maps/large", large), 413);
    ck_assert_int_eq(put("/v1/maps/yard", other), 201);
    hs_kept_stop(&kept);
    hs_kept_start_with(&kept, "--max-maps", "1");
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_maps"), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, MAPS("no_room")), 1);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/matches/m/hits", wait_hit), 200);
    hs_kept_stop(&kept);
}
END_TEST

/* A recording contains the map of a match that was restored, so recheck can verify the match
   again. */
START_TEST(restored_maps_are_recorded)
{
    char file[128];
    struct hs_test_run run;
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(put("/v1/maps/hall", hall), 201);
    hs_kept_stop(&kept);
    snprintf(file, sizeof file, "%s/day.stream", kept.directory);
    hs_kept_start_with(&kept, "--record", file);
    char *answer = play("n");
    ck_assert_ptr_nonnull(strstr(answer, SLOPE));
    free(answer);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_record_dropped_total"), 0);
    hs_kept_stop(&kept);
    HS_TEST_RUN(&run, "recheck", file);
    ck_assert_msg(run.code == 0, "%s%s", run.out, run.err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint_maps");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_map_and_its_match_go_on);
    tcase_add_test(tests, a_map_is_written_once);
    tcase_add_test(tests, a_deleted_map_does_not_come_back);
    tcase_add_test(tests, the_previous_checkpoint_has_its_maps);
    tcase_add_test(tests, a_map_without_its_file_is_waited_for);
    tcase_add_test(tests, a_map_that_cannot_be_written_is_tried_again);
    tcase_add_test(tests, bounds_hold_for_maps);
    tcase_add_test(tests, restored_maps_are_recorded);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
