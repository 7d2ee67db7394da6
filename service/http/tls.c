#include "service/http/tls.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE_BYTES = 1 << 20 };

/* A file of PEM, which the caller frees; NULL with `error` set. */
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
    setvbuf(file, NULL, _IONBF, 0); /* no copy of a key is left in a buffer */
    size_t size = fread(text, 1, MAX_FILE_BYTES, file);
    fclose(file);
    text[size] = '\0';
    if (is_secret && S_ISREG(status.st_mode) && (status.st_mode & S_IROTH) != 0)
        snprintf(error, 256, "%.150s may be read by anybody: chmod o-r", path);
    else if (size == MAX_FILE_BYTES || strlen(text) != size || strstr(text, wanted) == NULL)
        snprintf(error, 256, "%.150s is not a PEM file with a %s in it", path,
                 is_secret ? "private key" : "certificate");
    else
        return text;
    explicit_bzero(text, size);
    free(text);
    return NULL;
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
    if (tls->certificate != NULL)
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
