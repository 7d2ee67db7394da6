#include "service/serve.h"

#include "api/json/reading.h"
#include "service/checkpoint/save.h"
#include "service/delivery/events.h"
#include "service/delivery/webhook.h"
#include "service/evidence/documents.h"
#include "service/evidence/writer.h"
#include "service/housekeeping.h"
#include "service/http/admission.h"
#include "service/http/descriptors.h"
#include "service/http/pool.h"
#include "service/http/server.h"
#include "service/options/values.h"
#include "service/record/recorder.h"
#include "service/reload/configuration.h"
#include "service/service.h"
#include "service/sharing/catalog.h"
#include "service/sharing/states.h"
#include "service/sharing/takeover.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/state/share.h"
#include "service/store/matches.h"
#include "service/system/clock.h"
#include "service/system/memory_limit.h"
#include "service/system/notify.h"
#include "service/system/version.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"
#include "validators/journal.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FINE = 0, FAILED = 1, WRONG_CONFIGURATION = 2 }; /* exit codes */

enum { EXPIRE_US = 1000000 }; /* time between checks for idle matches */

/* EVIDENCE_READERS: number of threads that read the evidence store. EVIDENCE_STOP_US: maximum time
   that the shutdown waits for the evidence to be written. WEBHOOK_STOP_US: maximum time that the
   shutdown waits for the webhook's receiver to accept the queued verdicts. */
enum { EVIDENCE_READERS = 2, EVIDENCE_STOP_US = 5000000, WEBHOOK_STOP_US = 5000000 };

/* TAKERS: number of threads that take over matches. A thread handles one request at a time and may
   have to wait for the store. SHARING_STOP_US: maximum time that the shutdown waits for the final
   states of all matches to be stored. */
enum { TAKERS = 32, SHARING_STOP_US = 5000000 };

/* Maximum time that the service waits at startup for a connection to the store. The store contains
   the rulesets and maps that were uploaded to other replicas. */
enum { STORE_START_US = 2000000 };

/* Maximum number of simultaneous exports. An export keeps a file in the data directory until the
   client has read the whole file. */
enum { EXPORTS_MAX = 4 };

/* Logs why the service cannot start. Returns false. */
static bool cannot_start(const char *detail)
{
    hs_log(HS_LOG_ERROR, "cannot start", HS_LOG_TEXT("detail", detail));
    return false;
}

static unsigned processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count > 64 ? 64 : (unsigned)count;
}

/* Sets the memory limits and the request rates. Returns false if memory runs out. */
static bool set_limits(struct hs_service *service, const struct hs_options *options)
{
    hs_registry_limit_bytes(
        service->registry, options->match_bytes,
        hs_memory_part(options->history_bytes, options->memory, HS_HISTORY_PART));
    if (options->tenant_rate == 0)
        return true;
    service->rates = hs_tenant_rates_create(options->tenant_rate, options->tenant_burst > 0
                                                                      ? options->tenant_burst
                                                                      : options->tenant_rate);
    return service->rates != NULL;
}

/* Creates the webhook; hs_webhook_start starts its thread later. Returns false if memory runs
   out. */
static bool create_webhook(struct hs_service *service, const struct hs_options *options)
{
    struct hs_webhook_settings settings = {
        .url = options->webhook,
        .kinds = hs_event_kinds_parse(options->webhook_verdicts),
        .queue_bytes = options->webhook_queue_bytes,
        .age_seconds = (unsigned)options->webhook_age_seconds,
    };
    if (options->webhook[0] == '\0')
        return true;
    if (service->metrics != NULL)
        service->webhook = hs_webhook_create(&settings, service->metrics);
    return service->webhook != NULL;
}

/* Creates the state that the listeners share. On failure logs the reason and returns false. */
static bool create_state(struct hs_service *service, const struct hs_options *options)
{
    char error[256] = "out of memory";
    service->options = options;
    service->match_log =
        (struct hs_log_limit){.per_second = (unsigned)options->log_rate, .kind = "matches"};
    service->metrics = hs_metrics_create();
    service->rulesets = hs_ruleset_store_create(
        options->default_ruleset, options->max_rulesets,
        hs_memory_part(options->ruleset_bytes, options->memory, HS_RULESET_PART), error);
    if (service->rulesets != NULL)
        hs_ruleset_store_limit_work(service->rulesets, options->request_work);
    service->maps = hs_map_store_create(
        options->max_maps, hs_memory_part(options->map_bytes, options->memory, HS_MAP_PART));
    service->events = hs_events_create();
    service->bodies = hs_share_create(options->inflight_body_bytes);
    service->map_builder = hs_pool_create(1, true);
    service->ruleset_builder = hs_pool_create(1, true);
    service->evidence_readers = hs_pool_create(EVIDENCE_READERS, false);
    service->exports = hs_share_create(EXPORTS_MAX);
    if (service->rulesets != NULL && service->maps != NULL)
        service->registry =
            hs_registry_create(options->max_matches, service->rulesets, service->maps);
    if (options->token_file[0] != '\0')
        /* this keyring rejects every token until the token file is loaded */
        service->keyring = hs_keyring_create(NULL);
    bool has_webhook = create_webhook(service, options);
    bool guarded = options->token_file[0] == '\0' || service->keyring != NULL;
    if (!guarded || !has_webhook || service->events == NULL || service->metrics == NULL ||
        service->registry == NULL || service->rulesets == NULL || service->maps == NULL ||
        service->bodies == NULL || service->map_builder == NULL ||
        service->ruleset_builder == NULL || service->evidence_readers == NULL ||
        service->exports == NULL || !set_limits(service, options))
        return cannot_start(error);
    return true;
}

/* Writes the states of all matches to the store, and then disconnects. */
static void stop_sharing(struct hs_service *service)
{
    int64_t until_us = hs_clock_us() + SHARING_STOP_US;
    hs_catalog_stop(service->catalog);
    hs_sharing_stop(service->sharing, SHARING_STOP_US);
    int64_t left_us = until_us - hs_clock_us();
    hs_store_stop(service->store, left_us > 0 ? left_us : 0);
    service->catalog = NULL;
    service->sharing = NULL;
    service->store = NULL;
}

static void destroy_state(struct hs_service *service)
{
    hs_pool_destroy(service->taker_pool);
    stop_sharing(service);
    hs_pool_destroy(service->map_builder);
    hs_pool_destroy(service->ruleset_builder);
    hs_pool_destroy(service->evidence_readers);
    hs_checkpoint_abandon(service->checkpoint);
    hs_webhook_stop(service->webhook, WEBHOOK_STOP_US);
    hs_evidence_stop(service->evidence, EVIDENCE_STOP_US);
    hs_record_close(service->record, service->registry);
    hs_registry_destroy(service->registry);
    hs_shared_matches_destroy(service->shared);
    hs_takers_destroy(service->takers);
    hs_map_store_destroy(service->maps);
    hs_ruleset_store_destroy(service->rulesets);
    hs_keyring_destroy(service->keyring);
    hs_tenant_rates_destroy(service->rates);
    hs_share_destroy(service->bodies);
    hs_share_destroy(service->exports);
    hs_events_destroy(service->events);
    hs_metrics_destroy(service->metrics);
}

static void reload(struct hs_service *service, struct hs_configuration *configuration)
{
    hs_notify("RELOADING=1");
    hs_configuration_reload(configuration, service->metrics);
    hs_notify("READY=1");
}

static bool start_recording(struct hs_service *service)
{
    const struct hs_options *options = service->options;
    char error[256];
    if (options->record[0] == '\0')
        return true;
    service->record = hs_record_open(options->record, options->record_queue_bytes, service->metrics,
                                     service->maps, error);
    if (service->record == NULL)
        hs_log(HS_LOG_ERROR, "cannot record", HS_LOG_TEXT("detail", error));
    return service->record != NULL;
}

static void keep_map(struct hs_service *service, const struct hs_map_entry *map,
                     struct hs_str document)
{
    hs_evidence_keep_map(hs_evidence_home(service->evidence), map, document);
}

/* Starts the evidence store. Call this function after restore(), which creates the data
   directory. */
static bool start_evidence(struct hs_service *service)
{
    const struct hs_options *options = service->options;
    enum hs_evidence_mode mode = hs_evidence_mode_parse(options->evidence);
    enum hs_evidence_overflow overflow = hs_evidence_overflow_parse(options->evidence_overflow);
    char error[256];
    if (options->data[0] == '\0' || mode == HS_EVIDENCE_OFF)
        return true;
    struct hs_evidence_settings settings = {
        .home = {.directory = options->data,
                 .is_postgres = hs_evidence_backend_is_postgres(options),
                 .connection_file = options->evidence_connection_file},
        .queue_bytes = options->evidence_queue_bytes,
        .blocks = overflow == HS_EVIDENCE_OVERFLOW_BLOCK,
        .is_synced = mode == HS_EVIDENCE_SYNC,
        .keep_days = (unsigned)options->evidence_days,
        .keep_bytes = options->evidence_bytes,
        .mask = options->evidence_mask,
        .sample = (unsigned)options->evidence_sample};
    service->evidence = hs_evidence_start(service, &settings, error);
    service->keep_map = keep_map;
    return service->evidence != NULL || cannot_start(error);
}

static bool start_webhook(struct hs_service *service)
{
    return service->webhook == NULL || hs_webhook_start(service->webhook) ||
           cannot_start("the thread of the webhook cannot be started");
}

static bool restore(struct hs_service *service)
{
    char error[512];
    if (hs_checkpoint_open(service, &service->checkpoint, error)) {
        if (service->checkpoint == NULL || hs_checkpoint_start(service->checkpoint))
            return true;
        snprintf(error, sizeof error,
                 "no file in %s can be written or renamed, or the thread did not start",
                 service->options->data);
    }
    return cannot_start(error);
}

/* Connects to the store that replicas share. */
static bool start_sharing(struct hs_service *service)
{
    const struct hs_options *options = service->options;
    char error[256];
    if (options->state_redis[0] == '\0')
        return true;
    service->store = hs_store_start(options->state_redis, options->state_redis_password_file,
                                    service->metrics, error);
    if (service->store == NULL)
        return cannot_start(error);
    hs_store_wait_until_up(service->store, STORE_START_US);
    const struct hs_shared_budgets budgets = {.take_us = (int64_t)options->state_take_ms * 1000,
                                              .payment_us =
                                                  (int64_t)options->state_payment_ms * 1000};
    service->shared = hs_shared_matches_create(service->store, service->metrics, &budgets);
    service->journal_layout = hs_journal_layout();
    service->takers = hs_takers_create(service);
    service->taker_pool = hs_pool_create(TAKERS, false);
    /* if there are checkpoints, hs_checkpoint_start has already called this function */
    if (service->checkpoint == NULL)
        hs_registry_keep_journals(service->registry);
    service->catalog = hs_catalog_start(service);
    if (service->shared != NULL && service->takers != NULL && service->taker_pool != NULL &&
        service->catalog != NULL)
        service->sharing = hs_sharing_start(service);
    return service->sharing != NULL || cannot_start("out of memory or threads");
}

/* Starts both listeners. On failure logs the reason and returns false. */
static bool start_listeners(struct hs_service *service, const struct hs_tls *tls,
                            struct hs_http *listeners[2])
{
    char error[256];
    const struct hs_options *options = service->options;
    struct hs_descriptor_wants wants = {
        .threads = options->threads == 0 ? processors() : options->threads,
        .admin_threads = options->admin_threads,
        .connections = options->max_connections,
    };
    struct hs_descriptor_shares shares;
    if (!hs_descriptors_fit(&wants, &shares, error))
        return cannot_start(error);
    struct hs_http_limits limits = {
        .threads = (unsigned)wants.threads,
        .connections = (unsigned)shares.data,
        .linger = (unsigned)shares.linger,
    };
    listeners[0] = hs_http_start(service, HS_LISTENER_DATA, &limits, tls, error);
    if (listeners[0] == NULL)
        return cannot_start(error);
    limits.threads = (unsigned)options->admin_threads;
    limits.connections = (unsigned)shares.admin;
    listeners[1] = hs_http_start(service, HS_LISTENER_ADMIN, &limits, tls, error);
    if (listeners[1] != NULL)
        return true;
    hs_http_stop(listeners[0], 0);
    return cannot_start(error);
}

/* Loads the TLS files. Called before a recording or a data directory is opened, so that a start
   with faulty TLS files creates no files. */
static bool load_tls(const struct hs_options *options, struct hs_tls *tls)
{
    char error[256];
    if (options->tls_cert[0] == '\0' ||
        hs_tls_load(options->tls_cert, options->tls_key, tls, error))
        return true;
    return cannot_start(error);
}

static void announce(const struct hs_options *options, struct hs_http *const listeners[2])
{
    const char *scheme = options->tls_cert[0] == '\0' ? "http" : "https";
    const char *data = hs_http_address(listeners[0]), *admin = hs_http_address(listeners[1]);
    printf("hindsight " HS_VERSION " ready data=%s://%s admin=%s://%s\n", scheme, data, scheme,
           admin);
    fflush(stdout);
    hs_log(HS_LOG_INFO, "ready", HS_LOG_TEXT("version", HS_VERSION), HS_LOG_TEXT("data", data),
           HS_LOG_TEXT("admin", admin));
}

/* Blocks the signals that this program handles. All threads inherit the mask. The main thread
   receives the signals with sigtimedwait. */
static sigset_t block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    /* a write beyond the file size limit then fails, instead of ending the process */
    signal(SIGXFSZ, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return signals;
}

/* Returns whether a user pressed Ctrl+C in a terminal. In this case, no load balancer needs to
   notice the shutdown first, so the service stops without draining. */
static bool is_ctrl_c(int signal_number)
{
    return signal_number == SIGINT && (isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1);
}

/* Continues to serve requests for the configured time. During this time, /readyz reports that the
   service is not ready. Returns false if a second signal ends the wait. */
static bool drain(struct hs_service *service, const sigset_t *signals)
{
    atomic_store(&service->draining, true);
    size_t seconds = service->options->drain_wait_seconds;
    hs_log(HS_LOG_INFO, "draining", HS_LOG_NUMBER("seconds", seconds));
    int64_t until_us = hs_clock_us() + (int64_t)seconds * 1000000;
    for (;;) {
        int64_t left_us = until_us - hs_clock_us();
        if (left_us <= 0)
            return true;
        struct timespec left = hs_clock_timespec(left_us < EXPIRE_US ? left_us : EXPIRE_US);
        int received = sigtimedwait(signals, NULL, &left);
        hs_evidence_expire(service->evidence);
        if (received == SIGTERM || received == SIGINT)
            return false;
    }
}

static void end_now(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

/* After this call, the next signal ends the process at once. */
static void end_on_next_signal(const sigset_t *signals)
{
    struct sigaction action = {.sa_handler = end_now};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGHUP, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}

static unsigned ms_until(int64_t moment_us)
{
    int64_t left_us = moment_us - hs_clock_us();
    return left_us > 0 ? (unsigned)(left_us / 1000) : 0;
}

static int start(struct hs_service *service, const struct hs_options *options,
                 const struct hs_options_input *input, struct hs_configuration *configuration,
                 struct hs_http *listeners[2])
{
    if (!create_state(service, options))
        return FAILED;
    if (!hs_configuration_start(configuration, service, input))
        return WRONG_CONFIGURATION;
    struct hs_tls tls = {0};
    if (!load_tls(options, &tls)) {
        hs_tls_free(&tls);
        return WRONG_CONFIGURATION;
    }
    bool prepared = start_recording(service) && restore(service) && start_evidence(service) &&
                    start_sharing(service) && start_webhook(service);
    bool fine = prepared && start_listeners(service, &tls, listeners);
    hs_tls_free(&tls); /* libmicrohttpd has its own copies */
    if (prepared && !fine) {
        /* No claim was verified yet, so the restored state is still complete. hs_checkpoint_close
           saves this state in a final checkpoint. */
        hs_checkpoint_close(service->checkpoint);
        service->checkpoint = NULL;
    }
    return fine ? FINE : FAILED;
}

static int wait_for_signal(const sigset_t *signals, int64_t interval_us)
{
    struct timespec interval = hs_clock_timespec(interval_us);
    int received = sigtimedwait(signals, NULL, &interval);
    return received < 0 ? 0 : received;
}

/* Runs until a signal ends the service, and returns the signal. While a worker is stuck, no
   WATCHDOG message is sent, so the service manager restarts the service. */
static int run(struct hs_service *service, struct hs_configuration *configuration,
               const sigset_t *signals)
{
    int64_t notify_us = hs_notify_interval_us();
    int64_t interval_us = notify_us != 0 && notify_us < EXPIRE_US ? notify_us : EXPIRE_US;
    hs_notify("READY=1");
    for (;;) {
        int received = wait_for_signal(signals, interval_us);
        if (received == SIGTERM || received == SIGINT)
            return received;
        if (received == SIGHUP)
            reload(service, configuration);
        hs_service_expire(service);
        hs_log_report(&service->match_log, false);
        if (notify_us != 0 && atomic_load(&service->stuck[HS_LISTENER_DATA]) == 0 &&
            atomic_load(&service->stuck[HS_LISTENER_ADMIN]) == 0)
            hs_notify("WATCHDOG=1");
    }
}

int hs_serve(const struct hs_options *options, const struct hs_options_input *input)
{
    struct hs_service service = {0};
    struct hs_configuration configuration;
    struct hs_http *listeners[2] = {NULL, NULL}; /* the data and the admin listener */
    hs_json_init();                              /* must run before there are threads */
    sigset_t signals = block_signals();
    int code = start(&service, options, input, &configuration, listeners);
    if (code != FINE) {
        destroy_state(&service);
        return code;
    }
    atomic_store(&service.ready, true);
    announce(options, listeners);
    int received = run(&service, &configuration, &signals);
    hs_notify("STOPPING=1");
    bool patient = !is_ctrl_c(received) && drain(&service, &signals);
    end_on_next_signal(&signals);
    /* A body may arrive until its deadline, and the answer takes up to a second more. Both
       listeners must stop by `until_us`, because the service manager has one stop timeout for the
       whole process. */
    int64_t until_us =
        hs_clock_us() + (patient ? (int64_t)(options->request_seconds + 1) : 0) * 1000000;
    hs_http_stop(listeners[0], ms_until(until_us));
    hs_http_stop(listeners[1], ms_until(until_us));
    /* No further request can change a match, so the states of the matches are final. The states are
       written to the store before the checkpoint, because other replicas wait for the states. */
    stop_sharing(&service);
    hs_checkpoint_close(service.checkpoint);
    service.checkpoint = NULL;
    hs_log_report(&service.match_log, true);
    hs_log_fields(HS_LOG_INFO, "stopped", NULL, 0);
    destroy_state(&service);
    return FINE;
}
