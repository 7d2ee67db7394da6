/* Reads /metrics of a service under test, and single series in it. */
#ifndef HS_TESTS_EXPOSITION_H
#define HS_TESTS_EXPOSITION_H

#include "tests/support/http/service.h"

/* Returns the whole text, which the caller frees. The test fails if there is no answer. */
char *hs_scrape(const struct hs_test_service *service);

/* Returns the value of one series, `name{labels}`. The test fails if the series is missing. */
double hs_series(const char *text, const char *name);

/* Returns the value of a series in the service's present metrics. The test fails if the series is
   missing. */
double hs_metric(const struct hs_test_service *service, const char *name);

/* Like hs_metric, but returns -1 if the series is missing. Can also be used outside of tests. */
double hs_metric_or_minus(const struct hs_test_service *service, const char *name);

#endif
