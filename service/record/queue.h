/*
 * A queue of lines. The queue's own thread appends the lines to a file, in order. Callers never
 * wait for the disk. The queue has a limit in bytes, and refuses lines that do not fit.
 * Thread-safe.
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
 * Opens a file for appending and starts the thread. If the last line of the file is incomplete,
 * because an earlier writer was interrupted, first adds a newline. Returns NULL with a message in
 * `error` on failure, for example because another process writes to the file.
 */
struct hs_line_queue *hs_line_queue_open(const char *path, size_t max_bytes, char error[256]);

/* Writes the queued lines, stops the thread and frees the queue. Does nothing for NULL. */
void hs_line_queue_close(struct hs_line_queue *queue);

/* Queues complete lines. Takes over the bytes of `lines` and leaves `lines` empty. Returns false if
   the lines do not fit, lines->failed is set, memory ran out, or the file could not be written. In
   this case, the caller still owns the bytes. */
bool hs_line_queue_put(struct hs_line_queue *queue, struct hs_buffer *lines);

/* Waits until `bytes` bytes fit into the queue, but not longer than `until_us` (hs_clock_us).
   Returns false if this time passes first, or if the file could not be written. Call this function
   only while the service starts. */
bool hs_line_queue_wait(struct hs_line_queue *queue, size_t bytes, int64_t until_us);

/* Like hs_line_queue_put, but ignores the limit. For short lines that must be written. */
bool hs_line_queue_put_last(struct hs_line_queue *queue, struct hs_buffer *lines);

/*
 * Like hs_line_queue_put, for a line with a large part that is not copied. The line consists of
 * `head`, `body`, "}" and a newline. Newlines inside `body` become spaces. Calls `done` with
 * `holder` when `body` is no longer needed: on the queue's thread, or at once if the result is
 * false. Only `head` counts towards the limit.
 */
bool hs_line_queue_put_around(struct hs_line_queue *queue, struct hs_buffer *head,
                              struct hs_str body, void (*done)(void *holder), void *holder);

/* Returns the number of queued bytes that count towards the limit. */
size_t hs_line_queue_bytes(struct hs_line_queue *queue);

#endif
