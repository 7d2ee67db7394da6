/* A YAML file as a jansson value, so that one set of tools reads contracts, requests and answers.
 */
#ifndef HS_TESTS_YAML_JSON_H
#define HS_TESTS_YAML_JSON_H

#include <jansson.h>

/*
 * Loads one document with the plain scalars of YAML 1.2's core schema. What YAML 1.1 and 1.2, or
 * two tools, read differently is a fault: plain yes/no/on/off, keys that stand twice, keys that
 * are not scalars, aliases. NULL with a sentence and a line in `error`; the caller owns the value.
 */
json_t *hs_test_yaml_load(const char *path, char error[256]);

#endif
