#include "tests/support/http/upload.h"

#include <stdlib.h>

enum MHD_Result hs_test_upload(void **request, const char *upload, size_t *upload_size,
                               struct hs_buffer **body)
{
    *body = NULL;
    if (*request == NULL) {
        *request = calloc(1, sizeof(struct hs_buffer));
        return *request != NULL ? MHD_YES : MHD_NO;
    }
    if (*upload_size == 0) {
        *body = *request;
        return MHD_YES;
    }
    hs_buffer_append(*request, upload, *upload_size);
    *upload_size = 0;
    return MHD_YES;
}

void hs_test_upload_end(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    struct hs_buffer *body = *request;
    if (body != NULL)
        hs_buffer_free(body);
    free(body);
    *request = NULL;
}
