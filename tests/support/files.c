#include "tests/support/files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

void hs_test_write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

char *hs_test_read_file(const char *path, size_t *size)
{
    char *text = NULL, piece[4096];
    size_t len = 0;
    FILE *file = fopen(path, "rb");
    FILE *out = open_memstream(&text, &len);
    ck_assert_msg(file != NULL && out != NULL, "cannot read %s", path);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        ck_assert_uint_eq(fwrite(piece, 1, got, out), got);
    ck_assert(!ferror(file));
    fclose(file);
    ck_assert_int_eq(fclose(out), 0);
    if (size != NULL)
        *size = len;
    return text;
}
