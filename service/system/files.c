#include "service/system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(int file, int error)
{
    close(file);
    errno = error;
    return -1;
}

int hs_file_open(int directory, const char *path, int flags)
{
    struct stat status;
    int file = openat(directory, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (file < 0)
        return -1;
    if (fstat(file, &status) != 0)
        return refuse(file, errno);
    if (S_ISREG(status.st_mode))
        return file;
    return refuse(file, S_ISDIR(status.st_mode) ? EISDIR : ENXIO);
}

int hs_file_create(int directory, const char *name)
{
    if (unlinkat(directory, name, 0) != 0 && errno != ENOENT)
        return -1;
    return hs_file_open(directory, name, O_WRONLY | O_CREAT | O_EXCL);
}

FILE *hs_file_read(const char *path)
{
    int file = hs_file_open(AT_FDCWD, path, O_RDONLY);
    FILE *stream = file >= 0 ? fdopen(file, "rb") : NULL;
    if (file >= 0 && stream == NULL)
        refuse(file, errno);
    return stream;
}

char *hs_file_rest(FILE *file, size_t max, size_t *size)
{
    char *bytes = file != NULL ? malloc(max + 1) : NULL;
    *size = bytes != NULL ? fread(bytes, 1, max + 1, file) : 0;
    int error = bytes == NULL || ferror(file) ? errno : *size > max ? EFBIG : 0;
    if (file != NULL)
        fclose(file);
    if (error == 0)
        return bytes;
    free(bytes);
    errno = error;
    return NULL;
}

bool hs_file_write(int file, struct iovec *parts, size_t count)
{
    while (count > 0) {
        ssize_t written = writev(file, parts, (int)count);
        if (written < 0 && errno != EINTR)
            return false;
        for (; count > 0 && written >= 0 && (size_t)written >= parts->iov_len; parts++, count--)
            written -= (ssize_t)parts->iov_len;
        if (count > 0 && written > 0) {
            parts->iov_base = (char *)parts->iov_base + written;
            parts->iov_len -= (size_t)written;
        }
    }
    return true;
}

const char *hs_file_error(int error)
{
    return error == ENXIO   ? "it is not a regular file"
           : error == EFBIG ? "too large"
                            : strerror(error);
}

DIR *hs_directory_open(int directory)
{
    int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = own >= 0 ? fdopendir(own) : NULL;
    if (own >= 0 && entries == NULL)
        refuse(own, errno);
    return entries;
}
