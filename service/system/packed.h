/* Compresses bytes, for states of matches. The result is one zstd frame, whose header has the size
   of the original bytes. */
#ifndef HS_SERVICE_SYSTEM_PACKED_H
#define HS_SERVICE_SYSTEM_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/bytes.h"

/* Replaces the content of `out` with the packed bytes. Returns false if memory runs out. Prefers
   speed to a small size. */
bool hs_pack(const void *bytes, size_t size, struct hs_bytes *out);

/* Returns the unpacked bytes; release them with free(). NULL: the bytes are damaged or would be
   more than `max`, or memory ran out. */
unsigned char *hs_unpack(const void *packed, size_t packed_size, size_t max, size_t *size);

#endif
