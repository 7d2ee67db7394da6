/* What every family of metrics begins with, in the Prometheus text format. */
#include "service/watch/metrics.h"

void hs_metrics_head(struct hs_buffer *out, const char *name, const char *type, const char *help)
{
    hs_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void hs_metrics_gauge(struct hs_buffer *out, const char *name, const char *help, double number)
{
    hs_metrics_head(out, name, "gauge", help);
    hs_buffer_printf(out, "%s %.15g\n", name, number);
}
