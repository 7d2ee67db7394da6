#include "service/checkpoint/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/checkpoint/map_file.h"
#include "service/system/array.h"
#include "service/system/files.h"
#include "service/watch/log.h"

/* ---- revisions ---- */

static size_t find(const struct hs_revisions *revisions, const char *revision)
{
    size_t i = 0;
    while (i < revisions->count && strcmp(revisions->text[i], revision) != 0)
        i++;
    return i;
}

bool hs_revisions_has(const struct hs_revisions *revisions, const char *revision)
{
    return find(revisions, revision) < revisions->count;
}

bool hs_revisions_add(struct hs_revisions *revisions, const char *revision)
{
    if (hs_revisions_has(revisions, revision))
        return true;
    void *text = hs_array_grow(revisions->text, revisions->count, &revisions->capacity,
                               sizeof *revisions->text);
    if (text == NULL)
        return false;
    revisions->text = text;
    snprintf(revisions->text[revisions->count++], HS_REVISION_MAX, "%s", revision);
    return true;
}

static void take_out(struct hs_revisions *revisions, const char *revision)
{
    size_t i = find(revisions, revision);
    if (i < revisions->count)
        memcpy(revisions->text[i], revisions->text[--revisions->count], HS_REVISION_MAX);
}

/* ---- the directory ---- */

bool hs_kept_maps_open(struct hs_kept_maps *maps, int data)
{
    *maps = (struct hs_kept_maps){.directory = -1};
    if (mkdirat(data, HS_CHECKPOINT_MAPS, 0700) != 0 && errno != EEXIST)
        return false;
    maps->directory =
        openat(data, HS_CHECKPOINT_MAPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return maps->directory >= 0;
}

void hs_kept_maps_close(struct hs_kept_maps *maps)
{
    if (maps->directory >= 0)
        close(maps->directory);
    free(maps->on_disk.text);
    free(maps->newest.text);
    free(maps->next.text);
    *maps = (struct hs_kept_maps){.directory = -1};
}

/* ---- the maps of each checkpoint ---- */

void hs_kept_maps_refer(struct hs_kept_maps *maps, const char *revision)
{
    if (!hs_revisions_add(&maps->next, revision))
        maps->no_memory = true;
}

void hs_kept_maps_settle(struct hs_kept_maps *maps)
{
    struct hs_revisions old = maps->newest;
    maps->newest = maps->next;
    maps->is_partial = maps->no_memory;
    maps->next = old;
    maps->next.count = 0;
    maps->no_memory = false;
}

void hs_kept_maps_found(struct hs_kept_maps *maps, const char *revision)
{
    /* If memory runs out here, the next checkpoint writes the file again. */
    (void)hs_revisions_add(&maps->on_disk, revision);
}

void hs_kept_maps_keep(struct hs_kept_maps *maps, struct hs_map_store *store,
                       struct hs_map_entry *entry)
{
    bool has_mesh = entry->mesh.vertices != NULL;
    int error = 0;
    hs_kept_maps_refer(maps, entry->revision);
    if (!hs_revisions_has(&maps->on_disk, entry->revision)) {
        /* If the mesh is no longer in memory, it was saved to a file. This file was deleted while
           no checkpoint referred to the map. */
        error =
            has_mesh ? hs_map_file_write(maps->directory, entry->revision, &entry->mesh) : ENOENT;
        if (error == 0 && !hs_revisions_add(&maps->on_disk, entry->revision))
            error = ENOMEM;
        maps->written += error == 0;
        maps->failed += error != 0;
    }
    if (error != 0)
        hs_log(HS_LOG_ERROR, "a map cannot be saved: a restart would lose it",
               HS_LOG_TEXT("map", entry->name.text), HS_LOG_TEXT("revision", entry->revision),
               HS_LOG_TEXT("detail", strerror(error)));
    else if (has_mesh)
        hs_map_store_forget_mesh(store, entry);
}

/* Returns whether a file is a map file, or the temporary file in which a map file is written. No
   other files may be deleted. */
static bool is_ours(const char *name, char revision[HS_REVISION_MAX])
{
    char found[HS_MAP_FILE_NAME];
    if (strcmp(name, "map.new") == 0) {
        revision[0] = '\0';
        return true;
    }
    return strlen(name) == HS_MAP_FILE_NAME - 1 &&
           snprintf(revision, HS_REVISION_MAX, "sha256:%.64s", name) > 0 &&
           hs_map_file_name(revision, found);
}

static void delete_unused(struct hs_kept_maps *maps)
{
    DIR *files = hs_directory_open(maps->directory);
    if (files == NULL)
        return; /* the next checkpoint tries again */
    for (struct dirent *file; (file = readdir(files)) != NULL;) {
        char revision[HS_REVISION_MAX];
        if (!is_ours(file->d_name, revision) || hs_revisions_has(&maps->newest, revision) ||
            hs_revisions_has(&maps->next, revision))
            continue;
        take_out(&maps->on_disk, revision);
        (void)!unlinkat(maps->directory, file->d_name, 0);
    }
    closedir(files);
}

void hs_kept_maps_taken(struct hs_kept_maps *maps, bool fine)
{
    if (fine && !maps->is_partial)
        delete_unused(maps);
    if (fine)
        hs_kept_maps_settle(maps);
    maps->next.count = 0;
    maps->no_memory = false;
}
