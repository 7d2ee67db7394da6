/* /metrics of a service under test, and single series in it. */
#ifndef HS_TESTS_EXPOSITION_H
#define HS_TESTS_EXPOSITION_H

#include "tests/support/http/service.h"

/* The whole text; the caller frees it. The test fails if there is no answer. */
char *hs_scrape(const struct hs_test_service *service);

/* The value of one series, `name{labels}`; the test fails if it is missing. */
double hs_series(const char *text, const char *name);

/* The same, from the service's present metrics. */
double hs_metric(const struct hs_test_service *service, const char *name);

/* The same outside of tests: -1 when it is not there. */
double hs_metric_or_minus(const struct hs_test_service *service, const char *name);

#endif
