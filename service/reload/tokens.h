/* The token file as a step of a reload. */
#ifndef HS_SERVICE_TOKEN_RELOAD_H
#define HS_SERVICE_TOKEN_RELOAD_H

#include "service/access/tokens.h"
#include "service/reload/sources.h"

/*
 * Takes the tokens of `token_file`. `keyring` NULL: the service was started without one, and asks
 * for none until it is started again; the other way round likewise.
 */
struct hs_reload_step hs_token_reload_step(struct hs_keyring *keyring);

/* Only reads and checks, for `check-config`. */
struct hs_reload_step hs_token_check_step(void);

#endif
