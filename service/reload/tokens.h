/* The reload step for the token file. */
#ifndef HS_SERVICE_TOKEN_RELOAD_H
#define HS_SERVICE_TOKEN_RELOAD_H

#include "service/access/tokens.h"
#include "service/reload/sources.h"

/*
 * Applies the tokens of `token_file`. `keyring` is NULL if the service was started without tokens.
 * Whether tokens are needed changes only with a restart.
 */
struct hs_reload_step hs_token_reload_step(struct hs_keyring *keyring);

/* Only reads and checks, for `check-config`. */
struct hs_reload_step hs_token_check_step(void);

#endif
