/* Lists the fields of each saved struct. */
#include "validators/base/saved.h"
#include "validators/match/accounts.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"

#define ROW(type, member, kind, vocabulary)                                                        \
    {                                                                                              \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member),                \
            HS_SAVED_##kind, vocabulary                                                            \
    }
#define FIELD(type, member, kind)        ROW(type, member, kind, 0)
#define NAMED(type, member, kind, names) ROW(type, member, kind, HS_VOCABULARY_##names)

#define STANDING(type)                                                                             \
    NAMED(type, standing.reasons, COUNTS, REASONS), FIELD(type, standing.would_reject, UNSIGNED),  \
        FIELD(type, standing.shots_refused, UNSIGNED), FIELD(type, standing.damage_dealt, REAL),   \
        NAMED(type, standing.suspicion.hits, SUMS, CHECKS),                                        \
        NAMED(type, standing.suspicion.moves, SUMS, MOVE_CHECKS),                                  \
        FIELD(type, standing.suspicion.time_us, TIME)

/* A list names each field of its struct. ELSEWHERE marks the fields that hs_saved_put does not
   save. In struct hs_match, such a field is borrowed (ruleset, world), or other code saves it
   (players, movers, teams), or it is unset until the first frame after a restore. */
static const struct hs_saved_field match_fields[] = {
    FIELD(hs_match, ruleset, ELSEWHERE),         FIELD(hs_match, world, ELSEWHERE),
    FIELD(hs_match, limits, ELSEWHERE),          FIELD(hs_match, players, ELSEWHERE),
    FIELD(hs_match, movers, ELSEWHERE),          FIELD(hs_match, teams, ELSEWHERE),
    FIELD(hs_match, team_count, ELSEWHERE),      FIELD(hs_match, team_capacity, ELSEWHERE),
    FIELD(hs_match, has_swept_teams, ELSEWHERE), FIELD(hs_match, teams_swept_us, ELSEWHERE),
    FIELD(hs_match, budget, ELSEWHERE),          FIELD(hs_match, has_frames, ELSEWHERE),
    FIELD(hs_match, has_opening, FLAG),          FIELD(hs_match, newest_us, TIME),
    FIELD(hs_match, opening_us, TIME),           NAMED(hs_match, totals.reasons, COUNTS, REASONS),
    FIELD(hs_match, totals.damage, REAL),        FIELD(hs_match, payments, ELSEWHERE),
    FIELD(hs_match, window_start_us, ELSEWHERE), FIELD(hs_match, clock, UNSIGNED),
    FIELD(hs_match, claim_window_us, ELSEWHERE), FIELD(hs_match, has_lost_shots, ELSEWHERE),
    FIELD(hs_match, lost_from_us, ELSEWHERE),    FIELD(hs_match, lost_until_us, ELSEWHERE),
    FIELD(hs_match, has_lost_payments, FLAG),    FIELD(hs_match, jump_count, ELSEWHERE),
    FIELD(hs_match, jump_us, ELSEWHERE),         FIELD(hs_match, hints, ELSEWHERE),
    FIELD(hs_match, saved_format, ELSEWHERE),
};

static const struct hs_saved_field player_fields[] = {
    FIELD(hs_player, name, ELSEWHERE),
    FIELD(hs_player, left, FLAG),
    FIELD(hs_player, has_left_before, FLAG),
    FIELD(hs_player, was_moved, FLAG),
    FIELD(hs_player, was_launched, FLAG),
    /* After a restore, the last spawn is unknown, because the player may have spawned since the
       save. */
    FIELD(hs_player, has_spawned, ELSEWHERE),
    FIELD(hs_player, due, ELSEWHERE),
    FIELD(hs_player, place, ELSEWHERE),
    FIELD(hs_player, hash, ELSEWHERE),
    FIELD(hs_player, history, ELSEWHERE),
    FIELD(hs_player, moves, ELSEWHERE),
    FIELD(hs_player, left_us, TIME),
    FIELD(hs_player, ended_us, TIME),
    FIELD(hs_player, spawned_us, ELSEWHERE),
    FIELD(hs_player, round_trips.from_us, TIME),
    FIELD(hs_player, round_trips.low_us, INT32),
    FIELD(hs_player, round_trips.high_us, INT32),
    FIELD(hs_player, round_trips.counts, UNSIGNED),
    FIELD(hs_player, account, ELSEWHERE),
    FIELD(hs_player, ledger, ELSEWHERE),
    FIELD(hs_player, moved_us, TIME),
    FIELD(hs_player, moved_to, REAL),
    FIELD(hs_player, launch.time_us, TIME),
    FIELD(hs_player, launch.speed, SPAN),
    FIELD(hs_player, launch.climb, SPAN),
    FIELD(hs_player, spawn_place, ELSEWHERE),
    FIELD(hs_player, session, UNSIGNED),
    FIELD(hs_player, former_session, UNSIGNED),
    STANDING(hs_player),
};

static const struct hs_saved_field account_fields[] = {
    FIELD(hs_account, name, ELSEWHERE),
    FIELD(hs_account, left_us, TIME),
    STANDING(hs_account),
    NAMED(hs_account, move_reasons, COUNTS, MOVE_REASONS),
    NAMED(hs_account, raised, COUNTS, MOVE_CHECKS),
    FIELD(hs_account, credit_us, SPAN),
    FIELD(hs_account, heard_us, TIME),
    FIELD(hs_account, weapon, UNSIGNED),
    FIELD(hs_account, settled_us, TIME),
    FIELD(hs_account, has_moves, FLAG),
    FIELD(hs_account, has_credit, FLAG),
};

/* `team` is an index in the match's list of teams. The list is different after a restore, so the
   team's name is saved instead. `stale` is not saved, because all restored state is stale. */
static const struct hs_saved_field state_fields[] = {
#define SAID(type, member, first, saved, stale, field)    FIELD(hs_state, member, saved),
#define OWN(type, member, dimension, first, saved, stale) FIELD(hs_state, member, saved),
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
#undef OWN
        FIELD(hs_state, stale, ELSEWHERE),
};

static const struct hs_saved_field mover_state_fields[] = {
    FIELD(hs_mover_state, half_extents, REAL), FIELD(hs_mover_state, center, REAL),
    FIELD(hs_mover_state, has_box, FLAG),      FIELD(hs_mover_state, is_solid, FLAG),
    FIELD(hs_mover_state, tells_solid, FLAG),  FIELD(hs_mover_state, is_stale, ELSEWHERE),
};

static const struct hs_saved_field numbers_fields[] = {
    FIELD(hs_ledger_numbers, entries, ELSEWHERE),
    FIELD(hs_ledger_numbers, count, ELSEWHERE),
    FIELD(hs_ledger_numbers, capacity, ELSEWHERE),
    FIELD(hs_ledger_numbers, answers, ELSEWHERE),
    FIELD(hs_ledger_numbers, first_answer_at, ELSEWHERE),
    FIELD(hs_ledger_numbers, first_answer, ELSEWHERE),
    FIELD(hs_ledger_numbers, held_from_us, ELSEWHERE),
    FIELD(hs_ledger_numbers, notes, UNSIGNED),
    FIELD(hs_ledger_numbers, last_accepted, UNSIGNED),
    FIELD(hs_ledger_numbers, has_accepted, FLAG),
    FIELD(hs_ledger_numbers, has_paid, FLAG),
    FIELD(hs_ledger_numbers, was_cut, FLAG),
    FIELD(hs_ledger_numbers, lacks_some, ELSEWHERE),
    FIELD(hs_ledger_numbers, lacked_from_us, ELSEWHERE),
    FIELD(hs_ledger_numbers, lacked_until_us, ELSEWHERE),
    FIELD(hs_ledger_numbers, paid_us, TIME),
};

static const struct hs_saved_field entry_fields[] = {
    FIELD(hs_ledger_entry, number, UNSIGNED),   FIELD(hs_ledger_entry, digest, UNSIGNED),
    FIELD(hs_ledger_entry, fire_time_us, TIME), FIELD(hs_ledger_entry, noted, UNSIGNED),
    FIELD(hs_ledger_entry, accepted, FLAG),     FIELD(hs_ledger_entry, is_cancelled, FLAG),
    FIELD(hs_ledger_entry, is_instant, FLAG),   FIELD(hs_ledger_entry, has_offset, FLAG),
    FIELD(hs_ledger_entry, payment, ELSEWHERE), FIELD(hs_ledger_entry, hit_time_us, TIME),
    FIELD(hs_ledger_entry, offset_us, TIME),    FIELD(hs_ledger_entry, start, REAL),
    FIELD(hs_ledger_entry, end, REAL),          FIELD(hs_ledger_entry, shot, ELSEWHERE),
    FIELD(hs_ledger_entry, answer, ELSEWHERE),  FIELD(hs_ledger_entry, answer_size, ELSEWHERE),
};

static const struct hs_saved_field shot_fields[] = {
    FIELD(hs_posted_shot, weapon, UNSIGNED),      FIELD(hs_posted_shot, checks, ELSEWHERE),
    FIELD(hs_posted_shot, check_count, UNSIGNED), FIELD(hs_posted_shot, has_seed, FLAG),
    FIELD(hs_posted_shot, seed, UNSIGNED),        FIELD(hs_posted_shot, has_direction, FLAG),
    FIELD(hs_posted_shot, direction, REAL),       FIELD(hs_posted_shot, direction_count, UNSIGNED),
    FIELD(hs_posted_shot, directions, ELSEWHERE), FIELD(hs_posted_shot, knows_shooter, FLAG),
    FIELD(hs_posted_shot, has_team, FLAG),        FIELD(hs_posted_shot, team_hash, UNSIGNED),
    FIELD(hs_posted_shot, damage_scale, REAL),
};

static const struct hs_saved_field remembered_fields[] = {
    NAMED(hs_remembered_check, check, MEMBER, CHECKS),
    FIELD(hs_remembered_check, outcome, UNSIGNED), /* enum hs_outcome */
    NAMED(hs_remembered_check, reason, MEMBER, REASONS),
    NAMED(hs_remembered_check, unit, MEMBER, UNITS),
    FIELD(hs_remembered_check, measured, REAL),
    FIELD(hs_remembered_check, limit, REAL),
};

static const struct hs_saved_field cadence_fields[] = {
    FIELD(hs_cadence, weapon, UNSIGNED),       FIELD(hs_cadence, count, UNSIGNED),
    FIELD(hs_cadence, rounds, UNSIGNED),       FIELD(hs_cadence, settled_us, TIME),
    FIELD(hs_cadence, interval_us, ELSEWHERE), FIELD(hs_cadence, fire_time_us, TIME),
};

static const struct hs_saved_field moves_fields[] = {
    FIELD(hs_player_moves, checks, ELSEWHERE),
    /* Computed again from the first move after a restore. */
    FIELD(hs_player_moves, whereabouts, ELSEWHERE),
    FIELD(hs_player_moves, posture, ELSEWHERE),
    FIELD(hs_player_moves, epoch, UNSIGNED),
    FIELD(hs_player_moves, epoch_us, TIME),
    FIELD(hs_player_moves, corrected_us, TIME),
    FIELD(hs_player_moves, acked_us, TIME),
    FIELD(hs_player_moves, jump_closed_us, MARK),
    FIELD(hs_player_moves, spawn_shown_us, MARK),
    FIELD(hs_player_moves, launch.time_us, MARK),
    FIELD(hs_player_moves, launch.speed, SPAN),
    FIELD(hs_player_moves, launch.climb, SPAN),
    FIELD(hs_player_moves, granted_us, MARK),
    FIELD(hs_player_moves, behind_from_us, ELSEWHERE),
    FIELD(hs_player_moves, behind_us, ELSEWHERE),
    FIELD(hs_player_moves, behind_count, ELSEWHERE),
    FIELD(hs_player_moves, corrected, REAL),
    FIELD(hs_player_moves, corrected_base, UNSIGNED),
    FIELD(hs_player_moves, unmoved_us, SPAN),
    FIELD(hs_player_moves, unmoved_client_us, BOUND),
    FIELD(hs_player_moves, has_epoch, FLAG),
    FIELD(hs_player_moves, has_corrected, FLAG),
    FIELD(hs_player_moves, has_acked, FLAG),
    FIELD(hs_player_moves, has_used_correction, ELSEWHERE),
    FIELD(hs_player_moves, may_be_thrown, FLAG),
    FIELD(hs_player_moves, was_refused, FLAG),
    FIELD(hs_player_moves, has_lost_moves, FLAG),
    FIELD(hs_player_moves, is_restored, ELSEWHERE),
    FIELD(hs_player_moves, has_restored_us, ELSEWHERE),
    FIELD(hs_player_moves, restored_us, ELSEWHERE),
    FIELD(hs_player_moves, answers, ELSEWHERE),
    NAMED(hs_player_moves, reasons, COUNTS, MOVE_REASONS),
    NAMED(hs_player_moves, raised, COUNTS, MOVE_CHECKS),
};

/* In the saved bytes, the answers follow these fields, oldest first. Each answer begins with its
   seq and epoch. */
static const struct hs_saved_field answers_fields[] = {
    FIELD(hs_move_answers, next, ELSEWHERE),      FIELD(hs_move_answers, count, ELSEWHERE),
    FIELD(hs_move_answers, capacity, ELSEWHERE),  FIELD(hs_move_answers, newest_epoch, UNSIGNED),
    FIELD(hs_move_answers, newest_seq, UNSIGNED), FIELD(hs_move_answers, seq, ELSEWHERE),
    FIELD(hs_move_answers, answer, ELSEWHERE),    FIELD(hs_move_answers, rest_bytes, ELSEWHERE),
};

static const struct hs_saved_field answer_fields[] = {
    FIELD(hs_move_answer, digest, UNSIGNED),
    FIELD(hs_move_answer, epoch, ELSEWHERE),
    FIELD(hs_move_answer, rest, ELSEWHERE),
    FIELD(hs_move_answer, plain, ELSEWHERE),
};

static const struct hs_saved_field result_fields[] = {
    NAMED(hs_move_result, verdict, MEMBER, VERDICTS),
    NAMED(hs_move_result, reason, MEMBER, MOVE_REASONS),
    FIELD(hs_move_result, position, UNSIGNED), /* enum hs_move_position */
    FIELD(hs_move_result, replayed, FLAG),
    FIELD(hs_move_result, force_update, FLAG),
    FIELD(hs_move_result, is_resolving, FLAG),
    FIELD(hs_move_result, is_whole, FLAG),
    NAMED(hs_move_result, raised, SET, MOVE_CHECKS),
    FIELD(hs_move_result, failure_count, UNSIGNED),
    FIELD(hs_move_result, corrected_mode, UNSIGNED),
    FIELD(hs_move_result, delta_us, TIME),
    FIELD(hs_move_result, forced_us, TIME),
    FIELD(hs_move_result, late_us, TIME),
    FIELD(hs_move_result, discrepancy_us, TIME),
    FIELD(hs_move_result, lifetime_us, TIME),
    FIELD(hs_move_result, error_us, TIME),
    FIELD(hs_move_result, age_us, TIME),
    FIELD(hs_move_result, credit_us, TIME),
    FIELD(hs_move_result, speed, REAL),
    FIELD(hs_move_result, error, REAL),
    FIELD(hs_move_result, limit, REAL),
    FIELD(hs_move_result, corrected, REAL),
    FIELD(hs_move_result, corrected_velocity, REAL),
    FIELD(hs_move_result, has_corrected_velocity, FLAG),
    FIELD(hs_move_result, failures, ELSEWHERE),
};

static const struct hs_saved_field failure_fields[] = {
    NAMED(hs_move_failure, check, MEMBER, MOVE_CHECKS),
    NAMED(hs_move_failure, mode, MEMBER, MODES),
    NAMED(hs_move_failure, unit, MEMBER, UNITS),
    NAMED(hs_move_failure, reason, MEMBER, MOVE_REASONS),
    FIELD(hs_move_failure, measured, REAL),
    FIELD(hs_move_failure, limit, REAL),
};

#define CHECK(member, kind) FIELD(hs_move_checks, member, kind)

static const struct hs_saved_field checks_fields[] = {
    CHECK(timing.compat.current_us, TIME),
    CHECK(timing.compat.stamp_us, TIME),
    CHECK(timing.compat.arrived_us, TIME),
    CHECK(timing.compat.reset_us, TIME),
    CHECK(timing.compat.ahead_us, SPAN),
    CHECK(timing.compat.lifetime_us, SPAN),
    CHECK(timing.compat.gathered_us, SPAN),
    CHECK(timing.compat.override_us, SPAN),
    CHECK(timing.compat.is_resolving, FLAG),
    CHECK(timing.guard.base_us, TIME),
    CHECK(timing.guard.received_us, TIME),
    CHECK(timing.guard.shift_us, TIME),
    CHECK(timing.guard.change_us, MARK),
    CHECK(timing.guard.dilation, SPAN),
    CHECK(timing.guard.bound_us, SPAN),
    CHECK(timing.guard.ack_us, TIME),
    CHECK(timing.guard.arriving_ack_us, TIME),
    CHECK(timing.guard.block_from_us, TIME),
    CHECK(timing.guard.cell_so_far_us, INT32),
    CHECK(timing.guard.gathered_us, SMALL),
    CHECK(timing.guard.jumped_us, SMALL),
    CHECK(timing.guard.made_up_us, INT32),
    CHECK(timing.guard.noise_us, SMALL),
    CHECK(timing.guard.highest_us, INT32),
    CHECK(timing.guard.highest_before_us, INT32),
    CHECK(timing.guard.reference_us, INT32),
    CHECK(timing.guard.cell_highest_us, INT32),
    CHECK(timing.guard.lowest_us, INT32),
    CHECK(timing.guard.lowest_before_us, INT32),
    CHECK(timing.guard.lowest_trip_us, INT32),
    CHECK(timing.guard.trip_before_us, INT32),
    CHECK(timing.guard.ceilings_us, INT32),
    CHECK(timing.guard.round_trips_us, INT32),
    CHECK(timing.guard.speed, SMALL),
    CHECK(timing.guard.cell_noise, UNSIGNED),
    CHECK(timing.guard.cell_below, UNSIGNED),
    CHECK(timing.guard.cell_below_count, UNSIGNED),
    CHECK(timing.guard.cell, UNSIGNED),
    CHECK(timing.guard.half_cells, UNSIGNED),
    CHECK(timing.guard.settling, UNSIGNED),
    CHECK(timing.guard.settling_cell, UNSIGNED),
    CHECK(timing.guard.known, UNSIGNED),
    CHECK(timing.wrapped_us, TIME),
    CHECK(timing.credit_us, SPAN),
    CHECK(timing.first_us, TIME),
    CHECK(timing.heard_us, TIME),
    CHECK(timing.stall_from_us, TIME),
    CHECK(timing.stall_to_us, TIME),
    CHECK(timing.burst_to_us, TIME),
    CHECK(timing.backlog_us, SMALL),
    CHECK(timing.caught_us, SMALL),
    CHECK(timing.burst_part, INT32),
    CHECK(timing.bursts, UNSIGNED),
    CHECK(timing.has_begun, FLAG),
    CHECK(timing.has_credit, FLAG),
    CHECK(timing.has_burst, FLAG),
    CHECK(movement.position, REAL),
    CHECK(movement.base, UNSIGNED),
    CHECK(movement.received_us, TIME),
    CHECK(movement.window_until_us, MARK),
    CHECK(movement.speed, SMALL),
    CHECK(movement.climbing, SMALL),
    CHECK(movement.acceleration, SMALL),
    CHECK(movement.velocity, SMALL),
    CHECK(movement.gathered, SMALL),
    CHECK(movement.gathered_s, SMALL),
    CHECK(movement.unused_us, SMALL),
    CHECK(movement.rise, SMALL),
    CHECK(movement.rise_age_s, SMALL),
    CHECK(movement.airborne_s, SMALL),
    CHECK(movement.last_climb, SMALL),
    CHECK(movement.kept, SMALL),
    CHECK(movement.tick_us, SMALL),
    CHECK(movement.base_changes, SMALL),
    CHECK(movement.mode, UNSIGNED),
    CHECK(movement.old_mode, UNSIGNED),
    CHECK(movement.velocity_source, UNSIGNED),
    CHECK(movement.bounces, UNSIGNED),
    CHECK(movement.has_begun, FLAG),
};

_Static_assert(sizeof match_fields / sizeof match_fields[0] <= 64 &&
                   sizeof player_fields / sizeof player_fields[0] <= 64 &&
                   sizeof moves_fields / sizeof moves_fields[0] <= 64,
               "hs_saved_put_uncounted has one bit for each field");
_Static_assert(sizeof(struct hs_movement_pool) == 3 * sizeof(float), "saved as floats");
_Static_assert(sizeof(struct hs_vec) == 3 * sizeof(double), "saved as doubles");

#define SAVED(type, list)                                                                          \
    {                                                                                              \
#type, (list), sizeof(list) / sizeof(list)[0], sizeof(struct type)                         \
    }

const struct hs_saved_struct hs_saved_structs[HS_SAVED_STRUCTS] = {
    [HS_SAVED_MATCH] = SAVED(hs_match, match_fields),
    [HS_SAVED_PLAYER] = SAVED(hs_player, player_fields),
    [HS_SAVED_ACCOUNT] = SAVED(hs_account, account_fields),
    [HS_SAVED_STATE] = SAVED(hs_state, state_fields),
    [HS_SAVED_MOVER_STATE] = SAVED(hs_mover_state, mover_state_fields),
    [HS_SAVED_NUMBERS] = SAVED(hs_ledger_numbers, numbers_fields),
    [HS_SAVED_ENTRY] = SAVED(hs_ledger_entry, entry_fields),
    [HS_SAVED_SHOT] = SAVED(hs_posted_shot, shot_fields),
    [HS_SAVED_REMEMBERED] = SAVED(hs_remembered_check, remembered_fields),
    [HS_SAVED_CADENCE] = SAVED(hs_cadence, cadence_fields),
    [HS_SAVED_MOVES] = SAVED(hs_player_moves, moves_fields),
    [HS_SAVED_ANSWERS] = SAVED(hs_move_answers, answers_fields),
    [HS_SAVED_ANSWER] = SAVED(hs_move_answer, answer_fields),
    [HS_SAVED_RESULT] = SAVED(hs_move_result, result_fields),
    [HS_SAVED_FAILURE] = SAVED(hs_move_failure, failure_fields),
    [HS_SAVED_MOVE_CHECKS] = SAVED(hs_move_checks, checks_fields),
};
