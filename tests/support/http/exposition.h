/* /metrics of a service under test, and single series of it. */
#ifndef HS_TESTS_EXPOSITION_H
#define HS_TESTS_EXPOSITION_H

#include "tests/support/http/service.h"

/* The whole text; to be freed. The test fails when it does not come. */
char *hs_scrape(const struct hs_test_service *service);

/* The value of one series, `name{labels}`; the test fails when it is not there. */
double hs_series(const char *text, const char *name);

/* The same of the service as it is now. */
double hs_metric(const struct hs_test_service *service, const char *name);

/* The same outside of tests: -1 when it is not there. */
double hs_metric_or_minus(const struct hs_test_service *service, const char *name);

#endif
