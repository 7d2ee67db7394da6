/* Periodic work of the service: ends idle matches and updates metrics. */
#ifndef HS_SERVICE_HOUSEKEEPING_H
#define HS_SERVICE_HOUSEKEEPING_H

struct hs_service;

/* Ends the matches that have been idle for longer than configured. Call this function from one
   thread only. */
void hs_service_expire(struct hs_service *service);

/* Updates the metrics that are computed only when somebody reads the metrics. Thread-safe. */
void hs_service_read_metrics(struct hs_service *service);

#endif
