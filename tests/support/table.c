#include "tests/support/table.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the position after the words, or NULL if the line begins differently. */
static const char *match_row(const char *line, const char *row)
{
    line += strspn(line, " ");
    while (*row != '\0') {
        size_t len = strcspn(row, " ");
        if (strncmp(line, row, len) != 0 || (line[len] != ' ' && line[len] != '\n'))
            return NULL;
        line += len + strspn(line + len, " ");
        row += len + strspn(row + len, " ");
    }
    return line;
}

const char *hs_test_row(const char *text, const char *heading, const char *row)
{
    bool below = false;
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *rest = below ? match_row(line, row) : NULL;
        if (rest != NULL)
            return rest;
        below = below || strncmp(line, heading, strlen(heading)) == 0;
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    ck_abort_msg("no row \"%s\" below \"%s\" in: %s", row, heading, text);
    return NULL;
}

double hs_test_cell(const char *text, const char *heading, const char *row, int cell)
{
    const char *at = hs_test_row(text, heading, row);
    for (int i = 0; i < cell; i++) {
        at += strcspn(at, " \n");
        at += strspn(at, " ");
    }
    char *end = NULL;
    double value = strtod(at, &end);
    ck_assert_msg(end != at, "no number in cell %d of row \"%s\": %.80s", cell, row, at);
    return value;
}
