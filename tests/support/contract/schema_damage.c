#include "tests/support/contract/schema_damage.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract/schema.h"

enum { MAX_SITES = 4096, MAX_LENGTH_TRIED = 200, TOO_LONG = 65 };

/* A value inside the copy, its schema, and its container. */
struct site {
    const json_t *schema; /* the schema of the value; if it has branches, the branch that fits */
    const json_t *given;  /* the schema with all its branches */
    json_t *value;
    json_t *parent; /* NULL: the site is the whole document */
    char *key;      /* key in an object; NULL: the site is an array element */
    size_t index;
    char pointer[448];
};

struct damaging {
    const json_t *document;
    struct hs_random *random;
    struct site sites[MAX_SITES];
    size_t count;
    json_t *root; /* owned; the copy */
};

/* Writes the pointer of a member. No key here contains a `~` or a `/`. */
static void join(char *out, size_t size, const char *parent, const char *key)
{
    int len = snprintf(out, size, "%s/%s", parent, key);
    if (len < 0 || (size_t)len >= size)
        abort();
}

/* ---- all places ---- */

static void collect(struct damaging *d, const json_t *schema, json_t *value, const struct site *at);

static void collect_member(struct damaging *d, const struct site *parent, const json_t *schema,
                           json_t *value, const char *key, size_t index)
{
    if (d->count == MAX_SITES)
        return;
    struct site *site = &d->sites[d->count++];
    *site = (struct site){.schema = hs_schema_branch(d->document, schema, value),
                          .given = schema,
                          .value = value,
                          .parent = parent->value,
                          .index = index};
    if (key != NULL) {
        site->key = strdup(key);
        join(site->pointer, sizeof site->pointer, parent->pointer, key);
    } else {
        char text[24];
        snprintf(text, sizeof text, "%zu", index);
        join(site->pointer, sizeof site->pointer, parent->pointer, text);
    }
    collect(d, site->schema, value, site);
}

static void collect(struct damaging *d, const json_t *schema, json_t *value, const struct site *at)
{
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach(value, key, member)
    {
        const json_t *inner = hs_schema_member(d->document, schema, key);
        if (inner != NULL && strncmp(key, "x_", 2) != 0)
            collect_member(d, at, inner, member, key, 0);
    }
    const json_t *items = hs_schema_get(d->document, schema, "items");
    json_array_foreach(value, i, member) if (items != NULL)
        collect_member(d, at, items, member, NULL, i);
}

/* ---- doing damage ---- */

static void replace(struct damaging *d, struct site *site, json_t *with)
{
    if (site->parent == NULL) {
        json_decref(d->root);
        d->root = with;
    } else if (site->key != NULL) {
        json_object_set_new(site->parent, site->key, with);
    } else {
        json_array_set_new(site->parent, site->index, with);
    }
}

static const json_t *keyword(const struct damaging *d, const struct site *site, const char *name)
{
    return hs_schema_get(d->document, site->schema, name);
}

/* A function that does one kind of damage. Returns false if the kind does not apply to the place.
   `pointer` is the pointer of the place; the function changes it if the reader reports the damage
   at another place. */
typedef bool inflict(struct damaging *d, struct site *site, char pointer[512]);

static bool wrong_type(struct damaging *d, struct site *site, char pointer[512])
{
    (void)pointer;
    json_t *others[] = {json_string("12"), json_integer(12), json_real(0.5), json_true(),
                        json_object(),     json_array(),     json_null()};
    size_t count = sizeof others / sizeof others[0];
    size_t first = (size_t)hs_random_index(d->random, (int)count);
    json_t *chosen = NULL;
    for (size_t i = 0; i < count && chosen == NULL; i++) {
        json_t *other = others[(first + i) % count];
        bool same = json_typeof(other) == json_typeof(site->value) ||
                    (json_is_number(other) && json_is_number(site->value) &&
                     !json_is_integer(site->value)) ||
                    (json_is_boolean(other) && json_is_boolean(site->value));
        if (!same && !hs_schema_fits(d->document, site->given, other, NULL))
            chosen = json_incref(other);
    }
    for (size_t i = 0; i < count; i++)
        json_decref(others[i]);
    if (chosen != NULL)
        replace(d, site, chosen);
    return chosen != NULL;
}

/* Returns the list of members that are required in any case. Half of the time, if there is a branch
   for it, returns the members that other members make required. */
static const json_t *required_members(const struct damaging *d, const struct site *site)
{
    const json_t *condition = keyword(d, site, "if");
    if (condition == NULL || hs_random_chance(d->random, 0.5))
        return keyword(d, site, "required");
    bool holds = hs_schema_fits(d->document, condition, site->value, NULL);
    const json_t *branch = keyword(d, site, holds ? "then" : "else");
    while ((condition = json_object_get(branch, "if")) != NULL) {
        holds = hs_schema_fits(d->document, condition, site->value, NULL);
        branch = json_object_get(branch, holds ? "then" : "else");
    }
    const json_t *required = json_object_get(branch, "required");
    return required != NULL ? required : keyword(d, site, "required");
}

static bool missing_member(struct damaging *d, struct site *site, char pointer[512])
{
    const json_t *required = required_members(d, site);
    if (!json_is_object(site->value) || json_array_size(required) == 0)
        return false;
    const char *key = json_string_value(json_array_get(
        required, (size_t)hs_random_index(d->random, (int)json_array_size(required))));
    json_object_del(site->value, key);
    join(pointer, 512, site->pointer, key);
    return true;
}

static bool unknown_member(struct damaging *d, struct site *site, char pointer[512])
{
    static const char *const keys[] = {"colour", "Player", "x", "hit_tiem"};
    const char *key = keys[hs_random_index(d->random, 4)];
    if (!json_is_object(site->value) || (!json_is_false(keyword(d, site, "additionalProperties")) &&
                                         hs_schema_allows_name(d->document, site->schema, key)))
        return false;
    json_object_set_new(site->value, key, json_integer(1));
    join(pointer, 512, site->pointer, key);
    return true;
}

/* Sets a number that is just beyond an end of the range, or far beyond it. */
static bool beyond(struct damaging *d, struct site *site, const json_t *limit, int sign)
{
    if (!json_is_number(site->value) || limit == NULL)
        return false;
    double end = json_number_value(limit);
    double step = hs_random_chance(d->random, 0.8) ? fabs(end) * 1e-6 + 1e-6 : fabs(end) * 0.5 + 1;
    const char *type = json_string_value(keyword(d, site, "type"));
    if (type != NULL && strcmp(type, "integer") == 0)
        replace(d, site, json_integer((json_int_t)end + sign));
    else
        replace(d, site, json_real(end + sign * step));
    return true;
}

static bool too_small(struct damaging *d, struct site *site, char pointer[512])
{
    (void)pointer;
    return beyond(d, site, keyword(d, site, "minimum"), -1);
}

static bool too_large(struct damaging *d, struct site *site, char pointer[512])
{
    (void)pointer;
    return beyond(d, site, keyword(d, site, "maximum"), 1);
}

static const char *bad_name(struct hs_random *random)
{
    static const char *const names[] = {"", "a b", "caf\xc3\xa9", "semi;colon", "percent%41"};
    static char oversized[TOO_LONG + 1];
    memset(oversized, 'n', TOO_LONG);
    return hs_random_chance(random, 0.5) ? oversized : names[hs_random_index(random, 5)];
}

static bool no_name(struct damaging *d, struct site *site, char pointer[512])
{
    (void)pointer;
    if (!json_is_string(site->value) || keyword(d, site, "maxLength") == NULL)
        return false;
    replace(d, site, json_string(bad_name(d->random)));
    return true;
}

/* Gives a member of a table, such as a weapon, an invalid name. */
static bool no_name_of_member(struct damaging *d, struct site *site, char pointer[512])
{
    void *first = json_object_iter(site->value);
    if (first == NULL || keyword(d, site, "propertyNames") == NULL)
        return false;
    const char *name = bad_name(d->random);
    json_t *member = json_incref(json_object_iter_value(first));
    json_object_del(site->value, json_object_iter_key(first));
    json_object_set_new(site->value, name, member);
    join(pointer, 512, site->pointer, name);
    return true;
}

static bool not_in_list(struct damaging *d, struct site *site, char pointer[512])
{
    static const char *const words[] = {"nonsense", "", "ENFORCE", "Spawn"};
    (void)pointer;
    if (keyword(d, site, "enum") == NULL)
        return false;
    replace(d, site, json_string(words[hs_random_index(d->random, 4)]));
    return true;
}

static bool too_short(struct damaging *d, struct site *site, char pointer[512])
{
    const json_t *low = keyword(d, site, "minItems");
    (void)pointer;
    if (!json_is_array(site->value) || json_integer_value(low) == 0)
        return false;
    while (json_array_size(site->value) >= (size_t)json_integer_value(low))
        json_array_remove(site->value, json_array_size(site->value) - 1);
    return true;
}

static bool too_long(struct damaging *d, struct site *site, char pointer[512])
{
    const json_t *high = keyword(d, site, "maxItems");
    (void)pointer;
    if (high == NULL || json_array_size(site->value) == 0 ||
        json_integer_value(high) > MAX_LENGTH_TRIED)
        return false;
    while (json_array_size(site->value) <= (size_t)json_integer_value(high))
        json_array_append_new(site->value, json_deep_copy(json_array_get(site->value, 0)));
    return true;
}

static const struct {
    const char *what;
    inflict *inflict;
} kinds[] = {
    {"wrong type", wrong_type},
    {"missing member", missing_member},
    {"unknown member", unknown_member},
    {"too small", too_small},
    {"too large", too_large},
    {"no name", no_name},
    {"member without a name", no_name_of_member},
    {"not in the list", not_in_list},
    {"too short", too_short},
    {"too long", too_long},
};

enum { KINDS = sizeof kinds / sizeof kinds[0], TRIES = 400 };

static struct damaging *begin(const json_t *document, const json_t *schema, const json_t *value,
                              struct hs_random *random)
{
    struct damaging *d = calloc(1, sizeof *d);
    if (d == NULL)
        abort();
    d->document = document;
    d->random = random;
    d->root = json_deep_copy(value);
    const json_t *branch = hs_schema_branch(document, schema, value);
    d->sites[d->count++] = (struct site){.schema = branch, .given = schema, .value = d->root};
    collect(d, branch, d->root, &d->sites[0]);
    return d;
}

static bool try_kind(struct damaging *d, size_t kind, struct site *site,
                     struct hs_schema_damage *damage)
{
    snprintf(damage->pointer, sizeof damage->pointer, "%s", site->pointer);
    damage->what = kinds[kind].what;
    return kinds[kind].inflict(d, site, damage->pointer);
}

/* Returns the damaged copy. Returns NULL if nothing was changed. */
static json_t *finish(struct damaging *d, bool done)
{
    json_t *result = done ? d->root : NULL;
    if (!done)
        json_decref(d->root);
    for (size_t i = 0; i < d->count; i++)
        free(d->sites[i].key);
    free(d);
    return result;
}

json_t *hs_schema_damaged(const json_t *document, const json_t *schema, const json_t *value,
                          struct hs_random *random, struct hs_schema_damage *damage)
{
    struct damaging *d = begin(document, schema, value, random);
    bool done = false;
    /* Draws the kind first: there are far more numbers than lists, and each kind should occur. */
    for (int kind = hs_random_index(random, KINDS), tries = 0; !done && tries < TRIES; tries++) {
        done = try_kind(d, (size_t)kind, &d->sites[hs_random_index(random, (int)d->count)], damage);
        if (tries % 40 == 39)
            kind = hs_random_index(random, KINDS);
    }
    return finish(d, done);
}

/* Returns whether two pointers differ only in their indices. */
static bool is_alike(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        if (a[0] == '/' && b[0] == '/' && a[1] >= '0' && a[1] <= '9' && b[1] >= '0' &&
            b[1] <= '9') {
            a += 1 + strspn(a + 1, "0123456789");
            b += 1 + strspn(b + 1, "0123456789");
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

/* Returns place n, counting only one of the places whose pointers are alike; NULL: there is
   none. */
static struct site *find_distinct(struct damaging *d, size_t n)
{
    for (size_t i = 0; i < d->count; i++) {
        size_t k = 0;
        while (k < i && !is_alike(d->sites[k].pointer, d->sites[i].pointer))
            k++;
        if (k == i && n-- == 0)
            return &d->sites[i];
    }
    return NULL;
}

json_t *hs_schema_damaged_nth(const json_t *document, const json_t *schema, const json_t *value,
                              size_t n, struct hs_random *random, struct hs_schema_damage *damage,
                              bool *end)
{
    struct damaging *d = begin(document, schema, value, random);
    struct site *site = find_distinct(d, n / KINDS);
    *end = site == NULL;
    return finish(d, site != NULL && try_kind(d, n % KINDS, site, damage));
}
