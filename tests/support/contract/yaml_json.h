/*
 * Reads a YAML file as a jansson value, so the same tools work for contracts, requests and answers.
 */
#ifndef HS_TESTS_YAML_JSON_H
#define HS_TESTS_YAML_JSON_H

#include <jansson.h>

/*
 * Loads one document with the plain scalars of YAML 1.2's core schema. Constructs that YAML 1.1 and
 * 1.2, or two tools, read differently are faults: plain yes/no/on/off, repeated keys, keys that are
 * not scalars, aliases. Returns NULL on failure, with a sentence and a line in `error`. The caller
 * owns the value.
 */
json_t *hs_test_yaml_load(const char *path, char error[256]);

#endif
