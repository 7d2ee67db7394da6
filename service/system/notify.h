/*
 * What the service manager is told: systemd's notification protocol, sd_notify(3), without its
 * library. Does nothing where $NOTIFY_SOCKET is not set.
 */
#ifndef HS_SERVICE_NOTIFY_H
#define HS_SERVICE_NOTIFY_H

#include <stdint.h>

/* Sends one message: "READY=1", "RELOADING=1", "STOPPING=1", "WATCHDOG=1". */
void hs_notify(const char *message);

/*
 * How often "WATCHDOG=1" is to be sent, in microseconds: half of what the service manager waits
 * for it ($WATCHDOG_USEC). 0: it does not wait for any.
 */
int64_t hs_notify_interval_us(void);

#endif
