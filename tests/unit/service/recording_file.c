#include "tests/unit/service/recording_file.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char hs_recording_path[128];
static char folder[64];

void hs_recording_set_up(void)
{
    strcpy(folder, "/tmp/hs-record-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(hs_recording_path, sizeof hs_recording_path, "%s/stream", folder);
}

void hs_recording_tear_down(void)
{
    unlink(hs_recording_path);
    rmdir(folder);
}

void hs_stalled_pipe_open(struct hs_stalled_pipe *pipe)
{
    *pipe = (struct hs_stalled_pipe){0};
    ck_assert_int_eq(mkfifo(hs_recording_path, 0600), 0);
    pipe->reader = open(hs_recording_path, O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(pipe->reader, 0);
}

static void *read_all(void *context)
{
    struct hs_stalled_pipe *pipe = context;
    char part[4096];
    fcntl(pipe->reader, F_SETFL, 0);
    for (ssize_t got; (got = read(pipe->reader, part, sizeof part)) > 0;)
        hs_buffer_append(&pipe->text, part, (size_t)got);
    hs_buffer_append(&pipe->text, "", 1);
    return NULL;
}

void hs_stalled_pipe_resume(struct hs_stalled_pipe *pipe)
{
    ck_assert_int_eq(pthread_create(&pipe->thread, NULL, read_all, pipe), 0);
}

void hs_stalled_pipe_join(struct hs_stalled_pipe *pipe)
{
    pthread_join(pipe->thread, NULL);
}

void hs_stalled_pipe_close(struct hs_stalled_pipe *pipe)
{
    hs_buffer_free(&pipe->text);
    close(pipe->reader);
}
