#include "tests/support/play/gallery.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/kill_squad.h"

/* The rules. The target has space for 480 paths, each 0.0005 m further than the previous one. There
   is no min interval between shots. */
const char hs_gallery_rules[] =
    "{\"up\":\"+z\",\"default_rig\":\"ball\",\"rigs\":{\"ball\":{\"bones\":[\"root\"],"
    "\"hitboxes\":[{\"bone\":\"root\",\"zone\":\"torso\",\"shape\":\"sphere\",\"radius\":0.5,"
    "\"center\":[0,0,1.6]}],\"stances\":{\"stand\":{\"eye\":[0,0,1.6],"
    "\"bones\":[[0,0,0,0,0,0,1]]}}}},\"weapons\":{"
    "\"gun\":{\"type\":\"hitscan\",\"damage\":20,\"range\":100,\"radius\":0.05}}}";

static double y_of(int shooter)
{
    return 1.5 * (shooter - HS_GALLERY_SHOOTERS / 2.0);
}

struct hs_gallery *hs_gallery_create(const char *match, struct hs_follower *follower, uint64_t key)
{
    struct hs_gallery *gallery = calloc(1, sizeof *gallery);
    ck_assert_ptr_nonnull(gallery);
    gallery->match = match;
    gallery->follower = follower;
    for (int i = 0; i < HS_GALLERY_CLAIMS; i++) {
        struct hs_followed *claim = &gallery->claims[i];
        int shooter = i % HS_GALLERY_SHOOTERS;
        double y = y_of(shooter);
        claim->key = key << 32 | (uint64_t)i;
        claim->is_honest = true;
        claim->text = hs_kill_print(
            "{\"shot\":%d,\"shooter\":\"s%d\",\"hit_time\":10.1,\"start\":[0,%.6f,1.6],"
            "\"end\":[20,%.6f,%.6f],\"target\":\"target\"}",
            1 + i / HS_GALLERY_SHOOTERS, shooter, y, -y, 1.5 + 0.0005 * i);
    }
    return gallery;
}

void hs_gallery_destroy(struct hs_gallery *gallery)
{
    for (int i = 0; i < HS_GALLERY_CLAIMS; i++)
        free(gallery->claims[i].text);
    free(gallery);
}

char *hs_gallery_body(bool frames, const char *members)
{
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream(&body, &size);
    ck_assert_ptr_nonnull(out);
    fputs(frames ? "{\"frames\":[" : "{\"now\":10.1", out);
    for (int frame = 0; frames && frame < 3; frame++) {
        fprintf(out, "%s{\"time\":%.2f,\"players\":[{\"player\":\"target\",\"position\":[10,0,0]}",
                frame > 0 ? "," : "", 10 + 0.05 * frame);
        for (int i = 0; i < HS_GALLERY_SHOOTERS; i++)
            fprintf(out, ",{\"player\":\"s%d\",\"position\":[0,%g,0],\"weapon\":\"gun\"}", i,
                    y_of(i));
        fputs("]}", out);
    }
    fprintf(out, "%s%s}", frames ? "]" : "", members);
    fclose(out);
    ck_assert_ptr_nonnull(body);
    return body;
}

static void post(struct hs_gallery *gallery, struct hs_test_http *http, const char *route,
                 char *body, struct hs_test_response *response)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s/%s", gallery->match, route);
    hs_test_http_send(http, "POST", path, body, strlen(body), NULL, response);
    free(body);
}

long hs_gallery_post_frames(struct hs_gallery *gallery, struct hs_test_http *http)
{
    struct hs_test_response response;
    post(gallery, http, "frames", hs_gallery_body(true, ""), &response);
    long status = response.status;
    hs_test_response_free(&response);
    return status;
}

enum hs_gallery_answer hs_gallery_take(struct hs_gallery *gallery, struct hs_followed *item,
                                       const json_t *result)
{
    const char *reason = json_string_value(json_object_get(result, "reason"));
    bool was_paid = item->is_paid;
    if (reason != NULL && strcmp(reason, "not_recorded") == 0 && !was_paid) {
        const char *verdict = json_string_value(json_object_get(result, "verdict"));
        const json_t *wait = json_object_get(result, "retry_after_ms");
        gallery->not_recorded++;
        if (verdict == NULL || strcmp(verdict, "inconclusive") != 0 || !json_is_integer(wait) ||
            json_integer_value(wait) <= 0 ||
            json_number_value(json_object_get(result, "damage_total")) != 0)
            hs_follower_fault(gallery->follower, &gallery->counts.unexpected,
                              "not_recorded, but the answer has other faults: %s", item->text);
        return HS_GALLERY_NOT_RECORDED;
    }
    hs_follower_note(gallery->follower, &gallery->counts, item, result, HS_FOLLOW_NOW);
    if (item->is_paid && !was_paid)
        gallery->damage += json_number_value(json_object_get(result, "damage_total"));
    const char *verdict = json_string_value(json_object_get(result, "verdict"));
    return verdict != NULL && strcmp(verdict, "accepted") == 0 ? HS_GALLERY_PAID : HS_GALLERY_OTHER;
}

enum hs_gallery_answer hs_gallery_claim(struct hs_gallery *gallery, struct hs_test_http *http,
                                        int claim)
{
    struct hs_test_response response;
    enum hs_gallery_answer answer = HS_GALLERY_OTHER;
    char *members = hs_kill_print(",\"hits\":[%s]", gallery->claims[claim].text);
    post(gallery, http, "hits", hs_gallery_body(false, members), &response);
    free(members);
    json_t *body = hs_test_response_json(&response);
    const json_t *results = json_object_get(body, "results");
    if (response.status == 200 && json_array_size(results) == 1) {
        answer = hs_gallery_take(gallery, &gallery->claims[claim], json_array_get(results, 0));
    } else if (response.status == 0) {
        gallery->unanswered++;
        answer = HS_GALLERY_NO_ANSWER;
    } else if (response.status == 503 && json_object_get(body, "retry_after_ms") != NULL) {
        gallery->unavailable++;
        answer = HS_GALLERY_NOT_RECORDED;
    } else {
        hs_follower_fault(gallery->follower, &gallery->counts.unexpected, "%ld %.300s",
                          response.status, response.body);
    }
    json_decref(body);
    hs_test_response_free(&response);
    return answer;
}

bool hs_gallery_is_paid(const struct hs_gallery *gallery, int claim)
{
    return gallery->claims[claim].is_paid;
}

void hs_gallery_judge(const struct hs_gallery *gallery, const char *heading)
{
    printf("%s: %ld not recorded, %ld unavailable, %ld without answer; ", heading,
           gallery->not_recorded, gallery->unavailable, gallery->unanswered);
    ck_assert_int_eq(hs_follow_counts_print(&gallery->counts), 0);
}
