/*
 * One connection to a Redis server (or Valkey). Any thread may submit commands. Commands are sent
 * at once, in the order of the calls, before the replies to earlier commands arrive. A thread of
 * the link reads and reports the replies. The thread also sends the bytes that did not fit into the
 * socket at once.
 *
 * If the connection breaks, or a reply takes longer than HS_STORE_TIMEOUT_US, the link frees the
 * connection and never uses it again: a late reply could be mistaken for the reply to another
 * command. The link then reports all commands as lost and connects again, with growing pauses, to
 * the next address of the list. A connection to a server that is a replica, or that still loads its
 * data, counts as broken. An idle link sends a PING every HS_STORE_PING_US. Thread-safe.
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
    /* If this time is longer, a hanging server is detected later. If it is shorter, a server that
       is busy with a long command loses its connections. */
    HS_STORE_TIMEOUT_US = 500000,
    HS_STORE_PING_US = 200000,
    HS_STORE_PAUSE_US = 20000, /* after the first failure; each further pause is twice as long */
    HS_STORE_LONGEST_PAUSE_US = 1000000,
    HS_STORE_BACKLOG = 64 << 20, /* max bytes of commands without a reply */
    /* After this many late commands in a row, the link counts as slow, and requests should not wait
       for it. The link no longer counts as slow after one command or PING in time. */
    HS_STORE_LATE_MAX = 3,
    HS_STORE_SLOW_US = 5000, /* a PING with a faster reply is in time */
    /* The longest wait on a patient link. If this time is longer, clients wait in vain for a server
       that sends a few bytes now and then. If it is shorter, more matches start empty when many
       replicas fail at once (docs/scaling.md). */
    HS_STORE_PATIENCE_US = 5000000,
};

enum hs_store_result {
    HS_STORE_OK,      /* there is a reply, and it is not an error */
    HS_STORE_REFUSED, /* the server answered with an error */
    HS_STORE_LOST     /* no reply: the server may have run the command or not */
};

/* A Lua script. Set it up with hs_store_script_init. */
struct hs_store_script {
    const char *text;
    char sha1[41];
};

void hs_store_script_init(struct hs_store_script *script, const char *text);

/*
 * A command. The structure must stay valid until `done` has been called. The thread of the link
 * calls `late` and `done`, which must be short and must not wait; they may submit commands.
 */
struct hs_store_call {
    enum hs_store_op op;
    /* If there is no reply after `budget_us`, `late` is called, once, before `done`. If `budget_us`
       is 0, `late` is never called. On a patient link, the budget counts only the time in which the
       server sends nothing. */
    int64_t budget_us;
    void (*late)(struct hs_store_call *call);
    /* `reply`: a reply if the result is OK or REFUSED. The link frees the reply after this call. To
       prevent this, copy the pointer and set `*reply` to NULL; later free the reply with
       freeReplyObject. */
    void (*done)(struct hs_store_call *call, enum hs_store_result result,
                 struct redisReply **reply);
    /* The link uses the following members. */
    const struct hs_store_script *script;
    struct hs_store_call *next;
    char *bytes;       /* the command as it is sent */
    size_t size, head; /* head: for a script, size of the command up to the number of keys */
    int count;         /* number of arguments, including the name of the command */
    int64_t began_us, sent_us, late_us;
};

struct hs_store_link_settings {
    const char *addresses;          /* HOST:PORT,HOST:PORT...; borrowed */
    const struct hs_secret *secret; /* the password, borrowed; NULL: no password */
    struct hs_metrics *metrics;
    /* For large replies: while the server sends such a reply, the commands that wait behind it are
       late only after HS_STORE_PATIENCE_US. */
    bool is_patient;
    void (*changed)(void *context, bool is_up); /* called by the thread of the link */
    void *context;
};

/* Starts the thread, which connects to the server. NULL: out of memory or threads. */
struct hs_store_link *hs_store_link_start(const struct hs_store_link_settings *settings);

/* Waits up to `wait_us` for missing replies, reports commands that still have no reply as lost, and
   ends the thread. After that, the link stays down. Does nothing for NULL. */
void hs_store_link_stop(struct hs_store_link *link, int64_t wait_us);

/* Frees a stopped link. Does nothing for NULL. */
void hs_store_link_free(struct hs_store_link *link);

enum { HS_STORE_ARGUMENTS = 12 };

/* Submits a command of up to HS_STORE_ARGUMENTS arguments, which are copied. With a script, the
   arguments begin with the number of keys. False: the link is down, its backlog is full, or memory
   ran out. In these cases, neither `late` nor `done` is called. */
bool hs_store_link_submit(struct hs_store_link *link, struct hs_store_call *call,
                          const struct hs_store_script *script, const struct hs_str *arguments,
                          size_t count);

bool hs_store_link_is_up(const struct hs_store_link *link);
/* Returns whether a reply within `budget_us` is unlikely, so that requests should not wait. That is
   the case if the link is down, or if the newest commands were late and the newest one took at
   least `budget_us`. */
bool hs_store_link_is_late(const struct hs_store_link *link, int64_t budget_us);
/* Returns the total size in bytes of the commands without a reply. */
size_t hs_store_link_backlog(const struct hs_store_link *link);

#endif
