/* Checkpoints in the Prometheus text format. */
#include <inttypes.h>

#include "api/json/buffer.h"
#include "service/checkpoint/save.h"
#include "service/watch/metrics.h"

/* Rulesets have no files of their own that could be missing; a map's name is in no other file. */
static void restored(struct hs_buffer *out, const char *name, const char *help,
                     const uint64_t counts[HS_RESTORED_NAME_COUNT], enum hs_restored_name never)
{
    static const char *const results[] = {
#define X(id, label) label,
        HS_RESTORED_NAMES(X)
#undef X
    };
    hs_metrics_head(out, name, "counter", help);
    for (size_t i = 0; i < HS_RESTORED_NAME_COUNT; i++)
        if (i != never)
            hs_buffer_printf(out, "%s{result=\"%s\"} %" PRIu64 "\n", name, results[i], counts[i]);
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
    static const char files[] = "hindsight_checkpoint_map_files_total";
    static const char journal[] = "hindsight_journal_records_total";
    static const char journal_bytes[] = "hindsight_journal_bytes_total";
    static const char refused[] = "hindsight_checkpoint_files_refused_total";
    hs_metrics_head(out, total, "counter", "Checkpoints of the state of all matches.");
    hs_buffer_printf(out, "%s{result=\"written\"} %" PRIu64 "\n", total, stats->written);
    hs_buffer_printf(out, "%s{result=\"failed\"} %" PRIu64 "\n", total, stats->failed);
    hs_metrics_gauge(out, "hindsight_checkpoint_lag_seconds",
                     "Age of the state that a crash would leave; 0: none is kept.",
                     stats->lag_seconds);
    hs_metrics_gauge(out, "hindsight_checkpoint_interval_seconds",
                     "Time between two checkpoints; 0: none is taken.", stats->interval_seconds);
    hs_metrics_gauge(out, "hindsight_checkpoint_duration_seconds",
                     "Time the newest checkpoint took.", stats->duration_seconds);
    hs_metrics_gauge(out, "hindsight_checkpoint_bytes", "Size of the newest checkpoint.",
                     (double)stats->bytes);
    hs_metrics_head(out, journal, "counter", "Records of the journal of payments.");
    hs_buffer_printf(out, "%s{result=\"written\"} %" PRIu64 "\n", journal, stats->journal.written);
    hs_buffer_printf(out, "%s{result=\"failed\"} %" PRIu64 "\n", journal, stats->journal.failed);
    hs_buffer_printf(out, "%s{result=\"not_synced\"} %" PRIu64 "\n", journal,
                     stats->journal.synced_failed);
    hs_metrics_head(out, journal_bytes, "counter", "Bytes written to the journal of payments.");
    hs_buffer_printf(out, "%s %" PRIu64 "\n", journal_bytes, stats->journal.bytes);
    hs_metrics_head(out, matches, "counter",
                    "Matches of a checkpoint by what became of them at the start.");
    for (size_t i = 0; i < HS_RESTORED_COUNT; i++)
        hs_buffer_printf(out, "%s{result=\"%s\"} %" PRIu64 "\n", matches, results[i],
                         stats->restored[i]);
    restored(out, "hindsight_checkpoint_rulesets_total",
             "Rulesets of a checkpoint that were put, by what became of them at the start.",
             stats->rulesets, HS_RESTORED_NAME_MISSING);
    restored(out, "hindsight_checkpoint_maps_total",
             "Maps of a checkpoint by what became of them at the start.", stats->maps,
             HS_RESTORED_NAME_IS_FILES);
    hs_metrics_head(out, files, "counter", "Files of maps; what failed is tried again.");
    hs_buffer_printf(out, "%s{result=\"written\"} %" PRIu64 "\n", files, stats->map_files_written);
    hs_buffer_printf(out, "%s{result=\"failed\"} %" PRIu64 "\n", files, stats->map_files_failed);
    hs_metrics_head(out, refused, "counter",
                    "Checkpoints found damaged, or of another version, at the start.");
    hs_buffer_printf(out, "%s %" PRIu64 "\n", refused, stats->files_refused);
}
