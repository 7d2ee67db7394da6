/* A borrowed string with its length. The string need not be terminated. */
#ifndef HS_STR_H
#define HS_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_str {
    const char *ptr; /* NULL: absent */
    size_t len;
};

/* Returns a string literal as hs_str. */
#ifdef __cplusplus
#define HS_STR(literal) (hs_str{(literal), sizeof(literal) - 1})
#else
#define HS_STR(literal) ((struct hs_str){(literal), sizeof(literal) - 1})
#endif

/* Returns a terminated string as hs_str. For NULL, returns an absent string. */
static inline struct hs_str hs_str_of(const char *text)
{
    struct hs_str out = {text, text != NULL ? strlen(text) : 0};
    return out;
}

static inline bool hs_str_equal(struct hs_str a, struct hs_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* FNV-1a hash (Fowler, Noll, Vo), for tables of names. */
uint64_t hs_str_hash(struct hs_str s);

/* The maximum length in bytes of any name: of a match, a player, a ruleset, a weapon and so on. */
#define HS_NAME_MAX 64

/* Returns whether the name has 1 to HS_NAME_MAX characters of [A-Za-z0-9_.:-]. */
bool hs_name_is_valid(struct hs_str name);

/* A stored name, terminated and padded with zeros. */
struct hs_name {
    char text[HS_NAME_MAX + 1];
};

static inline struct hs_str hs_name_str(const struct hs_name *name)
{
    struct hs_str out = {name->text, strlen(name->text)};
    return out;
}

/* Copies `from`, and cuts it after HS_NAME_MAX bytes. */
void hs_name_set(struct hs_name *name, struct hs_str from);

HS_PUBLIC_END

#endif
