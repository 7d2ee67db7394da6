/* The reload step for the directory of rulesets. */
#ifndef HS_SERVICE_RULESET_RELOAD_H
#define HS_SERVICE_RULESET_RELOAD_H

#include "service/reload/sources.h"
#include "service/state/rulesets.h"

/* Puts every ruleset of the directory `rules`. A missing default ruleset is a fault. */
struct hs_reload_step hs_ruleset_reload_step(struct hs_ruleset_store *store);

#endif
