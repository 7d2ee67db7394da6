/* The certificate and key a listener serves HTTPS with. */
#ifndef HS_SERVICE_TLS_H
#define HS_SERVICE_TLS_H

#include <stdbool.h>

/* PEM texts, terminated; both NULL: plain HTTP. */
struct hs_tls {
    char *certificate, *key;
};

/*
 * Reads both files. False with a sentence in `error`: one cannot be read or is not PEM, the key may
 * be read by anybody, a certificate has a short key, or the HTTP library here cannot do TLS.
 * hs_tls_free in any case. Whether the key is the certificate's is found out by the library when
 * the listener starts.
 */
bool hs_tls_load(const char *certificate_path, const char *key_path, struct hs_tls *tls,
                 char error[256]);

/* Overwrites the key and frees. */
void hs_tls_free(struct hs_tls *tls);

#endif
