/* What the service does besides answering requests: it ends idle matches and reads its gauges. */
#ifndef HS_SERVICE_HOUSEKEEPING_H
#define HS_SERVICE_HOUSEKEEPING_H

struct hs_metrics_gauges;
struct hs_service;

/* Ends the matches that were idle for longer than configured. Call it from one thread only. */
void hs_service_expire(struct hs_service *service);

/* Reads every gauge from the part of the service that owns it. Thread-safe. */
void hs_service_gauges(struct hs_service *service, struct hs_metrics_gauges *gauges);

#endif
