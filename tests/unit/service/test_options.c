/* The configuration: defaults, file, environment, command line, and conflicts. */
#include "service/options/values.h"

#include "service/system/address.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char error[HS_OPTIONS_FAULTS_MAX];
static struct hs_options options;
static struct hs_problem problem;

static void setup(void)
{
    error[0] = '\0';
    hs_options_default(&options);
    hs_problem_init(&problem);
}

static enum hs_options_result read_with(char *const *environment, char *const *arguments)
{
    int argc = 0;
    while (arguments[argc] != NULL)
        argc++;
    struct hs_options_input input = {argc, arguments, environment};
    return hs_options_read(&input, &options, error);
}

static char *const nothing[] = {NULL};

START_TEST(defaults_are_the_documented_ones)
{
    char *const arguments[] = {"serve", NULL};
    memset(&options, 0x5A, sizeof options);
    ck_assert_int_eq(read_with(nothing, arguments), HS_OPTIONS_OK);
    ck_assert_str_eq(options.listen, "127.0.0.1:8080");
    ck_assert_str_eq(options.admin_listen, "127.0.0.1:9464");
    ck_assert_str_eq(options.rules, "");
    ck_assert_str_eq(options.default_ruleset, "centimetres");
    ck_assert_str_eq(options.default_map, "");
    ck_assert_str_eq(options.log_level, "info");
    ck_assert(!options.no_auth);
    ck_assert(!options.insecure);
    ck_assert_str_eq(options.token_file, "");
    ck_assert_str_eq(options.tls_cert, "");
    ck_assert_str_eq(options.tls_key, "");
    ck_assert(options.auto_open);
    ck_assert_uint_eq(options.max_connections, 4096);
    ck_assert_uint_eq(options.body_bytes, 1048576);
    ck_assert_uint_eq(options.map_body_bytes, 268435456);
    ck_assert_uint_eq(options.max_maps, 64);
    ck_assert_uint_eq(options.max_rulesets, 256);
    ck_assert_uint_eq(options.map_bytes, 0);
    ck_assert_uint_eq(options.idle_seconds, 75);
    ck_assert_uint_eq(options.request_seconds, 10);
    ck_assert_uint_eq(options.max_matches, 4096);
    ck_assert_uint_eq(options.max_players, 1024);
    ck_assert_uint_eq(options.max_movers, 1024);
    ck_assert_uint_eq(options.max_samples, 1024);
    ck_assert_uint_eq(options.max_batch, 1024);
    ck_assert_uint_eq(options.drain_wait_seconds, 10);
}
END_TEST

static char path[] = "/tmp/hindsight_options_XXXXXX";

static void write_file(const char *text)
{
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

START_TEST(later_sources_win)
{
    write_file("{\"max_matches\":1,\"max_players\":1,\"max_batch\":1,\"auto_open\":false}");
    char *const environment[] = {"PATH=/bin", "HINDSIGHT_MAX_PLAYERS=2", "HINDSIGHT_MAX_BATCH=2",
                                 NULL};
    char *const arguments[] = {"serve", "--config", path, "--max-batch", "3", NULL};
    ck_assert_int_eq(read_with(environment, arguments), HS_OPTIONS_OK);
    ck_assert_uint_eq(options.max_matches, 1);
    ck_assert_uint_eq(options.max_players, 2);
    ck_assert_uint_eq(options.max_batch, 3);
    ck_assert_uint_eq(options.max_samples, 1024);
    ck_assert(!options.auto_open);
    unlink(path);
}
END_TEST

/* --config may be before or after other arguments. */
START_TEST(config_file_is_found_anywhere)
{
    write_file("{\"max_matches\":7}");
    char variable[64], argument[64];
    snprintf(variable, sizeof variable, "HINDSIGHT_CONFIG=%s", path);
    snprintf(argument, sizeof argument, "--config=%s", path);
    char *const environment[] = {variable, NULL};
    char *const plain[] = {"serve", NULL};
    char *const last[] = {"serve", "--max-players=5", argument, NULL};
    char *const beaten[] = {"serve", "--max-matches=9", argument, NULL};
    ck_assert_int_eq(read_with(environment, plain), HS_OPTIONS_OK);
    ck_assert_uint_eq(options.max_matches, 7);
    ck_assert_int_eq(read_with(nothing, last), HS_OPTIONS_OK);
    ck_assert_uint_eq(options.max_matches, 7);
    ck_assert_uint_eq(options.max_players, 5);
    ck_assert_int_eq(read_with(nothing, beaten), HS_OPTIONS_OK);
    ck_assert_uint_eq(options.max_matches, 9);
    unlink(path);
}
END_TEST

static const struct {
    const char *arguments[4];
    const char *error; /* start of the message; NULL: no fault */
} lines[] = {
    {{"--auto-open"}, NULL},
    {{"--auto-open=false"}, NULL},
    {{"--threads", "64"}, NULL},
    {{"--listen", "[::1]:0"}, NULL},
    {{"--listen=127.255.0.1:65535"}, NULL},
    {{"--listen", "0.0.0.0:80", "--no-auth", "--insecure"}, NULL},
    {{"--listen", "0.0.0.0:80"}, "listen is not a loopback address"},
    {{"--listen", "0.0.0.0:80", "--no-auth"}, "listen is not a loopback address"},
    {{"--listen", "0.0.0.0:80", "--insecure"}, "listen is not a loopback address"},
    {{"--no-auth"}, NULL},
    {{"--listen", "0.0.0.0:80", "--token-file", "x"}, NULL},
    {{"--admin-listen", "[::]:80", "--token-file", "x"}, NULL},
    {{"--listen", "0.0.0.0:80", "--token-file="}, "listen is not a loopback address"},
    {{"--token-file", "x", "--no-auth"}, "no_auth cannot be combined with a token_file"},
    {{"--token-file", "x", "--no-auth", "--insecure"}, "no_auth cannot be combined with"},
    {{"--tls-cert", "x", "--tls-key", "y"}, NULL},
    {{"--tls-cert", "x"}, "tls_key is also needed"},
    {{"--tls-key", "x"}, "tls_cert is also needed"},
    {{"--admin-listen", "[::]:80"}, "admin_listen is not a loopback address"},
    {{"--listen", "localhost:80"}, "listen must be ADDR:PORT"},
    {{"--listen", "127.0.0.1"}, "listen must be ADDR:PORT"},
    {{"--listen", "127.0.0.1:65536"}, "listen must be ADDR:PORT"},
    {{"--listen", "127.0.0.1:+80"}, "listen must be ADDR:PORT"},
    {{"--listen", "::1:80"}, "listen must be ADDR:PORT"},
    {{"--threads", "65"}, "--threads must be a whole number from 0 to 64"},
    {{"--threads", "-1"}, "--threads must be a whole number"},
    {{"--threads", "1x"}, "--threads must be a whole number"},
    {{"--threads", " 1"}, "--threads must be a whole number"},
    {{"--threads", ""}, "--threads must be a whole number"},
    {{"--max-matches", "99999999999999999999999"}, "--max-matches must be a whole number"},
    {{"--threads"}, "--threads needs a value"},
    {{"--config"}, "--config needs"},
    {{"--config", "/nonexistent/x"}, "/nonexistent/x: cannot be read"},
    {{"--auto-open=maybe"}, "--auto-open must be true or false"},
    {{"--thread", "1"}, "there is no option --thread"},
    {{"--threadsx=1"}, "there is no option --threadsx"},
    {{"--date", "x"}, "there is no option --date"},
    {{"extra"}, "unexpected argument extra"},
    {{"-x"}, "unexpected argument -x"},
    {{"--default-ruleset", "a b"}, "default_ruleset must be"},
    {{"--default-map", "a b"}, "default_map must be"},
    {{"--log-level", "loud"}, "log_level must be"},
    {{"--inflight-body-bytes", "2048"}, "inflight_body_bytes must not be less"},
};

START_TEST(command_lines)
{
    char *arguments[6] = {"serve"};
    for (size_t i = 0; i < 4 && lines[_i].arguments[i] != NULL; i++)
        arguments[i + 1] = strdup(lines[_i].arguments[i]);
    enum hs_options_result result = read_with(nothing, arguments);
    if (lines[_i].error == NULL) {
        ck_assert_msg(result == HS_OPTIONS_OK, "refused: %s", error);
    } else {
        ck_assert_int_eq(result, HS_OPTIONS_WRONG);
        ck_assert_msg(strncmp(error, lines[_i].error, strlen(lines[_i].error)) == 0,
                      "the error is: %s", error);
    }
    for (size_t i = 1; i < 6; i++)
        free(arguments[i]);
}
END_TEST

START_TEST(bad_variables_are_refused)
{
    char *const environment[] = {"HINDSIGHT_THREADS=many", NULL};
    char *const arguments[] = {"serve", NULL};
    ck_assert_int_eq(read_with(environment, arguments), HS_OPTIONS_WRONG);
    ck_assert_str_eq(error, "HINDSIGHT_THREADS must be a whole number from 0 to 64");
}
END_TEST

static const struct {
    const char *text;
    const char *pointer; /* pointer of the first problem; NULL: the text is not JSON */
} documents[] = {
    {"{\"max_matches\":\"1\"}", "/max_matches"},
    {"{\"max_matches\":1.5}", "/max_matches"},
    {"{\"max_matches\":0}", "/max_matches"},
    {"{\"max_matches\":-1}", "/max_matches"},
    {"{\"max_matches\":null}", "/max_matches"},
    {"{\"auto_open\":1}", "/auto_open"},
    {"{\"listen\":8080}", "/listen"},
    {"{\"listen\":\"127.0.0.1:1\\u0000x\"}", NULL},
    {"{\"no-auth\":true}", "/no-auth"},
    {"{\"a/b~c\":1}", "/a~1b~0c"},
    {"{\"date\":\"x\"}", "/date"},
    {"[]", ""},
    {"{\"max_matches\":1,\"max_matches\":2}", NULL},
    {"{", NULL},
    {"", NULL},
};

START_TEST(bad_documents_are_pointed_at)
{
    hs_options_from_json((struct hs_str){documents[_i].text, strlen(documents[_i].text)}, &options,
                         &problem);
    if (documents[_i].pointer == NULL) {
        ck_assert_int_eq(problem.code, HS_PROBLEM_MALFORMED_JSON);
    } else {
        ck_assert_int_eq(problem.code, HS_PROBLEM_INVALID_REQUEST);
        ck_assert_uint_eq(problem.count, 1);
        ck_assert_str_eq(problem.errors[0].pointer, documents[_i].pointer);
    }
}
END_TEST

START_TEST(every_bad_key_is_reported)
{
    struct hs_str text =
        HS_STR("{\"x_comment\":[1],\"a\":1,\"max_matches\":0,\"auto_open\":false}");
    hs_options_from_json(text, &options, &problem);
    ck_assert_uint_eq(problem.count, 2);
    ck_assert(!options.auto_open);
    ck_assert_uint_eq(options.max_matches, 4096);
}
END_TEST

/* All three sources have faults, and some values conflict. Each message names the option as its
   source spells it. */
START_TEST(every_fault_of_every_source_is_reported)
{
    write_file("{\"max_matches\":0,\"treads\":1,\"log_level\":\"loud\"}");
    char *const environment[] = {"HINDSIGHT_THREADS=many", "HINDSIGHT_MAX_BATCH=0",
                                 "HINDSIGHT_THREADSX=ignored", NULL};
    char *const arguments[] = {"serve",           "--config",          path,  "--bogus", "1",
                               "--max-maps=none", "--default-ruleset", "a b", NULL};
    char expected[1024];
    snprintf(expected, sizeof expected,
             "%s: /max_matches: must be a whole number from 1 to 1000000\n"
             "%s: /treads: is not an option\n"
             "HINDSIGHT_THREADS must be a whole number from 0 to 64\n"
             "HINDSIGHT_MAX_BATCH must be a whole number from 1 to 65536\n"
             "there is no option --bogus; see hindsight serve --help\n"
             "--max-maps must be a whole number from 1 to 4096\n"
             "default_ruleset must be 1 to 64 of [A-Za-z0-9_.:-]\n"
             "%s: /log_level: must be error, warn, info or debug",
             path, path, path);
    ck_assert_int_eq(read_with(environment, arguments), HS_OPTIONS_WRONG);
    ck_assert_str_eq(error, expected);
    unlink(path);
}
END_TEST

/* There are more faults than fit. The text stays in its buffer, and says that faults are
   missing. */
START_TEST(faults_without_end_are_cut)
{
    enum { MANY = 300 };
    static char name[64] = "--an-option-with-a-rather-long-name-that-nobody-knows";
    char *arguments[MANY + 2] = {"serve"};
    for (int i = 1; i <= MANY; i++)
        arguments[i] = name;
    ck_assert_int_eq(read_with(nothing, arguments), HS_OPTIONS_WRONG);
    size_t len = strlen(error);
    ck_assert_uint_gt(len, HS_OPTIONS_FAULTS_MAX - 200);
    ck_assert_str_eq(error + len - 9, "\nand more");
}
END_TEST

START_TEST(sources_are_remembered)
{
    write_file("{\"max_matches\":5,\"max_players\":1,\"max_batch\":1}");
    char *const environment[] = {"HINDSIGHT_MAX_PLAYERS=2", "HINDSIGHT_MAX_BATCH=2", NULL};
    char *const arguments[] = {"serve", "--config", path, "--max-batch", "3", NULL};
    ck_assert_int_eq(read_with(environment, arguments), HS_OPTIONS_OK);
    ck_assert_int_eq(options.sources[HS_OPTION_AT_max_samples], HS_OPTION_FROM_DEFAULT);
    ck_assert_int_eq(options.sources[HS_OPTION_AT_max_matches], HS_OPTION_FROM_FILE);
    ck_assert_int_eq(options.sources[HS_OPTION_AT_max_players], HS_OPTION_FROM_ENVIRONMENT);
    ck_assert_int_eq(options.sources[HS_OPTION_AT_max_batch], HS_OPTION_FROM_COMMAND_LINE);
    unlink(path);
}
END_TEST

START_TEST(stray_variables_are_found)
{
    char *const environment[] = {"HINDSIGHT_CONFIG=x",    "HINDSIGHT_THREADS=1",
                                 "HINDSIGHT_LISTENERS=1", "HINDSIGHTLY=1",
                                 "HINDSIGHT_MAX-BATCH=1", NULL};
    char *const *at = environment;
    ck_assert_str_eq(hs_options_stray_variable(&at), "HINDSIGHT_LISTENERS=1");
    ck_assert_str_eq(hs_options_stray_variable(&at), "HINDSIGHT_MAX-BATCH=1");
    ck_assert_ptr_null(hs_options_stray_variable(&at));
    ck_assert_ptr_null(hs_options_stray_variable(&at));
}
END_TEST

static void note_key(void *context, const char *key, const char *before, const char *after,
                     bool reloaded)
{
    char *text = context;
    sprintf(text + strlen(text), "%s %s %s %d\n", key, before, after, reloaded);
}

START_TEST(differences_are_reported)
{
    struct hs_options other = options;
    char text[512] = "";
    strcpy(other.rules, "/etc/rules");
    strcpy(other.log_level, "debug");
    other.max_matches = 1;
    other.auto_open = false;
    hs_options_each_difference(&options, &other, note_key, text);
    ck_assert_str_eq(text, "rules  /etc/rules 1\n"
                           "auto_open true false 0\n"
                           "log_level info debug 1\n"
                           "max_matches 4096 1 0\n");
    hs_options_copy_reloaded(&options, &other);
    ck_assert_str_eq(options.rules, "/etc/rules");
    ck_assert_str_eq(options.log_level, "debug");
    ck_assert_uint_eq(options.max_matches, 4096);
    ck_assert(options.auto_open);
}
END_TEST

START_TEST(help_names_every_option)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    hs_options_help(to);
    fclose(to);
    static const char *const names[] = {
#define HS_OPTION_TEXT(field, name, initial, argument, help)   "--" name " " argument,
#define HS_OPTION_BOOL(field, name, initial, help)             "--" name " ",
#define HS_OPTION_NUMBER(field, name, initial, min, max, help) "--" name " N",
#include "service/options/options.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_msg(strstr(text, names[i]) != NULL, "%s is not in the help", names[i]);
    free(text);
    char *const arguments[] = {"serve", "--threads", "--help", NULL};
    ck_assert_int_eq(read_with(nothing, arguments), HS_OPTIONS_HELP);
}
END_TEST

START_TEST(addresses)
{
    static const struct {
        const char *text;
        bool loopback;
    } good[] = {{"127.0.0.1:0", true},     {"127.9.9.9:80", true}, {"128.0.0.1:80", false},
                {"0.0.0.0:8080", false},   {"[::1]:443", true},    {"[::]:443", false},
                {"[2001:db8::1]:1", false}};
    static const char *const bad[] = {
        "",          ":80",          "127.0.0.1:",      "127.0.0.1:99999",
        "[::1]",     "[::1]80",      "[127.0.0.1]:80",  "1.2.3:4",
        "a.b.c.d:1", "127.0.0.1:8 ", "127.0.0.1:000080"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct hs_address address;
        char text[64];
        ck_assert_msg(hs_address_parse(good[i].text, &address), "%s is refused", good[i].text);
        ck_assert_int_eq(hs_address_is_loopback(&address), good[i].loopback);
        hs_address_print(&address, text, sizeof text);
        ck_assert_str_eq(text, good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hs_address address;
        ck_assert_msg(!hs_address_parse(bad[i], &address), "%s is accepted", bad[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tests = tcase_create("sources");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, defaults_are_the_documented_ones);
    tcase_add_test(tests, later_sources_win);
    tcase_add_test(tests, config_file_is_found_anywhere);
    tcase_add_loop_test(tests, command_lines, 0, (int)(sizeof lines / sizeof lines[0]));
    tcase_add_test(tests, bad_variables_are_refused);
    tcase_add_loop_test(tests, bad_documents_are_pointed_at, 0,
                        (int)(sizeof documents / sizeof documents[0]));
    tcase_add_test(tests, every_bad_key_is_reported);
    tcase_add_test(tests, every_fault_of_every_source_is_reported);
    tcase_add_test(tests, faults_without_end_are_cut);
    tcase_add_test(tests, sources_are_remembered);
    tcase_add_test(tests, stray_variables_are_found);
    tcase_add_test(tests, differences_are_reported);
    tcase_add_test(tests, help_names_every_option);
    tcase_add_test(tests, addresses);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
