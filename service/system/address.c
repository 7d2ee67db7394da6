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

bool hs_address_split(const char *text, char host[HS_ADDRESS_HOST_MAX], int *port)
{
    size_t len = strcspn(text, ",");
    const char *colon = memrchr(text, ':', len);
    if (colon == NULL || colon == text || (size_t)(colon - text) >= HS_ADDRESS_HOST_MAX)
        return false;
    size_t digits = strspn(colon + 1, "0123456789"), size = (size_t)(colon - text);
    long number = strtol(colon + 1, NULL, 10);
    bool is_bracketed = text[0] == '[' && colon[-1] == ']' && size > 2;
    if (digits == 0 || digits > 5 || colon + 1 + digits != text + len || number < 1 ||
        number > 65535 || (!is_bracketed && memchr(text, ':', size) != NULL))
        return false;
    snprintf(host, HS_ADDRESS_HOST_MAX, "%.*s", (int)size - (is_bracketed ? 2 : 0),
             text + (is_bracketed ? 1 : 0));
    *port = (int)number;
    return true;
}

bool hs_address_list_is_valid(const char *text)
{
    char host[HS_ADDRESS_HOST_MAX];
    int port;
    for (;;) {
        if (!hs_address_split(text, host, &port))
            return false;
        text += strcspn(text, ",");
        if (*text == '\0')
            return true;
        text++;
    }
}
