#include "tests/support/http/raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { VALUE_SIZE = 256 };

int hs_raw_connect(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((in_port_t)port)};
    const struct timeval patience = {.tv_sec = 20};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int hs_raw_reserve(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, (const struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        close(fd);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

bool hs_raw_send(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

void hs_raw_read(int fd, bool head, struct hs_raw_answer *answer)
{
    char value[VALUE_SIZE];
    size_t len = 0;
    memset(answer, 0, sizeof *answer);
    while (len < sizeof answer->headers - 1 && recv(fd, answer->headers + len, 1, 0) == 1) {
        len++;
        if (len >= 4 && memcmp(answer->headers + len - 4, "\r\n\r\n", 4) == 0)
            break;
    }
    answer->headers[len] = '\0';
    if (sscanf(answer->headers, "HTTP/1.1 %d ", &answer->status) != 1) {
        answer->status = 0;
        return;
    }
    size_t expected = strtoul(hs_raw_header(answer, "Content-Length", value), NULL, 10);
    while (!head && answer->size < expected && answer->size < sizeof answer->body - 1) {
        size_t room = sizeof answer->body - 1 - answer->size;
        size_t left = expected - answer->size;
        ssize_t got = recv(fd, answer->body + answer->size, left < room ? left : room, 0);
        if (got <= 0)
            break;
        answer->size += (size_t)got;
    }
    answer->body[answer->size] = '\0';
}

int hs_raw_ask(unsigned port, const char *request, struct hs_raw_answer *answer)
{
    int fd = hs_raw_connect(port);
    answer->status = 0;
    if (fd < 0)
        return 0;
    if (hs_raw_send(fd, request, strlen(request)))
        hs_raw_read(fd, false, answer);
    close(fd);
    return answer->status;
}

int hs_raw_status(unsigned port, const char *request)
{
    struct hs_raw_answer answer;
    return hs_raw_ask(port, request, &answer);
}

bool hs_raw_drain(int fd, char *rest, size_t size)
{
    size_t len = 0;
    rest[0] = '\0';
    for (;;) {
        char piece[1024];
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
            return true;
        if (got < 0)
            return false;
        size_t room = size - 1 - len;
        size_t kept = (size_t)got < room ? (size_t)got : room;
        memcpy(rest + len, piece, kept);
        len += kept;
        rest[len] = '\0';
    }
}

bool hs_raw_is_closed(int fd)
{
    char rest[2];
    return hs_raw_drain(fd, rest, sizeof rest) && rest[0] == '\0';
}

const char *hs_raw_header(const struct hs_raw_answer *answer, const char *name, char *value)
{
    size_t len = strlen(name);
    value[0] = '\0';
    for (const char *line = strchr(answer->headers, '\n'); line != NULL;
         line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            line += len + 1;
            line += strspn(line, " ");
            snprintf(value, VALUE_SIZE, "%.*s", (int)strcspn(line, "\r\n"), line);
            break;
        }
    }
    return value;
}

const char *hs_raw_member(const struct hs_raw_answer *answer, const char *name, char *value)
{
    json_t *root = json_loadb(answer->body, answer->size, 0, NULL);
    const char *text = json_string_value(json_object_get(root, name));
    snprintf(value, VALUE_SIZE, "%s", text == NULL ? "" : text);
    json_decref(root);
    return value;
}
