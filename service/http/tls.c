#include "service/http/tls.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE_BYTES = 1 << 20 };

/* Returns the content of a PEM file, which the caller frees. On failure returns NULL and sets
   `error`. */
static char *read_pem(const char *path, bool is_secret, const char *wanted, char error[256])
{
    struct stat status;
    FILE *file = fopen(path, "re");
    char *text = file == NULL ? NULL : malloc(MAX_FILE_BYTES + 1);
    if (text == NULL || fstat(fileno(file), &status) != 0) {
        snprintf(error, 256, "%.150s cannot be read: %s", path, strerror(errno));
        free(text);
        if (file != NULL)
            fclose(file);
        return NULL;
    }
    /* Read without a buffer, so that no second copy of a key stays in memory. */
    setvbuf(file, NULL, _IONBF, 0);
    size_t size = fread(text, 1, MAX_FILE_BYTES, file);
    fclose(file);
    text[size] = '\0';
    if (is_secret && S_ISREG(status.st_mode) && (status.st_mode & S_IROTH) != 0)
        snprintf(error, 256, "everybody can read %.150s: chmod o-r", path);
    else if (size == MAX_FILE_BYTES || strlen(text) != size || strstr(text, wanted) == NULL)
        snprintf(error, 256, "%.150s is not a PEM file with a %s in it", path,
                 is_secret ? "private key" : "certificate");
    else
        return text;
    explicit_bzero(text, size);
    free(text);
    return NULL;
}

static unsigned min_bits(gnutls_pk_algorithm_t algorithm)
{
    switch (algorithm) {
    case GNUTLS_PK_RSA:
    case GNUTLS_PK_RSA_PSS:
        return 2048;
    case GNUTLS_PK_ECDSA:
    case GNUTLS_PK_EDDSA_ED25519:
    case GNUTLS_PK_EDDSA_ED448:
        return 256;
    default:
        return UINT_MAX; /* DSA and unknown algorithms are always refused */
    }
}

/* Returns whether every key in the chain is long enough. All keys are checked, because attackers
   only need to break the weakest key. On failure sets `error`. */
static bool check_keys(const char *path, const char *certificate, char error[256])
{
    gnutls_x509_crt_t *chain;
    unsigned count, bits = 0;
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)certificate, (unsigned)strlen(certificate)};
    int result = gnutls_x509_crt_list_import2(&chain, &count, &text, GNUTLS_X509_FMT_PEM, 0);
    if (result < 0) {
        snprintf(error, 256, "%.150s has no readable certificate: %.60s", path,
                 gnutls_strerror(result));
        return false;
    }
    bool fine = true;
    for (unsigned i = 0; i < count; i++) {
        int algorithm = gnutls_x509_crt_get_pk_algorithm(chain[i], &bits);
        if (fine && bits < min_bits((gnutls_pk_algorithm_t)algorithm)) {
            snprintf(error, 256,
                     "%.150s: certificate %u has a key of %u bits (%.20s); RSA needs 2048, EC 256",
                     path, i + 1, bits, gnutls_pk_get_name((gnutls_pk_algorithm_t)algorithm));
            fine = false;
        }
        gnutls_x509_crt_deinit(chain[i]);
    }
    gnutls_free(chain);
    return fine;
}

bool hs_tls_load(const char *certificate_path, const char *key_path, struct hs_tls *tls,
                 char error[256])
{
    *tls = (struct hs_tls){0};
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        snprintf(error, 256, "the libmicrohttpd of this system was built without TLS");
        return false;
    }
    tls->certificate = read_pem(certificate_path, false, "-----BEGIN CERTIFICATE-----", error);
    if (tls->certificate != NULL && check_keys(certificate_path, tls->certificate, error))
        tls->key = read_pem(key_path, true, "PRIVATE KEY-----", error);
    return tls->key != NULL;
}

void hs_tls_free(struct hs_tls *tls)
{
    if (tls->key != NULL)
        explicit_bzero(tls->key, strlen(tls->key));
    free(tls->key);
    free(tls->certificate);
    *tls = (struct hs_tls){0};
}
