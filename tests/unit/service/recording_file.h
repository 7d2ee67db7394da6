/* Makes the file of a recording in a separate folder, and can make the disk hang. Failures end the
   test. */
#ifndef HS_TESTS_RECORDING_FILE_H
#define HS_TESTS_RECORDING_FILE_H

#include <pthread.h>

#include "api/json/buffer.h"

/* A path in the folder that the fixture makes and removes. */
extern char hs_recording_path[128];

void hs_recording_set_up(void);
void hs_recording_tear_down(void);

/* A pipe at hs_recording_path. While nobody reads from it, it behaves like a disk that hangs. */
struct hs_stalled_pipe {
    int reader;
    pthread_t thread;
    struct hs_buffer
        text; /* all that was written, with a terminator; set by hs_stalled_pipe_join */
};

void hs_stalled_pipe_open(struct hs_stalled_pipe *pipe);

/* Lets the disk work again: a thread reads until the writer closes. */
void hs_stalled_pipe_resume(struct hs_stalled_pipe *pipe);
void hs_stalled_pipe_join(struct hs_stalled_pipe *pipe);
void hs_stalled_pipe_close(struct hs_stalled_pipe *pipe);

#endif
