/* The rows of options.def as a table, for the code that reads, checks and prints options. */
#ifndef HS_SERVICE_OPTIONS_ROWS_H
#define HS_SERVICE_OPTIONS_ROWS_H

#include "service/options/values.h"

enum hs_option_kind {
    HS_OPTION_IS_TEXT,
    HS_OPTION_IS_BOOL,
    HS_OPTION_IS_NUMBER,
    HS_OPTION_IS_SECTION /* only `name` is set, to the title */
};

struct hs_option_row {
    enum hs_option_kind kind;
    const char *name; /* without leading dashes */
    size_t offset;    /* offset of the field in struct hs_options */
    const char *initial_text;
    size_t initial, min, max; /* for a bool, `initial` is 0 or 1 */
    const char *argument;     /* placeholder for the value in the help; "" for a bool */
    const char *help;
};

extern const struct hs_option_row hs_option_rows[HS_OPTION_COUNT];

/* Returns whether a reload applies changes to the option. */
bool hs_option_is_reloaded(const struct hs_option_row *row);

enum { HS_OPTION_NAME_MAX = 48 };

/* Writes the option's name with a prefix: "" for the key in the configuration file, "HINDSIGHT_"
   for the environment variable, "--" for the argument. */
void hs_option_spell(const struct hs_option_row *row, const char *prefix,
                     char name[HS_OPTION_NAME_MAX]);

/* Returns the option whose name with this prefix (hs_option_spell) is `spelled`, or NULL. */
const struct hs_option_row *hs_option_find(const char *prefix, struct hs_str spelled);

/* Parses a value and stores it. Returns false if the value is not valid; `error` then describes the
   valid values. */
bool hs_option_set(struct hs_options *options, const struct hs_option_row *row, const char *text,
                   char error[128]);

/* Writes a value as text, in the form that hs_option_set parses. */
void hs_option_get(const struct hs_options *options, const struct hs_option_row *row,
                   char text[HS_OPTION_TEXT_MAX]);

#endif
