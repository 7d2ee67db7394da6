#include "api/reviews.h"

#define NAME(id, name) name,
static const char *const names[] = {HS_REVIEW_LABELS(NAME)};
#undef NAME
const struct hs_vocabulary hs_review_labels = {names, HS_REVIEW_LABEL_COUNT};

static void read_text(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      size_t max, struct hs_str *out)
{
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    if (text.ptr != NULL && text.len <= max)
        *out = text;
    else
        hs_json_bad(reader, at, "must be a text of at most %zu bytes", max);
}

static void read_note(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    read_text(reader, value, at, HS_REVIEW_NOTE_MAX, target);
}

static void read_by(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    void *target)
{
    read_text(reader, value, at, HS_REVIEW_BY_MAX, target);
}

void hs_review_decode(struct hs_reader *reader, const json_t *root, struct hs_review *out)
{
    static const struct hs_json_field fields[] = {
        {"label", HS_JSON_ENUM, .required = true, .offset = offsetof(struct hs_review, label),
         .words = &hs_review_labels},
        {"note", HS_JSON_CUSTOM, .offset = offsetof(struct hs_review, note), .decode = read_note},
        {"by", HS_JSON_CUSTOM, .offset = offsetof(struct hs_review, by), .decode = read_by},
    };
    static const struct hs_json_object object = {HS_JSON_FIELDS(fields)};
    hs_json_read_object(reader, root, NULL, &object, out);
}

void hs_review_encode(struct hs_writer *writer, const struct hs_review *review)
{
    hs_write_begin(writer, '{');
    hs_write_time_field(writer, "at", review->at_us);
    hs_write_text_field(writer, "label", names[review->label]);
    if (review->note.ptr != NULL)
        hs_write_str_field(writer, "note", review->note);
    if (review->by.ptr != NULL)
        hs_write_str_field(writer, "by", review->by);
    hs_write_end(writer, '}');
}
