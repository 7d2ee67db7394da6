/* The running service: what its parts share. */
#ifndef HS_SERVICE_SERVICE_H
#define HS_SERVICE_SERVICE_H

#include <stdatomic.h>

#include "service/watch/log.h"

struct hs_pool;          /* pool.h: runs long requests */
struct hs_checkpoint;    /* checkpoint.h: state that outlives the process */
struct hs_journal;       /* journal.h: payments since the last checkpoint */
struct hs_metrics;       /* metrics.h: counters and histograms, lock-free to write */
struct hs_record;        /* record.h: the requests, written down */
struct hs_keyring;       /* tokens.h: the tokens in force */
struct hs_registry;      /* registry.h: matches and their locks */
struct hs_map_store;     /* map_store.h: named worlds, swapped whole */
struct hs_ruleset_store; /* ruleset_store.h: named rulesets, swapped whole */
struct hs_share;         /* share.h: a resource that tenants share */
struct hs_tenant_rates;  /* admission.h: request rates of tenants */
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
    struct hs_tenant_rates *rates;    /* NULL: no limit */
    struct hs_checkpoint *checkpoint; /* NULL: nothing outlives the process */
    struct hs_journal *journal;       /* belongs to the checkpoint; NULL: none is written */
    atomic_bool draining;             /* readyz answers 404 from now on */
    atomic_bool ready;
    struct hs_log_limit match_log; /* lines about single matches, which posts can cause */
    atomic_uint stuck[3]; /* by enum hs_listener: endpoints running for longer than they ever may */
};

#endif
