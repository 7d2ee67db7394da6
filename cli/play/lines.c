#include "cli/play/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The maximum length of a line. This maximum is larger than the largest map that the service
   accepts by default (256 MiB). */
enum { LINE_MAX_BYTES = 512 << 20 };

struct hs_lines *hs_lines_open(const char *path)
{
    struct hs_lines *lines = calloc(1, sizeof(*lines));
    if (lines == NULL)
        return NULL;
    struct stat status;
    lines->capacity = 65536;
    lines->line = malloc(lines->capacity);
    errno = 0;
    lines->file = gzopen(path, "rb"); /* reads plain files too */
    if (lines->line == NULL || lines->file == NULL) {
        int why = errno != 0 ? errno : ENOMEM;
        hs_lines_close(lines);
        errno = why;
        return NULL;
    }
    gzbuffer(lines->file, 1 << 17);
    lines->size = stat(path, &status) == 0 ? (double)status.st_size : 0.0;
    return lines;
}

void hs_lines_close(struct hs_lines *lines)
{
    if (lines == NULL)
        return;
    if (lines->file != NULL)
        gzclose(lines->file);
    free(lines->line);
    free(lines);
}

char *hs_lines_next(struct hs_lines *lines)
{
    size_t len = 0;
    lines->ended = false;
    while (lines->error == NULL && !lines->ended) {
        if (lines->capacity - len < 2) {
            char *more =
                lines->capacity < LINE_MAX_BYTES ? realloc(lines->line, lines->capacity * 2) : NULL;
            if (more == NULL) {
                lines->error = "the line is too long";
                lines->number++;
                break;
            }
            lines->line = more;
            lines->capacity *= 2;
        }
        if (gzgets(lines->file, lines->line + len, (int)(lines->capacity - len)) == NULL) {
            int code = Z_OK;
            const char *text = gzerror(lines->file, &code);
            if (code != Z_OK && code != Z_STREAM_END)
                lines->error = code == Z_ERRNO ? strerror(errno) : text;
            break;
        }
        len += strlen(lines->line + len);
        lines->ended = len > 0 && lines->line[len - 1] == '\n';
    }
    if (lines->error != NULL || (len == 0 && !lines->ended))
        return NULL;
    while (len > 0 && (lines->line[len - 1] == '\n' || lines->line[len - 1] == '\r'))
        lines->line[--len] = '\0';
    lines->number++;
    return lines->line;
}

double hs_lines_progress(const struct hs_lines *lines)
{
    double read = (double)gzoffset(lines->file);
    return lines->size > 0.0 && read < lines->size ? read / lines->size : 1.0;
}
