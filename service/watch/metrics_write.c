/* The metrics in the Prometheus text format. */
#include "service/watch/metrics_inside.h"

static long long value(const atomic_llong *of)
{
    return atomic_load_explicit(of, memory_order_relaxed);
}

static void put_histogram(struct hs_buffer *out, const struct hs_metric_row *row, const char *label,
                          const struct hs_histogram *histogram)
{
    const char *comma = label[0] == '\0' ? "" : ",";
    long long total = 0;
    size_t i = 0;
    for (; row->bounds[i] > 0; i++) {
        total += value(&histogram->buckets[i]);
        hs_buffer_printf(out, "%s_bucket{%s%sle=\"%g\"} %lld\n", row->name, label, comma,
                         row->bounds[i], total);
    }
    total += value(&histogram->buckets[i]);
    hs_buffer_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %lld\n", row->name, label, comma, total);
    const char *open = label[0] == '\0' ? "" : "{", *close = label[0] == '\0' ? "" : "}";
    hs_buffer_printf(out, "%s_sum%s%s%s %.9f\n", row->name, open, label, close,
                     (double)value(&histogram->sum_ns) * 1e-9);
    hs_buffer_printf(out, "%s_count%s%s%s %lld\n", row->name, open, label, close, total);
}

static void put_number(struct hs_buffer *out, const struct hs_metric_row *row, const char *label,
                       long long number)
{
    const char *open = label[0] == '\0' ? "" : "{", *close = label[0] == '\0' ? "" : "}";
    hs_buffer_printf(out, "%s%s%s%s ", row->name, open, label, close);
    if (row->kind == HS_METRIC_IS_COUNTER || row->kind == HS_METRIC_IS_GAUGE)
        hs_buffer_printf(out, "%lld\n", number);
    else
        hs_buffer_printf(out, "%.16g\n", (double)number * 1e-6);
}

static void put_family(const struct hs_metrics *metrics, const struct hs_metric_row *row,
                       struct hs_buffer *out)
{
    static const char *const types[] = {"counter", "gauge", "counter", "gauge", "histogram"};
    const void *cells = (const char *)metrics + row->offset;
    hs_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                     types[row->kind]);
    for (size_t i = 0; i < hs_metrics_series(row->labels); i++) {
        char label[HS_METRICS_LABEL_SIZE];
        bool occurs = hs_metrics_label(row->labels, i, label);
        if (row->kind != HS_METRIC_IS_HISTOGRAM) {
            long long number = value((const atomic_llong *)cells + i);
            if (occurs || number != 0)
                put_number(out, row, label, number);
        } else if (occurs) {
            put_histogram(out, row, label, (const struct hs_histogram *)cells + i);
        }
    }
}

void hs_metrics_write(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    for (size_t i = 0; i < HS_METRIC_COUNT; i++)
        put_family(metrics, &hs_metric_rows[i], out);
}
