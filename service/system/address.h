/* Reads addresses on which the service listens, for example "127.0.0.1:8080" or "[::1]:0". The
   addresses are numeric: names are not looked up. Also reads lists of servers to which the service
   connects; the servers may have host names. */
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

/* Writes ADDR:PORT. */
void hs_address_print(const struct hs_address *address, char *text, size_t size);

enum { HS_ADDRESS_HOST_MAX = 256 };

/* Reads HOST:PORT, up to a comma or the end. Writes `host` without brackets. Returns false if the
   text is not such an address. */
bool hs_address_split(const char *text, char host[HS_ADDRESS_HOST_MAX], int *port);

/* Returns whether a text is a list of HOST:PORT with commas between them. */
bool hs_address_list_is_valid(const char *text);

#endif
