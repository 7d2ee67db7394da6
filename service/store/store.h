/*
 * The store that replicas share: a Redis (or Valkey) server. Each replica uses three links to the
 * server (link.h), so that short commands never wait behind large writes or large replies.
 * Thread-safe.
 *
 * To send a command, fill in a struct hs_store_call and submit it; the thread of the link passes
 * the reply to `done`. A thread that may wait can use hs_store_ask instead. All keys begin with
 * "hs:v1:". The keys for one match contain the same {tag}, so that a cluster stores these keys in
 * one slot. The keys for rulesets and maps contain another {tag}.
 */
#ifndef HS_SERVICE_STORE_H
#define HS_SERVICE_STORE_H

#include "service/store/link.h"

struct hs_store;

enum hs_store_lane {
    HS_STORE_URGENT, /* short commands that requests wait for */
    HS_STORE_READS,  /* commands with large replies that requests wait for; patient (link.h) */
    HS_STORE_BULK,   /* everything else */
    HS_STORE_LANES
};

/*
 * Starts the links. The server need not be reachable. `addresses`: HOST:PORT,HOST:PORT...,
 * borrowed; each link uses only a server that accepts writes. `password_file`: "" if the server
 * needs no password. `metrics` must outlive the store. Returns NULL with a message in `error` on
 * failure.
 */
struct hs_store *hs_store_start(const char *addresses, const char *password_file,
                                struct hs_metrics *metrics, char error[256]);

/* Waits up to `wait_us` until all links are up. Without this wait, a replica would start without
   the rulesets and maps of other replicas. Matches that move to the replica in its first
   milliseconds would start empty. */
void hs_store_wait_until_up(const struct hs_store *store, int64_t wait_us);

/* Waits up to `wait_us` for missing replies, and then stops the links and frees the store. Does
   nothing for NULL. */
void hs_store_stop(struct hs_store *store, int64_t wait_us);

/* See hs_store_link_submit. */
bool hs_store_submit(struct hs_store *store, enum hs_store_lane lane, struct hs_store_call *call,
                     const struct hs_store_script *script, const struct hs_str *arguments,
                     size_t count);

/* From now on, hs_store_ask sends nothing and returns LOST, so that threads that call hs_store_ask
   can stop soon. */
void hs_store_end_asking(struct hs_store *store);

/* Sends a command and waits up to `wait_us` for its result (budget_us in link.h). If the result is
   OK or REFUSED, the caller frees *reply with freeReplyObject. After LOST, the server may still run
   the command. */
enum hs_store_result hs_store_ask(struct hs_store *store, enum hs_store_lane lane,
                                  enum hs_store_op op, int64_t wait_us,
                                  const struct hs_store_script *script,
                                  const struct hs_str *arguments, size_t count,
                                  struct redisReply **reply);

bool hs_store_is_up(const struct hs_store *store, enum hs_store_lane lane);

/* See hs_store_link_is_late. */
bool hs_store_is_late(const struct hs_store *store, enum hs_store_lane lane, int64_t budget_us);

/* Returns how many connections all links together have made so far. If this number grows, the store
   may have lost data. */
unsigned hs_store_connections(const struct hs_store *store);

/* See hs_store_link_backlog. */
size_t hs_store_backlog(const struct hs_store *store, enum hs_store_lane lane);

#endif
