/*
 * What is sticky about a player: a sample inherits it from the one before it in time until a frame
 * says it again. A row here gives the member of struct hs_state, its first value, how it is
 * compared and inherited, how it is saved, and for most the member and bit of struct
 * hs_player_frame.
 *
 *   SAID(type, member, first, saved, stale, field)       a frame says the value itself: the member
 *                                                         of the same name, with HS_FIELD_##field
 *   OWN(type, member, dimension, first, saved, stale)    match/sample.c finds the value
 *
 * `saved` is an enum hs_saved_kind; `stale` an enum hs_unsure: what a restart leaves in doubt.
 */
#ifndef HS_STATE_H
#define HS_STATE_H

/* clang-format off */
#define HS_STATE_FIELDS(SAID, OWN)                                                                 \
    OWN(uint64_t, owned, [HS_MAX_WEAPONS / 64], {0}, UNSIGNED, OWNED) /* a bit a ruleset weapon */ \
    SAID(double, damage_scale, 1, REAL, NOTHING, DAMAGE_SCALE)                                     \
    OWN(int64_t, life, , 0, MARK, LIFE)                  /* counts spawns */                       \
    SAID(int32_t, ammo, -1, INT32, AMMO, AMMO)           /* in the weapon held; -1 not said */     \
    SAID(int32_t, prediction_us, -1, INT32, NOTHING, PREDICTION) /* asked for; -1 not said */      \
    OWN(uint16_t, rig, , 0, UNSIGNED, NOTHING)           /* ruleset index; first its default */    \
    OWN(uint16_t, stance, , 0, UNSIGNED, NOTHING)        /* rig index */                           \
    OWN(uint16_t, team, , HS_NONE, ELSEWHERE, NOTHING)   /* interned; HS_NONE not said */            \
    OWN(uint16_t, weapon, , HS_NONE, UNSIGNED, WEAPON)   /* ruleset index, HS_NONE, or FOREIGN */  \
    OWN(bool, any_weapon, , true, FLAG, OWNED)           /* `owned` was never said */              \
    OWN(bool, alive, , true, FLAG, LIFE)                                                           \
    SAID(bool, is_protected, false, FLAG, PROTECTED, PROTECTED)                                    \
    SAID(bool, reloading, false, FLAG, RELOADING, RELOADING)
/* clang-format on */

/*
 * What was last said before the match was read back (snapshot.h), and may have changed since
 * without anybody hearing of it: until a sample says it again, it refuses nobody.
 */
enum hs_unsure {
    HS_UNSURE_NOTHING = 0,
    HS_UNSURE_LIFE = 1 << 0, /* `alive` and `life` */
    HS_UNSURE_PROTECTED = 1 << 1,
    HS_UNSURE_RELOADING = 1 << 2,
    HS_UNSURE_AMMO = 1 << 3,
    HS_UNSURE_WEAPON = 1 << 4,
    HS_UNSURE_OWNED = 1 << 5, /* `any_weapon` and `owned` */
    HS_UNSURE_LINE = 1 << 6,  /* the sample's rtt_us and interp_us */
    HS_UNSURE_ALL = (1 << 7) - 1
};

#endif
