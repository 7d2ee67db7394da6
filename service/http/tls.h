/* The certificate and the key for HTTPS. */
#ifndef HS_SERVICE_TLS_H
#define HS_SERVICE_TLS_H

#include <stdbool.h>

/* PEM texts, null-terminated. Both pointers are NULL for plain HTTP. */
struct hs_tls {
    char *certificate, *key;
};

/*
 * Reads both files. Returns false with a message in `error` if a file cannot be read or is not PEM.
 * Also fails if all users of the machine can read the key file, a certificate's key is too short,
 * or the HTTP library was built without TLS. Call hs_tls_free in any case. The start of the
 * listener checks that the key belongs to the certificate.
 */
bool hs_tls_load(const char *certificate_path, const char *key_path, struct hs_tls *tls,
                 char error[256]);

/* Overwrites the key, and frees both texts. */
void hs_tls_free(struct hs_tls *tls);

#endif
