/*
 * Lines on their way into a file: any thread puts them, one thread of the queue's own writes them,
 * in the order they were put. Putting never waits for the disk; what waits to be written is bounded
 * in bytes, and what does not fit is refused. Thread-safe.
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
 * Opens a file for appending, and starts to write what is put. A line that an earlier writer did
 * not finish is ended first. NULL with a sentence in `error`: the file cannot be opened, or another
 * process writes to it.
 */
struct hs_line_queue *hs_line_queue_open(const char *path, size_t max_bytes, char error[256]);

/* Writes what was put, and ends. NULL is fine. */
void hs_line_queue_close(struct hs_line_queue *queue);

/*
 * Takes the bytes over, whole lines, and leaves `lines` empty. False, and they are the caller's
 * still: there is no room, memory was out when they were written, or the file failed.
 */
bool hs_line_queue_put(struct hs_line_queue *queue, struct hs_buffer *lines);

/*
 * Waits until the bytes fit into the queue, until `until_us` (monotonic) at most. False: they do
 * not fit, or the file failed. For the start of the service, when no request waits.
 */
bool hs_line_queue_wait(struct hs_line_queue *queue, size_t bytes, int64_t until_us);

/* As hs_line_queue_put, bound or not: for short lines that must be there. */
bool hs_line_queue_put_last(struct hs_line_queue *queue, struct hs_buffer *lines);

/*
 * As hs_line_queue_put, for a line of which a large part stays where it is: `head`, `body` and then
 * "}" and the line's end. Line ends inside `body` become blanks. `done` is called with `holder`
 * when `body` is no longer needed, from the queue's thread, or at once where the answer is false.
 * Only `head` counts against the bound.
 */
bool hs_line_queue_put_around(struct hs_line_queue *queue, struct hs_buffer *head,
                              struct hs_str body, void (*done)(void *holder), void *holder);

/* Bytes that wait. */
size_t hs_line_queue_bytes(struct hs_line_queue *queue);

#endif
