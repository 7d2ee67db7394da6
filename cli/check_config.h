/* `hindsight check-config`: what is wrong with a configuration before it is used. */
#ifndef HS_SERVICE_CHECK_CONFIG_H
#define HS_SERVICE_CHECK_CONFIG_H

#include <stdio.h>

/*
 * argv[1] is the file, what follows are options of `hindsight serve` but --config and
 * --help. Writes the configuration in
 * effect and "ok", or a line for each problem. A file that is a ruleset is checked as one.
 * Warnings of good rulesets (hs_ruleset_warn) go to standard error. Returns the exit code: 0 ok,
 * also with warnings; 1 problems.
 */
int hs_check_config(int argc, char *const *argv, char *const *environment, FILE *to);

#endif
