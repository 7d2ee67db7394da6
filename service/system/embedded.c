#include "service/system/embedded.h"

#include <string.h>

const struct hs_embedded *hs_embedded_find(const char *name)
{
    for (const struct hs_embedded *e = hs_embedded_files; e->name != NULL; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}
