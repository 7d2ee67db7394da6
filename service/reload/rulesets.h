/* The directory of rulesets as a step of a reload. */
#ifndef HS_SERVICE_RULESET_RELOAD_H
#define HS_SERVICE_RULESET_RELOAD_H

#include "service/reload/sources.h"
#include "service/state/rulesets.h"

/* Takes every ruleset of `rules`, and refuses a configuration without its default ruleset. */
struct hs_reload_step hs_ruleset_reload_step(struct hs_ruleset_store *store);

#endif
