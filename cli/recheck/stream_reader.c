#include "cli/recheck/stream_reader.h"

#include <errno.h>
#include <stdio.h>

#include "service/record/stream.h"

static bool wrong(struct hs_stream_reader *reader, size_t number, const char *what)
{
    snprintf(reader->error, sizeof reader->error, "line %zu: %s", number, what);
    return false;
}

static bool read_line(const char *text, struct hs_stream_line *line)
{
    return hs_stream_line_read(hs_str_of(text), line);
}

static const char *const is_foreign = "is not the first line of a recording of hindsight";

static bool check_header(struct hs_stream_reader *reader, const struct hs_stream_line *line)
{
    if (!hs_str_equal(line->name, HS_STR(HS_STREAM_FORMAT)))
        return wrong(reader, reader->number, is_foreign);
    if (line->version < HS_STREAM_OLDEST || line->version > HS_STREAM_VERSION)
        return wrong(reader, reader->number, "another version of the format");
    reader->is_recording = true;
    return true;
}

/* Reads the next line of the file. Returns NULL at the end, and after an error. */
static const char *next_text(struct hs_stream_reader *reader)
{
    const char *text = hs_lines_next(reader->lines);
    if (reader->lines->error != NULL)
        wrong(reader, reader->lines->number, reader->lines->error);
    else if (text != NULL)
        reader->number = reader->lines->number;
    return text;
}

/* Call this function after a broken line. Skips further broken lines up to the next header, and
   reads the header into `line`. Returns false if the file ends first. If a line of another kind
   follows, sets the error and returns false. */
static bool find_header(struct hs_stream_reader *reader, struct hs_stream_line *line)
{
    const char *text;
    size_t broken = reader->number, count = 0;
    bool ended, is_line;
    do {
        count++;
        ended = reader->lines->ended;
        text = next_text(reader);
        is_line = text != NULL && read_line(text, line);
    } while (text != NULL && !is_line);
    if (reader->error[0] != '\0')
        return false;
    bool restarted = is_line && line->kind == HS_STREAM_HEADER;
    if (!restarted && (is_line || ended || broken == 1))
        return wrong(reader, broken, broken == 1 ? is_foreign : "is not a line of a recording");
    reader->interrupted += count;
    return restarted;
}

bool hs_stream_reader_next(struct hs_stream_reader *reader, struct hs_stream_line *line)
{
    const char *text = next_text(reader);
    if (text == NULL)
        return false;
    if (!read_line(text, line) && !find_header(reader, line))
        return false;
    if (reader->number == 1 && line->kind != HS_STREAM_HEADER)
        return wrong(reader, reader->number, is_foreign);
    return line->kind != HS_STREAM_HEADER || check_header(reader, line);
}

bool hs_stream_reader_open(struct hs_stream_reader *reader, const char *path)
{
    *reader = (struct hs_stream_reader){.lines = hs_lines_open(path)};
    if (reader->lines == NULL)
        snprintf(reader->error, sizeof reader->error, "cannot be read: %s", strerror(errno));
    return reader->lines != NULL;
}

void hs_stream_reader_close(struct hs_stream_reader *reader)
{
    hs_lines_close(reader->lines);
}
