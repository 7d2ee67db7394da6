#include "service/system/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void hs_notify(const char *message)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL || (path[0] != '/' && path[0] != '@') ||
        strlen(path) >= sizeof address.sun_path)
        return;
    size_t len = strlen(path);
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') /* an abstract socket address begins with a zero byte */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    ssize_t sent;
    do {
        sent =
            sendto(fd, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    } while (sent < 0 && errno == EINTR);
    close(fd);
}

int64_t hs_notify_interval_us(void)
{
    const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (text == NULL || (pid != NULL && strtol(pid, NULL, 10) != (long)getpid()))
        return 0;
    char *end;
    long long us = strtoll(text, &end, 10);
    return *end != '\0' || us <= 0 ? 0 : us / 2;
}
