/* Files that scripts/embed.sh embeds in the program: the contract and the console. */
#ifndef HS_SERVICE_EMBEDDED_H
#define HS_SERVICE_EMBEDDED_H

#include <stddef.h>

struct hs_embedded {
    const char *name; /* e.g. "openapi.yaml" or "console/list.js" */
    const unsigned char *data;
    size_t size;
    size_t unpacked;  /* size of the file if `data` is compressed with gzip; 0: `data` is not
                         compressed */
    const char *etag; /* value of the ETag header: a hash of the file, in quotation marks */
};

/* The name of the last entry is NULL. */
extern const struct hs_embedded hs_embedded_files[];

/* Returns the file with this name, or NULL. */
const struct hs_embedded *hs_embedded_find(const char *name);

#endif
