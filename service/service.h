/* The running service: the state that its parts share. */
#ifndef HS_SERVICE_SERVICE_H
#define HS_SERVICE_SERVICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "service/watch/log.h"
#include "validators/str.h"

struct hs_pool;           /* pool.h: runs long requests */
struct hs_checkpoint;     /* save.h: files from which a restart restores the state */
struct hs_evidence;       /* writer.h: the store of verdicts */
struct hs_events;         /* events.h: the newest verdicts, for streams */
struct hs_journal;        /* journal.h: payments since the last checkpoint */
struct hs_metrics;        /* metrics.h: counters, gauges and histograms */
struct hs_record;         /* recorder.h: the recording of requests */
struct hs_keyring;        /* tokens.h: the current tokens */
struct hs_registry;       /* registry.h: matches and their locks */
struct hs_map_entry;      /* state/maps.h: a map */
struct hs_map_store;      /* state/maps.h: maps by name */
struct hs_ruleset_store;  /* state/rulesets.h: rulesets by name */
struct hs_shared_matches; /* store/matches.h: matches in the store */
struct hs_sharing;        /* states.h: writes matches to the store */
struct hs_store;          /* store/store.h: the store that replicas share */
struct hs_takers;         /* takeover.h: takes over matches from other replicas */
struct hs_share;          /* share.h: a resource that tenants share */
struct hs_tenant_rates;   /* admission.h: request rates of tenants */
struct hs_webhook;        /* webhook.h: posts verdicts to a URL */
struct hs_options;        /* values.h: the configuration at the start, read-only */
struct hs_options_input;  /* values.h: arguments and environment of the program */

struct hs_service {
    const struct hs_options *options;
    struct hs_metrics *metrics;
    struct hs_registry *registry;
    struct hs_ruleset_store *rulesets;
    struct hs_map_store *maps;
    struct hs_share *bodies; /* memory for request bodies, except for uploads of maps */
    struct hs_pool *map_builder, *ruleset_builder;
    struct hs_pool *evidence_readers; /* runs the requests that read the evidence store */
    struct hs_share *exports;         /* running exports of the evidence store */
    struct hs_keyring *keyring;       /* NULL: the service requires no tokens */
    struct hs_record *record;         /* NULL: no recording */
    struct hs_tenant_rates *rates;    /* NULL: no rate limit */
    struct hs_checkpoint *checkpoint; /* NULL: no checkpoints */
    struct hs_journal *journal;       /* owned by `checkpoint`; NULL: no journal */
    /* NULL: replicas share no store; the pointers from here to `taker_pool` are then also NULL */
    struct hs_store *store;
    struct hs_shared_matches *shared;
    uint64_t journal_layout; /* the result of hs_journal_layout, which is slow */
    struct hs_sharing *sharing;
    struct hs_catalog *catalog;
    struct hs_takers *takers;
    struct hs_pool *taker_pool;   /* runs requests for matches that must first be taken over */
    struct hs_evidence *evidence; /* NULL: no evidence is stored */
    /* Stores the document of a new map as evidence. NULL: no evidence is stored. */
    void (*keep_map)(struct hs_service *service, const struct hs_map_entry *map,
                     struct hs_str document);
    struct hs_events *events;
    struct hs_webhook *webhook; /* NULL: no webhook */
    atomic_bool draining;       /* /readyz answers 404 */
    atomic_bool ready;
    struct hs_log_limit match_log; /* limits log lines about single matches */
    atomic_uint stuck[3];          /* number of stuck endpoints, by enum hs_listener */
};

#endif
