/* The tables of a simulation, as text and as JSON. */
#include "cli/simulate/hits/simulation.h"

typedef unsigned long long whole; /* for printf */

static double share(uint64_t part, uint64_t all)
{
    return all > 0 ? 100 * (double)part / (double)all : 0;
}

/* Every reason except those of accepted claims, with its count. */
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

static void print_example(const struct hs_example *example, FILE *out)
{
    fprintf(out,
            "  match %llu %s %s %s%s: %s, measured %.4f, limit %.4f, margin %.4f, %.0f ms old, "
            "fired %.0f ms ago\n",
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
    return json_pack("{s:I, s:f, s:f, s:o, s:o, s:o, s:b, s:s}", "seed",
                     (json_int_t)simulation->seed, "rewind_limit", simulation->rewind_limit,
                     "stamp_error", simulation->stamp_error, "honest", honest_json(score), "forged",
                     forged, "bursts", bursts, "goals_met", good, "missed", missed);
}
