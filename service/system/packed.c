#include "service/system/packed.h"

#include <stdlib.h>
#include <zstd.h>

#include "validators/base/encoding.h"

enum { FASTEST = 1 };

bool hs_pack(const void *bytes, size_t size, struct hs_bytes *out)
{
    size_t bound = ZSTD_compressBound(size);
    out->len = 0;
    if (!hs_bytes_ensure(out, bound))
        return false;
    out->len = ZSTD_compress(out->data, out->capacity, bytes, size, FASTEST);
    if (!ZSTD_isError(out->len))
        return true;
    out->len = 0;
    return false;
}

unsigned char *hs_unpack(const void *packed, size_t packed_size, size_t max, size_t *size)
{
    unsigned long long whole = ZSTD_getFrameContentSize(packed, packed_size);
    if (whole == ZSTD_CONTENTSIZE_ERROR || whole == ZSTD_CONTENTSIZE_UNKNOWN || whole > max)
        return NULL;
    unsigned char *bytes = malloc((size_t)whole + 1);
    *size = bytes != NULL ? ZSTD_decompress(bytes, (size_t)whole, packed, packed_size) : 0;
    if (bytes != NULL && !ZSTD_isError(*size) && *size == whole)
        return bytes;
    free(bytes);
    return NULL;
}
