/* The most expensive requests over HTTP: p0 faces 99 others who stand in one place, and claims hits
   on them. The requests use the built-in ruleset `centimetres`. */
#ifndef HS_TESTS_CROWD_H
#define HS_TESTS_CROWD_H

#include "api/json/buffer.h"

enum { HS_CROWD_PLAYERS = 100, HS_CROWD_FRAMES = 60 };

/* The time of the last initial frame, which claims use. */
#define HS_CROWD_NOW "10.59"

/* Writes the member "frames" with HS_CROWD_FRAMES frames, numbered from `first` on. */
void hs_crowd_put_frames(struct hs_buffer *to, int first);

/* Write one item of a list: a hit with 64 pellets, with a bullet, or with a rocket and 64 victims;
   a shot with 64 pellets; a move with both positions. */
typedef void hs_crowd_put(struct hs_buffer *to, int shot);
hs_crowd_put hs_crowd_put_pellets, hs_crowd_put_bullet, hs_crowd_put_rocket, hs_crowd_put_shot,
    hs_crowd_put_move;

/* Writes the member `key` with items: up to 1024 of them, or until the body has 1 MiB. */
void hs_crowd_put_items(struct hs_buffer *to, const char *key, hs_crowd_put *put);

#endif
