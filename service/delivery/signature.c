#include "service/delivery/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/system/files.h"

/* Reads at most `size` bytes. Functions of stdio would keep a copy of them in a buffer. */
static bool read_bytes(int file, uint8_t *bytes, size_t size, size_t *got)
{
    ssize_t more = 1;
    for (*got = 0; *got < size && more > 0; *got += (size_t)more) {
        more = read(file, bytes + *got, size - *got);
        if (more < 0)
            return false;
    }
    return true;
}

struct hs_webhook_secret *hs_webhook_secret_read(const char *path, char error[256])
{
    struct stat status;
    uint8_t bytes[HS_WEBHOOK_SECRET_MAX +
                  3]; /* for a line end, and one byte more to detect a secret that is too long */
    size_t size = 0;
    struct hs_webhook_secret *secret = NULL;
    int file = hs_file_open(AT_FDCWD, path, O_RDONLY);
    bool is_read =
        file >= 0 && fstat(file, &status) == 0 && read_bytes(file, bytes, sizeof bytes, &size);
    if (!is_read)
        snprintf(error, 256, "cannot be read: %s", hs_file_error(errno));
    if (file >= 0)
        close(file);
    if (size > 0 && bytes[size - 1] == '\n')
        size--;
    if (size > 0 && bytes[size - 1] == '\r')
        size--;
    if (is_read && (status.st_mode & S_IROTH) != 0)
        snprintf(error, 256, "everybody can read it: chmod o-r");
    else if (is_read && (size < HS_WEBHOOK_SECRET_MIN || size > HS_WEBHOOK_SECRET_MAX))
        snprintf(error, 256, "must contain %d to %d bytes", HS_WEBHOOK_SECRET_MIN,
                 HS_WEBHOOK_SECRET_MAX);
    else if (is_read && (secret = malloc(sizeof *secret)) == NULL)
        snprintf(error, 256, "out of memory");
    if (secret != NULL) {
        secret->size = size;
        memcpy(secret->bytes, bytes, size);
    }
    explicit_bzero(bytes, sizeof bytes);
    return secret;
}

void hs_webhook_secret_free(struct hs_webhook_secret *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, sizeof *secret);
    free(secret);
}

void hs_webhook_sign(const struct hs_webhook_secret *secret, int64_t seconds, struct hs_str body,
                     char out[HS_SIGNATURE_SIZE])
{
    struct hmac_sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char time[24];
    int len = snprintf(time, sizeof time, "%" PRId64 ".", seconds);
    hmac_sha256_set_key(&context, secret->size, secret->bytes);
    hmac_sha256_update(&context, (size_t)len, (const uint8_t *)time);
    hmac_sha256_update(&context, body.len, (const uint8_t *)body.ptr);
    hmac_sha256_digest(&context, sizeof digest, digest);
    explicit_bzero(&context, sizeof context);
    len = snprintf(out, HS_SIGNATURE_SIZE, "t=%" PRId64 ",v1=", seconds);
    base16_encode_update(out + len, sizeof digest, digest);
    out[(size_t)len + BASE16_ENCODE_LENGTH(sizeof digest)] = '\0';
}
