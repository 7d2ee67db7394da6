/* The body of a request to a small server of the tests (libmicrohttpd). */
#ifndef HS_TESTS_UPLOAD_H
#define HS_TESTS_UPLOAD_H

#include <microhttpd.h>

#include "api/json/buffer.h"

/* Call it first in a request handler. *body gets the body, or NULL if the request has more to come:
   then return the result. */
enum MHD_Result hs_test_upload(void **request, const char *upload, size_t *upload_size,
                               struct hs_buffer **body);

/* Frees the body. Pass this function as MHD_OPTION_NOTIFY_COMPLETED. */
void hs_test_upload_end(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code);

#endif
