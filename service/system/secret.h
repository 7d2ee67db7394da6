/* Secrets that are read from files: the webhook's signing key and passwords. */
#ifndef HS_SERVICE_SYSTEM_SECRET_H
#define HS_SERVICE_SYSTEM_SECRET_H

#include <stddef.h>
#include <stdint.h>

enum { HS_SECRET_FILE_BYTES = 1024 };

struct hs_secret {
    size_t size;
    uint8_t bytes[HS_SECRET_FILE_BYTES];
};

/*
 * Reads a secret: the content of the file, without a final newline. The secret must have at least
 * `min` and at most HS_SECRET_FILE_BYTES bytes, and the file must not be readable by everybody. On
 * failure returns NULL with a message in `error`. The caller frees the secret with hs_secret_free.
 */
struct hs_secret *hs_secret_read(const char *path, size_t min, char error[256]);
/* Overwrites and frees a secret. Does nothing for NULL. */
void hs_secret_free(struct hs_secret *secret);

#endif
