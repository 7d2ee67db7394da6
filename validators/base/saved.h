/*
 * The structs whose fields are saved, field by field, in one place each: what is written, how it
 * is checked when it is read, and what tells one layout from another. Internal to validators/.
 *
 * A field that is added to one of these structs belongs into its list in saved.c; a test
 * finds bytes that no list mentions.
 */
#ifndef HS_SAVED_H
#define HS_SAVED_H

#include "validators/base/encoding.h"
#include "validators/base/ledger.h"
#include "validators/vocabulary.h"

/* The version that saved bytes begin with. */
enum { HS_SAVED_VERSION = 1 };

/* How a field is saved, and what is right when it is read. An array is one field. */
enum hs_saved_kind {
    HS_SAVED_ELSEWHERE, /* not here: rebuilt, or saved by hand */
    HS_SAVED_FLAG,      /* bool */
    HS_SAVED_UNSIGNED,  /* of any size */
    HS_SAVED_INT32,
    HS_SAVED_MARK,   /* int64_t, compared with times only */
    HS_SAVED_TIME,   /* int64_t, microseconds within HS_SAVED_TIME_MOST of 0 */
    HS_SAVED_REAL,   /* double, finite; a struct hs_vec is three */
    HS_SAVED_BOUND,  /* double, which may be infinite */
    HS_SAVED_SPAN,   /* double, microseconds or the like, within HS_SAVED_TIME_MOST of 0 */
    HS_SAVED_SMALL,  /* float, finite */
    HS_SAVED_MEMBER, /* of a vocabulary: a uint8_t or an enum, by its name */
    HS_SAVED_COUNTS, /* uint64_t for each member of a vocabulary */
    HS_SAVED_SET     /* unsigned, a bit for each member of a vocabulary */
};

/* Requests can say a hundredth of it, and the judges of moves keep to a tenth; nine of them can be
   added up. */
#define HS_SAVED_TIME_MOST INT64_C(1000000000000000000)

/* The vocabularies whose members are saved. */
enum hs_saved_vocabulary {
    HS_VOCABULARY_VERDICTS,
    HS_VOCABULARY_MODES,
    HS_VOCABULARY_CHECKS,
    HS_VOCABULARY_REASONS,
    HS_VOCABULARY_UNITS,
    HS_VOCABULARY_MOVE_CHECKS,
    HS_VOCABULARY_MOVE_REASONS,
    HS_SAVED_VOCABULARIES
};

struct hs_saved_field {
    const char *name;
    uint32_t offset, size;
    uint8_t kind;       /* enum hs_saved_kind */
    uint8_t vocabulary; /* with MEMBER, COUNTS and SET */
};

struct hs_saved_struct {
    const char *name;
    const struct hs_saved_field *fields; /* in order of offset */
    size_t field_count;
    size_t size; /* of the struct */
};

enum hs_saved_id {
    HS_SAVED_MATCH,
    HS_SAVED_PLAYER,
    HS_SAVED_STATE,
    HS_SAVED_MOVER_STATE,
    HS_SAVED_NUMBERS,
    HS_SAVED_ENTRY,
    HS_SAVED_SHOT,
    HS_SAVED_REMEMBERED,
    HS_SAVED_CADENCE,
    HS_SAVED_MOVES,
    HS_SAVED_ANSWERS,
    HS_SAVED_ANSWER,
    HS_SAVED_RESULT,
    HS_SAVED_FAILURE,
    HS_SAVED_JUDGES, /* the last: of a layout of its own */
    HS_SAVED_STRUCTS
};

extern const struct hs_saved_struct hs_saved_structs[HS_SAVED_STRUCTS];

/* A hash of the names, kinds and sizes of the fields of the structs from one to another, which is
   not one of them. */
uint64_t hs_saved_layout(enum hs_saved_id from, enum hs_saved_id to);

void hs_saved_put(struct hs_bytes *bytes, enum hs_saved_id id, const void *from);

/* Names of vocabularies as they were when the bytes were written: the member each number means. */
enum { HS_VOCABULARY_MOST = 128 };
struct hs_saved_names {
    uint16_t count[HS_SAVED_VOCABULARIES];
    uint8_t member[HS_SAVED_VOCABULARIES]
                  [HS_VOCABULARY_MOST]; /* HS_NO_MEMBER: not one of today's */
};
#define HS_NO_MEMBER 0xFF

void hs_saved_put_names(struct hs_bytes *bytes);
void hs_saved_get_names(struct hs_bytes_reader *reader, struct hs_saved_names *names);

/* This program's names, for data that carries a hash of them: hs_saved_vocabularies. */
void hs_saved_own_names(struct hs_saved_names *names);
uint64_t hs_saved_vocabularies(void);

/*
 * Fills the saved fields of a struct and leaves the others alone. False: a value is none that the
 * library would make; all of it has been read all the same, unless the reader failed.
 */
bool hs_saved_get(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                  enum hs_saved_id id, void *to);

/* An entry of a ledger with its posted shot and its answer; hs_saved_get_entry reads it. */
void hs_saved_put_entry(struct hs_bytes *out, const struct hs_ledger_entry *entry);

#endif
