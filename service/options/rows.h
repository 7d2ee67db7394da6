/* The rows of options.def as data, for the files that read, check and print options. */
#ifndef HS_SERVICE_OPTIONS_ROWS_H
#define HS_SERVICE_OPTIONS_ROWS_H

#include "service/options/values.h"

enum hs_option_kind {
    HS_OPTION_IS_TEXT,
    HS_OPTION_IS_BOOL,
    HS_OPTION_IS_NUMBER,
    HS_OPTION_IS_SECTION /* a section: only `name` is set, to its title */
};

struct hs_option_row {
    enum hs_option_kind kind;
    const char *name; /* without the dashes */
    size_t offset;    /* offset of the field in struct hs_options */
    const char *initial_text;
    size_t initial, min, max; /* the default of a bool is in `initial` */
    const char *argument;     /* name of the value in the help, or "" for a bool */
    const char *help;
};

/* The rows, indexed by enum hs_option. */
extern const struct hs_option_row hs_option_rows[HS_OPTION_COUNT];

/* Returns whether a reload applies the option. */
bool hs_option_is_reloaded(const struct hs_option_row *row);

enum { HS_OPTION_NAME_MAX = 48 };

/* Writes the name of an option. The prefix is "" for the key in the configuration file,
   "HINDSIGHT_" for the environment variable, and "--" for the argument. */
void hs_option_spell(const struct hs_option_row *row, const char *prefix,
                     char name[HS_OPTION_NAME_MAX]);

/* Returns the option for which hs_option_spell writes `spelled` with this prefix, or NULL. */
const struct hs_option_row *hs_option_find(const char *prefix, struct hs_str spelled);

/* Sets a value from its text form. Returns false if the text is wrong; `error` then describes the
   allowed values. */
bool hs_option_set(struct hs_options *options, const struct hs_option_row *row, const char *text,
                   char error[128]);

/* Writes the text form of a value. */
void hs_option_get(const struct hs_options *options, const struct hs_option_row *row,
                   char text[HS_OPTION_TEXT_MAX]);

#endif
