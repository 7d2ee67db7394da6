/* CSV tables, and pairs of tables that are read as recordings. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/play/import/csv.h"
#include "cli/play/import/match.h"
#include "tests/support/files.h"
#include "tests/support/run_suite.h"

#define QW_POSES "t_ms,slot,x,y,z,yaw,pitch,alive\n"
#define QW_SHOTS "t_ms,shooter,ox,oy,oz,dx,dy,dz,max_dist,ping_ms,weapon,victim,server_hit,damage\n"

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/hs-csv-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *file_named(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    unlink(file_named("m.poses.csv"));
    unlink(file_named("m.shots.csv"));
    rmdir(folder);
}

START_TEST(table_reads_cells_by_column)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    double value = 0.0;
    hs_test_write_file(file_named("m.poses.csv"), "b,a\nx,1.5\ny,two\nz\n");
    struct hs_csv *csv = hs_csv_open(file_named("m.poses.csv"), error);
    ck_assert_msg(csv != NULL, "%s", error);
    ck_assert_int_eq(hs_csv_column(csv, "a"), 1);
    ck_assert_int_eq(hs_csv_column(csv, "c"), -1);
    ck_assert_int_eq(hs_csv_next(csv, error), HS_RECORDING_ENTRY);
    ck_assert_str_eq(hs_csv_text(csv, 0), "x");
    ck_assert(hs_csv_number(csv, 1, &value));
    ck_assert_double_eq(value, 1.5);
    ck_assert(!hs_csv_fault(csv, error));
    ck_assert_int_eq(hs_csv_next(csv, error), HS_RECORDING_ENTRY);
    ck_assert(!hs_csv_number(csv, 1, &value));
    ck_assert_double_eq(value, 1.5);
    ck_assert(hs_csv_fault(csv, error));
    ck_assert_ptr_nonnull(strstr(error, "line 3: a must be a number, not \"two\""));
    ck_assert_int_eq(hs_csv_next(csv, error), HS_RECORDING_BAD);
    ck_assert_ptr_nonnull(strstr(error, "line 4: the row does not have"));
    hs_csv_close(csv);
}
END_TEST

static struct hs_recording *open_pair(const char *poses, const char *shots, double grow,
                                      char error[HS_PLAY_ERROR_MAX])
{
    hs_test_write_file(file_named("m.poses.csv"), poses);
    hs_test_write_file(file_named("m.shots.csv"), shots);
    return hs_csv_match_open(file_named("m.shots.csv"), grow, error);
}

static double number_at(const json_t *object, const char *key, size_t index)
{
    return json_number_value(json_array_get(json_object_get(object, key), index));
}

static json_t *player_of(const struct hs_recording_entry *entry, size_t frame, size_t player)
{
    json_t *frames = json_object_get(entry->body, "frames");
    return json_array_get(json_object_get(json_array_get(frames, frame), "players"), player);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

START_TEST(quakeworld_rows_become_ticks)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    struct hs_recording *recording = open_pair(QW_POSES "0,0,1,2,3,0,0,1\n0,1,100,0,0,0,0,0\n"
                                                        "13,0,2,2,3,0,0,1\n13,1,900,0,0,0,0,1\n"
                                                        "26,0,500,2,3,0,0,1\n26,1,901,0,0,0,0,1\n",
                                               QW_SHOTS "13,0,2,2,19,0.6,0.8,0,100,60,lg,1,1,30\n"
                                                        "13,1,9,9,9,0,0,1,50,25,lg,0,0,0\n",
                                               0.0, error);
    ck_assert_msg(recording != NULL, "%s", error);
    ck_assert_str_eq(recording->header.match.text, "m");
    json_t *rules = recording->header.ruleset_document;
    json_t *rig = json_object_get(json_object_get(rules, "rigs"), "hull");
    json_t *box = json_array_get(json_object_get(rig, "hitboxes"), 0);
    ck_assert_double_eq(number_at(box, "half_extents", 0), 16.0);
    ck_assert_double_eq(number_at(box, "half_extents", 2), 28.0);
    ck_assert_double_eq(number_at(box, "center", 2), 4.0);
    json_t *lg = json_object_get(json_object_get(rules, "weapons"), "lg");
    ck_assert_double_eq(json_number_value(json_object_get(lg, "damage")), 30.0);
    double range = json_number_value(json_object_get(lg, "range"));
    ck_assert(range > 100.0 && range <= 101.0);

    struct hs_recording_entry entry;
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_ENTRY);
    ck_assert_int_eq(entry.route, HS_ROUTE_TICKS_POST);
    ck_assert_uint_eq(json_array_size(json_object_get(entry.body, "frames")), 2);
    ck_assert_str_eq(text_of(player_of(&entry, 0, 0), "player"), "p0");
    ck_assert_str_eq(text_of(player_of(&entry, 0, 0), "event"), "");
    ck_assert(json_is_false(json_object_get(player_of(&entry, 0, 1), "alive")));
    ck_assert_str_eq(text_of(player_of(&entry, 1, 1), "event"), "spawn");
    ck_assert(json_is_true(json_object_get(player_of(&entry, 1, 1), "alive")));
    json_t *claims = hs_recording_claims(&entry);
    ck_assert_uint_eq(json_array_size(claims), 2);
    json_t *claim = json_array_get(claims, 0);
    ck_assert_double_eq_tol(json_number_value(json_object_get(claim, "hit_time")), -0.027, 1e-12);
    ck_assert_double_eq_tol(json_number_value(json_object_get(claim, "fire_time")), 0.013, 1e-12);
    ck_assert_double_eq_tol(number_at(claim, "end", 0), 62.0, 1e-9);
    ck_assert_double_eq_tol(number_at(claim, "end", 1), 82.0, 1e-9);
    ck_assert_str_eq(text_of(claim, "target"), "p1");
    ck_assert_str_eq(json_string_value(json_array_get(entry.truth, 0)), "hit");
    ck_assert_str_eq(json_string_value(json_array_get(entry.truth, 1)), "miss");
    claim = json_array_get(claims, 1);
    ck_assert_double_eq_tol(json_number_value(json_object_get(claim, "hit_time")), 0.0, 1e-12);
    hs_recording_entry_clear(&entry);

    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_ENTRY);
    ck_assert_int_eq(entry.route, HS_ROUTE_FRAMES_POST);
    ck_assert_str_eq(text_of(player_of(&entry, 0, 0), "event"), "teleport");
    ck_assert_str_eq(text_of(player_of(&entry, 0, 1), "event"), "");
    hs_recording_entry_clear(&entry);
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_END);
    hs_recording_close(recording);
}
END_TEST

START_TEST(csgo_is_known_by_its_duck)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    struct hs_recording *recording = open_pair(
        "tick,t_ms,slot,x,y,z,duck,alive,team\n1,1000,3,0,0,0,0.2,1,2\n1,1000,4,9,0,0,1,1,3\n",
        "t_ms,shooter,ox,oy,oz,bullet_dx,bullet_dy,bullet_dz,ping_ms,weapon,victim,server_hit,"
        "damage\n1000,3,0,0,64,1,0,0,5,ak47,4,1,27\n",
        1.0, error);
    ck_assert_msg(recording != NULL, "%s", error);
    json_t *rules = recording->header.ruleset_document;
    ck_assert_str_eq(text_of(rules, "name"), "play-csgo");
    json_t *box = json_array_get(
        json_object_get(json_object_get(json_object_get(rules, "rigs"), "hull"), "hitboxes"), 0);
    ck_assert_double_eq(number_at(box, "half_extents", 0), 17.0);
    ck_assert_double_eq(number_at(box, "half_extents", 2), 37.0);
    struct hs_recording_entry entry;
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_ENTRY);
    ck_assert_str_eq(text_of(player_of(&entry, 0, 0), "stance"), "stand");
    ck_assert_str_eq(text_of(player_of(&entry, 0, 1), "stance"), "duck");
    ck_assert_str_eq(text_of(player_of(&entry, 0, 1), "team"), "team3");
    json_t *claim = json_array_get(hs_recording_claims(&entry), 0);
    ck_assert_double_eq_tol(json_number_value(json_object_get(claim, "hit_time")), 0.9921875,
                            1e-12);
    ck_assert_double_eq_tol(number_at(claim, "end", 0), 8192.0, 1e-9);
    hs_recording_entry_clear(&entry);
    hs_recording_close(recording);
}
END_TEST

START_TEST(many_frames_go_in_several_requests)
{
    char error[HS_PLAY_ERROR_MAX] = "", poses[8192] = QW_POSES;
    for (int i = 0; i < 40; i++)
        sprintf(poses + strlen(poses), "%d,0,%d,0,0,0,0,1\n", 13 * i, i);
    struct hs_recording *recording = open_pair(poses, QW_SHOTS, 0.0, error);
    ck_assert_msg(recording != NULL, "%s", error);
    struct hs_recording_entry entry;
    size_t frames = 0, requests = 0;
    while (hs_recording_next(recording, &entry, error) == HS_RECORDING_ENTRY) {
        frames += json_array_size(json_object_get(entry.body, "frames"));
        requests++;
        hs_recording_entry_clear(&entry);
    }
    hs_recording_close(recording);
    ck_assert_uint_eq(frames, 40);
    ck_assert_uint_eq(requests, 3);
}
END_TEST

static const struct {
    const char *poses, *shots;
    double grow;
    const char *mentions;
} faults[] = {
    {"t_ms,slot,x,y,alive\n", QW_SHOTS, 0.0, "no column z"},
    {QW_POSES, "t_ms,shooter\n", 0.0, "no column ping_ms"},
    {QW_POSES "0,0,a,0,0,0,0,1\n", QW_SHOTS, 0.0, "line 2: x must be a number"},
    {QW_POSES "0,0.5,0,0,0,0,0,1\n", QW_SHOTS, 0.0, "line 2: a slot must be a whole number"},
    {QW_POSES "5,0,0,0,0,0,0,1\n4,0,0,0,0,0,0,1\n", QW_SHOTS, 0.0, "line 3: t_ms decreases"},
    {QW_POSES, QW_SHOTS "0,0,0,0,0,1,0,0,9,1,l g,1,0,0\n", 0.0, "is not a valid weapon name"},
    {QW_POSES, QW_SHOTS "0,0,0,0,0,1,0,inf,9,1,lg,1,0,0\n", 0.0, "line 2: dz must be a number"},
    {QW_POSES, QW_SHOTS, -16.0, "leaves no body"},
};

START_TEST(faults_are_found)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    struct hs_recording_entry entry;
    enum hs_recording_result result = HS_RECORDING_BAD;
    struct hs_recording *recording =
        open_pair(faults[_i].poses, faults[_i].shots, faults[_i].grow, error);
    while (recording != NULL &&
           (result = hs_recording_next(recording, &entry, error)) == HS_RECORDING_ENTRY)
        hs_recording_entry_clear(&entry);
    hs_recording_close(recording);
    ck_assert_int_eq(result, HS_RECORDING_BAD);
    ck_assert_msg(strstr(error, faults[_i].mentions) != NULL, "\"%s\" does not mention \"%s\"",
                  error, faults[_i].mentions);
}
END_TEST

START_TEST(pair_must_be_whole)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    ck_assert(hs_csv_match_is_name("a/b.poses.csv"));
    ck_assert(hs_csv_match_is_name("b.shots.csv.gz"));
    ck_assert(!hs_csv_match_is_name("b.shots.csv.xz"));
    ck_assert(!hs_csv_match_is_name("b.jsonl"));
    hs_test_write_file(file_named("m.poses.csv"), QW_POSES);
    ck_assert_ptr_null(hs_csv_match_open(file_named("m.poses.csv"), 0.0, error));
    ck_assert_ptr_nonnull(strstr(error, "cannot read the required file"));
    ck_assert_ptr_nonnull(strstr(error, "m.shots.csv[.gz]"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *tests = tcase_create("csv");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, table_reads_cells_by_column);
    tcase_add_test(tests, quakeworld_rows_become_ticks);
    tcase_add_test(tests, csgo_is_known_by_its_duck);
    tcase_add_test(tests, many_frames_go_in_several_requests);
    tcase_add_loop_test(tests, faults_are_found, 0, sizeof(faults) / sizeof(faults[0]));
    tcase_add_test(tests, pair_must_be_whole);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
