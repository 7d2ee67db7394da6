/* Parses the addresses that the service listens on, for example "127.0.0.1:8080" or "[::1]:0".
   These addresses must be numeric. Also parses lists of servers to connect to, which may contain
   host names. */
#ifndef HS_SERVICE_ADDRESS_H
#define HS_SERVICE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct hs_address {
    struct sockaddr_storage socket;
    socklen_t size;
};

bool hs_address_parse(const char *text, struct hs_address *address);

/* Returns whether the address is in 127.0.0.0/8 or ::1. */
bool hs_address_is_loopback(const struct hs_address *address);

/* Writes ADDR:PORT; IPv6 addresses get brackets. */
void hs_address_print(const struct hs_address *address, char *text, size_t size);

enum { HS_ADDRESS_HOST_MAX = 256 };

/* Parses HOST:PORT, up to a comma or the end of `text`. Writes `host` without brackets. Returns
   false if the text does not have this form. */
bool hs_address_split(const char *text, char host[HS_ADDRESS_HOST_MAX], int *port);

/* Returns whether `text` is a comma-separated list of HOST:PORT. */
bool hs_address_list_is_valid(const char *text);

#endif
