/*
 * Saves and restores structs. Each saved struct has a list of its fields (snapshot/lists.c). The
 * list defines how each field is written, and which values are valid when the field is read. A hash
 * of these lists identifies the layout. Internal to validators/.
 *
 * If you add a field to a saved struct, also add it to the list. A test fails if a byte of a saved
 * struct is in no list.
 */
#ifndef HS_SAVED_H
#define HS_SAVED_H

#include "validators/base/encoding.h"
#include "validators/base/ledger.h"
#include "validators/vocabulary.h"

/* The version of the saved form: the first number in saved bytes. */
enum { HS_SAVED_VERSION = 2 };

/* How a field is saved, and which values are valid. An array counts as one field. */
enum hs_saved_kind {
    HS_SAVED_ELSEWHERE, /* not saved here: rebuilt, or saved by other code */
    HS_SAVED_FLAG,      /* bool */
    HS_SAVED_UNSIGNED,  /* an integer of any size */
    HS_SAVED_INT32,
    HS_SAVED_MARK,   /* int64_t; every value is valid, because the value is only compared */
    HS_SAVED_TIME,   /* int64_t, microseconds, within +-HS_SAVED_TIME_MAX */
    HS_SAVED_REAL,   /* double, finite; a struct hs_vec counts as three doubles */
    HS_SAVED_BOUND,  /* double, may be infinite */
    HS_SAVED_SPAN,   /* double, within +-HS_SAVED_TIME_MAX; mostly microseconds */
    HS_SAVED_SMALL,  /* float, finite */
    HS_SAVED_MEMBER, /* uint8_t or enum: a member of a vocabulary */
    HS_SAVED_COUNTS, /* array of uint64_t, one for each member of a vocabulary */
    HS_SAVED_SUMS,   /* array of finite doubles, one for each member of a vocabulary */
    HS_SAVED_SET,    /* unsigned, one bit for each member of a vocabulary */
    HS_SAVED_KINDS
};

/* No saved time exceeds this limit, so that sums of up to nine saved times do not overflow an
   int64_t. Valid times in requests are at most 1/100 of this limit, and sums in the move checks are
   at most 1/10 of this limit. */
#define HS_SAVED_TIME_MAX INT64_C(1000000000000000000)

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
    uint8_t vocabulary; /* for MEMBER, COUNTS, SUMS and SET */
};

struct hs_saved_struct {
    const char *name;
    const struct hs_saved_field *fields; /* in order of offset */
    size_t field_count;
    size_t size; /* size of the struct in memory; bytes */
};

enum hs_saved_id {
    HS_SAVED_MATCH,
    HS_SAVED_PLAYER,
    HS_SAVED_ACCOUNT,
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
    HS_SAVED_MOVE_CHECKS, /* must be the last, because its layout has its own hash */
    HS_SAVED_STRUCTS
};

extern const struct hs_saved_struct hs_saved_structs[HS_SAVED_STRUCTS];

/* Returns a hash of the names, kinds and sizes of all fields in the structs [from, to). */
uint64_t hs_saved_layout(enum hs_saved_id from, enum hs_saved_id to);

void hs_saved_put(struct hs_bytes *bytes, enum hs_saved_id id, const void *from);

/* The vocabularies of the program that wrote the bytes. That program saved each member as a number.
   The name with this number identifies the member. */
enum { HS_VOCABULARY_MAX = 128 };
struct hs_saved_names {
    uint16_t count[HS_SAVED_VOCABULARIES];
    /* For each saved number: the member with the same name in this program, or HS_NO_MEMBER. */
    uint8_t member[HS_SAVED_VOCABULARIES][HS_VOCABULARY_MAX];
};
#define HS_NO_MEMBER 0xFF

void hs_saved_put_names(struct hs_bytes *bytes);
void hs_saved_get_names(struct hs_bytes_reader *reader, struct hs_saved_names *names);

/* Fills in the names of this program, for data that contains only a hash of the names. */
void hs_saved_own_names(struct hs_saved_names *names);

/* Returns a hash of the names in the vocabularies of this program. */
uint64_t hs_saved_vocabularies(void);

/* Returns a hash of all layouts and vocabularies. Data that contains this hash needs no names. */
uint64_t hs_saved_format(void);

/*
 * Reads the saved fields of a struct; other fields stay unchanged. Returns false if a value is
 * invalid, but reads all fields even then.
 */
bool hs_saved_get(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                  enum hs_saved_id id, void *to);

/* Like hs_saved_put and hs_saved_get, but without fields of the kinds COUNTS and SUMS, and without
   fields that are zero. COUNTS and SUMS need most of a player's bytes, but no verdict depends on
   them. The saved bytes begin with eight bytes that have one bit for each field. A set bit means
   that the field follows. */
void hs_saved_put_uncounted(struct hs_bytes *bytes, enum hs_saved_id id, const void *from);
bool hs_saved_get_uncounted(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                            enum hs_saved_id id, void *to);

/* Writes a ledger entry with its posted shot and its answer. The code of snapshot/load.h reads the
   entry. */
void hs_saved_put_entry(struct hs_bytes *out, const struct hs_ledger_entry *entry);

#endif
