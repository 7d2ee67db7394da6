/* Addresses to listen on: "127.0.0.1:8080", "[::1]:0". Numeric only: there is no name lookup. */
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

#endif
