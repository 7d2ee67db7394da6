#include "cli/recheck/differences.h"

#include <jansson.h>
#include <stdlib.h>

#include "cli/play/tally.h"
#include "service/record/members.h"

/* One result, and parts of its text. For a move, `shooter` is the player, `shot` is the `seq` (or
   absent), and `damage` is the `delta_time`. */
struct result {
    struct hs_str text, verdict, reason, shooter, shot, damage;
    bool replayed;
    bool has_index; /* true: the answer is brief (brief.h), so it contains the index of each result,
                       and leaves out plain results, which have nothing to report */
    uint64_t index; /* index in the request; 0 if has_index is false */
};

/* Like HS_STR, but a constant expression. */
#define NAME(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

enum kind { HIT, SHOT, MOVE };

static const struct hs_str kind_names[] = {NAME("hit"), NAME("shot"), NAME("move")};

struct place {
    struct hs_str match;
    enum kind kind;
    size_t line;
};

static void name_count(struct hs_reason_count *count, const char *reason, enum hs_verdict verdict)
{
    hs_name_set(&count->reason, hs_str_of(reason));
    hs_name_set(&count->verdict, hs_str_of(hs_verdict_name(verdict)));
}

void hs_differences_init(struct hs_differences *differences, bool other_rules, size_t limit)
{
    *differences = (struct hs_differences){.other_rules = other_rules, .limit = limit};
    for (int i = 0; i < HS_REASON_COUNT; i++)
        name_count(&differences->reasons[i], hs_reason_name((enum hs_reason)i),
                   hs_reason_verdict((enum hs_reason)i));
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++)
        name_count(&differences->move_reasons[i], hs_move_reason_name((enum hs_move_reason)i),
                   hs_move_reason_verdict((enum hs_move_reason)i));
}

void hs_differences_free(struct hs_differences *differences)
{
    free(differences->changed);
}

/* ---- one result ---- */

static bool read_result(struct hs_str text, enum kind kind, struct result *out)
{
    bool moves = kind == MOVE;
    struct hs_str who = moves ? HS_STR("player") : HS_STR("shooter");
    struct hs_str number = moves ? HS_STR("seq") : HS_STR("shot");
    struct hs_str amount = moves ? HS_STR("delta_time") : HS_STR("damage_total");
    struct hs_pieces pieces = hs_pieces_of(text, '{');
    struct hs_str key, value;
    *out = (struct result){.text = text, .shooter = HS_STR("")};
    while (hs_pieces_next(&pieces, &key, &value)) {
        if (hs_str_equal(key, HS_STR("verdict")))
            out->verdict = hs_piece_text(value);
        else if (hs_str_equal(key, HS_STR("reason")))
            out->reason = hs_piece_text(value);
        else if (hs_str_equal(key, who))
            out->shooter = hs_piece_text(value);
        else if (hs_str_equal(key, number))
            out->shot = value;
        else if (hs_str_equal(key, amount))
            out->damage = value;
        else if (hs_str_equal(key, HS_STR("replayed")))
            out->replayed = hs_str_equal(value, HS_STR("true"));
        else if (hs_str_equal(key, HS_STR("index")))
            out->has_index = hs_piece_whole(value, &out->index);
    }
    bool is_malformed = hs_str_equal(out->reason, HS_STR("malformed"));
    bool is_named = out->shooter.len > 0 && (moves || out->shot.ptr != NULL);
    return !pieces.broken && out->verdict.ptr != NULL && out->reason.ptr != NULL &&
           (is_named || is_malformed);
}

static struct hs_reason_count *count_of(struct hs_differences *differences, enum kind kind,
                                        const struct result *result)
{
    bool of_move = kind == MOVE;
    struct hs_reason_count *count = of_move ? differences->move_reasons : differences->reasons;
    struct hs_reason_count *last =
        count + (of_move ? HS_DIFFERENCES_MOVE_REASONS : HS_DIFFERENCES_REASONS) - 1;
    while (count < last && count->reason.text[0] != '\0' &&
           !hs_str_equal(hs_name_str(&count->reason), result->reason))
        count++;
    if (count->reason.text[0] == '\0') {
        hs_name_set(&count->reason, result->reason);
        hs_name_set(&count->verdict, result->verdict);
    }
    return count;
}

/* ---- claims that changed ---- */

/* Finds the measurement that explains one side of a change. Normally this is the measurement of the
   check that decided this side. If no check decided this side (an accepted claim), finds the
   check that decided the other side, and uses the measurement of the same check on this side. */
static void measure_side(struct hs_changed_side *side, const json_t *own, const json_t *other)
{
    struct hs_tally_number number = hs_tally_deciding(own);
    json_t *check, *measured;
    size_t i;
    if (!number.known)
        number = hs_tally_deciding(other);
    json_array_foreach(json_object_get(own, "checks"), i, check)
    {
        const char *name = json_string_value(json_object_get(check, "check"));
        if (!number.known || name == NULL || strcmp(name, number.check) != 0)
            continue;
        measured = json_object_get(check, "measured");
        if (json_is_number(measured)) {
            hs_name_set(&side->check, hs_str_of(name));
            side->measured = json_number_value(measured);
            side->limit = json_number_value(json_object_get(check, "limit"));
        }
        return;
    }
}

static void describe(struct hs_changed_claim *changed, const struct place *place,
                     const struct result *before, const struct result *after)
{
    json_t *was = json_loadb(before->text.ptr, before->text.len, 0, NULL);
    json_t *is = json_loadb(after->text.ptr, after->text.len, 0, NULL);
    hs_name_set(&changed->match, place->match);
    hs_name_set(&changed->kind, kind_names[place->kind]);
    hs_name_set(&changed->shooter, before->shooter);
    hs_name_set(&changed->before.verdict, before->verdict);
    hs_name_set(&changed->before.reason, before->reason);
    hs_name_set(&changed->after.verdict, after->verdict);
    hs_name_set(&changed->after.reason, after->reason);
    const char *number = place->kind == MOVE ? "seq" : "shot";
    changed->shot = (uint64_t)json_integer_value(json_object_get(was, number));
    measure_side(&changed->before, was, is);
    measure_side(&changed->after, is, was);
    json_decref(was);
    json_decref(is);
}

static bool keep(struct hs_differences *differences, const struct place *place, bool flips,
                 const struct result *before, const struct result *after)
{
    if (differences->changed_count >= differences->limit) {
        differences->changed_left_out++;
        return true;
    }
    if (differences->changed_count == differences->changed_capacity) {
        size_t capacity = differences->changed_capacity * 2 + 16;
        struct hs_changed_claim *more = realloc(differences->changed, capacity * sizeof *more);
        if (more == NULL)
            return false;
        differences->changed = more;
        differences->changed_capacity = capacity;
    }
    struct hs_changed_claim *changed = &differences->changed[differences->changed_count++];
    *changed = (struct hs_changed_claim){.line = place->line, .flips = flips};
    describe(changed, place, before, after);
    return true;
}

/* ---- answers ---- */

static void record_line(struct hs_differences *differences, size_t line)
{
    if (differences->first_line == 0)
        differences->first_line = line;
}

/* Compares the recorded and the recomputed result of one claim, shot or move, and counts the
   outcome. Do not call this function for replayed results. Returns false if memory runs out. */
static bool compare_claim(struct hs_differences *differences, const struct place *place,
                          const struct result *before, const struct result *after)
{
    bool flips = !hs_str_equal(before->verdict, after->verdict) ||
                 !hs_str_equal(before->reason, after->reason);
    bool damage = !hs_str_equal(before->damage, after->damage);
    bool bytes = !differences->other_rules && !hs_str_equal(before->text, after->text);
    size_t *const counts[] = {&differences->hits, &differences->shots, &differences->moves};
    ++*counts[place->kind];
    count_of(differences, place->kind, before)->before++;
    count_of(differences, place->kind, after)->after++;
    if (flips)
        differences->flipped++;
    else if (damage)
        differences->damaged++;
    else if (bytes)
        differences->otherwise++;
    else
        differences->same++;
    if (!flips && !damage && !bytes)
        return true;
    record_line(differences, place->line);
    return (!flips && differences->other_rules) || keep(differences, place, flips, before, after);
}

static bool compare_result(struct hs_differences *differences, const struct place *place,
                           const struct result *was, const struct result *is)
{
    if (!hs_str_equal(was->shooter, is->shooter) || !hs_str_equal(was->shot, is->shot))
        return false;
    if (!was->replayed)
        return compare_claim(differences, place, was, is);
    /* A replayed result repeats an earlier result, which was already compared. */
    differences->replayed++;
    if (!differences->other_rules && !hs_str_equal(was->text, is->text)) {
        differences->replayed_otherwise++;
        record_line(differences, place->line);
    }
    return true;
}

/* Reads the next result. At the end of the list, sets out->text.ptr to NULL. Returns false if the
   list is malformed. */
static bool next_result(struct hs_pieces *pieces, enum kind kind, struct result *out)
{
    struct hs_str text;
    *out = (struct result){.text = {NULL, 0}};
    return hs_pieces_next(pieces, NULL, &text) ? read_result(text, kind, out) : !pieces->broken;
}

/* Returns the plain result of a claim that one of two brief answers left out. `other` is the result
   of the same claim in the other answer. */
static struct result plain_beside(const struct result *other, enum kind kind)
{
    return (struct result){.text = HS_STR("{}"),
                           .verdict = HS_STR("accepted"),
                           .reason = HS_STR("ok"),
                           .shooter = other->shooter,
                           .shot = other->shot,
                           .damage = kind == HIT ? HS_STR("0") : other->damage};
}

/* Compares two lists of results. Adds to *only_after the number of results that only `after`
   contains. Returns false if the lists do not match or are malformed, or if memory runs out. */
static bool compare_results(struct hs_differences *differences, const struct place *place,
                            struct hs_str before, struct hs_str after, size_t *only_after)
{
    struct hs_pieces old = hs_pieces_of(before, '['), new = hs_pieces_of(after, '[');
    struct result was, is, plain;
    bool good = next_result(&old, place->kind, &was) && next_result(&new, place->kind, &is);
    while (good && (was.text.ptr != NULL || is.text.ptr != NULL)) {
        bool has_was = was.text.ptr != NULL && (is.text.ptr == NULL || was.index <= is.index);
        bool has_is = is.text.ptr != NULL && (was.text.ptr == NULL || is.index <= was.index);
        plain = plain_beside(has_was ? &was : &is, place->kind);
        good = (has_was || is.has_index) && (has_is || was.has_index) &&
               compare_result(differences, place, has_was ? &was : &plain, has_is ? &is : &plain) &&
               (!has_was || next_result(&old, place->kind, &was)) &&
               (!has_is || next_result(&new, place->kind, &is));
        *only_after += has_was ? 0 : 1;
    }
    return good;
}

/* Counts the results that both brief answers left out. `accepted` is the number of results that the
   recorded answer left out. The recomputed answer lists `only_after` of these results. */
static void count_plain(struct hs_differences *differences, enum kind kind, struct hs_str accepted,
                        size_t only_after)
{
    size_t *const counts[] = {&differences->hits, &differences->shots, &differences->moves};
    const struct result plain = {.verdict = HS_STR("accepted"), .reason = HS_STR("ok")};
    uint64_t left_out = 0;
    if (!hs_piece_whole(accepted, &left_out) || left_out <= only_after)
        return;
    size_t both = (size_t)left_out - only_after;
    struct hs_reason_count *count = count_of(differences, kind, &plain);
    count->before += both;
    count->after += both;
    *counts[kind] += both;
    differences->same += both;
}

/* Returns whether a member of an answer is a list of results. All other members are compared as
   text. */
static bool holds_results(enum hs_route route, struct hs_str key, enum kind *kind)
{
    static const struct {
        enum hs_route route;
        struct hs_str in_tick;
    } kinds[] = {[HIT] = {HS_ROUTE_HITS_POST, NAME("hits")},
                 [SHOT] = {HS_ROUTE_SHOTS_POST, NAME("shots")},
                 [MOVE] = {HS_ROUTE_MOVES_POST, NAME("moves")}};
    for (int i = HIT; i <= MOVE; i++) {
        *kind = (enum kind)i;
        if ((route == kinds[i].route && hs_str_equal(key, HS_STR("results"))) ||
            (route == HS_ROUTE_TICKS_POST && hs_str_equal(key, kinds[i].in_tick)))
            return true;
    }
    return false;
}

/* Counts the plain results that both brief answers left out. For a tick, `accepted` is an object
   with a number for each kind of result. For any other route, `accepted` is a number. */
static void count_all_plain(struct hs_differences *differences, enum hs_route route,
                            struct hs_str accepted, const size_t only_after[3])
{
    struct hs_pieces pieces = hs_pieces_of(accepted, '{');
    struct hs_str key, number;
    enum kind kind;
    if (route != HS_ROUTE_TICKS_POST) {
        if (holds_results(route, HS_STR("results"), &kind))
            count_plain(differences, kind, accepted, only_after[kind]);
        return;
    }
    while (hs_pieces_next(&pieces, &key, &number))
        if (holds_results(route, key, &kind))
            count_plain(differences, kind, number, only_after[kind]);
}

/* Returns whether a different ruleset may change this member of an answer. These members are the
   name and the revision of the ruleset, and the totals at the end of a match. In brief answers, the
   acks and the number of left-out results may change, too. */
static bool follows_the_rules(struct hs_str key)
{
    const struct hs_str keys[] = {HS_STR("revision"), HS_STR("ruleset"), HS_STR("verdicts"),
                                  HS_STR("reasons"),  HS_STR("damage"),  HS_STR("accepted"),
                                  HS_STR("acks")};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (hs_str_equal(key, keys[i]))
            return true;
    return false;
}

/* Reads the next member. If the next member is `jumps`, stores the value of `jumps` in *jumps, and
   reads the member after `jumps`. `jumps` needs this exception, because under some rules answers do
   not contain `jumps`. */
static bool next_member(struct hs_pieces *pieces, struct hs_str *key, struct hs_str *value,
                        struct hs_str *jumps)
{
    while (hs_pieces_next(pieces, key, value)) {
        if (!hs_str_equal(*key, HS_STR("jumps")))
            return true;
        *jumps = *value;
    }
    return false;
}

bool hs_differences_add(struct hs_differences *differences, const struct hs_compared *request,
                        struct hs_str before, struct hs_str after)
{
    struct hs_pieces was = hs_pieces_of(before, '{'), is = hs_pieces_of(after, '{');
    struct hs_str key, own_key, from, to, jumped = {NULL, 0}, jumps = {NULL, 0};
    size_t only_after[3] = {0};
    bool otherwise = false;
    differences->requests++;
    while (next_member(&was, &key, &from, &jumped)) {
        struct place place = {.match = request->match, .line = request->line};
        if (!next_member(&is, &own_key, &to, &jumps))
            return false;
        bool same_key = hs_str_equal(key, own_key);
        if (same_key && holds_results(request->route, key, &place.kind)) {
            if (!compare_results(differences, &place, from, to, &only_after[place.kind]))
                return false;
            continue;
        }
        if (hs_str_equal(key, HS_STR("accepted")))
            count_all_plain(differences, request->route, from, only_after);
        if (!same_key || !hs_str_equal(from, to)) {
            otherwise = otherwise || !differences->other_rules || !follows_the_rules(key);
        }
    }
    if (was.broken || next_member(&is, &own_key, &to, &jumps) || is.broken)
        return false;
    otherwise = otherwise || (!differences->other_rules && !hs_str_equal(jumped, jumps));
    if (otherwise) {
        record_line(differences, request->line);
        if (differences->answers_otherwise++ == 0)
            differences->answers_line = request->line;
    }
    return true;
}
