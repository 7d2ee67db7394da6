/*
 * The configuration of `hindsight serve`. One list (options.def) gives the struct, the defaults,
 * the help, the environment variables and the keys of the configuration file. What is given
 * later wins: defaults, then the file, the environment, the command line.
 */
#ifndef HS_SERVICE_OPTIONS_H
#define HS_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "api/problem.h"
#include "validators/str.h"

enum { HS_OPTION_TEXT_MAX = 256 };

struct hs_options {
#define HS_OPTION_TEXT(field, name, initial, argument, help)   char field[HS_OPTION_TEXT_MAX];
#define HS_OPTION_BOOL(field, name, initial, help)             bool field;
#define HS_OPTION_NUMBER(field, name, initial, min, max, help) size_t field;
#include "service/options.def"
#undef HS_OPTION_TEXT
#undef HS_OPTION_BOOL
#undef HS_OPTION_NUMBER
};

void hs_options_default(struct hs_options *options);

/*
 * Takes a configuration document. Every bad key is noted in `problem` with its pointer; the good
 * ones are taken all the same. `problem` was initialised by the caller.
 */
void hs_options_from_json(struct hs_str text, struct hs_options *options,
                          struct hs_problem *problem);

/* The same from a file; one that cannot be read is a problem too. */
void hs_options_from_file(const char *path, struct hs_options *options, struct hs_problem *problem);

/* Notes what does not go together: a bad address, openness beyond loopback. Pointers name keys. */
void hs_options_check(const struct hs_options *options, struct hs_problem *problem);

enum hs_options_result { HS_OPTIONS_OK, HS_OPTIONS_HELP, HS_OPTIONS_WRONG };

/*
 * Reads everything `hindsight serve` was started with: the file named by --config or
 * HINDSIGHT_CONFIG, the variables of `environment` ("NAME=value", closed by NULL), then the
 * arguments after argv[0]. HELP: --help was asked for. WRONG: `error` says what is.
 */
enum hs_options_result hs_options_read(int argc, char *const *argv, char *const *environment,
                                       struct hs_options *options, char error[512]);

/* Writes the list of options with their defaults. */
void hs_options_help(FILE *to);

#endif
