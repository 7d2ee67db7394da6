/*
 * What a path meets: the claimed body and every other, in order. Internal to validators/.
 */
#ifndef HS_ENCOUNTER_H
#define HS_ENCOUNTER_H

#include "validators/hit/contact.h"
#include "validators/hit/context.h"
#include "validators/hit/obstacle.h"

/* Bodies kept of those on a path: more than any shot goes through. */
enum { HS_MAX_MET = 66 };

struct hs_met {
    const struct hs_player *player;
    struct hs_contact contact;
    enum hs_reason doubt; /* HS_REASON_OK: in sight of the path; else a mover without a place may
                             stand between */
};

struct hs_encounter {
    struct hs_obstacle obstacle; /* the first of the world in the way, or beside it before the
                                    target */
    bool clips;                  /* the path, or the line beside it, ends there: enforced */
    double world_radius;         /* of the sphere that the world was tested with */
    double free;                 /* travel to where the world stops that sphere */
    struct hs_contact target;    /* with a target; found on the whole path */
    bool reaches;                /* the target is touched, or missed by no more than the padding */
    double needed;               /* travel to there */
    bool is_occluded;            /* the world is in the way of that */
    bool is_doubtful;            /* so is, perhaps, a mover without a place */
    uint32_t before_target;      /* bodies touched before it, where it is touched */
    uint32_t met_count;
    struct hs_met
        met[HS_MAX_MET]; /* others touched, the first first, where the path ends at most */
};

/*
 * Casts a path at the world, shortens it to what it reaches, and sweeps it over every player but
 * the shooter. A body that the sphere touches beside the path counts if the line from the path to
 * the touched point is free, or if the thinner sphere cast at the world touches it as well.
 * `target` (NULL: none claimed) is kept apart and its nearest approach measured; the dead among the
 * others are passed through.
 */
void hs_encounter_find(struct hs_hit_context *c, struct hs_path *path,
                       const struct hs_player *target, struct hs_encounter *out);

/* What the one path of a claim meets; nothing of the target where he has no pose. */
void hs_encounter_of_claim(struct hs_hit_context *c, struct hs_encounter *out);

/* More bodies stand before the target than the weapon goes through. */
bool hs_encounter_is_blocked(const struct hs_hit_context *c, const struct hs_encounter *e);

/* A mover without a place may stand before something that far along the claim's path, and the
   world is enforced. */
bool hs_encounter_is_in_doubt(const struct hs_hit_context *c, const struct hs_encounter *e,
                              double distance);

/* Notes bones of the target that had no place. */
void hs_encounter_note(struct hs_hit_context *c, const struct hs_encounter *e);

/* The answer's impact: this contact, or this part of the world. */
void hs_describe_impact(struct hs_hit_context *c, const struct hs_player *player,
                        const struct hs_contact *contact);
void hs_describe_obstacle(struct hs_hit_context *c, const struct hs_obstacle *obstacle);

/* The answer's impact: the first body other than the target, else where the path ends at the
   world, else none. */
void hs_describe_first(struct hs_hit_context *c, const struct hs_encounter *e);

/* Flags a claimed bone that is not the one touched. */
void hs_note_region(struct hs_hit_context *c, const struct hs_contact *contact);

/* Books a contact for the damage: paid when the verdict lets it. */
void hs_land_direct(struct hs_hit_context *c, const struct hs_view *view,
                    const struct hs_contact *contact, uint16_t pellets);
void hs_land_lenient(struct hs_hit_context *c, const struct hs_view *view,
                     const struct hs_contact *contact);

/* Whether the shooter may hurt a victim at that time: HS_REASON_OK, or why not (team, life, or the
   pose that is missing). */
enum hs_reason hs_judge_victim(const struct hs_hit_context *c, const struct hs_view *view,
                               struct hs_str name);

/* Victim i is named earlier in the list; or earlier there or as the target. */
bool hs_is_repeated(const struct hs_hit_context *c, size_t i);
bool hs_is_claimed_before(const struct hs_hit_context *c, size_t i);

void hs_refuse_victim(struct hs_hit_context *c, struct hs_str name, enum hs_reason reason);

#endif
