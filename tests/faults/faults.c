/*
 * The functions that `--wrap` puts in place of the C library's in hindsight-faults
 * (tests/support/faults.h).
 */
#include "tests/support/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The linker requires these names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__real_aligned_alloc(size_t unit, size_t size);
char *__real_strdup(const char *text);
ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t at);
ssize_t __real_writev(int fd, const struct iovec *parts, int count);
int __real_ftruncate(int fd, off_t size);
int __real_posix_fallocate(int fd, off_t at, off_t size);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_rename(const char *from, const char *to);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __real_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);
int __real_open(const char *path, int flags, ...);
int __real_openat(int fd, const char *path, int flags, ...);
int __real_clock_gettime(clockid_t clock, struct timespec *out);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_aligned_alloc(size_t unit, size_t size);
char *__wrap_strdup(const char *text);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t at);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int count);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_posix_fallocate(int fd, off_t at, off_t size);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);
int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
time_t __wrap_time(time_t *out);

static struct hs_faults *faults; /* NULL: nothing fails */

/* Counts a call. Returns 0, or the errno with which the call must fail. */
static int fault(enum hs_fault_kind kind)
{
    if (faults == NULL)
        return 0;
    struct hs_fault_plan *plan = &faults->plans[kind];
    long count = atomic_load(&plan->count), after = atomic_load(&plan->after);
    if (count == 0)
        return 0;
    long nth = atomic_fetch_add(&plan->seen, 1);
    if (nth < after || nth - after >= count)
        return 0;
    atomic_fetch_add(&plan->failed, 1);
    return atomic_load(&plan->error);
}

/* ---- memory ---- */

static bool has_no_memory(void)
{
    int error = fault(HS_FAULT_MEMORY);
    if (error != 0)
        errno = error;
    return error != 0;
}

void *__wrap_malloc(size_t size)
{
    return has_no_memory() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return has_no_memory() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
    return has_no_memory() ? NULL : __real_realloc(pointer, size);
}

void *__wrap_aligned_alloc(size_t unit, size_t size)
{
    return has_no_memory() ? NULL : __real_aligned_alloc(unit, size);
}

char *__wrap_strdup(const char *text)
{
    return has_no_memory() ? NULL : __real_strdup(text);
}

/* ---- files ---- */

static bool is_below(const char *path)
{
    size_t len = strlen(faults->directory);
    return strncmp(path, faults->directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_ours(int fd)
{
    char link[32], path[512];
    if (faults == NULL)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len < 0)
        return false;
    path[len] = '\0';
    return is_below(path);
}

static bool is_ours_at(int fd, const char *path)
{
    return faults != NULL && (path[0] == '/' ? is_below(path) : fd != AT_FDCWD && is_ours(fd));
}

/* Whether a call on a file of the data directory fails now; sets errno. */
static bool fails(enum hs_fault_kind kind, bool ours)
{
    int error = ours ? fault(kind) : 0;
    if (error != 0)
        errno = error;
    return error != 0;
}

/* Lets a write fail. Returns -1 with errno set, or the number of bytes that it still writes. */
static ssize_t fail_write(ssize_t half)
{
    static _Thread_local bool was_short;
    was_short = atomic_load(&faults->plans[HS_FAULT_WRITE].is_short) && !was_short && half > 0;
    return was_short ? half : -1;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (!fails(HS_FAULT_WRITE, is_ours(fd)))
        return __real_write(fd, bytes, size);
    ssize_t half = fail_write((ssize_t)(size / 2));
    return half < 0 ? -1 : __real_write(fd, bytes, (size_t)half);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    if (!fails(HS_FAULT_WRITE, is_ours(fd)))
        return __real_pwrite(fd, bytes, size, at);
    ssize_t half = fail_write((ssize_t)(size / 2));
    return half < 0 ? -1 : __real_pwrite(fd, bytes, (size_t)half, at);
}

ssize_t __wrap_writev(int fd, const struct iovec *parts, int count)
{
    if (!fails(HS_FAULT_WRITE, is_ours(fd)))
        return __real_writev(fd, parts, count);
    ssize_t half = count > 0 ? fail_write((ssize_t)(parts[0].iov_len / 2)) : -1;
    return half < 0 ? -1 : __real_write(fd, parts[0].iov_base, (size_t)half);
}

int __wrap_ftruncate(int fd, off_t size)
{
    return fails(HS_FAULT_WRITE, is_ours(fd)) ? -1 : __real_ftruncate(fd, size);
}

int __wrap_posix_fallocate(int fd, off_t at, off_t size)
{
    return fails(HS_FAULT_WRITE, is_ours(fd)) ? errno : __real_posix_fallocate(fd, at, size);
}

int __wrap_fsync(int fd)
{
    return fails(HS_FAULT_SYNC, is_ours(fd)) ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    return fails(HS_FAULT_SYNC, is_ours(fd)) ? -1 : __real_fdatasync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails(HS_FAULT_RENAME, is_ours_at(AT_FDCWD, to)) ? -1 : __real_rename(from, to);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    if (fails(HS_FAULT_RENAME, is_ours_at(to_fd, to)))
        return -1;
    return __real_renameat(from_fd, from, to_fd, to);
}

int __wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    if (fails(HS_FAULT_RENAME, is_ours_at(to_fd, to)))
        return -1;
    return __real_linkat(from_fd, from, to_fd, to, flags);
}

/* Returns the mode argument of open(), or 0 if the flags need none. */
static mode_t mode_of(int flags, va_list args)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
}

static bool is_written(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    if (is_written(flags) && fails(HS_FAULT_OPEN, is_ours_at(AT_FDCWD, path)))
        return -1;
    return __real_open(path, flags, mode);
}

int __wrap_openat(int fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    if (is_written(flags) && fails(HS_FAULT_OPEN, is_ours_at(fd, path)))
        return -1;
    return __real_openat(fd, path, flags, mode);
}

/* ---- the wall clock ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = __real_clock_gettime(clock, out);
    if (result != 0 || faults == NULL || clock != CLOCK_REALTIME)
        return result;
    long long us = (long long)out->tv_sec * 1000000 + out->tv_nsec / 1000 +
                   atomic_load(&faults->wall_shift_us);
    *out = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    return 0;
}

time_t __wrap_time(time_t *out)
{
    struct timespec now;
    __wrap_clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* ---- the plan ---- */

__attribute__((constructor)) static void take_plan(void)
{
    const char *path = getenv("HS_FAULTS");
    int file = path != NULL ? __real_open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped =
        mmap(NULL, sizeof(struct hs_faults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return;
    faults = mapped;
    json_set_alloc_funcs(__wrap_malloc, free);
}
