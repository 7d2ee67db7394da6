/*
 * The store that replicas share: a Redis server (or Valkey), reached through three links (link.h),
 * so that short commands never wait behind large writes or large replies. Thread-safe.
 *
 * To send a command, fill a struct hs_store_call and submit it; the thread of the link passes the
 * reply to `done`. A thread that may wait can use hs_store_ask instead. Keys begin with "hs:v1:";
 * keys of one match or one resource have the same {tag}, so that they are in one slot of a cluster.
 */
#ifndef HS_SERVICE_STORE_H
#define HS_SERVICE_STORE_H

#include "service/store/link.h"

struct hs_store;

enum hs_store_lane {
    HS_STORE_URGENT, /* short commands, which requests wait for */
    HS_STORE_READS,  /* commands with large replies, which requests wait for; patient (link.h) */
    HS_STORE_BULK,   /* everything else */
    HS_STORE_LANES
};

/*
 * Starts the links. `addresses`: HOST:PORT,HOST:PORT..., of which one accepts writes; borrowed.
 * `password_file`: "" if the server needs no password. The metrics must outlive the store. On
 * failure returns NULL, with a message in `error`. The store need not be reachable.
 */
struct hs_store *hs_store_start(const char *addresses, const char *password_file,
                                struct hs_metrics *metrics, char error[256]);

/* Waits until the store is up, at most `wait_us`. Without this wait, matches that move to this
   replica in its first milliseconds would start empty, and the replica would start without the
   rulesets and maps of other replicas. */
void hs_store_wait_until_up(const struct hs_store *store, int64_t wait_us);

/* Waits up to `wait_us` for missing replies. After that, ends the links and frees the store. Does
   nothing for NULL. */
void hs_store_stop(struct hs_store *store, int64_t wait_us);

/* See hs_store_link_submit. */
bool hs_store_submit(struct hs_store *store, enum hs_store_lane lane, struct hs_store_call *call,
                     const struct hs_store_script *script, const struct hs_str *arguments,
                     size_t count);

/* Makes hs_store_ask return LOST without sending anything, so that threads which call it can end
   soon. */
void hs_store_end_asking(struct hs_store *store);

/* Sends a command with the budget `wait_us`, and waits for its result until the command is late
   (link.h). With OK and REFUSED, the caller frees the reply with freeReplyObject. After LOST, the
   server may still run the command. */
enum hs_store_result hs_store_ask(struct hs_store *store, enum hs_store_lane lane,
                                  enum hs_store_op op, int64_t wait_us,
                                  const struct hs_store_script *script,
                                  const struct hs_str *arguments, size_t count,
                                  struct redisReply **reply);

bool hs_store_is_up(const struct hs_store *store, enum hs_store_lane lane);

/* See hs_store_link_is_late. */
bool hs_store_is_late(const struct hs_store *store, enum hs_store_lane lane, int64_t budget_us);

/* Returns how often a link came up. If the number grows, the store may have lost its contents. */
unsigned hs_store_connections(const struct hs_store *store);

/* Returns the total size in bytes of the commands without a reply. */
size_t hs_store_backlog(const struct hs_store *store, enum hs_store_lane lane);

#endif
