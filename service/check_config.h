/* `hindsight check-config`: what is wrong with a configuration before it is used. */
#ifndef HS_SERVICE_CHECK_CONFIG_H
#define HS_SERVICE_CHECK_CONFIG_H

#include <stdio.h>

/* Writes "ok" or a line for each problem. Returns the exit code: 0 ok, 1 problems. */
int hs_check_config(const char *path, FILE *to);

#endif
