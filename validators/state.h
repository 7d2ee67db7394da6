/*
 * The sticky state of a player: a sample inherits each value from the previous sample, until a
 * frame posts a new value. Each row defines a member of struct hs_state, its first value, and how
 * it is saved. A row with SAID also defines a member and a bit of struct hs_player_frame.
 *
 *   SAID(type, member, first, saved, stale, field)      frames post the value as `member`
 *   OWN(type, member, dimension, first, saved, stale)   match/sample.c computes the value
 *
 * HS_FIELD_##field is the bit that is set if the frame contains the member. `saved` is an enum
 * hs_saved_kind. `stale` is the bit of enum hs_stale that a restore sets. Larger members come
 * first, so that there is no padding between members.
 */
#ifndef HS_STATE_H
#define HS_STATE_H

/* clang-format off */
#define HS_STATE_FIELDS(SAID, OWN)                                                                 \
    OWN(uint64_t, owned, [HS_MAX_WEAPONS / 64], {0}, UNSIGNED, OWNED) /* one bit per weapon */     \
    SAID(double, damage_scale, 1, REAL, NOTHING, DAMAGE_SCALE)                                     \
    OWN(int64_t, life, , 0, MARK, LIFE) /* counts spawns */                                        \
    SAID(int32_t, ammo, -1, INT32, AMMO, AMMO) /* rounds in the weapon held; -1: unknown */        \
    SAID(int32_t, prediction_us, -1, INT32, NOTHING, PREDICTION) /* ping limit; -1: not posted */  \
    OWN(uint16_t, rig, , 0, UNSIGNED, NOTHING) /* ruleset index; at first the default rig */       \
    OWN(uint16_t, stance, , 0, UNSIGNED, NOTHING) /* index in the rig */                           \
    OWN(uint16_t, team, , HS_NONE, ELSEWHERE, NOTHING) /* interned name; HS_NONE: no team */       \
    OWN(uint16_t, weapon, , HS_NONE, UNSIGNED, WEAPON) /* ruleset index, HS_NONE, or FOREIGN */    \
    OWN(bool, tells_stance, , false, ELSEWHERE, NOTHING) /* stance posted since the restore */     \
    OWN(bool, any_weapon, , true, FLAG, OWNED) /* `owned` was never posted */                      \
    OWN(bool, alive, , true, FLAG, LIFE)                                                           \
    SAID(bool, is_protected, false, FLAG, PROTECTED, PROTECTED)                                    \
    SAID(bool, is_solid, true, FLAG, SOLID, SOLID) /* blocks shots at other players */             \
    OWN(bool, tells_solid, , false, FLAG, SOLID) /* `is_solid` was posted, so it may change */     \
    SAID(bool, reloading, false, FLAG, RELOADING, RELOADING)
/* clang-format on */

/*
 * Bits for the state that was last posted before a restore (snapshot.h). The state may have changed
 * since then, so it causes no rejection until a frame posts it again.
 */
enum hs_stale {
    HS_STALE_NOTHING = 0,
    HS_STALE_LIFE = 1 << 0, /* `alive` and `life` */
    HS_STALE_PROTECTED = 1 << 1,
    HS_STALE_RELOADING = 1 << 2,
    HS_STALE_AMMO = 1 << 3,
    HS_STALE_WEAPON = 1 << 4,
    HS_STALE_OWNED = 1 << 5,      /* `any_weapon` and `owned` */
    HS_STALE_CONNECTION = 1 << 6, /* the sample's rtt_us and interp_us */
    HS_STALE_SOLID = 1 << 7,      /* only for players whose `is_solid` was ever posted */
    HS_STALE_ALL = (1 << 8) - 1
};

#endif
