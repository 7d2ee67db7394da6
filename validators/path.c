#include "path.h"

/* Legs of the flight itself; 0 when it is instant. */
static uint32_t flight_legs(const struct hs_path *path)
{
    int64_t flight = path->end_us - path->start_us;
    if (flight <= 0)
        return 0;
    int64_t legs = (flight + HS_LEG_US - 1) / HS_LEG_US;
    return legs > HS_MAX_LEGS ? HS_MAX_LEGS : (uint32_t)legs;
}

uint32_t hs_path_legs(const struct hs_path *path)
{
    uint32_t flight = flight_legs(path);
    return flight == 0 ? 1 : flight + (path->extension > 0 ? 1 : 0);
}

void hs_path_leg(const struct hs_path *path, uint32_t i, struct hs_leg *out)
{
    uint32_t flight = flight_legs(path);
    out->sweep.direction = path->direction;
    out->sweep.radius = path->radius;
    if (i >= flight) { /* all of an instant path, or the extension of a flight */
        out->travelled = flight == 0 ? 0 : path->length;
        out->sweep.length = path->length + path->extension - out->travelled;
        out->start_us = out->end_us = path->end_us;
    } else {
        double share = 1.0 / (double)flight;
        double from = (double)i * share, to = i + 1 == flight ? 1 : (double)(i + 1) * share;
        double duration = (double)(path->end_us - path->start_us);
        out->travelled = path->length * from;
        out->sweep.length = path->length * (to - from);
        out->start_us = path->start_us + (int64_t)(duration * from);
        out->end_us = i + 1 == flight ? path->end_us : path->start_us + (int64_t)(duration * to);
    }
    out->sweep.start = hs_vec_add_scaled(path->start, path->direction, out->travelled);
}
