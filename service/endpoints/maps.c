/* Endpoints for maps: put, get, delete. */
#include "api/maps.h"

#include "service/access/auth.h"
#include "service/endpoints/table.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/maps.h"

static void write_map(struct hs_reply *reply, const struct hs_map_entry *entry)
{
    struct hs_writer writer = {.buffer = &reply->body};
    hs_map_encode(&writer, hs_name_str(&entry->name), entry->revision, &entry->info);
}

/* Refuses a map because its build needs more memory than the option map-bytes allows. The build
   needs `bytes` bytes in addition to the body. */
static void refuse_size(struct hs_service *service, const struct hs_request *request, size_t bytes,
                        struct hs_reply *reply)
{
    struct hs_share *share = hs_map_store_share(service->maps);
    size_t max = hs_share_max(share, request->tenant);
    bool never = bytes > max || request->body.len > max - bytes;
    hs_problem_set(reply->problem, never ? HS_PROBLEM_BODY_TOO_LARGE : HS_PROBLEM_OVERLOADED,
                   "The build of this map needs up to %zu more bytes; map-bytes has %zu left",
                   bytes, hs_share_left(share, request->tenant));
}

/* Returns the posted document if requests are recorded, because a recording contains the original
   documents of maps. Otherwise returns an empty text. */
static struct hs_str kept_text(const struct hs_service *service, const struct hs_request *request)
{
    return service->record != NULL ? request->body : (struct hs_str){0};
}

static void put_map(struct hs_service *service, const struct hs_request *request,
                    const struct hs_map_document *document, size_t reserved, struct hs_reply *reply)
{
    struct hs_world_mesh mesh = hs_map_mesh(document);
    struct hs_map_entry *entry = NULL;
    enum hs_map_put result =
        hs_map_store_put_kept(service->maps, request->tenant, request->params.name[0], &mesh,
                              kept_text(service, request), reserved, &entry);
    switch (result) {
    case HS_MAP_CREATED:
    case HS_MAP_REPLACED:
        reply->status = result == HS_MAP_CREATED ? 201 : 200;
        if (hs_endpoint_is_shared(hs_catalog_put_map(service->catalog, entry, request->body),
                                  reply))
            write_map(reply, entry);
        hs_registry_give_map(service->registry, service->maps, entry);
        if (service->keep_map != NULL)
            service->keep_map(service, entry, request->body);
        hs_map_store_release(service->maps, entry);
        return;
    case HS_MAP_FOREIGN:
        hs_auth_not_yours(reply->problem);
        return;
    case HS_MAP_FULL:
        hs_endpoint_overloaded(reply, "the limit of maps is reached");
        return;
    case HS_MAP_TOO_BIG:
        refuse_size(service, request, hs_world_build_bytes(&mesh, true), reply);
        return;
    case HS_MAP_NO_MEMORY:
        hs_endpoint_overloaded(reply, "out of memory");
        return;
    }
}

/* Before the map is decoded, reserves all the memory that the map will need. */
void hs_endpoint_map_put(struct hs_service *service, const struct hs_request *request,
                         struct hs_reply *reply)
{
    struct hs_reader reader = {.problem = reply->problem, .arena = request->arena};
    struct hs_share *share = hs_map_store_share(service->maps);
    struct hs_world_mesh counts = hs_map_measure(request->body);
    size_t decoded = hs_map_mesh_bytes(&counts);
    size_t reserved =
        hs_map_store_put_bytes(service->maps, &counts, kept_text(service, request).len);
    struct hs_map_document document;
    if (!hs_endpoint_may_change(service, reply))
        return;
    if (!hs_share_reserve(share, request->tenant, decoded + reserved)) {
        refuse_size(service, request, decoded + reserved, reply);
        return;
    }
    if (hs_map_decode(&reader, request->body, &counts, &document)) {
        put_map(service, request, &document, reserved, reply);
    } else {
        hs_share_release(share, request->tenant, reserved);
        if (reader.no_memory)
            hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED, "out of memory");
    }
    hs_map_document_free(&document);
    hs_share_release(share, request->tenant, decoded);
}

void hs_endpoint_map_get(struct hs_service *service, const struct hs_request *request,
                         struct hs_reply *reply)
{
    if (!hs_endpoint_is_current(service, reply))
        return;
    struct hs_map_entry *entry = hs_endpoint_map(service, request, request->params.name[0]);
    if (entry == NULL) {
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME, "no such map");
        return;
    }
    write_map(reply, entry);
    hs_map_store_release(service->maps, entry);
}

void hs_endpoint_map_delete(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    struct hs_str name = request->params.name[0];
    if (!hs_endpoint_may_change(service, reply))
        return;
    if (!hs_map_store_delete(service->maps, request->tenant, name))
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME, "no such map");
    else if (hs_endpoint_is_shared(
                 hs_catalog_drop(service->catalog, HS_SHARED_MAP, request->tenant, name), reply))
        reply->status = 204;
}
