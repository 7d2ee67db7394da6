#include "service/record/members.h"

#include "api/json/reading.h"

struct hs_pieces hs_pieces_of(struct hs_str text, char open)
{
    struct hs_pieces pieces = {.cursor = {text.ptr, text.ptr + text.len},
                               .close = open == '{' ? '}' : ']'};
    pieces.broken = !hs_cursor_take(&pieces.cursor, open);
    return pieces;
}

static bool take_value(struct hs_cursor *cursor, struct hs_str *value)
{
    bool too_deep;
    hs_cursor_skip_space(cursor);
    const char *from = cursor->at;
    /* A body may have HS_JSON_MAX_DEPTH levels. The line around the body adds a few levels. */
    bool taken = hs_cursor_skip_value(cursor, HS_JSON_MAX_DEPTH + 4, &too_deep);
    *value = (struct hs_str){from, (size_t)(cursor->at - from)};
    return taken;
}

bool hs_pieces_next(struct hs_pieces *pieces, struct hs_str *key, struct hs_str *value)
{
    struct hs_cursor *cursor = &pieces->cursor;
    if (pieces->broken)
        return false;
    if (hs_cursor_take(cursor, pieces->close)) {
        hs_cursor_skip_space(cursor);
        pieces->broken = cursor->at < cursor->end;
        return false;
    }
    bool fine = !pieces->begun || hs_cursor_take(cursor, ',');
    pieces->begun = true;
    if (fine && key != NULL) {
        struct hs_str quoted;
        fine = take_value(cursor, &quoted) && hs_cursor_take(cursor, ':');
        *key = fine ? hs_piece_text(quoted) : (struct hs_str){0};
        fine = key->ptr != NULL;
    }
    fine = fine && take_value(cursor, value);
    pieces->broken = !fine;
    return fine;
}

struct hs_str hs_pieces_first(struct hs_str object, struct hs_str list)
{
    struct hs_str key, value, item;
    struct hs_pieces members = hs_pieces_of(object, '{');
    while (hs_pieces_next(&members, &key, &value)) {
        if (!hs_str_equal(key, list))
            continue;
        struct hs_pieces items = hs_pieces_of(value, '[');
        return hs_pieces_next(&items, NULL, &item) ? item : (struct hs_str){0};
    }
    return (struct hs_str){0};
}

struct hs_str hs_piece_text(struct hs_str value)
{
    if (value.len < 2 || value.ptr[0] != '"' || memchr(value.ptr, '\\', value.len) != NULL)
        return (struct hs_str){0};
    return (struct hs_str){value.ptr + 1, value.len - 2};
}

bool hs_piece_whole(struct hs_str value, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9' || *number > UINT64_MAX / 100)
            return false;
        *number = *number * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    return value.len > 0;
}
