/* Files carried inside the program (scripts/embed.sh): the contract and the demo recording. */
#ifndef HS_SERVICE_EMBEDDED_H
#define HS_SERVICE_EMBEDDED_H

#include <stddef.h>

struct hs_embedded {
    const char *name; /* path in the source tree, e.g. "openapi.yaml" */
    const unsigned char *data;
    size_t size;
};

/* Closed by an entry whose name is NULL. */
extern const struct hs_embedded hs_embedded_files[];

/* The entry of that name, or NULL. */
const struct hs_embedded *hs_embedded_find(const char *name);

#endif
