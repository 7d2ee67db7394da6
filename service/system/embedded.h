/* Files that are embedded in the program (scripts/embed.sh): the contract. */
#ifndef HS_SERVICE_EMBEDDED_H
#define HS_SERVICE_EMBEDDED_H

#include <stddef.h>

struct hs_embedded {
    const char *name; /* path in the source tree, e.g. "openapi.yaml" */
    const unsigned char *data;
    size_t size;
};

/* The last entry has the name NULL. */
extern const struct hs_embedded hs_embedded_files[];

/* Returns the entry with a name, or NULL. */
const struct hs_embedded *hs_embedded_find(const char *name);

#endif
