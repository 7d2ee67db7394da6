#include "service/store/documents.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/system/clock.h"
#include "service/system/packed.h"

#define NAMES   "hs:v1:{catalog}:names"
#define VERSION "hs:v1:{catalog}:version"

/* PIECE_BYTES: the size of the pieces in which documents are sent, so that no command takes longer
   than HS_STORE_TIMEOUT_US. */
enum { PIECE_BYTES = 2 << 20, WAIT_US = 1000000 };

enum { KEY_MAX = 256, VALUE_MAX = 512 };

/* The time until a key expires, in seconds: DAY for a document that no name refers to, MINUTE for
   an incomplete upload. */
#define DAY    "86400"
#define MINUTE "60"

/* ---- scripts ---- */

/* Defines forget(). If the old value of a name refers to a document, and the new value no longer
   refers to this document, forget() lets the document expire after a day. The keys of documents
   begin with ARGV[2]. */
#define FORGET                                                                                     \
    "local function forget(old, new) "                                                             \
    "  for revision in string.gmatch(old, 'sha256:%x+') do "                                       \
    "    if not string.find(new, revision, 1, true) then "                                         \
    "      redis.call('EXPIRE', ARGV[2] .. revision, " DAY ") "                                    \
    "    end "                                                                                     \
    "  end "                                                                                       \
    "end "                                                                                         \
    "local old = redis.call('HGET', KEYS[1], ARGV[1]) "                                            \
    "if old and string.match(old, '^%d+\\n([^\\n]*)') ~= ARGV[3] then return 'foreign' end "

/* KEYS: names, version. ARGV: field, prefix of document keys, owner, value, time, if_new. Refuses
   to set a canary if another replica has replaced the main ruleset in the meantime. Otherwise the
   argument `value`, which contains the old main ruleset, would replace the new main ruleset. If the
   store already has the name, if_new still makes its documents permanent: if two replicas upload
   the same document at once, the later upload replaces the key with one that expires. */
static const char put_text[] =
    "if ARGV[6] == '1' and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then "
    "  for revision in string.gmatch(redis.call('HGET', KEYS[1], ARGV[1]), 'sha256:%x+') do "
    "    redis.call('PERSIST', ARGV[2] .. revision) "
    "  end "
    "  return 'there' "
    "end " FORGET "for revision in string.gmatch(ARGV[4], 'sha256:%x+') do "
    "  if redis.call('PERSIST', ARGV[2] .. revision) == 0 and "
    "     redis.call('EXISTS', ARGV[2] .. revision) == 0 then "
    "    return redis.error_reply('the document is missing') "
    "  end "
    "end "
    "local members = '^%d+\\n[^\\n]*\\n([^\\n]*)\\n(.?)' "
    "local main, canary = string.match(ARGV[4], members) "
    "if old and canary ~= '\\n' and string.match(old, members) ~= main then "
    "  return redis.error_reply('the ruleset of this canary has changed') "
    "end "
    "if old then forget(old, ARGV[4]) end "
    "redis.call('HSET', KEYS[1], ARGV[1], ARGV[4]) "
    "redis.call('HSETNX', KEYS[2], 'birth', ARGV[5]) "
    "redis.call('HINCRBY', KEYS[2], 'count', 1) "
    "return 'done'";

/* KEYS: as for put_text. ARGV: field, prefix of document keys, owner. */
static const char drop_text[] = FORGET "if not old then return 'done' end "
                                       "forget(old, '') "
                                       "redis.call('HDEL', KEYS[1], ARGV[1]) "
                                       "redis.call('HINCRBY', KEYS[2], 'count', 1) "
                                       "return 'done'";

/* ---- keys and values ---- */

static const char *kind_text(enum hs_shared_kind kind)
{
    return kind == HS_SHARED_RULESET ? "ruleset" : "map";
}

static struct hs_str field_of(enum hs_shared_kind kind, struct hs_str name, char text[KEY_MAX])
{
    int len = snprintf(text, KEY_MAX, "%s/%.*s", kind_text(kind), (int)name.len, name.ptr);
    return (struct hs_str){text, (size_t)len};
}

/* The revision of a ruleset depends on its name, but the revision of a map does not. So the key of
   a map document also contains the name. */
static struct hs_str prefix_of(enum hs_shared_kind kind, struct hs_str name, char text[KEY_MAX])
{
    bool has_name = kind == HS_SHARED_MAP;
    int len = snprintf(text, KEY_MAX, "hs:v1:{catalog}:%s/%.*s%s", kind_text(kind),
                       has_name ? (int)name.len : 0, name.ptr, has_name ? "/" : "");
    return (struct hs_str){text, (size_t)len};
}

static struct hs_str key_of(enum hs_shared_kind kind, struct hs_str name, struct hs_str revision,
                            char text[KEY_MAX])
{
    size_t len = prefix_of(kind, name, text).len;
    snprintf(text + len, KEY_MAX - len, "%.*s", (int)revision.len, revision.ptr);
    return hs_str_of(text);
}

/* Writes the value that the store keeps for a name. The first line of the value is the number of
   the format, 1. The other lines are the owner, the revision, the canary and the share of the
   canary. */
static struct hs_str value_of(const struct hs_shared_name *name, char text[VALUE_MAX])
{
    int len = snprintf(text, VALUE_MAX, "1\n%.*s\n%.*s\n%.*s\n%.17g", (int)name->owner.len,
                       name->owner.len > 0 ? name->owner.ptr : "", (int)name->revision.len,
                       name->revision.ptr, (int)name->canary.len,
                       name->canary.len > 0 ? name->canary.ptr : "", name->share);
    return (struct hs_str){text, (size_t)len};
}

/* Returns the first line, and moves *rest past this line. */
static struct hs_str take_line(struct hs_str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
    struct hs_str line = {rest->ptr, end != NULL ? (size_t)(end - rest->ptr) : rest->len};
    size_t taken = line.len + (end != NULL);
    *rest = (struct hs_str){rest->ptr + taken, rest->len - taken};
    return line;
}

static bool read_name(struct hs_str field, struct hs_str value, struct hs_shared_name *name)
{
    const char *slash = field.ptr != NULL ? memchr(field.ptr, '/', field.len) : NULL;
    if (slash == NULL || !hs_str_equal(take_line(&value), HS_STR("1")))
        return false;
    size_t length = (size_t)(slash - field.ptr);
    *name = (struct hs_shared_name){
        .kind = hs_str_equal((struct hs_str){field.ptr, length}, HS_STR("map")) ? HS_SHARED_MAP
                                                                                : HS_SHARED_RULESET,
        .name = {slash + 1, field.len - length - 1}};
    name->owner = take_line(&value);
    name->revision = take_line(&value);
    name->canary = take_line(&value);
    name->share = value.len > 0 ? strtod(value.ptr, NULL) : 0; /* replies end with a null byte */
    bool has_share = name->canary.len == 0 || (name->share > 0 && name->share <= 1);
    return hs_name_is_valid(name->name) && has_share &&
           (name->owner.len == 0 || hs_name_is_valid(name->owner)) && name->revision.len > 0;
}

/* ---- commands ---- */

static struct hs_store_script put_script, drop_script;
static pthread_once_t scripts_once = PTHREAD_ONCE_INIT;

static void init_scripts(void)
{
    hs_store_script_init(&put_script, put_text);
    hs_store_script_init(&drop_script, drop_text);
}

/* Sends a script or a command, and waits for the reply. Returns NULL if there is no reply, or the
   reply is an error. */
static struct redisReply *ask(struct hs_store *store, const struct hs_store_script *script,
                              const struct hs_str *arguments, size_t count)
{
    struct redisReply *reply = NULL;
    pthread_once(&scripts_once, init_scripts);
    if (hs_store_ask(store, HS_STORE_BULK, HS_STORE_CATALOG, WAIT_US, script, arguments, count,
                     &reply) == HS_STORE_OK)
        return reply;
    freeReplyObject(reply);
    return NULL;
}

/* Sends a command and waits for the reply. Returns whether the command succeeded. */
static bool tell(struct hs_store *store, const struct hs_str *arguments, size_t count)
{
    struct redisReply *reply = ask(store, NULL, arguments, count);
    bool fine = reply != NULL;
    freeReplyObject(reply);
    return fine;
}

static struct hs_str text_of(const struct redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING ? (struct hs_str){reply->str, (size_t)reply->len}
                                             : (struct hs_str){0};
}

bool hs_shared_version(struct hs_store *store, int64_t wait_us, struct hs_shared_version *version)
{
    const struct hs_str arguments[] = {HS_STR("HMGET"), HS_STR(VERSION), HS_STR("birth"),
                                       HS_STR("count")};
    struct redisReply *reply = NULL;
    enum hs_store_result result =
        hs_store_ask(store, HS_STORE_URGENT, HS_STORE_CATALOG, wait_us, NULL, arguments, 4, &reply);
    *version = (struct hs_shared_version){0};
    uint64_t *const numbers[] = {&version->birth, &version->count};
    for (size_t i = 0; i < 2 && result == HS_STORE_OK && i < reply->elements; i++)
        if (text_of(reply->element[i]).ptr != NULL)
            *numbers[i] = strtoull(reply->element[i]->str, NULL, 10);
    freeReplyObject(reply);
    return result == HS_STORE_OK;
}

bool hs_shared_begin(struct hs_store *store)
{
    char now[32];
    snprintf(now, sizeof now, "%lld", (long long)hs_clock_wall_us());
    const struct hs_str arguments[] = {HS_STR("HSETNX"), HS_STR(VERSION), HS_STR("birth"),
                                       hs_str_of(now)};
    return tell(store, arguments, 4);
}

bool hs_shared_names(struct hs_store *store,
                     void (*visit)(void *context, const struct hs_shared_name *name), void *context)
{
    const struct hs_str arguments[] = {HS_STR("HGETALL"), HS_STR(NAMES)};
    struct redisReply *reply = ask(store, NULL, arguments, 2);
    struct hs_shared_name name;
    if (reply == NULL)
        return false;
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        if (read_name(text_of(reply->element[i]), text_of(reply->element[i + 1]), &name))
            visit(context, &name);
    freeReplyObject(reply);
    return true;
}

static enum hs_shared_result result_of(struct redisReply *reply)
{
    if (reply == NULL)
        return HS_SHARED_LOST;
    bool is_foreign = hs_str_equal(text_of(reply), HS_STR("foreign"));
    freeReplyObject(reply);
    return is_foreign ? HS_SHARED_FOREIGN : HS_SHARED_DONE;
}

enum hs_shared_result hs_shared_put_name(struct hs_store *store, const struct hs_shared_name *name,
                                         bool if_new)
{
    char field[KEY_MAX], prefix[KEY_MAX], value[VALUE_MAX], first[32];
    snprintf(first, sizeof first, "%lld", (long long)hs_clock_wall_us());
    const struct hs_str arguments[] = {HS_STR("2"),
                                       HS_STR(NAMES),
                                       HS_STR(VERSION),
                                       field_of(name->kind, name->name, field),
                                       prefix_of(name->kind, name->name, prefix),
                                       name->owner.len > 0 ? name->owner : HS_STR(""),
                                       value_of(name, value),
                                       hs_str_of(first),
                                       if_new ? HS_STR("1") : HS_STR("0")};
    return result_of(ask(store, &put_script, arguments, sizeof arguments / sizeof arguments[0]));
}

enum hs_shared_result hs_shared_drop_name(struct hs_store *store, enum hs_shared_kind kind,
                                          struct hs_str owner, struct hs_str name)
{
    char field[KEY_MAX], prefix[KEY_MAX];
    const struct hs_str arguments[] = {HS_STR("2"),
                                       HS_STR(NAMES),
                                       HS_STR(VERSION),
                                       field_of(kind, name, field),
                                       prefix_of(kind, name, prefix),
                                       owner.len > 0 ? owner : HS_STR("")};
    return result_of(ask(store, &drop_script, arguments, sizeof arguments / sizeof arguments[0]));
}

/* ---- documents ---- */

static bool is_there(struct hs_store *store, struct hs_str key)
{
    const struct hs_str arguments[] = {HS_STR("EXPIRE"), key, HS_STR(DAY), HS_STR("GT")};
    const struct hs_str exists[] = {HS_STR("EXISTS"), key};
    tell(store, arguments, 4);
    struct redisReply *reply = ask(store, NULL, exists, 2);
    bool there = reply != NULL && reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
    freeReplyObject(reply);
    return there;
}

/* Writes the bytes to a temporary key that no other replica uses, and then renames the key. The
   temporary key expires from its creation on, because the connection can fail between any two
   commands. */
static bool upload(struct hs_store *store, struct hs_str key, struct hs_str bytes)
{
    char own[KEY_MAX + 64];
    snprintf(own, sizeof own, "%.*s:%llx", (int)key.len, key.ptr,
             (unsigned long long)hs_clock_wall_us() ^ (unsigned long long)(uintptr_t)bytes.ptr);
    const struct hs_str name = hs_str_of(own);
    const struct hs_str create[] = {HS_STR("SET"), name, HS_STR(""), HS_STR("EX"), HS_STR(MINUTE)};
    bool fine = tell(store, create, 5);
    for (size_t at = 0; fine && at < bytes.len; at += PIECE_BYTES) {
        size_t left = bytes.len - at;
        const struct hs_str piece = {bytes.ptr + at, left < PIECE_BYTES ? left : PIECE_BYTES};
        const struct hs_str append[] = {HS_STR("APPEND"), name, piece};
        const struct hs_str expire[] = {HS_STR("EXPIRE"), name, HS_STR(MINUTE)};
        fine = tell(store, append, 3) && tell(store, expire, 3);
    }
    const struct hs_str expire[] = {HS_STR("EXPIRE"), name, HS_STR(DAY)};
    const struct hs_str rename[] = {HS_STR("RENAME"), name, key};
    return fine && tell(store, expire, 3) && tell(store, rename, 3);
}

bool hs_shared_put_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                            struct hs_str revision, struct hs_str text)
{
    char key[KEY_MAX];
    struct hs_str at = key_of(kind, name, revision, key);
    if (is_there(store, at))
        return true;
    struct hs_bytes packed = {0};
    bool fine = hs_pack(text.ptr, text.len, &packed) &&
                upload(store, at, (struct hs_str){(const char *)packed.data, packed.len});
    free(packed.data);
    return fine;
}

/* Reads a value in pieces. NULL: the value is missing or too long, memory ran out, or the store did
   not answer. If the value expires during the read, the result is truncated, and hs_unpack refuses
   this result. */
static char *download(struct hs_store *store, struct hs_str key, size_t max, size_t *size,
                      bool *has_answer)
{
    struct hs_buffer bytes = {0};
    bool fine = true, is_last = false;
    while (fine && !is_last) {
        char from[32], to[32];
        snprintf(from, sizeof from, "%zu", bytes.len);
        snprintf(to, sizeof to, "%zu", bytes.len + PIECE_BYTES - 1);
        const struct hs_str range[] = {HS_STR("GETRANGE"), key, hs_str_of(from), hs_str_of(to)};
        struct redisReply *reply = ask(store, NULL, range, 4);
        *has_answer = reply != NULL;
        struct hs_str piece = reply != NULL ? text_of(reply) : (struct hs_str){0};
        fine = piece.ptr != NULL && bytes.len + piece.len <= max;
        is_last = piece.len < PIECE_BYTES;
        if (fine)
            hs_buffer_append(&bytes, piece.ptr, piece.len);
        freeReplyObject(reply);
    }
    *size = bytes.len;
    if (fine && !bytes.failed && bytes.len > 0)
        return bytes.data;
    hs_buffer_free(&bytes);
    return NULL;
}

char *hs_shared_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                         struct hs_str revision, size_t max, size_t *size, bool *has_answer)
{
    char key[KEY_MAX];
    size_t packed_size;
    char *packed =
        download(store, key_of(kind, name, revision, key), max, &packed_size, has_answer);
    char *text = NULL;
    if (packed != NULL)
        text = (char *)hs_unpack(packed, packed_size, max, size);
    free(packed);
    return text;
}

void hs_shared_keep_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                             struct hs_str revision)
{
    char key[KEY_MAX];
    is_there(store, key_of(kind, name, revision, key));
}
