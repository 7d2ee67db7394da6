#include "cli/play/tally.h"

#include <stdlib.h>
#include <string.h>

struct hs_tally *hs_tally_create(void)
{
    return calloc(1, sizeof(struct hs_tally));
}

void hs_tally_destroy(struct hs_tally *tally)
{
    if (tally == NULL)
        return;
    free(tally->seconds);
    free(tally);
}

void hs_tally_request(struct hs_tally *tally, double seconds)
{
    if (tally->requests == tally->capacity) {
        size_t capacity = tally->capacity * 2 + 1024;
        double *more = realloc(tally->seconds, capacity * sizeof(*more));
        if (more == NULL)
            return;
        tally->seconds = more;
        tally->capacity = capacity;
    }
    tally->seconds[tally->requests++] = seconds;
}

struct hs_tally_number hs_tally_deciding(const json_t *result)
{
    struct hs_tally_number number = {0};
    const char *reason = json_string_value(json_object_get(result, "reason"));
    size_t i;
    json_t *check;
    json_array_foreach(json_object_get(result, "checks"), i, check)
    {
        const char *of_check = json_string_value(json_object_get(check, "reason"));
        json_t *measured = json_object_get(check, "measured");
        if (reason == NULL || of_check == NULL || strcmp(of_check, reason) != 0)
            continue;
        const char *name = json_string_value(json_object_get(check, "check"));
        const char *unit = json_string_value(json_object_get(check, "unit"));
        snprintf(number.check, sizeof(number.check), "%s", name != NULL ? name : "");
        snprintf(number.unit, sizeof(number.unit), "%s", unit != NULL ? unit : "");
        number.known = json_is_number(measured);
        number.measured = json_number_value(measured);
        number.limit = json_number_value(json_object_get(check, "limit"));
        break;
    }
    return number;
}

/* Returns the entry with this name. If there is no entry with this name, adds an entry. Returns
   NULL if the list is full. */
static struct hs_tally_reason *find(struct hs_tally_reason *list, size_t *count, size_t max,
                                    const char *name)
{
    size_t i = 0;
    while (i < *count && strcmp(list[i].name, name) != 0)
        i++;
    if (i == max)
        return NULL;
    if (i == *count) {
        ++*count;
        snprintf(list[i].name, sizeof(list[i].name), "%s", name);
    }
    return &list[i];
}

static void count_name(struct hs_tally_reason list[HS_TALLY_FLAGS], size_t *count,
                       const json_t *name)
{
    struct hs_tally_reason *entry =
        json_is_string(name) ? find(list, count, HS_TALLY_FLAGS, json_string_value(name)) : NULL;
    if (entry != NULL)
        entry->count++;
}

void hs_tally_frames(struct hs_tally *tally, const json_t *answer)
{
    size_t i;
    json_t *entry, *frames = json_object_get(answer, "frames");
    const json_t *posted = frames != NULL ? frames : answer;
    json_t *refused = json_object_get(posted, "refused");
    tally->poses += (size_t)json_integer_value(json_object_get(posted, "stored"));
    tally->poses_refused += json_array_size(refused);
    json_array_foreach(refused, i, entry)
    {
        count_name(tally->refusals, &tally->refusal_count, json_object_get(entry, "reason"));
    }
}

json_t *hs_tally_results(const json_t *answer)
{
    json_t *hits = json_object_get(answer, "hits");
    return json_is_array(hits) ? hits
                               : json_object_get(json_is_object(hits) ? hits : answer, "results");
}

static void count_result(struct hs_tally_kind *kind, const char *verdict, const char *reason,
                         const struct hs_tally_number *number, const json_t *result)
{
    kind->claims++;
    if (strcmp(verdict, "accepted") == 0)
        kind->accepted++;
    else if (strcmp(verdict, "rejected") == 0)
        kind->rejected++;
    else
        kind->inconclusive++;
    struct hs_tally_reason *entry =
        find(kind->reasons, &kind->reason_count, HS_TALLY_REASONS, reason);
    if (entry != NULL) {
        snprintf(entry->verdict, sizeof(entry->verdict), "%s", verdict);
        entry->count++;
        if (!entry->example.known)
            entry->example = *number;
    }
    json_t *flag;
    size_t i;
    json_array_foreach(json_object_get(result, "flags"), i, flag)
    {
        count_name(kind->flags, &kind->flag_count, flag);
    }
}

bool hs_tally_result(struct hs_tally *tally, const char *who, enum hs_truth truth,
                     const json_t *result)
{
    const char *verdict = json_string_value(json_object_get(result, "verdict"));
    const char *reason = json_string_value(json_object_get(result, "reason"));
    if (verdict == NULL || reason == NULL)
        return false;
    struct hs_tally_number number = hs_tally_deciding(result);
    count_result(&tally->total, verdict, reason, &number, result);
    if (who != NULL) {
        size_t i = 0;
        while (i < tally->kind_count && strcmp(tally->kinds[i].who, who) != 0)
            i++;
        if (i == tally->kind_count && i < HS_TALLY_KINDS)
            snprintf(tally->kinds[tally->kind_count++].who, HS_TALLY_NAME, "%s", who);
        if (i < HS_TALLY_KINDS)
            count_result(&tally->kinds[i], verdict, reason, &number, result);
    }
    bool accepted = strcmp(verdict, "accepted") == 0;
    tally->truths[truth].claims++;
    tally->truths[truth].accepted += accepted;
    return true;
}

void hs_tally_expectation(struct hs_tally *tally, bool held)
{
    tally->expected++;
    tally->failed += !held;
}

const struct hs_tally_kind *hs_tally_kind(const struct hs_tally *tally, const char *who)
{
    for (size_t i = 0; i < tally->kind_count; i++) {
        if (strcmp(tally->kinds[i].who, who) == 0)
            return &tally->kinds[i];
    }
    return NULL;
}

static double percent_of(size_t part, size_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

bool hs_tally_accepted(const struct hs_tally *tally, enum hs_truth truth, double *percent)
{
    *percent = percent_of(tally->truths[truth].accepted, tally->truths[truth].claims);
    return tally->truths[truth].claims > 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct latency {
    double p50, p99, max; /* request times in milliseconds */
};

static struct latency measure(const struct hs_tally *tally)
{
    if (tally->requests == 0)
        return (struct latency){0};
    size_t last = tally->requests - 1;
    qsort(tally->seconds, tally->requests, sizeof(*tally->seconds), by_size);
    return (struct latency){1e3 * tally->seconds[last / 2],
                            1e3 * tally->seconds[(size_t)(0.99 * (double)last + 0.5)],
                            1e3 * tally->seconds[last]};
}

static void print_verdict(FILE *out, const struct hs_tally_kind *kind, const char *verdict,
                          size_t count)
{
    fprintf(out, "  %-22s %8zu", verdict, count);
    if (kind->claims > 0)
        fprintf(out, "  %6.2f %%", percent_of(count, kind->claims));
    fputc('\n', out);
    for (size_t i = 0; i < kind->reason_count; i++) {
        const struct hs_tally_reason *reason = &kind->reasons[i];
        if (strcmp(reason->verdict, verdict) == 0 && strcmp(reason->name, "ok") != 0)
            fprintf(out, "    %-20s %8zu\n", reason->name, reason->count);
    }
}

static void print_kinds(const struct hs_tally *tally, FILE *out)
{
    fprintf(out, "\n  %-20s %8s %9s %9s %13s\n", "who", "claims", "accepted", "rejected",
            "inconclusive");
    for (size_t i = 0; i < tally->kind_count; i++) {
        const struct hs_tally_kind *kind = &tally->kinds[i];
        fprintf(out, "  %-20s %8zu %9zu %9zu %13zu\n", kind->who, kind->claims, kind->accepted,
                kind->rejected, kind->inconclusive);
    }
}

void hs_tally_print(const struct hs_tally *tally, FILE *out)
{
    const struct hs_tally_kind *total = &tally->total;
    struct latency latency = measure(tally);
    double percent;
    fprintf(out, "  %-22s %8zu\n", "claims", total->claims);
    print_verdict(out, total, "accepted", total->accepted);
    print_verdict(out, total, "rejected", total->rejected);
    print_verdict(out, total, "inconclusive", total->inconclusive);
    for (size_t i = 0; i < total->flag_count; i++)
        fprintf(out, "  flag %-17s %8zu\n", total->flags[i].name, total->flags[i].count);
    for (int truth = HS_TRUTH_HIT; truth <= HS_TRUTH_MISS; truth++)
        if (hs_tally_accepted(tally, (enum hs_truth)truth, &percent))
            fprintf(out, "  %-22s %8zu  %6.2f %% of %zu\n",
                    truth == HS_TRUTH_HIT ? "hits confirmed" : "misses accepted",
                    tally->truths[truth].accepted, percent, tally->truths[truth].claims);
    if (tally->kind_count > 1)
        print_kinds(tally, out);
    fprintf(out, "\n  %-22s %8zu\n", "poses stored", tally->poses);
    for (size_t i = 0; i < tally->refusal_count; i++)
        fprintf(out, "  poses refused %21zu  %s\n", tally->refusals[i].count,
                tally->refusals[i].name);
    fprintf(out, "  %-22s %8zu  p50 %.2f ms, p99 %.2f ms, longest %.2f ms\n", "requests",
            tally->requests, latency.p50, latency.p99, latency.max);
    if (tally->expected > 0)
        fprintf(out, "  %-22s %8zu  %zu failed\n", "expectations", tally->expected, tally->failed);
}

static json_t *counts_json(const struct hs_tally_reason *list, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, list[i].name, json_integer((json_int_t)list[i].count));
    return object;
}

static json_t *kind_json(const struct hs_tally_kind *kind)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "claims", (json_int_t)kind->claims,
                     "accepted", (json_int_t)kind->accepted, "rejected", (json_int_t)kind->rejected,
                     "inconclusive", (json_int_t)kind->inconclusive, "reasons",
                     counts_json(kind->reasons, kind->reason_count), "flags",
                     counts_json(kind->flags, kind->flag_count));
}

json_t *hs_tally_json(const struct hs_tally *tally)
{
    struct latency latency = measure(tally);
    json_t *object = kind_json(&tally->total), *kinds = json_object();
    for (size_t i = 0; i < tally->kind_count; i++)
        json_object_set_new(kinds, tally->kinds[i].who, kind_json(&tally->kinds[i]));
    const struct hs_tally_truth *hits = &tally->truths[HS_TRUTH_HIT];
    const struct hs_tally_truth *misses = &tally->truths[HS_TRUTH_MISS];
    json_t *others = json_pack(
        "{s:o, s:{s:I, s:f, s:f, s:f}, s:{s:I, s:I}, s:{s:I, s:I, s:I, s:I}, s:{s:I, s:I}}",
        "kinds", kinds, "requests", "count", (json_int_t)tally->requests, "p50_ms", latency.p50,
        "p99_ms", latency.p99, "max_ms", latency.max, "expectations", "checked",
        (json_int_t)tally->expected, "failed", (json_int_t)tally->failed, "truth", "hits",
        (json_int_t)hits->claims, "hits_confirmed", (json_int_t)hits->accepted, "misses",
        (json_int_t)misses->claims, "misses_accepted", (json_int_t)misses->accepted, "poses",
        "stored", (json_int_t)tally->poses, "refused", (json_int_t)tally->poses_refused);
    json_object_update(object, others);
    json_decref(others);
    return object;
}
