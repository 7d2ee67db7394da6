/*
 * Notifies the service manager by systemd's protocol, sd_notify(3), without systemd's library. Does
 * nothing if $NOTIFY_SOCKET is not set.
 */
#ifndef HS_SERVICE_NOTIFY_H
#define HS_SERVICE_NOTIFY_H

#include <stdint.h>

/* Sends one message: "READY=1", "RELOADING=1", "STOPPING=1", "WATCHDOG=1". */
void hs_notify(const char *message);

/* Returns the interval at which to send "WATCHDOG=1", in microseconds: half of $WATCHDOG_USEC, the
   timeout of the service manager. Returns 0 if the service manager has no timeout. */
int64_t hs_notify_interval_us(void);

#endif
