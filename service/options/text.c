/* Prints the options: the help, the documentation and the effective configuration. */
#include "service/options/values.h"

#include "api/json/escape.h"
#include "service/options/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the default and the range, for example "4096; 1 to 1000000". */
static void describe_default(const struct hs_option_row *row, char text[HS_OPTION_TEXT_MAX])
{
    if (row->kind == HS_OPTION_IS_TEXT)
        snprintf(text, HS_OPTION_TEXT_MAX, "%s",
                 row->initial_text[0] == '\0' ? "none" : row->initial_text);
    else if (row->kind == HS_OPTION_IS_BOOL)
        snprintf(text, HS_OPTION_TEXT_MAX, "%s", row->initial != 0 ? "true" : "false");
    else
        snprintf(text, HS_OPTION_TEXT_MAX, "%zu; %zu to %zu", row->initial, row->min, row->max);
}

void hs_options_help(FILE *to)
{
    for (size_t i = 0; i < HS_OPTION_COUNT; i++) {
        const struct hs_option_row *row = &hs_option_rows[i];
        char left[64], initial[HS_OPTION_TEXT_MAX];
        if (row->kind == HS_OPTION_IS_SECTION) {
            fprintf(to, "%s%s:\n", i == 0 ? "" : "\n", row->name);
            continue;
        }
        snprintf(left, sizeof left, "--%s %s", row->name, row->argument);
        describe_default(row, initial);
        fprintf(to, "  %-30s %s (%s)\n", left, row->help, initial);
    }
}

/* ---- documentation ---- */

/* Writes text into a table cell, and escapes `|` and `<`, which would end the cell or start a
   tag. */
static void put_cell(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '<')
            fputc('\\', to);
        fputc(*text, to);
    }
}

static void write_markdown_row(const struct hs_option_row *row, FILE *to)
{
    char key[HS_OPTION_NAME_MAX], variable[HS_OPTION_NAME_MAX], initial[HS_OPTION_TEXT_MAX];
    hs_option_spell(row, "", key);
    hs_option_spell(row, "HINDSIGHT_", variable);
    describe_default(row, initial);
    fprintf(to, "| `--%s%s%s` | `%s` | `%s` | %s | ", row->name,
            row->argument[0] == '\0' ? "" : " ", row->argument, key, variable, initial);
    put_cell(to, row->help);
    fprintf(to, "%s |\n", hs_option_is_reloaded(row) ? " (reloaded)" : "");
}

void hs_options_write_markdown(FILE *to)
{
    for (size_t i = 0; i < HS_OPTION_COUNT; i++) {
        if (hs_option_rows[i].kind == HS_OPTION_IS_SECTION)
            fprintf(to,
                    "%s### %s\n\n| command line | file | environment | default, range | |\n"
                    "|---|---|---|---|---|\n",
                    i == 0 ? "" : "\n", hs_option_rows[i].name);
        else
            write_markdown_row(&hs_option_rows[i], to);
    }
}

/* Writes text for roff. A hyphen that users type is written `\-` in roff, and a line that begins
   with `.` would be a command. */
static void put_roff(FILE *to, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", to);
    for (; *text != '\0'; text++) {
        if (*text == '-' || *text == '\\')
            fputc('\\', to);
        fputc(*text == '\\' ? 'e' : *text, to);
    }
}

static void write_man_row(const struct hs_option_row *row, FILE *to)
{
    char key[HS_OPTION_NAME_MAX], variable[HS_OPTION_NAME_MAX], initial[HS_OPTION_TEXT_MAX];
    hs_option_spell(row, "", key);
    hs_option_spell(row, "HINDSIGHT_", variable);
    describe_default(row, initial);
    fputs(".TP\n\\fB\\-\\-", to);
    put_roff(to, row->name);
    fputs("\\fR", to);
    if (row->argument[0] != '\0')
        fprintf(to, " \\fI%s\\fR", row->argument);
    fprintf(to, ", \\fB%s\\fR, \\fB%s\\fR\n", key, variable);
    put_roff(to, row->help);
    fputs(".\nDefault: ", to);
    put_roff(to, initial);
    fprintf(to, ".%s\n", hs_option_is_reloaded(row) ? "\nSIGHUP applies a change." : "");
}

void hs_options_write_man(FILE *to)
{
    for (size_t i = 0; i < HS_OPTION_COUNT; i++) {
        if (hs_option_rows[i].kind == HS_OPTION_IS_SECTION)
            fprintf(to, ".SS \"%s\"\n", hs_option_rows[i].name);
        else
            write_man_row(&hs_option_rows[i], to);
    }
}

/* ---- values ---- */

static const char *const source_names[] = {
    [HS_OPTION_FROM_DEFAULT] = "default",
    [HS_OPTION_FROM_FILE] = "file",
    [HS_OPTION_FROM_ENVIRONMENT] = "environment",
    [HS_OPTION_FROM_COMMAND_LINE] = "command line",
};

void hs_options_write_effective(const struct hs_options *options, FILE *to)
{
    for (size_t i = 0; i < HS_OPTION_COUNT; i++) {
        const struct hs_option_row *row = &hs_option_rows[i];
        char key[HS_OPTION_NAME_MAX], value[HS_OPTION_TEXT_MAX];
        struct hs_buffer shown = {0};
        if (row->kind == HS_OPTION_IS_SECTION)
            continue;
        hs_option_spell(row, "", key);
        hs_option_get(options, row, value);
        if (row->kind == HS_OPTION_IS_TEXT)
            hs_escape_json(&shown, hs_str_of(value));
        else
            hs_buffer_puts(&shown, value);
        hs_buffer_append(&shown, "", 1);
        fprintf(to, "%-22s %-30s %s\n", key, shown.failed ? "" : shown.data,
                source_names[options->sources[i]]);
        hs_buffer_free(&shown);
    }
}

void hs_options_each_difference(const struct hs_options *before, const struct hs_options *after,
                                hs_options_difference *visit, void *context)
{
    for (size_t i = 0; i < HS_OPTION_COUNT; i++) {
        const struct hs_option_row *row = &hs_option_rows[i];
        char key[HS_OPTION_NAME_MAX], old[HS_OPTION_TEXT_MAX], new[HS_OPTION_TEXT_MAX];
        if (row->kind == HS_OPTION_IS_SECTION)
            continue;
        hs_option_spell(row, "", key);
        hs_option_get(before, row, old);
        hs_option_get(after, row, new);
        if (strcmp(old, new) != 0)
            visit(context, key, old, new, hs_option_is_reloaded(row));
    }
}
