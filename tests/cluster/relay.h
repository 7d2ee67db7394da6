/* A TCP relay on 127.0.0.1 that can delay answers and change its target. Services reach a store
   through it, so a test can slow the store down or replace it. Two threads for each connection. */
#ifndef HS_TESTS_RELAY_H
#define HS_TESTS_RELAY_H

struct hs_relay;

/* Listens on a free port and connects each client to 127.0.0.1:target. Returns NULL on failure. */
struct hs_relay *hs_relay_start(unsigned target);
void hs_relay_stop(struct hs_relay *relay);

unsigned hs_relay_port(const struct hs_relay *relay);

/* Sets the delay of each piece of an answer from now on. Thread-safe. */
void hs_relay_delay(struct hs_relay *relay, int ms);

/* Cuts all connections. New ones go to this target; 0: they are closed at once. Thread-safe. */
void hs_relay_point(struct hs_relay *relay, unsigned target);

#endif
