/* The reload steps for the directory of rulesets, the token file and the secret of the webhook. */
#ifndef HS_SERVICE_RELOAD_STEPS_H
#define HS_SERVICE_RELOAD_STEPS_H

#include "service/access/tokens.h"
#include "service/delivery/webhook.h"
#include "service/reload/sources.h"
#include "service/state/rulesets.h"

/* Loads all rulesets from the directory in the option `rules`. A missing default ruleset is a
   fault. */
struct hs_reload_step hs_ruleset_reload_step(struct hs_ruleset_store *store);

/* Applies the tokens in the file `token_file`. `keyring` is NULL if the service was started without
   tokens. A reload cannot change whether the service needs tokens. */
struct hs_reload_step hs_token_reload_step(struct hs_keyring *keyring);

/* Applies the secret in the file `webhook_secret_file`. `webhook` is NULL if the service was
   started without a webhook. */
struct hs_reload_step hs_webhook_reload_step(struct hs_webhook *webhook);

#endif
