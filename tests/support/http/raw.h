/* Sends and reads HTTP without a library: sockets that send exactly the given bytes, and functions
   that parse answers. Used to test requests that no correct client sends. */
#ifndef HS_TESTS_RAW_H
#define HS_TESTS_RAW_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a connection to 127.0.0.1:PORT, or -1. Reads and writes give up after 20 s. */
int hs_raw_connect(unsigned port);

/* Binds a socket to a free port of 127.0.0.1. No other program gets the port while the socket is
   open, but a program that reuses addresses, such as the service, can listen on it. Returns the
   socket, or -1. */
int hs_raw_reserve(unsigned *port);

/* Sends all bytes that the peer accepts; returns whether it accepted all of them. */
bool hs_raw_send(int fd, const void *bytes, size_t size);

struct hs_raw_answer {
    int status;         /* 0: no answer came */
    char headers[4096]; /* the header lines, terminated */
    char body[65536];   /* terminated */
    size_t size;        /* size of the body */
};

/* Reads exactly one answer. `head`: the answer to a HEAD, which has no body. */
void hs_raw_read(int fd, bool head, struct hs_raw_answer *answer);

/* Sends a request on a separate connection and reads its answer; returns its status. */
int hs_raw_ask(unsigned port, const char *request, struct hs_raw_answer *answer);

/* Sends a request on a separate connection and returns only the status. */
int hs_raw_status(unsigned port, const char *request);

/* Reads until the peer closes or resets the connection. Then returns true, and `rest` contains the
   bytes before that, cut to `size` - 1 and terminated. Returns false if the connection stays
   open. */
bool hs_raw_drain(int fd, char *rest, size_t size);

/* Returns whether the peer closes the connection without sending another byte. */
bool hs_raw_is_closed(int fd);

/* Returns the value of a header, or "" if it is absent. `value` has space for 256 bytes. */
const char *hs_raw_header(const struct hs_raw_answer *answer, const char *name, char *value);

/* Returns the text member with that name in the JSON body, or "". `value` has space for 256
   bytes. */
const char *hs_raw_member(const struct hs_raw_answer *answer, const char *name, char *value);

#endif
