/*
 * One connection to a Redis (or Valkey) server. Any thread may submit commands. Commands are
 * pipelined: each is sent at once, before the replies to earlier commands arrive. The thread of the
 * link receives the replies, and sends the bytes that the socket did not accept at once.
 *
 * A connection counts as broken if a reply is missing and the server has sent nothing for
 * HS_STORE_TIMEOUT_US. A connection also counts as broken if the server is a replica, or still
 * loads its data. The link then closes the connection, so that a late reply is never mistaken for
 * the reply to another command. The link reports all commands as lost, and connects to the next
 * address in the list. The pauses between attempts grow. An idle link sends a PING every
 * HS_STORE_PING_US. Thread-safe.
 */
#ifndef HS_SERVICE_STORE_LINK_H
#define HS_SERVICE_STORE_LINK_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/watch/labels.h"
#include "validators/str.h"

struct hs_metrics;
struct hs_secret;
struct hs_store_link;

enum {
    /* A connection counts as broken after this time without bytes from the server. A longer time
       would delay the detection of a hanging server. With a shorter time, a server that is busy
       with one long command would lose its connections. */
    HS_STORE_TIMEOUT_US = 500000,
    HS_STORE_PING_US = 200000,
    HS_STORE_PAUSE_US = 20000, /* the pause after the first failure; each later pause is twice as
                                  long as the previous pause */
    HS_STORE_LONGEST_PAUSE_US = 1000000,
    HS_STORE_BACKLOG = 64 << 20, /* max total size of commands without a reply */
    /* After this many consecutive late commands, the link counts as slow, and requests should not
       wait for replies on this link. After the next command or PING that is in time, the link
       counts as fast again. */
    HS_STORE_LATE_MAX = 3,
    HS_STORE_SLOW_US = 5000, /* a PING is in time if its reply takes less than HS_STORE_SLOW_US */
    /* The longest wait for a command on a patient link (is_patient below). With a longer time,
       clients would wait without result for a server that only sends a few bytes now and then. With
       a shorter time, more matches would start empty when many replicas fail at once
       (docs/scaling.md). */
    HS_STORE_PATIENCE_US = 5000000,
};

enum hs_store_result {
    HS_STORE_OK,      /* there is a reply that is not an error */
    HS_STORE_REFUSED, /* the server answered with an error */
    HS_STORE_LOST     /* there is no reply; the server may or may not have run the command */
};

/* A Lua script. Initialize the structure with hs_store_script_init. */
struct hs_store_script {
    const char *text;
    char sha1[41];
};

void hs_store_script_init(struct hs_store_script *script, const char *text);

/*
 * A command. The structure must stay valid until `done` has been called. The thread of the link
 * calls `late` and `done`. These two functions must be short and must not wait, but they may submit
 * commands.
 */
struct hs_store_call {
    enum hs_store_op op;
    /* If there is no reply within `budget_us`, `late` is called once, before `done`. If `budget_us`
       is 0, `late` is never called. On a patient link, `budget_us` includes only the time in which
       the server sends nothing. */
    int64_t budget_us;
    void (*late)(struct hs_store_call *call);
    /* *reply is not NULL if the result is OK or REFUSED. The link frees the reply afterwards. To
       keep the reply, copy the pointer, set *reply to NULL, and free the reply later with
       freeReplyObject. */
    void (*done)(struct hs_store_call *call, enum hs_store_result result,
                 struct redisReply **reply);
    /* Only the link uses the following members. */
    const struct hs_store_script *script;
    struct hs_store_call *next;
    char *bytes;       /* the encoded command */
    size_t size, head; /* head: for a script, size of the bytes before the first argument */
    int count;         /* number of arguments, including the command name */
    int64_t began_us, sent_us, late_us;
};

struct hs_store_link_settings {
    const char *addresses;          /* HOST:PORT,HOST:PORT...; borrowed */
    const struct hs_secret *secret; /* password, borrowed; NULL: none */
    struct hs_metrics *metrics;
    /* True: the link is patient, for commands with large replies. While the server is still
       sending, a command becomes late only HS_STORE_PATIENCE_US after it was submitted. */
    bool is_patient;
    void (*changed)(void *context, bool is_up); /* called on the thread of the link */
    void *context;
};

/* Starts the thread, which connects to the server. Returns NULL if memory runs out or the thread
   cannot start. */
struct hs_store_link *hs_store_link_start(const struct hs_store_link_settings *settings);

/* Waits up to `wait_us` for missing replies. Then stops the thread and reports all commands without
   a reply as lost. The link stays down. Does nothing for NULL. */
void hs_store_link_stop(struct hs_store_link *link, int64_t wait_us);

/* Frees a stopped link. Does nothing for NULL. */
void hs_store_link_free(struct hs_store_link *link);

enum { HS_STORE_ARGUMENTS = 12 };

/* Submits a command. Copies up to HS_STORE_ARGUMENTS arguments. If the command is a script, the
   first argument is the number of keys. Returns false, and calls neither `late` nor `done`, if the
   link is down, the backlog is full, or memory runs out. */
bool hs_store_link_submit(struct hs_store_link *link, struct hs_store_call *call,
                          const struct hs_store_script *script, const struct hs_str *arguments,
                          size_t count);

bool hs_store_link_is_up(const struct hs_store_link *link);
/* Returns true if a reply within `budget_us` is unlikely, so that requests should not wait. A reply
   is unlikely if the link is down, or if the link counts as slow (HS_STORE_LATE_MAX) and the newest
   command took at least `budget_us`. */
bool hs_store_link_is_late(const struct hs_store_link *link, int64_t budget_us);
/* Returns the total size of the commands without a reply, in bytes. */
size_t hs_store_link_backlog(const struct hs_store_link *link);

#endif
