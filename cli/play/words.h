/* Looks up names in lists of known names, to detect misspelt names. Each list ends with NULL. */
#ifndef HS_PLAY_WORDS_H
#define HS_PLAY_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool hs_is_one_of(const char *text, const char *const *words)
{
    while (*words != NULL && strcmp(*words, text) != 0)
        words++;
    return *words != NULL;
}

/* Returns the first key in `object` that is not in `known`, or NULL. */
static inline const char *hs_unknown_member(const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (!hs_is_one_of(key, known))
            return key;
    }
    return NULL;
}

#endif
