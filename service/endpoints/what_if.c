/* POST /v1/what-if: counts how many stored verdicts would change under other rules. */
#include "api/rulesets/document.h"

#include "service/endpoints/evidence.h"
#include "service/evidence/recompute.h"
#include "service/evidence/writer.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/system/clock.h"

enum { VERDICTS = 1000, VERDICTS_MAX = 5000, IDS_MAX = 50 };

/* How long one request may compute. If the request does not reach all verdicts in this time, the
   answer contains a cursor. */
enum { LONGEST_US = 5000000 };

/* A verdict and its reason, under the old or the new rules. */
struct side {
    enum hs_verdict verdict;
    int reason; /* -1: the reason is unknown in this program version */
};

struct what_if {
    const struct hs_service *service;
    struct hs_recompute *recompute;
    const struct hs_ruleset *rules;
    atomic_llong *alive_us;
    int64_t until_us;   /* when the request must stop (hs_clock_us) */
    int64_t reached_us; /* wall-clock time of the last verdict that was computed */
    bool is_late;       /* the request stopped early, because time ran out or the service drains */
    bool has_no_memory;
    size_t computed, changed, incomparable;
    uint64_t before[HS_REASON_COUNT], after[HS_REASON_COUNT];
    size_t listed;
    struct hs_writer *changes; /* the changed verdicts, at most IDS_MAX */
};

/* ---- one verdict ---- */

static struct side recorded_side(const struct hs_evidence_row *row)
{
    int verdict = hs_vocabulary_find(&hs_verdict_words, row->verdict);
    return (struct side){verdict >= 0 ? (enum hs_verdict)verdict : HS_VERDICT_INCONCLUSIVE,
                         hs_vocabulary_find(&hs_reason_words, row->reason)};
}

static bool is_same(struct side a, struct side b)
{
    return a.verdict == b.verdict && a.reason == b.reason;
}

static void write_side(struct hs_writer *writer, const char *key, struct side side)
{
    hs_write_begin_field(writer, key, '{');
    hs_write_text_field(writer, "verdict", hs_verdict_name(side.verdict));
    hs_write_text_field(writer, "reason", hs_reason_name((enum hs_reason)side.reason));
    hs_write_end(writer, '}');
}

static void list_change(struct what_if *w, struct hs_str id, struct side before, struct side after)
{
    if (w->listed == IDS_MAX)
        return;
    w->listed++;
    hs_write_begin(w->changes, '{');
    hs_write_str_field(w->changes, "verdict_id", id);
    write_side(w->changes, "before", before);
    write_side(w->changes, "after", after);
    hs_write_end(w->changes, '}');
}

/* Computes a verdict again with `rules`, or with the verdict's own rules if `rules` is NULL.
   Returns false if the verdict cannot be computed. */
static bool compute(struct what_if *w, const struct hs_evidence_parts *parts,
                    const struct hs_ruleset *rules, struct side *out)
{
    struct hs_recomputed recomputed;
    enum hs_recompute_status status = hs_recompute_run(w->recompute, parts, rules, &recomputed);
    if (status == HS_RECOMPUTE_DONE)
        *out = (struct side){recomputed.result.verdict, (int)recomputed.result.reason};
    w->has_no_memory = w->has_no_memory || status == HS_RECOMPUTE_NO_MEMORY;
    w->is_late = w->is_late || status == HS_RECOMPUTE_STOPPED;
    hs_recomputed_free(&recomputed);
    return status == HS_RECOMPUTE_DONE;
}

/* Counts a verdict. A change counts only if a computation with the verdict's own rules gives the
   stored verdict. This computation may give another verdict, for example because the service had
   too little memory or disk space for the claim. */
static void visit_parts(struct what_if *w, const struct hs_evidence_stored *stored,
                        const struct hs_evidence_parts *parts)
{
    struct side before = recorded_side(&stored->row), own, after;
    if (before.reason < 0 || !compute(w, parts, w->rules, &after) ||
        (!is_same(before, after) && (!compute(w, parts, NULL, &own) || !is_same(before, own)))) {
        w->incomparable += !w->is_late;
        return;
    }
    w->computed++;
    w->before[before.reason]++;
    w->after[after.reason]++;
    if (is_same(before, after))
        return;
    w->changed++;
    list_change(w, stored->row.id, before, after);
}

/* If the service still has the verdict's map, the computation uses this map instead of building the
   map again. */
static void lend_map(struct what_if *w, const struct hs_evidence_row *row)
{
    struct hs_map_store *maps = w->service->maps;
    struct hs_map_entry *map = row->map.ptr != NULL ? hs_map_store_get(maps, row->map) : NULL;
    if (map != NULL && hs_str_equal(hs_str_of(map->revision), row->map_revision))
        hs_recompute_lend_map(w->recompute, map);
    hs_map_store_release(maps, map);
}

/* Returns whether the next verdict is the first. The first verdict is computed even if building its
   map takes longer than LONGEST_US, so that every request makes progress. */
static bool is_first(const struct what_if *w)
{
    return w->computed + w->incomparable == 0;
}

/* Returns whether the verdict's map can be built before time runs out. */
static bool has_time(const struct what_if *w, const struct hs_evidence_parts *parts)
{
    return is_first(w) || hs_clock_us() + hs_recompute_build_us(w->recompute, parts) < w->until_us;
}

/* Returns whether a running build of a map must stop. */
static bool must_stop(void *context)
{
    const struct what_if *w = context;
    int64_t now_us = hs_clock_us();
    if (w->alive_us != NULL)
        atomic_store(w->alive_us, now_us);
    return atomic_load(&w->service->draining) || (!is_first(w) && now_us >= w->until_us);
}

static bool visit(void *context, const struct hs_evidence_stored *stored)
{
    struct what_if *w = context;
    struct hs_stored_parts parts;
    int64_t now_us = hs_clock_us();
    w->is_late = now_us >= w->until_us || atomic_load(&w->service->draining);
    if (w->is_late)
        return false;
    if (hs_str_equal(stored->row.kind, HS_STR("move")))
        return true; /* the rules for hits do not decide verdicts on moves */
    if (w->alive_us != NULL)
        atomic_store(w->alive_us, now_us);
    lend_map(w, &stored->row);
    if (!hs_stored_parts_read(stored, w->recompute, &parts))
        w->incomparable++;
    else if (has_time(w, &parts.parts))
        visit_parts(w, stored, &parts.parts);
    else
        w->is_late = true;
    hs_stored_parts_free(&parts);
    if (w->is_late)
        return false;
    w->reached_us = stored->row.at_us;
    return !w->has_no_memory;
}

/* ---- the answer ---- */

static void write_reasons(const struct what_if *w, struct hs_writer *writer)
{
    hs_write_begin_field(writer, "reasons", '[');
    for (int i = 0; i < HS_REASON_COUNT; i++) {
        if (w->before[i] == 0 && w->after[i] == 0)
            continue;
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "verdict",
                            hs_verdict_name(hs_reason_verdict((enum hs_reason)i)));
        hs_write_text_field(writer, "reason", hs_reason_name((enum hs_reason)i));
        hs_write_int_field(writer, "before", (int64_t)w->before[i]);
        hs_write_int_field(writer, "after", (int64_t)w->after[i]);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void write_answer(const struct what_if *w, int64_t next_us, struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    hs_write_begin(&writer, '{');
    hs_write_str_field(&writer, "ruleset", hs_name_str(&w->rules->name));
    hs_write_int_field(&writer, "computed", (int64_t)w->computed);
    hs_write_int_field(&writer, "unchanged", (int64_t)(w->computed - w->changed));
    hs_write_int_field(&writer, "changed", (int64_t)w->changed);
    hs_write_int_field(&writer, "incomparable", (int64_t)w->incomparable);
    write_reasons(w, &writer);
    hs_write_begin_field(&writer, "changes", '[');
    hs_write_raw(&writer, (struct hs_str){w->changes->buffer->data, w->changes->buffer->len});
    hs_write_end(&writer, ']');
    if (next_us > 0)
        hs_write_int_field(&writer, "next", next_us);
    hs_write_end(&writer, '}');
}

static void run(struct hs_service *service, const struct hs_request *request,
                const struct hs_ruleset *rules, const struct hs_evidence_query *query,
                struct hs_reply *reply)
{
    struct hs_buffer changes = {0};
    struct hs_writer writer = {.buffer = &changes};
    struct what_if w = {.service = service,
                        .recompute = hs_recompute_create(service->maps),
                        .rules = rules,
                        .alive_us = request->alive_us,
                        .until_us = hs_clock_us() + LONGEST_US,
                        .reached_us = query->until_us,
                        .changes = &writer};
    int64_t next_us = 0;
    enum hs_evidence_read result = HS_EVIDENCE_FAILED;
    w.has_no_memory = w.recompute == NULL;
    if (w.recompute != NULL) {
        hs_recompute_limit_builds(w.recompute, must_stop, &w);
        result = hs_evidence_each(hs_evidence_home(service->evidence), query, w.until_us, visit, &w,
                                  &next_us);
    }
    if (w.is_late) { /* visit() stopped the search, so the search did not fail */
        result = HS_EVIDENCE_READ;
        next_us = w.reached_us;
    }
    if (w.has_no_memory || changes.failed)
        hs_endpoint_overloaded(reply, "out of memory");
    else if (hs_endpoint_evidence_is_read(result, request, reply))
        write_answer(&w, next_us, reply);
    hs_buffer_free(&changes);
    hs_recompute_destroy(w.recompute);
}

void hs_endpoint_what_if(struct hs_service *service, const struct hs_request *request,
                         struct hs_reply *reply)
{
    struct hs_reader reader;
    struct hs_evidence_query query = {.limit = VERDICTS};
    json_t *root = hs_body_parse(service, request, reply, &reader);
    if (root == NULL)
        return;
    bool has_name = json_object_get(root, "name") != NULL;
    struct hs_ruleset *rules =
        hs_ruleset_decode(&reader, root, has_name ? (struct hs_str){0} : HS_STR("what-if"));
    if (hs_body_is_fine(&reader, reply) &&
        hs_endpoint_verdict_query(request, &hs_claim_kinds, VERDICTS_MAX, &query, reply) &&
        hs_endpoint_has_evidence(service, reply))
        run(service, request, rules, &query, reply);
    hs_ruleset_destroy(rules);
    json_decref(root);
}
