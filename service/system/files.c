#include "service/system/files.h"

#include <errno.h>
#include <fcntl.h>
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

const char *hs_file_error(int error)
{
    return error == ENXIO ? "it is not a regular file" : strerror(error);
}
