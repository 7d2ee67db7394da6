#include "tests/support/play/kill_squad.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/need.h"

static const double first_time = 100, tick_seconds = 0.05, arrow_speed = 40;

/* Ticks for which a shooter is visible before the first shot. */
enum { WARM_TICKS = 2 };

#define BALL                                                                                       \
    "{\"bones\":[\"root\"],\"hitboxes\":[{\"bone\":\"root\",\"zone\":\"torso\","                   \
    "\"shape\":\"sphere\",\"radius\":0.5,\"center\":[0,0,1.6]}],"                                  \
    "\"stances\":{\"stand\":{\"eye\":[0,0,1.6],\"bones\":[[0,0,0,0,0,0,1]]}}}"

const char hs_kill_game_rules[] =
    "{\"up\":\"+z\",\"default_rig\":\"ball\",\"rigs\":{\"ball\":" BALL "},"
    "\"history\":{\"keep\":2},\"weapons\":{"
    "\"rifle\":{\"type\":\"hitscan\",\"damage\":20,\"range\":100,\"radius\":0.05,"
    "\"min_interval\":0.1},"
    "\"shotgun\":{\"type\":\"hitscan\",\"damage\":5,\"pellets\":4,\"spread_deg\":20,\"range\":100,"
    "\"radius\":0.05,\"min_interval\":0.2},"
    "\"bow\":{\"type\":\"projectile\",\"damage\":50,\"speed\":40,\"gravity\":0,\"radius\":0.05,"
    "\"max_flight\":4}}}";

static const struct {
    const char *weapon;
    int every, flight; /* ticks between shots; ticks from a posted shot to its hit (0: none) */
} styles[HS_KILL_SHOOTERS] = {{"rifle", 3, 0}, {"rifle", 4, 1}, {"shotgun", 5, 1}, {"bow", 7, 6}};

double hs_kill_time(int tick)
{
    return first_time + tick * tick_seconds;
}

char *hs_kill_print(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = need(NULL);
    va_end(args);
    return text;
}

/* Returns the y of the target, at which the squad aims. */
static double middle_of(const struct hs_kill_squad *squad)
{
    return 50 * squad->number;
}

/* ---- items ---- */

static struct hs_kill_item *add_item(const struct hs_kill_squad *squad,
                                     struct hs_kill_shooter *shooter, bool is_shot, int tick)
{
    struct hs_kill_session *session = &shooter->now;
    if (session->count == session->capacity) {
        session->capacity = 2 * session->capacity + 16;
        session->items = need(realloc(session->items, session->capacity * sizeof *session->items));
    }
    struct hs_kill_item *item = &session->items[session->count++];
    int place = squad->place * HS_KILL_SHOOTERS + (int)shooter->style;
    *item = (struct hs_kill_item){.is_shot = is_shot, .number = shooter->next_number, .tick = tick};
    item->followed.key = ((uint64_t)place << 56) | ((uint64_t)shooter->session << 16) |
                         ((uint64_t)item->number << 1) | (is_shot ? 1 : 0);
    item->followed.now = hs_kill_time(tick);
    item->followed.is_honest = true;
    return item;
}

static void clear_session(struct hs_kill_session *session)
{
    for (size_t i = 0; i < session->count; i++)
        free(session->items[i].followed.text);
    session->count = 0;
}

static void add_shot(const struct hs_kill_squad *squad, struct hs_kill_shooter *shooter, int tick)
{
    struct hs_kill_item *item = add_item(squad, shooter, true, tick);
    item->followed.text =
        hs_kill_print("{\"shot\":%d,\"shooter\":\"%s\",\"weapon\":\"%s\",\"time\":%.6f,"
                      "\"origin\":[0,%.6f,1.6],\"direction\":[10,%.6f,0]}",
                      item->number, shooter->name, styles[shooter->style].weapon,
                      hs_kill_time(tick), shooter->y, middle_of(squad) - shooter->y);
    shooter->fired_tick = tick;
}

/* Makes a claim for a shot of a tick. Some claims are dishonest: they miss, or their target never
   existed. */
static void add_hit(const struct hs_kill_squad *squad, struct hs_kill_shooter *shooter, int fired,
                    int tick, struct hs_random *random)
{
    struct hs_kill_item *item = add_item(squad, shooter, false, tick);
    bool misses = hs_random_chance(random, 0.04), is_ghost = hs_random_chance(random, 0.03);
    bool is_arrow = shooter->style == HS_KILL_BOW;
    /* No two paths are equal. */
    double way = middle_of(squad) - shooter->y + (misses ? 12 : 0);
    double far = is_arrow ? 1 : 2, height = 1.55 + 0.001 * (item->number % 100);
    double flight = is_arrow ? hypot(10, way) / arrow_speed : 0;
    char target[16], pellets[192] = "";
    snprintf(target, sizeof target, "%s%d", is_ghost ? "ghost" : "target", squad->number);
    if (shooter->style == HS_KILL_SHOTGUN)
        snprintf(pellets, sizeof pellets,
                 ",\"pellets\":[{\"end\":[20,%.6f,%.6f],\"target\":\"%s\"},"
                 "{\"end\":[20,%.6f,1.7],\"target\":\"%s\"}]",
                 shooter->y + 2 * way, height, target, shooter->y + 2 * way, target);
    item->followed.is_honest = !misses && !is_ghost;
    item->followed.text = hs_kill_print(
        "{\"shot\":%d,\"shooter\":\"%s\",\"weapon\":\"%s\",\"hit_time\":%.6f,\"fire_time\":%.6f,"
        "\"start\":[0,%.6f,1.6],\"end\":[%g,%.6f,%.6f],\"target\":\"%s\"%s}",
        item->number, shooter->name, styles[shooter->style].weapon, hs_kill_time(fired) + flight,
        hs_kill_time(fired), shooter->y, 10 * far, shooter->y + far * way, height, target, pellets);
    shooter->next_number++;
    shooter->fired_tick = -1;
}

/* ---- a tick ---- */

/* Lets the shooter leave or come back. Returns the frame field that reports it, or NULL if the
   shooter is away. */
static const char *come_and_go(struct hs_kill_squad *squad, struct hs_kill_shooter *shooter,
                               int tick, struct hs_random *random)
{
    if (tick < shooter->until)
        return shooter->is_present ? "" : NULL;
    shooter->is_present = !shooter->is_present;
    shooter->since = tick;
    int absence = 2 + hs_random_index(random, hs_random_chance(random, 0.5) ? 10 : 60);
    shooter->until = tick + (shooter->is_present ? 15 + hs_random_index(random, 50) : absence);
    if (!shooter->is_present)
        return ",\"event\":\"leave\"";
    struct hs_kill_session older = shooter->before;
    shooter->before = shooter->now;
    shooter->now = older;
    clear_session(&shooter->now);
    shooter->session++;
    shooter->next_number = 1;
    shooter->fired_tick = -1;
    squad->sessions++;
    return "";
}

static void shoot(const struct hs_kill_squad *squad, struct hs_kill_shooter *shooter, int tick,
                  struct hs_random *random)
{
    int age = tick - shooter->since - WARM_TICKS, flight = styles[shooter->style].flight;
    if (age < 0)
        return;
    if (flight > 0 && shooter->fired_tick >= 0 && tick - shooter->fired_tick >= flight)
        add_hit(squad, shooter, shooter->fired_tick, tick, random);
    if (age % styles[shooter->style].every != 0)
        return;
    if (flight == 0)
        add_hit(squad, shooter, tick, tick, random);
    else if (shooter->fired_tick < 0)
        add_shot(squad, shooter, tick);
}

/* Writes the items of one kind in this tick. */
static void write_items(const struct hs_kill_squad *squad, FILE *out, bool shots, int tick)
{
    const char *comma = "";
    fprintf(out, ",\"%s\":[", shots ? "shots" : "hits");
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        const struct hs_kill_session *session = &squad->shooters[s].now;
        for (size_t i = 0; i < session->count; i++) {
            if (session->items[i].is_shot != shots || session->items[i].tick != tick)
                continue;
            fprintf(out, "%s%s", comma, session->items[i].followed.text);
            comma = ",";
        }
    }
    fputc(']', out);
}

char *hs_kill_squad_tick(struct hs_kill_squad *squad, int tick, struct hs_random *random)
{
    char *frame = NULL, *body = NULL;
    size_t size;
    FILE *out = need(open_memstream(&frame, &size));
    fprintf(out, "{\"time\":%.6f,\"players\":[{\"player\":\"target%d\",\"position\":[10,%g,0]}",
            hs_kill_time(tick), squad->number, middle_of(squad));
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        struct hs_kill_shooter *shooter = &squad->shooters[s];
        const char *event = come_and_go(squad, shooter, tick, random);
        if (event == NULL)
            continue;
        fprintf(out,
                ",{\"player\":\"%s\",\"position\":[0,%g,0],\"alive\":true,\"weapon\":\"%s\"%s}",
                shooter->name, shooter->y, styles[s].weapon, event);
        if (shooter->is_present)
            shoot(squad, shooter, tick, random);
    }
    fputs("]}", out);
    fclose(out);
    free(squad->frames[tick % HS_KILL_SECOND]);
    squad->frames[tick % HS_KILL_SECOND] = need(frame);

    out = need(open_memstream(&body, &size));
    fprintf(out, "{\"now\":%.6f,\"frames\":[%s]", hs_kill_time(tick), frame);
    write_items(squad, out, true, tick);
    write_items(squad, out, false, tick);
    fputc('}', out);
    fclose(out);
    return need(body);
}

/* ---- life ---- */

void hs_kill_squad_restart(struct hs_kill_squad *squad)
{
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        struct hs_kill_shooter *shooter = &squad->shooters[s];
        clear_session(&shooter->before);
        clear_session(&shooter->now);
        shooter->is_present = false;
        shooter->until = 0;
    }
}

void hs_kill_squad_init(struct hs_kill_squad *squad, int place, int number)
{
    *squad = (struct hs_kill_squad){.number = number, .place = place};
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        struct hs_kill_shooter *shooter = &squad->shooters[s];
        shooter->style = (enum hs_kill_style)s;
        shooter->y = middle_of(squad) + 3 * (s - 1.5);
        snprintf(shooter->name, sizeof shooter->name, "shooter%d_%d", number, s);
    }
}

void hs_kill_squad_free(struct hs_kill_squad *squad)
{
    hs_kill_squad_restart(squad);
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        free(squad->shooters[s].now.items);
        free(squad->shooters[s].before.items);
    }
    for (int i = 0; i < HS_KILL_SECOND; i++)
        free(squad->frames[i]);
}
