#include "tests/support/play/crowd.h"

enum { BODY = 1 << 20 };

/* Writes a frame. p0 stands 10 m in front of all others, who stand in one place. */
static void put_frame(struct hs_buffer *to, int step)
{
    hs_buffer_printf(to, "%s{\"time\":%.3f,\"players\":[", step % HS_CROWD_FRAMES > 0 ? "," : "",
                     10 + 0.01 * step);
    for (int i = 0; i < HS_CROWD_PLAYERS; i++)
        hs_buffer_printf(to, "%s{\"player\":\"p%d\",\"position\":[%g,0,0]}", i > 0 ? "," : "", i,
                         i == 0 ? 0 : 1000 + 0.1 * (step % 7));
    hs_buffer_puts(to, "]}");
}

void hs_crowd_put_frames(struct hs_buffer *to, int first)
{
    hs_buffer_puts(to, "\"frames\":[");
    for (int step = 0; step < HS_CROWD_FRAMES; step++)
        put_frame(to, first + step);
    hs_buffer_puts(to, "]");
}

void hs_crowd_put_pellets(struct hs_buffer *to, int shot)
{
    hs_buffer_printf(
        to,
        "{\"shot\":%d,\"shooter\":\"p0\",\"weapon\":\"shotgun\",\"hit_time\":" HS_CROWD_NOW
        ",\"start\":[0,0,160],\"target\":\"p1\",\"pellets\":[",
        shot);
    for (int i = 0; i < 64; i++)
        hs_buffer_printf(to, "%s{\"end\":[2000,%d,90]}", i > 0 ? "," : "", i);
    hs_buffer_puts(to, "]}");
}

void hs_crowd_put_bullet(struct hs_buffer *to, int shot)
{
    hs_buffer_printf(
        to,
        "{\"shot\":%d,\"shooter\":\"p0\",\"weapon\":\"rifle\",\"hit_time\":" HS_CROWD_NOW
        ",\"start\":[0,0,160],\"end\":[2000,%g,100],\"target\":\"p1\"}",
        shot, 0.01 * shot);
}

void hs_crowd_put_rocket(struct hs_buffer *to, int shot)
{
    hs_buffer_printf(to,
                     "{\"shot\":%d,\"shooter\":\"p0\",\"weapon\":\"rocket\",\"fire_time\":10,"
                     "\"hit_time\":" HS_CROWD_NOW ",\"start\":[999,0,160],\"end\":[1001,%g,100],"
                     "\"target\":\"p1\",\"additional_targets\":[",
                     shot, 0.01 * shot);
    for (int i = 2; i < 66; i++)
        hs_buffer_printf(to, "%s\"p%d\"", i > 2 ? "," : "", i);
    hs_buffer_puts(to, "]}");
}

void hs_crowd_put_shot(struct hs_buffer *to, int shot)
{
    hs_buffer_printf(
        to,
        "{\"shot\":%d,\"shooter\":\"p%d\",\"weapon\":\"shotgun\",\"time\":" HS_CROWD_NOW
        ",\"origin\":[0,0,160],\"directions\":[",
        shot, shot % HS_CROWD_PLAYERS);
    for (int i = 0; i < 64; i++)
        hs_buffer_printf(to, "%s[1,0,0]", i > 0 ? "," : "");
    hs_buffer_puts(to, "]}");
}

void hs_crowd_put_move(struct hs_buffer *to, int shot)
{
    hs_buffer_printf(to,
                     "{\"player\":\"p%d\",\"seq\":%d,\"client_time\":%.4f,\"received\":%.4f,"
                     "\"ack\":%.4f,\"epoch\":1,\"mode\":\"walking\",\"position\":[%g,0,0],"
                     "\"server_position\":[%g,0,0],\"server_velocity\":[600,0,0]}",
                     shot % HS_CROWD_PLAYERS, shot, 5 + 0.0001 * shot, 10.6 + 0.0001 * shot,
                     10.55 + 0.0001 * shot, 1000 + 0.1 * shot, 1000 + 0.2 * shot);
}

void hs_crowd_put_items(struct hs_buffer *to, const char *key, hs_crowd_put *put)
{
    hs_buffer_printf(to, "\"%s\":[", key);
    for (int i = 0; i < 1024 && to->len < BODY - 4096; i++) {
        hs_buffer_puts(to, i > 0 ? "," : "");
        put(to, 1 + i);
    }
    hs_buffer_puts(to, "]");
}
