#include "service/state/verdict_id.h"

#include <string.h>

#include "api/json/digits.h"
#include "service/system/sha256.h"

static char *put_line(char *at, struct hs_str text)
{
    memcpy(at, text.ptr, text.len);
    at[text.len] = '\n';
    return at + text.len + 1;
}

static char *put_number(char *at, uint64_t number)
{
    at = hs_digits_unsigned(at, number);
    *at = '\n';
    return at + 1;
}

void hs_verdict_id_make(const struct hs_match_slot *slot, struct hs_str kind, uint64_t number,
                        struct hs_str player, int64_t time_us, struct hs_verdict_id *out)
{
    char text[5 * HS_NAME_MAX + HS_REVISION_MAX + 96], digest[HS_SHA256_HEX], *at = text;
    struct hs_str revision = hs_str_of(slot->ruleset->revision);
    if (slot->tenant.text[0] != '\0')
        at = put_line(at, hs_name_str(&slot->tenant));
    at = put_line(at, hs_name_str(&slot->name));
    at = put_number(at, slot->opening);
    at = put_line(at, kind);
    at = put_line(at, player);
    at = put_number(at, hs_match_session(slot->match, player, time_us));
    at = put_number(at, number);
    memcpy(at, revision.ptr, revision.len);
    hs_sha256_hex(text, (size_t)(at - text) + revision.len, digest);
    memcpy(out->text, digest, sizeof out->text - 1);
    out->text[sizeof out->text - 1] = '\0';
}
