/* Runs the service until a signal ends it. */
#ifndef HS_SERVICE_SERVE_H
#define HS_SERVICE_SERVE_H

struct hs_options;       /* values.h: the configuration */
struct hs_options_input; /* values.h: arguments and environment */

/*
 * Loads rulesets, opens both listeners, and runs until SIGTERM or SIGINT. When the service is
 * ready, prints "hindsight VERSION ready data=http://ADDR:PORT admin=http://ADDR:PORT" (https with
 * TLS) on stdout. Reloads the configuration on SIGHUP (configuration.h), and drains before it ends.
 * `options` must be the result of reading `input`. Returns the exit code: 0 success, 1 failure, 2
 * configuration error.
 */
int hs_serve(const struct hs_options *options, const struct hs_options_input *input);

#endif
