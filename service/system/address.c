#include "service/system/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_port(const char *text, in_port_t *port)
{
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 5 || text[len] != '\0')
        return false;
    unsigned long number = strtoul(text, NULL, 10);
    *port = htons((in_port_t)number);
    return number <= 65535;
}

bool hs_address_parse(const char *text, struct hs_address *address)
{
    char host[INET6_ADDRSTRLEN + 2];
    const char *colon = strrchr(text, ':');
    memset(address, 0, sizeof *address);
    if (colon == NULL || (size_t)(colon - text) >= sizeof host)
        return false;
    size_t len = (size_t)(colon - text);
    memcpy(host, text, len);
    host[len] = '\0';
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->socket;
        host[len - 1] = '\0';
        six->sin6_family = AF_INET6;
        address->size = sizeof *six;
        return inet_pton(AF_INET6, host + 1, &six->sin6_addr) == 1 &&
               parse_port(colon + 1, &six->sin6_port);
    }
    struct sockaddr_in *four = (struct sockaddr_in *)&address->socket;
    four->sin_family = AF_INET;
    address->size = sizeof *four;
    return inet_pton(AF_INET, host, &four->sin_addr) == 1 && parse_port(colon + 1, &four->sin_port);
}

bool hs_address_is_loopback(const struct hs_address *address)
{
    if (address->socket.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&address->socket)->sin6_addr);
    const struct sockaddr_in *four = (const struct sockaddr_in *)&address->socket;
    return ntohl(four->sin_addr.s_addr) >> 24 == 127;
}

void hs_address_print(const struct hs_address *address, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    if (address->socket.ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->socket;
        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        snprintf(text, size, "[%s]:%u", host, ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)&address->socket;
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        snprintf(text, size, "%s:%u", host, ntohs(four->sin_port));
    }
}
