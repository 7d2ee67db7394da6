/*
 * The configuration of `hindsight serve`. options.def defines the struct, the defaults, the help,
 * the environment variables and the keys of the configuration file. If several sources set an
 * option, the command line takes precedence, then the environment, then the file.
 */
#ifndef HS_SERVICE_OPTIONS_H
#define HS_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "api/http/problem.h"
#include "validators/str.h"

enum {
    HS_OPTION_TEXT_MAX = 256,
    HS_OPTIONS_FAULTS_MAX = 8192, /* size of `faults_text` in hs_options_read */
};

/* The rows of options.def, including section titles. */
enum hs_option {
#define HS_OPTION_SECTION(id, title)                           HS_OPTION_AT_SECTION_##id,
#define HS_OPTION_TEXT(field, name, initial, argument, help)   HS_OPTION_AT_##field,
#define HS_OPTION_BOOL(field, name, initial, help)             HS_OPTION_AT_##field,
#define HS_OPTION_NUMBER(field, name, initial, min, max, help) HS_OPTION_AT_##field,
#include "service/options/options.def"
    HS_OPTION_COUNT
};

/* The source of a value, in order of increasing precedence. */
enum hs_option_source {
    HS_OPTION_FROM_DEFAULT,
    HS_OPTION_FROM_FILE,
    HS_OPTION_FROM_ENVIRONMENT,
    HS_OPTION_FROM_COMMAND_LINE
};

struct hs_options {
#define HS_OPTION_TEXT(field, name, initial, argument, help)   char field[HS_OPTION_TEXT_MAX];
#define HS_OPTION_BOOL(field, name, initial, help)             bool field;
#define HS_OPTION_NUMBER(field, name, initial, min, max, help) size_t field;
#include "service/options/options.def"
    enum hs_option_source sources[HS_OPTION_COUNT]; /* indexed by enum hs_option */
};

/* Values of `journal_sync`, which decides which payments a power failure can lose. If only the
   process crashes, no payments are lost. X(id, name) */
#define HS_JOURNAL_SYNCS(X)                                                                        \
    X(OFF, "off")           /* loses payments that the kernel has not written to the disk yet */   \
    X(INTERVAL, "interval") /* loses payments of the last HS_JOURNAL_INTERVAL_US microseconds */   \
    X(ALWAYS, "always")     /* loses no payment that was reported in an answer */

#define X(id, name) HS_JOURNAL_SYNC_##id,
enum hs_journal_sync { HS_JOURNAL_SYNCS(X) HS_JOURNAL_SYNC_COUNT };
#undef X

/* Returns the value with this name, or HS_JOURNAL_SYNC_COUNT if the name is unknown. */
enum hs_journal_sync hs_journal_sync_parse(const char *name);

/* Values of `evidence`. X(id, name) */
#define HS_EVIDENCE_MODES(X)                                                                       \
    X(OFF, "off")                                                                                  \
    X(ASYNC, "async")                                                                              \
    X(SYNC, "sync")

#define X(id, name) HS_EVIDENCE_##id,
enum hs_evidence_mode { HS_EVIDENCE_MODES(X) HS_EVIDENCE_MODE_COUNT };
#undef X

/* Values of `evidence_overflow`. X(id, name) */
#define HS_EVIDENCE_OVERFLOWS(X)                                                                   \
    X(DROP, "drop")                                                                                \
    X(BLOCK, "block")

#define X(id, name) HS_EVIDENCE_OVERFLOW_##id,
enum hs_evidence_overflow { HS_EVIDENCE_OVERFLOWS(X) HS_EVIDENCE_OVERFLOW_COUNT };
#undef X

/* Returns the value with this name, or HS_EVIDENCE_OVERFLOW_COUNT if the name is unknown. */
enum hs_evidence_overflow hs_evidence_overflow_parse(const char *name);

/* Returns whether verdicts are stored in PostgreSQL, rather than in SQLite files. */
bool hs_evidence_backend_is_postgres(const struct hs_options *options);

/* Returns the value with this name, or HS_EVIDENCE_MODE_COUNT if the name is unknown. */
enum hs_evidence_mode hs_evidence_mode_parse(const char *name);

/* Kinds of verdicts that can be delivered. X(id, name in the configuration and the API) */
#define HS_EVENT_KINDS(X)                                                                          \
    X(REJECTED, "rejected")                                                                        \
    X(SHADOW, "shadow_rejected") /* a check in shadow mode would reject the claim */               \
    X(INCONCLUSIVE, "inconclusive")

#define X(id, name) HS_EVENT_KIND_##id,
enum hs_event_kind { HS_EVENT_KINDS(X) HS_EVENT_KIND_COUNT };
#undef X

/* A set of kinds is an `unsigned` with one bit for each kind. */
#define X(id, name) HS_EVENT_##id = 1 << HS_EVENT_KIND_##id,
enum { HS_EVENT_KINDS(X) };
#undef X

/* Parses a comma-separated list of kinds. Returns 0 if the list is empty or contains an unknown
   kind. */
unsigned hs_event_kinds_parse(const char *list);

void hs_options_default(struct hs_options *options);

/* Applies a configuration document. Adds every faulty key to `problem`, which the caller has
   initialized, and applies the other keys. */
void hs_options_from_json(struct hs_str text, struct hs_options *options,
                          struct hs_problem *problem);

/* Applies a configuration file, like hs_options_from_json. If the file cannot be read, sets
   `problem`. */
void hs_options_from_file(const char *path, struct hs_options *options, struct hs_problem *problem);

/* Checks each value, and checks that the values fit together. For example, an address other than
   loopback needs authentication. Adds each fault to `problem`, with a JSON pointer to the faulty
   key. */
void hs_options_check(const struct hs_options *options, struct hs_problem *problem);

/* The program's arguments and environment. The strings are not copied. */
struct hs_options_input {
    int argc; /* argv[0] is ignored */
    char *const *argv;
    char *const *environment; /* "NAME=value", terminated by NULL */
};

enum hs_options_result { HS_OPTIONS_OK, HS_OPTIONS_HELP, HS_OPTIONS_WRONG };

/*
 * Reads the file that --config or HINDSIGHT_CONFIG names, then the environment, then the arguments.
 * Returns HS_OPTIONS_HELP if the arguments contain --help. If the result is HS_OPTIONS_WRONG,
 * `faults_text` contains one line for each fault. The last line has no newline.
 */
enum hs_options_result hs_options_read(const struct hs_options_input *input,
                                       struct hs_options *options,
                                       char faults_text[HS_OPTIONS_FAULTS_MAX]);

/* Returns the next stray variable, starting at *at, or NULL if there is no further stray variable.
   Moves *at past the variables that were read. The name of a stray variable begins with HINDSIGHT_,
   but is not HINDSIGHT_CONFIG and not the name of an option. The service ignores stray variables,
   because container platforms set such variables. */
const char *hs_options_stray_variable(char *const **at);

/* Prints all options with their defaults, for --help. */
void hs_options_help(FILE *to);

/* hs_options_write_markdown writes all options as the tables of docs/configuration.md.
   hs_options_write_man writes all options as a part of the man page. */
void hs_options_write_markdown(FILE *to);
void hs_options_write_man(FILE *to);

/* Writes one line for each option: its key, its value as JSON, and the source of the value. */
void hs_options_write_effective(const struct hs_options *options, FILE *to);

/* Calls `visit` for each option that has different values in `before` and `after`. `reloaded`: a
   reload applies the change. */
typedef void hs_options_difference(void *context, const char *key, const char *before,
                                   const char *after, bool reloaded);
void hs_options_each_difference(const struct hs_options *before, const struct hs_options *after,
                                hs_options_difference *visit, void *context);

/* Copies the values of options that a reload applies. */
void hs_options_copy_reloaded(struct hs_options *options, const struct hs_options *from);

#endif
