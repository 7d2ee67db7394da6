/* Prints the tables of a simulation, as text or as JSON. */
#include <math.h>

#include "cli/simulate/hits/simulation.h"

typedef unsigned long long whole; /* for printf */

static double share(uint64_t part, uint64_t all)
{
    return all > 0 ? 100 * (double)part / (double)all : 0;
}

/* Prints each reason for which claims were refused, with its count. */
static void print_reasons(const struct hs_count *count, FILE *out)
{
    const char *between = "";
    for (int i = 0; i < HS_REASON_COUNT; i++) {
        if (count->reasons[i] == 0 || hs_reason_verdict((enum hs_reason)i) == HS_VERDICT_ACCEPTED)
            continue;
        fprintf(out, "%s%llu %s", between, (whole)count->reasons[i],
                hs_reason_name((enum hs_reason)i));
        between = ", ";
    }
    fputc('\n', out);
}

static void print_honest_row(const char *link, const char *arm, const struct hs_count *count,
                             FILE *out)
{
    uint64_t all = hs_count_all(count), good = hs_count_verdict(count, HS_VERDICT_ACCEPTED);
    if (all + count->in_vain == 0)
        return;
    fprintf(out, "  %-7s %-8s %9llu %9llu %7llu %8.3f %8.3f %7llu  ", link, arm, (whole)all,
            (whole)good, (whole)(all - good), share(good, all), 100 * hs_wilson_low(good, all),
            (whole)count->in_vain);
    print_reasons(count, out);
}

static void print_honest(const struct hs_score *score, FILE *out)
{
    fputs("honest    weapon      claims  accepted refused  share %  95 % >= in vain  why\n", out);
    for (int link = 0; link < HS_LINKS; link++) {
        for (int arm = 0; arm < HS_ARMS; arm++)
            print_honest_row(hs_link_names[link], hs_arm_names[arm], &score->honest[link][arm],
                             out);
        print_honest_row(hs_link_names[link], "(shots)", &score->shots[link], out);
    }
    struct hs_count all = hs_score_honest(score);
    print_honest_row("all", "", &all, out);
    fprintf(out, "  would be refused by checks in shadow: %llu of them\n", (whole)all.would_reject);
}

static void print_forged(const struct hs_score *score, FILE *out)
{
    fputs("\nforged              claims  rejected accepted unknown  share %  95 % >=  why\n", out);
    for (int kind = 0; kind < HS_FORGERIES; kind++) {
        const struct hs_count *count = &score->forged[kind];
        uint64_t all = hs_count_all(count), good = hs_count_verdict(count, HS_VERDICT_REJECTED);
        if (all == 0)
            continue;
        fprintf(out, "  %-15s %8llu %9llu %8llu %7llu %8.3f %8.3f  ", hs_forgery_names[kind],
                (whole)all, (whole)good, (whole)hs_count_verdict(count, HS_VERDICT_ACCEPTED),
                (whole)hs_count_verdict(count, HS_VERDICT_INCONCLUSIVE), share(good, all),
                100 * hs_wilson_low(good, all));
        print_reasons(count, out);
    }
}

static void print_bursts(const struct hs_score *score, FILE *out)
{
    fputs("\ntwice the pace, 10 s  bursts    shots  accepted  worst excess\n", out);
    for (int arm = 0; arm < HS_ARMS; arm++) {
        const struct hs_burst_count *count = &score->bursts[arm];
        if (count->bursts > 0)
            fprintf(out, "  %-19s %7llu %8llu %9llu %13lld\n", hs_arm_names[arm],
                    (whole)count->bursts, (whole)count->shots, (whole)count->accepted,
                    (long long)count->worst);
    }
}

/* ---- cheats ---- */

enum { TOP = 3 }; /* counts from each list in the last column; JSON contains all counts */

/* The lists in struct hs_cheat_count that the last column shows. `offset` is the list's offset in
   this struct. */
static const struct {
    const char *name;
    size_t offset;
    const struct hs_vocabulary *words;
} findings[] = {
    {"refused", offsetof(struct hs_cheat_count, reasons), &hs_reason_words},
    {"refused", offsetof(struct hs_cheat_count, move_reasons), &hs_move_reason_words},
    {"flags", offsetof(struct hs_cheat_count, flags), &hs_flag_words},
    {"flags", offsetof(struct hs_cheat_count, raised), &hs_move_check_words},
    {"shadow", offsetof(struct hs_cheat_count, shadow), &hs_reason_words},
};
enum { FINDINGS = sizeof findings / sizeof findings[0] };

static const uint64_t *finding_of(const struct hs_cheat_count *count, int finding)
{
    return (const uint64_t *)(const void *)((const char *)count + findings[finding].offset);
}

/* Prints the TOP largest counts in a list, and all other counts that equal the smallest of them. */
static void print_top(const struct hs_cheat_count *count, int finding, FILE *out)
{
    const uint64_t *counts = finding_of(count, finding);
    uint64_t below = UINT64_MAX;
    const char *between = findings[finding].name;
    for (int printed = 0; printed < TOP;) {
        uint64_t most = 0;
        for (int i = 0; i < findings[finding].words->count; i++)
            if (counts[i] > most && counts[i] < below)
                most = counts[i];
        if (most == 0)
            return;
        for (int i = 0; i < findings[finding].words->count; i++) {
            if (counts[i] != most)
                continue;
            fprintf(out, " %s %llu %s", between, (whole)most, findings[finding].words->names[i]);
            between = "+";
            printed++;
        }
        below = most;
    }
}

static void print_gain(const struct hs_paired *sum, FILE *out)
{
    double gain, low, high;
    if (hs_paired_gain(sum, &gain, &low, &high))
        fprintf(out, " %8.1f %8.1f %8.1f", 100 * gain, 100 * low, 100 * high);
    else
        fprintf(out, " %8s %8s %8s", "-", "-", "-");
}

/* Prints a cheat's limit, and whether the cheat stays within it. Limits apply only to the link
   HS_LINK_STEADY. */
static void print_limit(const struct hs_cheat *cheat, const struct hs_cheat_count *count, int link,
                        FILE *out)
{
    char limit[32] = "-";
    bool has_limit = link == HS_LINK_STEADY && cheat->bound != HS_CHEAT_UNBOUND;
    if (has_limit && cheat->bound == HS_CHEAT_GAIN)
        snprintf(limit, sizeof limit, "%+.0f%%", 100 * cheat->limit);
    else if (has_limit)
        snprintf(limit, sizeof limit, "%g", cheat->limit);
    fprintf(out, " %6s %-4s %-6s", limit,
            !has_limit                         ? "-"
            : hs_cheat_is_within(cheat, count) ? "kept"
                                               : "no",
            !has_limit         ? "-"
            : cheat->is_judged ? "judged"
                               : "no");
}

static void print_cheat(const struct hs_cheat *cheat, const struct hs_cheat_count *count, int link,
                        FILE *out)
{
    if (count->hits.runs <= 0)
        return;
    fprintf(out, "  %-18s %-6s %9llu %8.0f %8.0f", cheat->name, hs_link_names[link],
            (whole)count->claims, count->hits.twin, count->hits.cheat);
    print_gain(&count->hits, out);
    print_gain(&count->damage, out);
    if (cheat->extent[0] != '\0')
        fprintf(out, " %7.3f %-13s", count->extent, cheat->extent);
    else
        fprintf(out, " %7s %-13s", "-", "");
    print_limit(cheat, count, link, out);
    for (int i = 0; i < FINDINGS; i++)
        print_top(count, i, out);
    fputc('\n', out);
}

static void print_cheats(const struct hs_score *score, FILE *out)
{
    fputs("\ncheat              link        tried     twin    cheat   gain %   95 % >=  95 % <= "
          "damage %  95 % >=  95 % <=  extent                limit kept judged  why\n",
          out);
    for (int i = 0; i < HS_CHEATS; i++)
        for (int link = 0; link < HS_LINKS_AND_STEADY; link++)
            print_cheat(&hs_cheats[i], &score->cheats[i][link], link, out);
}

static void print_example(const struct hs_example *example, FILE *out)
{
    fprintf(out,
            "  match %llu %s %s %s%s: %s, measured %.4f, limit %.4f, margin %.4f, "
            "hit_time %.0f ms and fire_time %.0f ms before arrival\n",
            (whole)example->match, hs_link_names[example->link], hs_arm_names[example->arm],
            example->forgery < HS_FORGERIES ? hs_forgery_names[example->forgery] : "honest",
            example->is_shot ? " shot" : "", hs_reason_name(example->reason), example->measured,
            example->limit, example->margin, 1e3 * example->age, 1e3 * example->fire_age);
}

void hs_simulation_print(const struct hs_simulation *simulation, const struct hs_score *score,
                         uint64_t examples, FILE *out)
{
    fprintf(out, "simulated hits, seed %llu, rewind limit %g s, stamps off by %g ms\n\n",
            (whole)simulation->seed, simulation->rewind_limit, 1e3 * simulation->stamp_error);
    print_honest(score, out);
    print_forged(score, out);
    print_bursts(score, out);
    print_cheats(score, out);
    if (examples > 0 && score->example_count > 0)
        fputs("\nhonest claims that were refused, and forged ones that were not:\n", out);
    for (unsigned i = 0; i < examples && i < score->example_count; i++)
        print_example(&score->examples[i], out);
}

/* ---- as JSON ---- */

static json_t *count_json(const struct hs_count *count, enum hs_verdict goal)
{
    json_t *reasons = json_object();
    uint64_t all = hs_count_all(count), good = hs_count_verdict(count, goal);
    for (int i = 0; i < HS_REASON_COUNT; i++)
        if (count->reasons[i] > 0)
            json_object_set_new(reasons, hs_reason_name((enum hs_reason)i),
                                json_integer((json_int_t)count->reasons[i]));
    return json_pack("{s:I, s:I, s:f, s:f, s:I, s:I, s:o}", "claims", (json_int_t)all,
                     goal == HS_VERDICT_ACCEPTED ? "accepted" : "rejected", (json_int_t)good,
                     "share", share(good, all) / 100, "share_low", hs_wilson_low(good, all),
                     "in_vain", (json_int_t)count->in_vain, "would_reject",
                     (json_int_t)count->would_reject, "reasons", reasons);
}

static json_t *honest_json(const struct hs_score *score)
{
    json_t *links = json_object();
    for (int link = 0; link < HS_LINKS; link++) {
        json_t *arms = json_object();
        for (int arm = 0; arm < HS_ARMS; arm++)
            json_object_set_new(arms, hs_arm_names[arm],
                                count_json(&score->honest[link][arm], HS_VERDICT_ACCEPTED));
        json_object_set_new(arms, "shots", count_json(&score->shots[link], HS_VERDICT_ACCEPTED));
        json_object_set_new(links, hs_link_names[link], arms);
    }
    struct hs_count all = hs_score_honest(score);
    json_object_set_new(links, "all", count_json(&all, HS_VERDICT_ACCEPTED));
    return links;
}

static json_t *gain_json(const struct hs_paired *sum)
{
    double gain, low, high;
    if (!hs_paired_gain(sum, &gain, &low, &high))
        return json_null();
    return json_pack("{s:f, s:f, s:f}", "gain", gain, "low", low, "high", high);
}

static json_t *cheat_json(const struct hs_cheat *cheat, const struct hs_cheat_count *count)
{
    json_t *row = json_pack(
        "{s:I, s:f, s:f, s:f, s:o, s:o, s:f}", "tried", (json_int_t)count->claims, "runs",
        count->hits.runs, "twin", count->hits.twin, "cheat", count->hits.cheat, "hits",
        gain_json(&count->hits), "damage", gain_json(&count->damage), "extent", count->extent);
    json_object_set_new(row, "within_limit", json_boolean(hs_cheat_is_within(cheat, count)));
    for (int i = 0; i < FINDINGS; i++) {
        const struct hs_vocabulary *words = findings[i].words;
        json_t *list = json_object_get(row, findings[i].name);
        if (list == NULL)
            json_object_set_new(row, findings[i].name, list = json_object());
        for (int k = 0; k < words->count; k++)
            if (finding_of(count, i)[k] > 0)
                json_object_set_new(list, words->names[k],
                                    json_integer((json_int_t)finding_of(count, i)[k]));
    }
    return row;
}

static json_t *cheats_json(const struct hs_score *score)
{
    static const char *const bounds[] = {"none", "gain", "extent"};
    json_t *cheats = json_object();
    for (int i = 0; i < HS_CHEATS; i++) {
        const struct hs_cheat *cheat = &hs_cheats[i];
        json_t *links = json_object();
        for (int link = 0; link < HS_LINKS_AND_STEADY; link++)
            if (score->cheats[i][link].hits.runs > 0)
                json_object_set_new(links, hs_link_names[link],
                                    cheat_json(cheat, &score->cheats[i][link]));
        json_object_set_new(cheats, cheat->name,
                            json_pack("{s:s, s:f, s:s, s:b, s:o}", "bound", bounds[cheat->bound],
                                      "limit", cheat->limit, "extent", cheat->extent, "judged",
                                      cheat->is_judged, "links", links));
    }
    return cheats;
}

json_t *hs_simulation_json(const struct hs_simulation *simulation, const struct hs_score *score)
{
    json_t *forged = json_object(), *bursts = json_object();
    char missed[256];
    bool good = hs_score_meets_goals(score, missed, sizeof missed);
    for (int kind = 0; kind < HS_FORGERIES; kind++)
        json_object_set_new(forged, hs_forgery_names[kind],
                            count_json(&score->forged[kind], HS_VERDICT_REJECTED));
    for (int arm = 0; arm < HS_ARMS; arm++) {
        const struct hs_burst_count *count = &score->bursts[arm];
        if (count->bursts > 0)
            json_object_set_new(
                bursts, hs_arm_names[arm],
                json_pack("{s:I, s:I, s:I, s:I}", "bursts", (json_int_t)count->bursts, "shots",
                          (json_int_t)count->shots, "accepted", (json_int_t)count->accepted,
                          "worst_excess", (json_int_t)count->worst));
    }
    return json_pack("{s:I, s:f, s:f, s:o, s:o, s:o, s:o, s:b, s:s}", "seed",
                     (json_int_t)simulation->seed, "rewind_limit", simulation->rewind_limit,
                     "stamp_error", simulation->stamp_error, "honest", honest_json(score), "forged",
                     forged, "bursts", bursts, "cheats", cheats_json(score), "goals_met", good,
                     "missed", missed);
}
