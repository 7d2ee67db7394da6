/* The metrics of the running service. promtool accepts them, they follow the traffic, and the
   alerts and the dashboard name only existing metrics. */
#include "tests/support/clock.h"
#include "tests/support/contract/yaml_json.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES     "deploy/prometheus/hindsight.rules.yml"
#define ALERTS    "deploy/prometheus/alerts.yml"
#define DASHBOARD "deploy/grafana/hindsight.json"
#define RUNBOOK   "docs/operations.md"
#define DOCUMENT  "docs/observability.md"

static struct hs_test_service service;

static bool have_promtool(void)
{
    return system("command -v promtool >/dev/null 2>&1") == 0; /* NOLINT(cert-env33-c) */
}

/* Runs a shell command with `input` on its standard input. Returns its output. */
static const char *run(const char *command, const char *input, int *code)
{
    char name[] = "/tmp/hindsight-observability-XXXXXX";
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, input, strlen(input)), (ssize_t)strlen(input));
    close(file);
    const char *output = hs_test_shell(code, "%s 2>&1 < %s", command, name);
    unlink(name);
    return output;
}

START_TEST(promtool_accepts_the_metrics)
{
    char *text = hs_scrape(&service);
    int code;
    const char *output = run("promtool check metrics", text, &code);
    ck_assert_msg(code == 0 && output[0] == '\0', "%s", output);
    free(text);
}
END_TEST

START_TEST(promtool_accepts_the_rules)
{
    int code;
    const char *output = run("promtool check rules " RULES " " ALERTS, "", &code);
    ck_assert_msg(code == 0, "%s", output);
    output = run("promtool test rules deploy/prometheus/tests/*.yml", "", &code);
    ck_assert_msg(code == 0, "%s", output);
}
END_TEST

/* Collects every expression in a value as rules of one group. */
static void gather_rules(json_t *value, json_t *rules)
{
    const char *name;
    json_t *member, *expression = json_object_get(value, "expr");
    size_t i;
    if (json_is_string(expression)) {
        char record[32];
        snprintf(record, sizeof record, "panel:%zu", json_array_size(rules));
        json_array_append_new(rules, json_pack("{s:s,s:O}", "record", record, "expr", expression));
    }
    if (json_is_object(value)) {
        json_object_foreach(value, name, member) gather_rules(member, rules);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member) gather_rules(member, rules);
    }
}

/* JSON is YAML, so promtool can check the panels of the dashboard as a file of rules. */
START_TEST(promtool_accepts_the_dashboard)
{
    int code;
    json_t *dashboard = json_load_file(DASHBOARD, JSON_REJECT_DUPLICATES, NULL);
    json_t *rules = json_array();
    ck_assert_ptr_nonnull(dashboard);
    gather_rules(dashboard, rules);
    ck_assert_uint_ge(json_array_size(rules), 30);
    json_t *file = json_pack("{s:[{s:s,s:o}]}", "groups", "name", "panels", "rules", rules);
    char *text = json_dumps(file, 0);
    const char *output = run("promtool check rules /dev/stdin", text, &code);
    ck_assert_msg(code == 0, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "rules found"));
    free(text);
    json_decref(file);
    json_decref(dashboard);
}
END_TEST

/* ---- names ---- */

enum { NAMES_MAX = 256, NAME_SIZE = 128 };

struct names {
    size_t count;
    char name[NAMES_MAX][NAME_SIZE];
};

static bool has(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}

static void add(struct names *names, const char *name, size_t len)
{
    char text[NAME_SIZE];
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    if (has(names, text))
        return;
    ck_assert_uint_lt(names->count, NAMES_MAX);
    memcpy(names->name[names->count++], text, sizeof text);
}

/*
 * Adds the metrics in an expression: words outside of quotation marks that begin with one of our
 * prefixes.
 */
static void add_metrics(struct names *names, const char *expression)
{
    bool quoted = false;
    for (const char *at = expression; *at != '\0';) {
        if (*at == '"')
            quoted = !quoted;
        if (quoted || !(isalpha((unsigned char)*at) || *at == '_')) {
            at++;
            continue;
        }
        size_t len = 1;
        while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == ':')
            len++;
        if (strncmp(at, "hindsight", 9) == 0 || strncmp(at, "process_", 8) == 0)
            add(names, at, len);
        at += len;
    }
}

/* Collects every text with this key, at any depth. */
static void add_members(struct names *names, json_t *value, const char *key)
{
    const char *name;
    json_t *member;
    size_t i;
    if (json_is_string(json_object_get(value, key)))
        add_metrics(names, json_string_value(json_object_get(value, key)));
    if (json_is_object(value)) {
        json_object_foreach(value, name, member) add_members(names, member, key);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member) add_members(names, member, key);
    }
}

/* Adds the names of all samples in the text of the metrics. */
static void add_samples(struct names *names, const char *text)
{
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (*line != '#')
            add(names, line, strcspn(line, "{ "));
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
}

static json_t *load_yaml(const char *path)
{
    char error[256];
    json_t *root = hs_test_yaml_load(path, error);
    ck_assert_msg(root != NULL, "%s: %s", path, error);
    return root;
}

/* Every metric in a rule or a panel exists. If it did not, the rule or panel would never show
   anything. */
START_TEST(rules_and_dashboard_name_what_exists)
{
    static struct names samples, recorded, used;
    char *text = hs_scrape(&service);
    add_samples(&samples, text);
    json_t *rules = load_yaml(RULES), *alerts = load_yaml(ALERTS);
    json_t *dashboard = json_load_file(DASHBOARD, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(dashboard);
    add_members(&recorded, rules, "record");
    add_members(&used, rules, "expr");
    add_members(&used, alerts, "expr");
    ck_assert_uint_ge(used.count, 20);
    add_members(&used, dashboard, "expr");
    add_members(&used, dashboard, "definition");
    ck_assert_uint_ge(used.count, 40);
    for (size_t i = 0; i < used.count; i++) {
        const char *name = used.name[i];
        const struct names *known = strchr(name, ':') != NULL ? &recorded : &samples;
        ck_assert_msg(has(known, name), "%s is used, but does not exist", name);
    }
    for (size_t i = 0; i < recorded.count; i++)
        ck_assert_msg(has(&used, recorded.name[i]), "%s is recorded and not used",
                      recorded.name[i]);
    json_decref(rules);
    json_decref(alerts);
    json_decref(dashboard);
    free(text);
}
END_TEST

/* ---- the page for operators ---- */

/* Reads the words in backquotes from `at` to the next bar. The words are names, or labels to append
   to every name from `first` on. Returns the position after the bar. */
static const char *add_cell(struct names *names, size_t first, const char *at, bool as_names)
{
    const char *end = strchr(at, '|');
    ck_assert_ptr_nonnull(end);
    for (const char *word = at; (word = memchr(word, '`', (size_t)(end - word))) != NULL;) {
        size_t len = strcspn(++word, "`");
        if (as_names)
            add(names, word, len);
        for (size_t i = first; !as_names && i < names->count; i++) {
            char *name = names->name[i];
            snprintf(name + strlen(name), NAME_SIZE - strlen(name), " %.*s", (int)len, word);
        }
        word += len + 1;
    }
    return end + 1;
}

/* Reads the table of metrics without its column of types. Adds entries of the form "name label
   label". */
static void add_documented(struct names *names, const char *page)
{
    const char *line = strstr(page, "\n| metric |"), *end = strstr(page, "\n## Alerts");
    ck_assert(line != NULL && end != NULL);
    while ((line = strstr(line + 1, "\n| `")) != NULL && line < end) {
        size_t first = names->count;
        const char *type = add_cell(names, first, line + 3, true);
        add_cell(names, first, strchr(type, '|') + 1, false);
    }
}

/* Adds such entries for the metrics in a text of metrics, without the label `le` of histograms. */
static void add_families(struct names *names, const char *text)
{
    for (const char *line = text; (line = strstr(line, "# TYPE ")) != NULL;) {
        size_t len = strcspn(line += 7, " ");
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)len, line);
        const char *sample = strchr(line, '\n') + 1;
        ck_assert_msg(strncmp(sample, name, len) == 0, "%s has no sample", name);
        size_t end = strcspn(sample, "\n");
        for (const char *at = sample + strcspn(sample, "{ "); *at == '{' || *at == ',';) {
            size_t label = strcspn(++at, "=");
            if (label != 2 || memcmp(at, "le", 2) != 0)
                snprintf(name + strlen(name), sizeof name - strlen(name), " %.*s", (int)label, at);
            at += label + 2; /* no value contains a quotation mark */
            at += strcspn(at, "\"") + 1;
            ck_assert(at <= sample + end);
        }
        add(names, name, strlen(name));
    }
}

/* Adds the headings of the runbook that name an alert. */
static void add_documented_alerts(struct names *names, const char *page)
{
    static const char heading[] = "\n#### Hindsight";
    const size_t before = strlen("\n#### ");
    for (const char *line = page; (line = strstr(line, heading)) != NULL; line += before) {
        const char *name = line + before, *next = strstr(name, "\n#");
        const char *advice = strstr(name, "\n- **Means:** ");
        advice = advice == NULL ? NULL : strstr(advice, "\n- **Look at:** ");
        advice = advice == NULL ? NULL : strstr(advice, "\n- **Do:** ");
        ck_assert_msg(advice != NULL && (next == NULL || advice < next), "%.40s is not complete",
                      name);
        add(names, name, strcspn(name, "\n"));
    }
}

/* Adds the names of all alerts. Checks that each one names its section of the runbook. */
static void add_alerts(struct names *names)
{
    json_t *alerts = load_yaml(ALERTS), *group, *rule;
    size_t i, j;
    json_array_foreach(json_object_get(alerts, "groups"), i, group)
    {
        json_array_foreach(json_object_get(group, "rules"), j, rule)
        {
            const char *name = json_string_value(json_object_get(rule, "alert"));
            const char *runbook =
                json_string_value(json_object_get(json_object_get(rule, "annotations"), "runbook"));
            char expected[NAME_SIZE];
            ck_assert_ptr_nonnull(name);
            int start = snprintf(expected, sizeof expected, RUNBOOK "#%s", name);
            for (char *at = expected + strlen(RUNBOOK); at < expected + start; at++)
                *at = (char)tolower((unsigned char)*at);
            ck_assert_msg(runbook != NULL && strcmp(runbook, expected) == 0, "%s has no runbook",
                          name);
            add(names, name, strlen(name));
        }
    }
    json_decref(alerts);
}

static void assert_same(const struct names *there, const struct names *documented, const char *page)
{
    ck_assert_uint_gt(there->count, 0);
    for (size_t i = 0; i < there->count; i++)
        ck_assert_msg(has(documented, there->name[i]), "\"%s\" is not in %s", there->name[i], page);
    for (size_t i = 0; i < documented->count; i++)
        ck_assert_msg(has(there, documented->name[i]), "\"%s\" is in %s alone", documented->name[i],
                      page);
}

/* The operators' pages list every metric with its labels, every alert, and nothing else. */
START_TEST(everything_is_documented)
{
    static struct names families, documented, alerts, documented_alerts;
    char *text = hs_scrape(&service), *page = hs_test_read_file(DOCUMENT, NULL);
    char *runbook = hs_test_read_file(RUNBOOK, NULL);
    add_families(&families, text);
    add_documented(&documented, page);
    assert_same(&families, &documented, DOCUMENT);
    add_alerts(&alerts);
    add_documented_alerts(&documented_alerts, runbook);
    assert_same(&alerts, &documented_alerts, RUNBOOK);
    free(runbook);
    free(page);
    free(text);
}
END_TEST

/* No page names a metric that does not exist. */
START_TEST(pages_name_what_exists)
{
    static struct names known;
    size_t named = 0;
    glob_t pages;
    char *text = hs_scrape(&service);
    add_samples(&known, text);
    for (const char *line = text; (line = strstr(line, "# TYPE ")) != NULL; line += 7)
        add(&known, line + 7, strcspn(line + 7, " "));
    add(&known, "hindsight_cases", strlen("hindsight_cases")); /* a schema of PostgreSQL */
    ck_assert_int_eq(glob("docs/*.md", 0, NULL, &pages), 0);
    ck_assert_int_eq(glob("README.md", GLOB_APPEND, NULL, &pages), 0);
    for (size_t i = 0; i < pages.gl_pathc; i++) {
        char *page = hs_test_read_file(pages.gl_pathv[i], NULL);
        for (const char *at = page; (at = strstr(at, "hindsight_")) != NULL; named++) {
            char name[NAME_SIZE];
            size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
            snprintf(name, sizeof name, "%.*s", (int)len, at);
            ck_assert_msg(has(&known, name), "%s names %s", pages.gl_pathv[i], name);
            at += len;
        }
        free(page);
    }
    ck_assert_uint_ge(named, 40);
    globfree(&pages);
    free(text);
}
END_TEST

/* ---- metrics after traffic ---- */

#define STAGE(name) "hindsight_verify_duration_seconds_count{stage=\"" name "\"}"

START_TEST(metrics_move_with_the_traffic)
{
    static const char frames[] =
        "{\"frames\":[{\"time\":1.0,\"players\":[{\"player\":\"a\",\"position\":[0,0,0]},"
        "{\"player\":\"b\",\"position\":[0,500,0]}]},{\"time\":1.1,\"players\":["
        "{\"player\":\"a\",\"position\":[0,0,0]},{\"player\":\"b\",\"position\":[0,500,0]}]}]}";
    static const char hits[] =
        "{\"now\":1.1,\"hits\":[{\"shot\":1,\"shooter\":\"a\",\"hit_time\":1.05,\"weapon\":"
        "\"rifle\","
        "\"start\":[0,0,160],\"end\":[0,500,160],\"target\":\"b\"},{\"shot\":2,\"shooter\":\"a\","
        "\"hit_time\":1.05,\"weapon\":\"rifle\",\"start\":[0,0,160],\"end\":[0,500,160],\"target\":"
        "\"b\"}]}";
    static const char shots[] =
        "{\"now\":1.1,\"shots\":[{\"shot\":3,\"shooter\":\"a\",\"time\":1.1,\"weapon\":\"rifle\","
        "\"origin\":[0,0,160],\"direction\":[0,1,0]}]}";
    static const struct {
        const char *path, *body;
    } posts[] = {{"/v1/matches/m/frames", frames},
                 {"/v1/matches/m/hits", hits},
                 {"/v1/matches/m/shots", shots}};
    struct hs_test_service fresh;
    ck_assert(hs_test_service_start(&fresh, NULL));
    char *text = hs_scrape(&fresh);
    ck_assert(hs_series(text, STAGE("judge")) == 0);
    ck_assert(hs_series(text, "hindsight_http_connections{listener=\"data\"}") == 0);
    ck_assert(hs_series(text, "hindsight_http_connections{listener=\"admin\"}") == 1);
    free(text);

    struct hs_test_http *http = hs_test_http_open(fresh.data_port);
    for (size_t i = 0; i < 3; i++) {
        struct hs_test_response response;
        hs_test_http_send(http, "POST", posts[i].path, posts[i].body, strlen(posts[i].body), NULL,
                          &response);
        ck_assert_msg(response.status == 200, "%s: %s", posts[i].path, response.body);
        hs_test_response_free(&response);
    }
    text = hs_scrape(&fresh);
    ck_assert(hs_series(text, STAGE("decode")) == 2); /* two requests have claims */
    ck_assert(hs_series(text, STAGE("lock")) == 2);
    ck_assert(hs_series(text, STAGE("judge")) == 3); /* three claims */
    ck_assert(hs_series(text, STAGE("encode")) == 3);
    ck_assert(hs_series(text, "hindsight_verify_duration_seconds_sum{stage=\"judge\"}") > 0);
    ck_assert(hs_series(text, "hindsight_rewind_age_seconds_count") >= 1);
    ck_assert(hs_series(text, "hindsight_http_request_duration_seconds_count{route="
                              "\"/v1/matches/{match}/hits\"}") == 1);
    ck_assert(hs_series(text, "hindsight_http_request_duration_seconds_sum{route="
                              "\"/v1/matches/{match}/hits\"}") > 0);
    ck_assert(hs_series(text, "hindsight_frames_total{result=\"stored\"}") == 4);
    ck_assert(hs_series(text, "hindsight_matches_active") == 1);
    ck_assert(hs_series(text, "hindsight_matches_limit") == 4096);
    ck_assert(hs_series(text, "hindsight_players_active") == 2);
    ck_assert(hs_series(text, "hindsight_history_bytes") > 0);
    ck_assert(hs_series(text, "hindsight_http_connections{listener=\"data\"}") == 1);
    ck_assert(hs_series(text, "hindsight_http_connections_limit{listener=\"data\"}") >= 1);
    ck_assert(hs_series(text, "hindsight_http_inflight_requests") >= 1); /* the request for the
                                                                            metrics itself */
    free(text);
    hs_test_http_close(http);
    for (int tries = 0;; tries++) {
        text = hs_scrape(&fresh);
        double open = hs_series(text, "hindsight_http_connections{listener=\"data\"}");
        free(text);
        if (open == 0)
            break;
        ck_assert_int_lt(tries, 500);
        hs_test_pause_ms(10);
    }
    ck_assert(hs_test_service_stop(&fresh));
}
END_TEST

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return 1;
    Suite *suite = suite_create("observability");
    TCase *tests = tcase_create("operators");
    tcase_set_timeout(tests, 60);
    if (have_promtool()) {
        tcase_add_test(tests, promtool_accepts_the_metrics);
        tcase_add_test(tests, promtool_accepts_the_rules);
        tcase_add_test(tests, promtool_accepts_the_dashboard);
    } else {
        printf("SKIP: promtool is not installed\n");
    }
    tcase_add_test(tests, rules_and_dashboard_name_what_exists);
    tcase_add_test(tests, everything_is_documented);
    tcase_add_test(tests, pages_name_what_exists);
    tcase_add_test(tests, metrics_move_with_the_traffic);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
