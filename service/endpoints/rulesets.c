/* Endpoints for rulesets: list, get, put, delete. */
#include <stdlib.h>

#include "api/json/number.h"
#include "api/rulesets/document.h"

#include "service/access/auth.h"
#include "service/checkpoint/journal.h"
#include "service/checkpoint/kept_match.h"
#include "service/endpoints/table.h"
#include "service/service.h"
#include "service/state/rulesets.h"

static void write_head(struct hs_writer *writer, struct hs_str name, const char *revision)
{
    hs_write_str_field(writer, "name", name);
    hs_write_text_field(writer, "revision", revision);
}

/* Writes a name's canary. If `has_document` is set, also writes the canary's document. */
static void write_canary(struct hs_writer *writer, const struct hs_ruleset_entry *canary,
                         double share, bool has_document)
{
    if (canary == NULL)
        return;
    hs_write_begin_field(writer, "canary", '{');
    hs_write_text_field(writer, "revision", canary->revision);
    hs_write_real_field(writer, "share", share);
    if (has_document) {
        hs_write_key(writer, "ruleset");
        hs_write_raw(writer, (struct hs_str){canary->document, canary->document_size});
    }
    hs_write_end(writer, '}');
}

struct listing {
    struct hs_writer *writer;
    struct hs_str tenant; /* ptr NULL: list all rulesets */
};

static void list_ruleset(void *context, const struct hs_ruleset_entry *entry)
{
    const struct listing *listing = context;
    struct hs_writer *writer = listing->writer;
    if (!hs_endpoint_may_see(listing->tenant, &entry->owner))
        return;
    hs_write_begin(writer, '{');
    write_head(writer, hs_name_str(&entry->ruleset->name), entry->revision);
    hs_write_bool_field(writer, "builtin", entry->is_builtin);
    write_canary(writer, entry->canary, entry->canary_share, false);
    hs_write_end(writer, '}');
}

void hs_endpoint_ruleset_list(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    struct listing listing = {&writer, request->tenant};
    if (!hs_endpoint_is_current(service, reply))
        return;
    hs_write_begin(&writer, '{');
    hs_write_begin_field(&writer, "rulesets", '[');
    hs_ruleset_store_each(service->rulesets, list_ruleset, &listing);
    hs_write_end(&writer, ']');
    hs_write_end(&writer, '}');
}

/* The names of rulesets for an error message. Names that do not fit are only counted. */
struct names {
    struct hs_str tenant;
    char text[128];
    size_t length, left_out;
};

static void add_name(void *context, const struct hs_ruleset_entry *entry)
{
    struct names *names = context;
    struct hs_str name = hs_name_str(&entry->ruleset->name);
    if (!hs_endpoint_may_see(names->tenant, &entry->owner))
        return;
    const char *comma = names->length > 0 ? ", " : "";
    size_t need = strlen(comma) + name.len;
    if (names->left_out > 0 || names->length + need >= sizeof names->text) {
        names->left_out++;
        return;
    }
    snprintf(names->text + names->length, sizeof names->text - names->length, "%s%s", comma,
             name.ptr);
    names->length += need;
}

void hs_endpoint_unknown_ruleset(struct hs_service *service, const struct hs_request *request,
                                 struct hs_str name, struct hs_reply *reply)
{
    struct names names = {.tenant = request->tenant};
    char more[32] = "";
    hs_ruleset_store_each(service->rulesets, add_name, &names);
    if (names.left_out > 0)
        snprintf(more, sizeof more, " and %zu more", names.left_out);
    hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_RULESET,
                   "there is no ruleset %.*s; there are %s%s", (int)name.len, name.ptr, names.text,
                   more);
}

void hs_endpoint_ruleset_get(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    if (!hs_endpoint_is_current(service, reply))
        return;
    struct hs_ruleset_entry *entry =
        hs_endpoint_ruleset(service, request, request->params.name[0], (struct hs_str){0});
    if (entry == NULL) {
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME, "no such ruleset");
        return;
    }
    struct hs_writer writer = {.buffer = &reply->body};
    hs_write_begin(&writer, '{');
    write_head(&writer, hs_name_str(&entry->ruleset->name), entry->revision);
    hs_write_key(&writer, "ruleset");
    hs_write_raw(&writer, (struct hs_str){entry->document, entry->document_size});
    double share;
    struct hs_ruleset_entry *canary = hs_ruleset_store_canary(service->rulesets, entry, &share);
    write_canary(&writer, canary, share, true);
    hs_write_end(&writer, '}');
    hs_ruleset_store_release(service->rulesets, canary);
    hs_ruleset_store_release(service->rulesets, entry);
}

/* Reads the query argument `canary_share`. If the argument is absent, *share is 0. If the argument
   is not valid, returns false and sets the problem. */
static bool read_share(const struct hs_request *request, double *share, struct hs_problem *problem)
{
    const char *text = hs_request_query(request, "canary_share");
    *share = 0;
    if (text == NULL || (hs_number_parse(hs_str_of(text), share) && *share > 0 && *share <= 1))
        return true;
    hs_problem_add(problem, "canary_share", "must be a number above 0 and up to 1");
    return false;
}

static void answer_put(struct hs_service *service, const struct hs_request *request,
                       struct hs_ruleset *ruleset, double share, struct hs_reply *reply)
{
    char revision[HS_REVISION_MAX];
    struct hs_writer writer = {.buffer = &reply->body};
    enum hs_ruleset_put result = HS_RULESET_RESERVED;
    struct hs_str name = request->params.name[0];
    if (hs_ruleset_name_is_reserved(name))
        hs_ruleset_destroy(ruleset);
    else if (share > 0)
        result = hs_ruleset_store_put_canary(service->rulesets, request->tenant, ruleset, share,
                                             revision);
    else
        result = hs_ruleset_store_put(service->rulesets, request->tenant, ruleset, revision);
    switch (result) {
    case HS_RULESET_CREATED:
    case HS_RULESET_REPLACED:
        if (!hs_ruleset_store_write(service->rulesets, name, hs_kept_ruleset_name, service) ||
            !hs_journal_settle(service->journal)) {
            hs_endpoint_overloaded(reply, "the ruleset cannot be written to the journal");
            return;
        }
        if (!hs_endpoint_is_shared(hs_catalog_put_ruleset(service->catalog, name, revision), reply))
            return;
        reply->status = result == HS_RULESET_CREATED ? 201 : 200;
        hs_write_begin(&writer, '{');
        write_head(&writer, name, revision);
        hs_write_end(&writer, '}');
        return;
    case HS_RULESET_RESERVED:
        hs_problem_add(reply->problem, "/name", HS_RULESET_RESERVED_TEXT, (int)name.len, name.ptr);
        return;
    case HS_RULESET_FOREIGN:
        hs_auth_not_yours(reply->problem);
        return;
    case HS_RULESET_NAMELESS:
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME,
                            "a canary needs a ruleset with this name");
        return;
    case HS_RULESET_FULL:
        hs_endpoint_overloaded(reply, "the limit of rulesets is reached");
        return;
    case HS_RULESET_TOO_BIG:
        hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED,
                       "The ruleset needs more than the %zu bytes that ruleset-bytes has left",
                       hs_share_left(hs_ruleset_store_share(service->rulesets), request->tenant));
        return;
    case HS_RULESET_NO_MEMORY:
        hs_endpoint_overloaded(reply, "out of memory");
        return;
    }
}

void hs_endpoint_ruleset_put(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    struct hs_reader reader;
    double share;
    bool is_fine =
        read_share(request, &share, reply->problem) && hs_endpoint_may_change(service, reply);
    json_t *root = is_fine ? hs_body_parse(service, request, reply, &reader) : NULL;
    if (root == NULL)
        return;
    struct hs_ruleset *ruleset = hs_ruleset_decode(&reader, root, request->params.name[0]);
    if (hs_body_is_fine(&reader, reply) &&
        hs_ruleset_store_allows(service->rulesets, ruleset, reply->problem))
        answer_put(service, request, ruleset, share, reply);
    else
        hs_ruleset_destroy(ruleset);
    json_decref(root);
}

struct need {
    struct hs_str name;
    struct hs_name match; /* a match that uses the ruleset; "" if no match uses it */
};

static void find_need(void *context, struct hs_match_slot *slot)
{
    struct need *need = context;
    if (hs_str_equal(hs_name_str(&slot->ruleset->ruleset->name), need->name))
        need->match = slot->name;
}

/* Returns whether a match of the tenant, or the name `default`, needs the ruleset. If the result is
   true, sets `problem`. A match that opens during this call keeps the ruleset even if the name is
   then deleted. */
static bool is_needed(struct hs_service *service, struct hs_str tenant, struct hs_str name,
                      struct hs_problem *problem)
{
    struct need need = {.name = name};
    struct hs_ruleset_entry *standard = hs_ruleset_store_get(service->rulesets, HS_STR("default"));
    bool is_default = standard != NULL && hs_str_equal(hs_name_str(&standard->ruleset->name), name);
    hs_ruleset_store_release(service->rulesets, standard);
    hs_registry_each(service->registry, tenant, find_need, &need);
    if (is_default)
        hs_problem_set(problem, HS_PROBLEM_RULESET_IN_USE, "the name `default` stands for it");
    else if (need.match.text[0] != '\0')
        hs_problem_set(problem, HS_PROBLEM_RULESET_IN_USE, "match %s uses it", need.match.text);
    return problem->code != HS_PROBLEM_NONE;
}

void hs_endpoint_ruleset_delete(struct hs_service *service, const struct hs_request *request,
                                struct hs_reply *reply)
{
    struct hs_str name = request->params.name[0];
    if (hs_ruleset_name_is_reserved(name)) {
        hs_problem_add(reply->problem, "/name", "`%.*s` is built in and cannot be deleted",
                       (int)name.len, name.ptr);
        return;
    }
    if (!hs_endpoint_may_change(service, reply) ||
        is_needed(service, request->tenant, name, reply->problem))
        return;
    switch (hs_ruleset_store_delete(service->rulesets, request->tenant, name, hs_kept_ruleset_gone,
                                    service)) {
    case HS_RULESET_DELETED:
        reply->status = 204;
        hs_endpoint_is_shared(
            hs_catalog_drop(service->catalog, HS_SHARED_RULESET, request->tenant, name), reply);
        if (!hs_journal_settle(service->journal))
            hs_endpoint_overloaded(
                reply, "the ruleset is deleted, but a power failure could bring it back");
        return;
    case HS_RULESET_UNKNOWN:
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME, "no such ruleset");
        return;
    case HS_RULESET_IS_FILES:
        hs_problem_set(reply->problem, HS_PROBLEM_RULESET_IN_USE,
                       "it comes from a file in --rules: delete the file and restart");
        return;
    case HS_RULESET_NOT_KEPT:
        hs_endpoint_overloaded(reply, "the deletion cannot be written to the journal");
        return;
    }
}
