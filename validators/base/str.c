#include "validators/str.h"

bool hs_name_is_valid(struct hs_str name)
{
    if (name.ptr == NULL || name.len == 0 || name.len > HS_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '.' || c == ':' || c == '-';
        if (!fine)
            return false;
    }
    return true;
}

void hs_name_set(struct hs_name *name, struct hs_str from)
{
    size_t len = from.len < HS_NAME_MAX ? from.len : HS_NAME_MAX;
    memset(name, 0, sizeof *name);
    if (len > 0)
        memcpy(name->text, from.ptr, len);
}

uint64_t hs_str_hash(struct hs_str s)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * UINT64_C(1099511628211);
    return hash;
}
