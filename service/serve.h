/* The running service: what the endpoints share. */
#ifndef HS_SERVICE_SERVE_H
#define HS_SERVICE_SERVE_H

#include <stdatomic.h>

#include "service/watch/log.h"

struct hs_pool;          /* pool.h: runs requests that take long */
struct hs_checkpoint;    /* checkpoint.h: what outlives the process */
struct hs_journal;       /* journal.h: what was paid since the last checkpoint */
struct hs_metrics;       /* metrics.h: counters and histograms, lock-free to write */
struct hs_record;        /* record.h: the requests, written down */
struct hs_keyring;       /* tokens.h: the tokens in force */
struct hs_registry;      /* registry.h: matches and their locks */
struct hs_map_store;     /* map_store.h: named worlds, swapped whole */
struct hs_ruleset_store; /* ruleset_store.h: named rulesets, swapped whole */
struct hs_share;         /* share.h: what tenants hold together, each its part */
struct hs_tenant_rates;  /* admission.h: what each tenant may send */
struct hs_options;       /* options.h: the configuration as it was at the start, read-only */
struct hs_options_input; /* options.h: what the program was started with */

struct hs_service {
    const struct hs_options *options;
    struct hs_metrics *metrics;
    struct hs_registry *registry;
    struct hs_ruleset_store *rulesets;
    struct hs_map_store *maps;
    struct hs_share *bodies; /* request bodies, except those of maps */
    struct hs_pool *map_builder, *ruleset_builder;
    struct hs_keyring *keyring;       /* NULL: no tokens are asked for */
    struct hs_record *record;         /* NULL: nothing is written down */
    struct hs_tenant_rates *rates;    /* NULL: as much as he likes */
    struct hs_checkpoint *checkpoint; /* NULL: nothing outlives the process */
    struct hs_journal *journal;       /* the checkpoint's; NULL: none is written */
    atomic_bool draining;             /* readyz answers 404 from now on */
    atomic_bool ready;
    struct hs_log_limit match_log; /* lines about single matches, which posts can cause */
    atomic_uint stuck[3]; /* by enum hs_listener: endpoints running for longer than they ever may */
};

/*
 * Runs until SIGTERM or SIGINT: loads rulesets, opens both listeners, prints the line
 *   hindsight VERSION ready data=http://ADDR:PORT admin=http://ADDR:PORT
 * (https with TLS) on stdout when it can be used, takes its configuration anew on SIGHUP
 * (configuration.h), drains at the end. `options` is what `input` was read to. Returns an exit code
 * (0 fine, 1 failed, 2 wrong usage or configuration).
 */
int hs_serve(const struct hs_options *options, const struct hs_options_input *input);

#endif
