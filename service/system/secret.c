#include "service/system/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/system/files.h"

/* Reads at most `size` bytes. Does not use stdio, because a stdio buffer would keep a copy of the
   secret. */
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

struct hs_secret *hs_secret_read(const char *path, size_t min, char error[256])
{
    struct stat status;
    /* two more bytes for a CRLF at the end, and one more to detect a secret that is too long */
    uint8_t bytes[HS_SECRET_FILE_BYTES + 3];
    size_t size = 0;
    struct hs_secret *secret = NULL;
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
    else if (is_read && (size < min || size > HS_SECRET_FILE_BYTES))
        snprintf(error, 256, "must contain %zu to %d bytes", min, HS_SECRET_FILE_BYTES);
    else if (is_read && (secret = malloc(sizeof *secret)) == NULL)
        snprintf(error, 256, "out of memory");
    if (secret != NULL) {
        secret->size = size;
        memcpy(secret->bytes, bytes, size);
    }
    explicit_bzero(bytes, sizeof bytes);
    return secret;
}

void hs_secret_free(struct hs_secret *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, sizeof *secret);
    free(secret);
}
