#include "service/evidence/documents.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "service/checkpoint/map_file.h"
#include "service/checkpoint/maps.h"
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

/* False: there is no such file, it is damaged, or memory is out. */
static bool read_map(const char *directory, const struct hs_map_entry *map,
                     struct hs_map_document *out)
{
    char path[HS_EVIDENCE_PATH];
    snprintf(path, sizeof path, "%s/" HS_CHECKPOINT_MAPS, directory);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_read = folder >= 0 && hs_map_file_read(folder, map->revision, out) == HS_MAP_FILE_READ;
    if (folder >= 0)
        close(folder);
    return is_read;
}

static bool put_saved_map(struct hs_evidence_store *store, const char *directory,
                          const struct hs_map_entry *map)
{
    struct hs_map_document saved = {0};
    struct hs_buffer text = {0};
    struct hs_writer writer = {.buffer = &text};
    bool fine = true;
    if (read_map(directory, map, &saved)) {
        const struct hs_world_mesh mesh = hs_map_mesh(&saved);
        hs_map_encode_document(&writer, &mesh);
        fine = text.failed || put_map(store, map, (struct hs_str){text.data, text.len});
        hs_map_document_free(&saved);
    }
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
