/* Files that are embedded in the program (scripts/embed.sh): the contract and the console. */
#ifndef HS_SERVICE_EMBEDDED_H
#define HS_SERVICE_EMBEDDED_H

#include <stddef.h>

struct hs_embedded {
    const char *name; /* e.g. "openapi.yaml" or "console/list.js" */
    const unsigned char *data;
    size_t size;      /* bytes of `data` */
    size_t unpacked;  /* size of the file if `data` is gzip; 0: `data` is the file itself */
    const char *etag; /* a hash of the file in quotation marks, for the header ETag */
};

/* The last entry has the name NULL. */
extern const struct hs_embedded hs_embedded_files[];

/* Returns the entry with a name, or NULL. */
const struct hs_embedded *hs_embedded_find(const char *name);

#endif
