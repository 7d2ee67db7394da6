/* Compresses states of matches. The result is one zstd frame, which also contains the original
   size. */
#ifndef HS_SERVICE_SYSTEM_PACKED_H
#define HS_SERVICE_SYSTEM_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/bytes.h"

/* Replaces the content of `out` with `bytes`, compressed at the fastest level. Returns false if
   memory runs out; `out` is then empty. */
bool hs_pack(const void *bytes, size_t size, struct hs_bytes *out);

/* Returns the decompressed bytes, which the caller frees, and sets *size to the number of bytes.
   Returns NULL if the data is damaged, if it would decompress to more than `max` bytes, or if
   memory runs out. */
unsigned char *hs_unpack(const void *packed, size_t packed_size, size_t max, size_t *size);

#endif
