/* Checkpoints in the Prometheus text format. */
#include <inttypes.h>

#include "api/buffer.h"
#include "service/checkpoint.h"

static void head(struct hs_buffer *out, const char *name, const char *type, const char *help)
{
    hs_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge(struct hs_buffer *out, const char *name, const char *help, double value)
{
    head(out, name, "gauge", help);
    hs_buffer_printf(out, "%s %.15g\n", name, value);
}

void hs_checkpoint_write_metrics(const struct hs_checkpoint_stats *stats, struct hs_buffer *out)
{
    static const char *const results[] = {
#define X(id, label) label,
        HS_RESTORED(X)
#undef X
    };
    static const char total[] = "hindsight_checkpoints_total";
    static const char matches[] = "hindsight_checkpoint_matches_total";
    static const char refused[] = "hindsight_checkpoint_files_refused_total";
    head(out, total, "counter", "Checkpoints of the state of all matches.");
    hs_buffer_printf(out, "%s{result=\"written\"} %" PRIu64 "\n", total, stats->written);
    hs_buffer_printf(out, "%s{result=\"failed\"} %" PRIu64 "\n", total, stats->failed);
    gauge(out, "hindsight_checkpoint_lag_seconds",
          "Age of the state that a crash would leave; 0: none is kept.", stats->lag_seconds);
    gauge(out, "hindsight_checkpoint_duration_seconds", "Time the newest checkpoint took.",
          stats->duration_seconds);
    gauge(out, "hindsight_checkpoint_bytes", "Size of the newest checkpoint.",
          (double)stats->bytes);
    head(out, matches, "counter", "Matches of a checkpoint by what became of them at the start.");
    for (size_t i = 0; i < HS_RESTORED_COUNT; i++)
        hs_buffer_printf(out, "%s{result=\"%s\"} %" PRIu64 "\n", matches, results[i],
                         stats->restored[i]);
    head(out, refused, "counter",
         "Checkpoints found damaged, or of another version, at the start.");
    hs_buffer_printf(out, "%s %" PRIu64 "\n", refused, stats->files_refused);
}
