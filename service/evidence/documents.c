#include "service/evidence/documents.h"

#include <time.h>

#include "service/checkpoint/map_file.h"
#include "service/evidence/files.h"
#include "service/watch/log.h"

static bool put_ruleset(struct hs_evidence_store *store, const struct hs_ruleset_entry *ruleset)
{
    struct hs_str revision = hs_str_of(ruleset->revision);
    return hs_evidence_store_has(store, HS_STR("ruleset"), revision) ||
           hs_evidence_store_put_document(
               store, HS_STR("ruleset"), hs_name_str(&ruleset->ruleset->name), revision,
               (struct hs_str){ruleset->document, ruleset->document_size});
}

static bool put_map(struct hs_evidence_store *store, const struct hs_map_entry *map,
                    struct hs_str document)
{
    struct hs_str name = hs_str_of(map->name.text);
    return hs_evidence_store_put_document(store, HS_STR("map"), name, hs_str_of(map->revision),
                                          document);
}

static bool put_saved_map(struct hs_evidence_store *store, const char *directory,
                          const struct hs_map_entry *map)
{
    struct hs_buffer text = {0};
    bool fine = !hs_map_file_document(directory, map->revision, &text) ||
                put_map(store, map, (struct hs_str){text.data, text.len});
    hs_buffer_free(&text);
    return fine;
}

bool hs_evidence_put_documents(struct hs_evidence_store *store, const char *directory,
                               const struct hs_ruleset_entry *ruleset,
                               const struct hs_map_entry *map)
{
    return put_ruleset(store, ruleset) &&
           (map == NULL || hs_evidence_store_has(store, HS_STR("map"), hs_str_of(map->revision)) ||
            put_saved_map(store, directory, map));
}

void hs_evidence_keep_map(const struct hs_evidence_home *home, const struct hs_map_entry *map,
                          struct hs_str document)
{
    char day[HS_EVIDENCE_DAY], path[HS_EVIDENCE_PATH], error[256];
    hs_evidence_day(time(NULL), day);
    hs_evidence_path(home->directory, home->is_postgres ? HS_EVIDENCE_SPOOL : day, path);
    struct hs_evidence_store *store = hs_evidence_store_open(path, false, error);
    if (store == NULL) {
        hs_log(HS_LOG_ERROR, "a map is not in the evidence store", HS_LOG_TEXT("detail", error));
        return;
    }
    if (!hs_evidence_store_has(store, HS_STR("map"), hs_str_of(map->revision)) &&
        !put_map(store, map, document))
        hs_log(HS_LOG_ERROR, "a map is not in the evidence store",
               HS_LOG_TEXT("detail", hs_evidence_store_error(store)));
    hs_evidence_store_close(store);
}
