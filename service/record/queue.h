/*
 * A queue of lines. The queue's own thread appends them to a file, in order. A caller that adds
 * lines never waits for the disk. The queue has a limit in bytes, and refuses lines that do not
 * fit. Thread-safe.
 */
#ifndef HS_SERVICE_LINE_QUEUE_H
#define HS_SERVICE_LINE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/json/buffer.h"
#include "validators/str.h"

struct hs_line_queue;

/*
 * Opens a file for appending and starts the thread. Ends an incomplete line of an earlier writer
 * first. Returns NULL with a message in `error` if the file cannot be opened, or another process
 * writes to it.
 */
struct hs_line_queue *hs_line_queue_open(const char *path, size_t max_bytes, char error[256]);

/* Writes the waiting lines, and then ends the queue. Does nothing for NULL. */
void hs_line_queue_close(struct hs_line_queue *queue);

/* Adds complete lines. Takes ownership of the bytes and leaves `lines` empty. Returns false if the
   bytes do not fit, `lines` has failed for lack of memory, or the file failed. On failure, the
   caller still owns the bytes. */
bool hs_line_queue_put(struct hs_line_queue *queue, struct hs_buffer *lines);

/* Waits until the bytes fit into the queue, at most until `until_us` (monotonic). Returns false if
   they do not fit, or the file failed. Call it only at the start of the service, before there are
   requests. */
bool hs_line_queue_wait(struct hs_line_queue *queue, size_t bytes, int64_t until_us);

/* Works like hs_line_queue_put, but ignores the limit of the queue. Use it only for short lines
   that must be written. */
bool hs_line_queue_put_last(struct hs_line_queue *queue, struct hs_buffer *lines);

/*
 * Works like hs_line_queue_put, for a line with a large part that is not copied. The line consists
 * of `head`, `body`, "}" and a line end. Line ends inside `body` are written as spaces. `done` is
 * called with `holder` when `body` is no longer needed: in the queue's thread, or at once if the
 * result is false. Only `head` counts towards the limit.
 */
bool hs_line_queue_put_around(struct hs_line_queue *queue, struct hs_buffer *head,
                              struct hs_str body, void (*done)(void *holder), void *holder);

/* Returns the number of bytes that wait to be written. */
size_t hs_line_queue_bytes(struct hs_line_queue *queue);

#endif
