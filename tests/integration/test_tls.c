/* HTTPS on both listeners with a certificate that the test makes, and the messages if certificate
   and key do not fit. */
#include <check.h>
#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/files.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

static char directory[] = "/tmp/hindsight_tls_XXXXXX";
static char certificate[128], key[128];
static struct hs_test_service service;

/* ---- a certificate ---- */

#define EC_256   "ec -pkeyopt ec_paramgen_curve:prime256v1"
#define RSA_2048 "rsa:2048"

/* Makes a self-signed certificate for 127.0.0.1 and its key. `kind` is in the syntax of openssl.
   Returns false if the installed openssl cannot make it. */
static bool make_certificate_of(const char *name, const char *kind)
{
    char command[1024];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey %s -nodes -days 2 "
             "-subj /CN=hindsight-test -addext subjectAltName=IP:127.0.0.1 "
             "-keyout %s/%s.key -out %s/%s.crt >/dev/null 2>&1",
             kind, directory, name, directory, name);
    return system(command) == 0;
}

static bool make_certificate(const char *name)
{
    return make_certificate_of(name, EC_256);
}

/* ---- requests ---- */

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    char *body = context;
    size_t len = strlen(body), more = size * count < 4095 - len ? size * count : 4095 - len;
    memcpy(body + len, bytes, more);
    body[len + more] = '\0';
    return size * count;
}

/* Makes a client with one connection, which stays open between requests. */
static CURL *open_client(const char *authority)
{
    CURL *curl = curl_easy_init();
    ck_assert_ptr_nonnull(curl);
    curl_easy_setopt(curl, CURLOPT_CAINFO, authority);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    return curl;
}

/* Sends a GET and returns the status. If there is no answer, returns 0 and sets *code to libcurl's
   error. */
static long get(CURL *curl, const char *scheme, unsigned port, const char *path, char body[4096],
                CURLcode *code)
{
    char url[256];
    long status = 0;
    body[0] = '\0';
    snprintf(url, sizeof url, "%s://127.0.0.1:%u%s", scheme, port, path);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    *code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return *code == CURLE_OK ? status : 0;
}

static void setup(void)
{
    const char *const arguments[] = {"--tls-cert", certificate, "--tls-key",         key,
                                     "--threads",  "2",         "--request-seconds", "1",
                                     NULL};
    ck_assert(hs_test_service_start(&service, arguments));
}

static void teardown(void)
{
    ck_assert(hs_test_service_stop(&service));
}

START_TEST(both_listeners_speak_tls)
{
    char body[4096];
    CURLcode code;
    char wanted[256];
    snprintf(wanted, sizeof wanted, "data=https://127.0.0.1:%u admin=https://127.0.0.1:%u",
             service.data_port, service.admin_port);
    ck_assert_ptr_nonnull(strstr(service.ready, wanted));
    CURL *curl = open_client(certificate);
    for (int i = 0; i < 50; i++)
        ck_assert_msg(get(curl, "https", service.data_port, "/v1/matches", body, &code) == 200,
                      "%s", curl_easy_strerror(code));
    ck_assert_ptr_nonnull(strstr(body, "\"matches\":[]}"));
    ck_assert_int_eq(get(curl, "https", service.admin_port, "/livez", body, &code), 200);
    curl_easy_cleanup(curl);
}
END_TEST

START_TEST(only_a_modern_client_that_trusts_it_gets_in)
{
    char body[4096], other[160];
    CURLcode code;
    ck_assert(make_certificate("other"));
    snprintf(other, sizeof other, "%s/other.crt", directory);
    CURL *curl = open_client(other);
    ck_assert_int_eq(get(curl, "https", service.data_port, "/livez", body, &code), 0);
    ck_assert_int_eq(code, CURLE_PEER_FAILED_VERIFICATION);
    curl_easy_cleanup(curl);
    curl = open_client(certificate);
    ck_assert_int_eq(get(curl, "http", service.data_port, "/livez", body, &code), 0);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION,
                     (long)CURL_SSLVERSION_TLSv1_1 | (long)CURL_SSLVERSION_MAX_TLSv1_1);
    ck_assert_int_eq(get(curl, "https", service.data_port, "/livez", body, &code), 0);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION,
                     (long)CURL_SSLVERSION_TLSv1_2 | (long)CURL_SSLVERSION_MAX_TLSv1_2);
    ck_assert_int_eq(get(curl, "https", service.data_port, "/livez", body, &code), 200);
    curl_easy_cleanup(curl);
}
END_TEST

/* ---- ciphers and versions ---- */

static const struct {
    const char *kind, *offer; /* kind of the certificate; options for the client */
    bool agreed;
} offers[] = {
    {RSA_2048, "-tls1_3", true},
    {RSA_2048, "-tls1_2", true},
    {RSA_2048, "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256", true},
    {RSA_2048, "-tls1_2 -cipher ECDHE-RSA-AES256-GCM-SHA384", true},
    {RSA_2048, "-tls1_2 -cipher ECDHE-RSA-CHACHA20-POLY1305", true},
    {EC_256, "-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256", true},
    /* refused: RSA key exchange, in which the certificate's key protects the session key */
    {RSA_2048, "-tls1_2 -cipher AES128-GCM-SHA256", false},
    {RSA_2048, "-tls1_2 -cipher AES256-SHA256", false},
    {RSA_2048, "-tls1_2 -cipher AES128-SHA", false},
    /* refused: a CBC cipher */
    {RSA_2048, "-tls1_2 -cipher ECDHE-RSA-AES128-SHA", false},
    {RSA_2048, "-tls1_2 -cipher ECDHE-RSA-AES128-SHA256", false},
    {RSA_2048, "-tls1_2 -cipher ECDHE-RSA-AES256-SHA384", false},
    {EC_256, "-tls1_2 -cipher ECDHE-ECDSA-AES256-SHA", false},
    {RSA_2048, "-tls1_2 -cipher DHE-RSA-AES128-SHA", false},
    {RSA_2048, "-tls1_2 -cipher DHE-RSA-AES256-GCM-SHA384", false},
    {RSA_2048, "-tls1_1 -cipher ALL:@SECLEVEL=0", false},
    {RSA_2048, "-tls1 -cipher ALL:@SECLEVEL=0", false},
};

START_TEST(only_sound_ciphers_are_agreed_on)
{
    for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++) {
        int code;
        char cert[160], own_key[160];
        bool is_rsa = strcmp(offers[i].kind, RSA_2048) == 0;
        snprintf(cert, sizeof cert, "%s/%s.crt", directory, is_rsa ? "rsa" : "our");
        snprintf(own_key, sizeof own_key, "%s/%s.key", directory, is_rsa ? "rsa" : "our");
        if (i == 0)
            ck_assert(make_certificate_of("rsa", RSA_2048));
        const char *const arguments[] = {"--tls-cert", cert, "--tls-key", own_key, NULL};
        ck_assert(hs_test_service_start(&service, arguments));
        const char *said =
            hs_test_shell(&code, "openssl s_client -connect 127.0.0.1:%u %s </dev/null 2>&1",
                          service.data_port, offers[i].offer);
        ck_assert_msg((code == 0) == offers[i].agreed, "%s: code %d: %s", offers[i].offer, code,
                      said);
        ck_assert(hs_test_service_stop(&service));
    }
}
END_TEST

/* Waits until the socket of the connection can be read from or written to. */
static void wait_for_socket(CURL *curl, short events)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    ck_assert_int_eq(curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &fd), CURLE_OK);
    struct pollfd poller = {.fd = fd, .events = events};
    ck_assert_int_eq(poll(&poller, 1, 20000), 1);
}

/* The client sends the whole body before it reads. The refusal arrives completely. */
START_TEST(refusals_wait_for_the_body)
{
    static const char head[] = "POST /v1/matches/a/frames HTTP/1.1\r\nHost: x\r\n"
                               "Content-Length: 10000000\r\n\r\n";
    static char body[8000000];
    char url[64], answer[64] = "";
    size_t size = 0;
    CURLcode code = CURLE_OK;
    CURL *curl = open_client(certificate);
    snprintf(url, sizeof url, "https://127.0.0.1:%u", service.data_port);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    ck_assert_int_eq(curl_easy_perform(curl), CURLE_OK);
    ck_assert_int_eq(curl_easy_send(curl, head, sizeof head - 1, &size), CURLE_OK);
    ck_assert_uint_eq(size, sizeof head - 1);
    for (size_t sent = 0; sent < sizeof body; sent += size) {
        size = 0;
        code = curl_easy_send(curl, body + sent, sizeof body - sent, &size);
        ck_assert_msg(code == CURLE_OK || code == CURLE_AGAIN, "%s after %zu bytes",
                      curl_easy_strerror(code), sent);
        if (code == CURLE_AGAIN)
            wait_for_socket(curl, POLLOUT);
    }
    while ((code = curl_easy_recv(curl, answer, sizeof answer - 1, &size)) == CURLE_AGAIN)
        wait_for_socket(curl, POLLIN);
    ck_assert_msg(code == CURLE_OK, "%s", curl_easy_strerror(code));
    ck_assert_int_eq(strncmp(answer, "HTTP/1.1 413 ", 13), 0);
    curl_easy_cleanup(curl);
}
END_TEST

static size_t trickle(char *bytes, size_t size, size_t count, void *context)
{
    int *left = context;
    (void)size;
    (void)count;
    usleep(300000);
    bytes[0] = ' ';
    return (*left)-- > 0 ? 1 : CURL_READFUNC_ABORT;
}

/* A body that arrives too slowly is cut off. No unencrypted byte may get between the encrypted
   ones. */
START_TEST(slow_bodies_are_cut_off)
{
    char body[4096], url[128];
    int left = 40;
    CURLcode code;
    CURL *curl = open_client(certificate);
    struct curl_slist *headers =
        curl_slist_append(curl_slist_append(NULL, "Content-Type: application/json"), "Expect:");
    snprintf(url, sizeof url, "https://127.0.0.1:%u/v1/matches/slow", service.data_port);
    body[0] = '\0';
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE, 1000L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, trickle);
    curl_easy_setopt(curl, CURLOPT_READDATA, &left);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    code = curl_easy_perform(curl);
    ck_assert_int_ne(code, CURLE_OK);
    ck_assert_int_ne(code, CURLE_ABORTED_BY_CALLBACK); /* the service cut the connection long before
                                                          the end of the body */
    ck_assert_int_gt(left, 20);
    ck_assert_str_eq(body, "");
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    curl = open_client(certificate);
    ck_assert_int_eq(get(curl, "https", service.admin_port, "/metrics", body, &code), 200);
    ck_assert_int_eq(get(curl, "https", service.data_port, "/livez", body, &code), 200);
    curl_easy_cleanup(curl);
}
END_TEST

/* ---- bad files ---- */

/* Runs `serve` with these files in the directory, and with its `data` there. Returns its output. */
static const char *serve_with(const char *cert_name, const char *key_name, int *code)
{
    return hs_test_shell(
        code,
        "rm -rf %s/data; timeout 60 \"$HS_PROGRAM\" serve --listen 127.0.0.1:0 "
        "--admin-listen 127.0.0.1:0 --data %s/data --tls-cert %s/%s --tls-key %s/%s 2>&1",
        directory, directory, directory, cert_name, directory, key_name);
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Returns whether the directory `data` exists. A start that fails must not create it. */
static bool data_was_made(void)
{
    return access(path_of("data"), F_OK) == 0;
}

START_TEST(files_that_are_not_there_or_not_pem_are_named)
{
    int code;
    const char *said = serve_with("none.crt", "none.key", &code);
    ck_assert_msg(code == 2 && strstr(said, "none.crt cannot be read: No such file") != NULL, "%s",
                  said);
    hs_test_write_file(path_of("text.crt"), "a certificate\n");
    said = serve_with("text.crt", "none.key", &code);
    ck_assert_msg(code == 2 && strstr(said, "text.crt is not a PEM file with a certificate"), "%s",
                  said);
    ck_assert(!data_was_made());
}
END_TEST

/* check-config and `systemctl reload` report everything that a start would refuse. */
START_TEST(check_config_reads_them)
{
    int code;
    hs_test_write_file(path_of("tls.json"), "{\"x_note\":\"the files come as options\"}");
    const char *said =
        hs_test_shell(&code, "\"$HS_PROGRAM\" check-config %s --tls-cert %s --tls-key %s/our.key",
                      path_of("tls.json"), certificate, directory);
    ck_assert_msg(code == 0 && strstr(said, "\nok\n") != NULL, "%s", said);
    said = hs_test_shell(&code,
                         "\"$HS_PROGRAM\" check-config %s --tls-cert %s --tls-key %s/none.key "
                         "--threads 99",
                         path_of("tls.json"), certificate, directory);
    ck_assert_msg(code == 1 && strstr(said, "none.key cannot be read: No such file") != NULL &&
                      strstr(said, "threads must be") != NULL,
                  "%s", said);
}
END_TEST

START_TEST(short_keys_are_refused)
{
    static const struct {
        const char *name, *kind, *says; /* message, or NULL if the file is accepted */
    } rows[] = {
        {"rsa1024", "rsa:1024", "rsa1024.crt: certificate 1 has a key of 1024 bits (RSA)"},
        {"rsa2047", "rsa:2040", "rsa2047.crt: certificate 1 has a key of 2040 bits (RSA)"},
        {"ec224", "ec -pkeyopt ec_paramgen_curve:secp224r1", "ec224.crt: certificate 1 has a key"},
        {"rsa2048", RSA_2048, NULL},
        {"ec384", "ec -pkeyopt ec_paramgen_curve:secp384r1", NULL},
        {"ed25519", "ed25519", NULL},
    };
    hs_test_write_file(path_of("keys.json"), "{}");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int code;
        char cert[64], own_key[64];
        snprintf(cert, sizeof cert, "%s.crt", rows[i].name);
        snprintf(own_key, sizeof own_key, "%s.key", rows[i].name);
        ck_assert(make_certificate_of(rows[i].name, rows[i].kind));
        const char *said =
            hs_test_shell(&code, "\"$HS_PROGRAM\" check-config %s --tls-cert %s/%s --tls-key %s/%s",
                          path_of("keys.json"), directory, cert, directory, own_key);
        ck_assert_msg(rows[i].says == NULL ? code == 0 && strstr(said, "\nok\n") != NULL
                                           : code == 1 && strstr(said, rows[i].says) != NULL,
                      "%s: %s", rows[i].name, said);
        if (rows[i].says == NULL)
            continue;
        said = serve_with(cert, own_key, &code);
        ck_assert_msg(code == 2 && strstr(said, rows[i].says) != NULL, "%s", said);
        ck_assert(!data_was_made());
    }
    /* The weakest key of the chain decides. */
    int code;
    hs_test_shell(&code, "cd %s && cat our.crt rsa1024.crt >chain.crt", directory);
    const char *said = serve_with("chain.crt", "our.key", &code);
    ck_assert_msg(code == 2 && strstr(said, "certificate 2 has a key of 1024 bits") != NULL, "%s",
                  said);
    hs_test_write_file(path_of("broken.crt"),
                       "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    said = serve_with("broken.crt", "our.key", &code);
    ck_assert_msg(code == 2 && strstr(said, "no readable certificate") != NULL, "%s", said);
}
END_TEST

START_TEST(unusable_files_are_named)
{
    int code;
    ck_assert(make_certificate("another"));
    const char *said = serve_with("our.crt", "our.crt", &code);
    ck_assert_msg(code == 2 && strstr(said, "our.crt: chmod o-r") != NULL, "%s", said);
    said = serve_with("our.key", "our.key", &code);
    ck_assert_msg(code == 2 && strstr(said, "our.key is not a PEM file with a certificate"), "%s",
                  said);
    ck_assert(!data_was_made());
    said = serve_with("our.crt", "another.key", &code);
    ck_assert_msg(code == 1 && strstr(said, "perhaps the key does not belong to the certificate"),
                  "%s", said);
    ck_assert_ptr_null(strstr(said, "PRIVATE KEY-----"));
    hs_test_write_file(path_of("another.key"),
                       "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    said = serve_with("our.crt", "another.key", &code);
    ck_assert_msg(code == 1 && strstr(said, "cannot serve 127.0.0.1:") != NULL, "%s", said);
}
END_TEST

int main(void)
{
    char command[128];
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(certificate, sizeof certificate, "%s/our.crt", directory);
    snprintf(key, sizeof key, "%s/our.key", directory);
    bool possible = make_certificate("our");
    if (!possible)
        puts("SKIP: TLS, for openssl is not here to make a certificate");
    Suite *suite = suite_create("tls");
    TCase *served = tcase_create("served"), *files = tcase_create("files");
    tcase_set_timeout(served, 120);
    tcase_set_timeout(files, 120);
    if (possible) {
        tcase_add_checked_fixture(served, setup, teardown);
        tcase_add_test(served, both_listeners_speak_tls);
        tcase_add_test(served, only_a_modern_client_that_trusts_it_gets_in);
        tcase_add_test(served, refusals_wait_for_the_body);
        tcase_add_test(served, slow_bodies_are_cut_off);
        tcase_add_test(files, only_sound_ciphers_are_agreed_on);
        tcase_add_test(files, short_keys_are_refused);
        tcase_add_test(files, check_config_reads_them);
        tcase_add_test(files, unusable_files_are_named);
    }
    tcase_add_test(files, files_that_are_not_there_or_not_pem_are_named);
    suite_add_tcase(suite, served);
    suite_add_tcase(suite, files);
    int failed = hs_run_suite(suite);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command) == 0 && failed == 0 ? 0 : 1;
}
