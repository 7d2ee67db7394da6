/* Compressed bytes, for states of matches. Each piece is one zstd frame that has its own size. */
#ifndef HS_SERVICE_SYSTEM_PACKED_H
#define HS_SERVICE_SYSTEM_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/bytes.h"

/* Overwrites `out` with the packed bytes. Returns false if memory runs out. Prefers speed to a
   small size. */
bool hs_pack(const void *bytes, size_t size, struct hs_bytes *out);

/* Returns the unpacked bytes, for free(). NULL: damaged, larger than `max`, or out of memory. */
unsigned char *hs_unpack(const void *packed, size_t packed_size, size_t max, size_t *size);

#endif
