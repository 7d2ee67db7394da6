/* Stores frames: sets the match's clock, lets players join and leave, and adds the samples. */
#include "validators/base/units.h"
#include "validators/match.h"
#include "validators/match/accounts.h"
#include "validators/match/connection.h"
#include "validators/match/journal.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/match/sample.h"

const char *hs_frame_result_text(enum hs_frame_result result)
{
    static const char *const texts[HS_FRAME_RESULT_COUNT] = {
        [HS_FRAME_STORED] = "stored",
        [HS_FRAME_MALFORMED] = "fields are missing, unknown or bad, see errors",
        [HS_FRAME_DUPLICATE_TIME] = "a sample with this time already exists; the first one is kept",
        [HS_FRAME_TOO_OLD] = "the time is before the window of history, or not after the "
                             "player's last `leave`",
        [HS_FRAME_TIME_JUMP] = "the time is ahead of the newest frame by more than "
                               "history.max_forward",
        [HS_FRAME_BAD_ROTATION] = "the rotation is not a unit quaternion within 1e-3",
        [HS_FRAME_BAD_BONES] = "the bones do not match the rig, or one has no unit rotation or no "
                               "scale",
        [HS_FRAME_UNKNOWN_RIG] = "the ruleset has no rig with this name",
        [HS_FRAME_UNKNOWN_STANCE] = "the rig has no stance with this name",
        [HS_FRAME_UNKNOWN_WEAPON] = "the ruleset has no weapon with this name",
        [HS_FRAME_COORDINATE_OUT_OF_WORLD] = "a coordinate is beyond history.world_bound",
        [HS_FRAME_NO_HITBOXES] = "none of the given bones has a hitbox, or the mover's box was "
                                 "never given",
        [HS_FRAME_CAPACITY] = "the match is at its limit of players, movers, team names or memory",
    };
    return (unsigned)result < HS_FRAME_RESULT_COUNT ? texts[result] : "";
}

/* ---- the match's clock ---- */

/*
 * A frame whose time is far from the newest frame is refused. But the game server may really have
 * reset its clock. So the history restarts when three refused frames agree: each frame is later
 * than the frame before, by at most history.keep. The first of the three must be at least
 * history.max_forward away from the newest frame. If the clock goes back by less, no restart is
 * needed, because the clock soon passes the newest frame again.
 */
static bool jump_is_confirmed(struct hs_match *match, int64_t time_us, bool is_far)
{
    const struct hs_history_rules *rules = &match->ruleset->history;
    int64_t step = time_us - match->jump_us;
    bool agrees = match->jump_count > 0 && step > 0 && step <= rules->keep_us;
    if (!agrees && !is_far)
        return false;
    match->jump_count = agrees ? match->jump_count + 1 : 1;
    match->jump_us = time_us;
    return match->jump_count >= 3;
}

/* Drops the poses and times of the old clock. The player's state, for example life and weapon,
   is kept. */
static void restart_player(struct hs_players *players, struct hs_player *player, int64_t old_us,
                           int64_t new_us)
{
    hs_suspicion_decay(&player->standing.suspicion, old_us);
    player->standing.suspicion.time_us = new_us;
    struct hs_inherited newest;
    bool is_known = hs_history_inherited(player->history,
                                         (int64_t)hs_history_count(player->history) - 1, &newest);
    hs_history_clear(player->history);
    hs_history_carry(player->history, is_known ? &newest : NULL);
    hs_players_update(players, player);
    hs_ledger_forget_times(&player->ledger);
    hs_player_moves_forget_times(player->moves);
    player->round_trips.counts[0] = 0;
    player->has_left_before = player->was_moved = false;
    player->was_launched = player->has_spawned = false;
}

/* Checks the time of a frame against the newest frame. Sets *restarts if the history must
   restart, which happens only if the frame has an entry that can be stored. */
static enum hs_frame_result check_time(struct hs_match *match, int64_t time_us, bool *restarts)
{
    const struct hs_history_rules *rules = &match->ruleset->history;
    if (!match->has_frames && !match->has_opening)
        return HS_FRAME_STORED;
    int64_t ahead = time_us - match->newest_us;
    /* If a match has an opening time but no frames, it was restored (snapshot.h). Its first frame
       may be much later than the saved time. */
    bool is_near = ahead <= rules->max_forward_us || !match->has_frames;
    if (ahead >= -rules->keep_us && is_near) {
        match->jump_count = 0;
        return HS_FRAME_STORED;
    }
    enum hs_frame_result refusal = ahead > 0 ? HS_FRAME_TIME_JUMP : HS_FRAME_TOO_OLD;
    bool is_far = ahead > rules->max_forward_us || ahead <= -rules->max_forward_us;
    *restarts = jump_is_confirmed(match, time_us, is_far);
    return refusal;
}

void hs_match_restart(struct hs_match *match, int64_t time_us)
{
    /* Players who left before the reset can be evicted now, because claims about times of the
       old clock are refused. */
    match->players.evict_before_us = time_us - match->claim_window_us;
    for (uint32_t i = 0; i < match->players.count; i++) {
        restart_player(&match->players, match->players.all[i], match->newest_us, time_us);
        match->players.all[i]->left_us = match->players.evict_before_us - 1;
    }
    hs_accounts_forget_times(&match->players, match->newest_us, time_us);
    match->clock++;
    hs_journal_clock(match, time_us);
    hs_movers_restart(&match->movers);
    match->jump_count = 0;
    match->has_lost_shots = match->has_lost_shots && !match->has_frames;
    match->has_lost_payments = match->has_lost_payments && !match->has_frames;
    match->lost_from_us = INT64_MIN;
    match->has_frames = false;
    match->newest_us = time_us;
}

/* The answers from an ended session are kept for late retries, either for this time or for
   history.keep, whichever is longer. */
#define ENDED_KEPT_US INT64_C(10000000)

/* Records a teleport or a spawn, so that the jump does not count against the player's next move. */
static void record_moved(struct hs_player *player, const struct hs_player_frame *entry,
                         int64_t time_us)
{
    if (entry->event != HS_EVENT_TELEPORT && entry->event != HS_EVENT_SPAWN)
        return;
    struct hs_vec *moved_to = player->moved_to;
    int64_t *moved_us = player->moved_us;
    int place = -1, last = HS_JUMPS_OPEN - 1;
    for (int i = 0; i <= last; i++) {
        if (!player->was_moved) {
            moved_us[i] = time_us;
            moved_to[i] = entry->position;
        } else if (moved_us[i] == time_us) {
            return;
        }
        if (i > 0 && moved_us[i] == moved_us[i - 1])
            place = i;
    }
    player->was_moved = true;
    /* If two stored times are equal, replace one of these two; otherwise replace the oldest
       time. */
    if (place < 0 && time_us < moved_us[0])
        return;
    place = place < 0 ? 0 : place;
    for (; place < last && moved_us[place + 1] < time_us; place++) {
        moved_us[place] = moved_us[place + 1];
        moved_to[place] = moved_to[place + 1];
    }
    for (; place > 0 && moved_us[place - 1] > time_us; place--) {
        moved_us[place] = moved_us[place - 1];
        moved_to[place] = moved_to[place - 1];
    }
    moved_us[place] = time_us;
    moved_to[place] = entry->position;
}

/* If another frame with the same time as a stored jump arrives, the frame's position replaces the
   stored position after the jump. */
static void correct_jump(struct hs_player *player, const struct hs_player_frame *entry,
                         int64_t time_us)
{
    for (int i = 0; i < HS_JUMPS_OPEN && player->was_moved; i++)
        if (player->moved_us[i] == time_us)
            player->moved_to[i] = entry->position;
    if (player->has_spawned && player->spawned_us == time_us)
        player->spawn_place = entry->position;
}

/* Two launches within this time count as one launch with the larger of their speeds, because the
   client may not have seen the launches yet. */
#define LAUNCHES_TOGETHER_US INT64_C(1000000)

/* The largest speed that a ruleset accepts, in length/s. */
#define LAUNCH_MAX 1e9

static void record_launch(const struct hs_match *match, struct hs_player *player,
                          const struct hs_player_frame *entry, int64_t time_us)
{
    if (entry->event != HS_EVENT_LAUNCH)
        return;
    struct hs_vec up = hs_up_direction(match->ruleset->up);
    double climb = hs_vec_dot(entry->velocity, up);
    double speed = hs_vec_length(hs_vec_add_scaled(entry->velocity, up, -climb));
    speed = hs_smaller(speed, LAUNCH_MAX);
    climb = hs_clamp(climb, 0, LAUNCH_MAX);
    struct hs_launch *launch = &player->launch;
    if (player->was_launched && launch->time_us > time_us)
        return; /* a late frame */
    bool are_together = player->was_launched && time_us - launch->time_us <= LAUNCHES_TOGETHER_US;
    *launch = (struct hs_launch){
        .time_us = time_us,
        .speed = are_together ? hs_larger(launch->speed, speed) : speed,
        .climb = are_together ? hs_larger(launch->climb, climb) : climb,
    };
    player->was_launched = true;
}

static void record_spawn(struct hs_player *player, const struct hs_player_frame *entry,
                         int64_t time_us)
{
    if (player->has_spawned && time_us <= player->spawned_us)
        return; /* a late frame */
    if (entry->event == HS_EVENT_TELEPORT)
        player->has_spawned = false;
    if (entry->event != HS_EVENT_SPAWN)
        return;
    player->has_spawned = true;
    player->spawned_us = time_us;
    player->spawn_place = entry->position;
}

static void record_event(const struct hs_match *match, struct hs_player *player,
                         const struct hs_player_frame *entry, int64_t time_us)
{
    if (match->ruleset->history.same_time == HS_SAME_TIME_LAST)
        correct_jump(player, entry, time_us);
    record_moved(player, entry, time_us);
    record_launch(match, player, entry, time_us);
    record_spawn(player, entry, time_us);
}

/* Returns the start of the history window after a frame with the time `time_us` is stored. */
static int64_t window_with(const struct hs_match *match, int64_t time_us)
{
    int64_t newest_us =
        match->has_frames && match->newest_us > time_us ? match->newest_us : time_us;
    return newest_us - match->ruleset->history.keep_us;
}

/* Reserves space for the journal records that are written when this entry is stored. Call this
   function before the entry changes the match. Returns false if there is no space. */
static bool reserve_records(const struct hs_match *match, const struct hs_player *player,
                            const struct hs_player_frame *entry)
{
    bool is_here = player != NULL && !player->left;
    bool changes_session = is_here == (entry->event == HS_EVENT_LEAVE);
    bool sets_account = is_here && entry->account.ptr != NULL &&
                        !hs_str_equal(hs_name_str(&player->account), entry->account);
    return (!changes_session && !sets_account) || hs_journal_reserve(&match->players, NULL);
}

/* Stores one player's entry. `keep_from_us` is the result of window_with(). Returns false if out
   of memory. */
static bool post_entry(struct hs_match *match, const struct hs_player_frame *entry, int64_t time_us,
                       int64_t keep_from_us, enum hs_frame_result *result, unsigned *flags)
{
    struct hs_player *player =
        hs_players_find_next(&match->players, entry->player, HS_PLAYERS_FOR_FRAME);
    *result = HS_FRAME_TOO_OLD;
    if (player != NULL && player->has_left_before && time_us <= player->left_us)
        return true;
    if (!reserve_records(match, player, entry))
        return false;
    if (entry->event == HS_EVENT_LEAVE) {
        /* For history.keep seconds, late moves still belong to the ended session. */
        *result = HS_FRAME_STORED;
        if (player != NULL && !player->left)
            hs_players_leave(&match->players, player, time_us,
                             time_us + match->ruleset->history.keep_us);
        return true;
    }
    union hs_posted_pose_space space;
    struct hs_posted_sample posted;
    *result = hs_sample_resolve(match, player, entry, time_us, &space, &posted);
    if (*result != HS_FRAME_STORED)
        return true;
    bool is_new = player == NULL;
    if (is_new) {
        enum hs_players_add added =
            hs_players_add(&match->players, entry->player, match->limits.samples, &player);
        if (added != HS_PLAYERS_ADDED) {
            *result = HS_FRAME_CAPACITY;
            return added == HS_PLAYERS_FULL;
        }
    }
    if (player->left) { /* moves received from now on belong to the new session */
        player->ended_us = player->ended_us < time_us ? player->ended_us : time_us - 1;
        hs_players_rejoin(&match->players, player);
    }
    enum hs_insert_result inserted =
        hs_history_insert(player->history, &match->ruleset->history, &posted.sample,
                          &posted.inherited.state, posted.posted_pose);
    /* Prune before hs_players_update. Otherwise hs_players_prune would drop these samples later
       and update the player a second time. */
    bool is_stored = inserted == HS_INSERT_STORED || inserted == HS_INSERT_STORED_FULL;
    if (is_stored && time_us > keep_from_us)
        hs_history_prune(player->history, keep_from_us);
    hs_players_update(&match->players, player);
    *result = hs_history_insert_report(player->history, inserted, time_us, flags);
    if (is_new && *result == HS_FRAME_CAPACITY)
        hs_players_drop_last(&match->players);
    if (*result == HS_FRAME_CAPACITY)
        return inserted == HS_INSERT_NO_SPACE;
    if (is_new)
        hs_players_begin_session(&match->players, player);
    if (*result != HS_FRAME_STORED)
        return true;
    record_event(match, player, entry, time_us);
    if (posted.sample.rtt_posted)
        hs_connection_learn(player, posted.sample.rtt_us, time_us);
    /* A late frame does not replace a player's account, because a newer frame may have set the
       current account. */
    bool is_newest = hs_history_span(player->history)->newest_us <= time_us;
    if (entry->account.ptr != NULL && (is_newest || player->account.text[0] == '\0'))
        hs_accounts_set(&match->players, player, entry->account);
    return true;
}

/* Returns whether this entry could be stored after a clock reset. Players keep their newest state
   in a clock reset. */
static bool would_store_player(struct hs_match *match, const struct hs_player_frame *entry)
{
    const struct hs_players *players = &match->players;
    const struct hs_player *player = hs_players_find(players, entry->player);
    union hs_posted_pose_space space;
    struct hs_posted_sample posted;
    if (entry->event == HS_EVENT_LEAVE)
        return true;
    bool has_place =
        players->present < players->limit &&
        hs_budget_has_spare(&match->budget, hs_players_min_bytes(match->limits.samples));
    return (player != NULL || has_place) &&
           hs_sample_resolve(match, player, entry, INT64_MAX, &space, &posted) == HS_FRAME_STORED;
}

static bool would_store(struct hs_match *match, const struct hs_frame *frame)
{
    for (size_t i = 0; i < frame->player_count; i++)
        if (would_store_player(match, &frame->players[i]))
            return true;
    for (size_t i = 0; i < frame->mover_count; i++)
        if (hs_movers_would_store(&match->movers, match->ruleset, &match->limits, &frame->movers[i],
                                  i))
            return true;
    return false;
}

/* Stores the entries in order. Returns false if out of memory; the remaining entries then have
   the result HS_FRAME_CAPACITY. */
static bool post_entries(struct hs_match *match, const struct hs_frame *frame,
                         enum hs_frame_result *results, unsigned *flags, bool *stored)
{
    bool fine = true;
    size_t count = frame->player_count + frame->mover_count;
    int64_t keep_from_us = window_with(match, frame->time_us);
    for (size_t i = 0; i < count; i++) {
        size_t m = i - frame->player_count;
        results[i] = HS_FRAME_CAPACITY;
        if (!fine)
            continue;
        if (i < frame->player_count)
            fine = post_entry(match, &frame->players[i], frame->time_us, keep_from_us, &results[i],
                              flags);
        else
            fine = hs_movers_post(&match->movers, match->ruleset, &match->limits, &frame->movers[m],
                                  m, frame->time_us, &results[i], flags);
        *stored = *stored || (fine && results[i] == HS_FRAME_STORED);
    }
    return fine;
}

/* Drops old answers from ended sessions. Runs only once per `keep_us`, because it visits all
   players. */
static void sweep_ended(struct hs_match *match)
{
    int64_t keep_us = match->ruleset->history.keep_us;
    keep_us = keep_us > ENDED_KEPT_US ? keep_us : ENDED_KEPT_US;
    int64_t since_us = match->newest_us - match->players.swept_us;
    if (since_us >= 0 && since_us < keep_us)
        return;
    match->players.swept_us = match->newest_us;
    hs_players_forget_ended(&match->players, match->newest_us - keep_us);
}

static void advance_clock(struct hs_match *match, int64_t time_us)
{
    if (!match->has_frames) {
        if (!match->has_opening)
            match->opening_us = time_us;
        match->has_opening = true;
        match->window_start_us = match->newest_us = time_us;
        match->has_frames = true;
        match->lost_until_us = INT64_MAX;
    }
    if (time_us < match->window_start_us)
        match->window_start_us = time_us;
    if (time_us > match->newest_us)
        match->newest_us = time_us;
    if (match->lost_until_us == INT64_MAX)
        match->lost_until_us = match->newest_us + match->ruleset->history.keep_us;
    if (match->newest_us - match->lost_until_us > match->claim_window_us)
        /* Claims about times up to lost_until_us are now refused anyway. */
        match->has_lost_payments = false;
    match->players.evict_before_us = match->newest_us - match->claim_window_us;
}

bool hs_match_post_frame(struct hs_match *match, const struct hs_frame *frame,
                         enum hs_frame_result *results, unsigned *flags)
{
    size_t count = frame->player_count + frame->mover_count;
    if (count == 0)
        return true; /* an empty frame does not advance the clock */
    bool restarts = false;
    enum hs_frame_result when = check_time(match, frame->time_us, &restarts);
    if (restarts && would_store(match, frame)) {
        if (!hs_journal_reserve(&match->players, NULL))
            return false;
        hs_match_restart(match, frame->time_us);
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_RESTARTED;
        when = HS_FRAME_STORED;
    }
    if (when != HS_FRAME_STORED) {
        for (size_t i = 0; i < count; i++)
            results[i] = when;
        return true;
    }
    bool stored = false;
    bool fine = post_entries(match, frame, results, flags, &stored);
    if (!stored)
        return fine;
    advance_clock(match, frame->time_us);
    int64_t keep_from = match->newest_us - match->ruleset->history.keep_us;
    hs_players_prune(&match->players, keep_from);
    hs_movers_prune(&match->movers, keep_from);
    sweep_ended(match);
    return fine;
}

/* Returns whether there is a sample with exactly this time that is marked as a jump. Describes
   the jump in *out. */
static bool find_jump(const struct hs_match *match, const struct hs_history *history,
                      int64_t time_us, struct hs_frame_jump *out)
{
    int64_t i = hs_history_find(history, time_us);
    if (i < 1)
        return false;
    const struct hs_sample *to = hs_history_at(history, (uint32_t)i);
    const struct hs_sample *from = hs_history_at(history, (uint32_t)i - 1);
    out->distance = hs_vec_distance(from->position, to->position);
    out->elapsed_us = to->time_us - from->time_us;
    out->limit = match->ruleset->history.max_speed * (double)out->elapsed_us / 1e6;
    return to->time_us == time_us && to->jumped;
}

bool hs_match_player_jump(const struct hs_match *match, struct hs_str name, int64_t time_us,
                          struct hs_frame_jump *out)
{
    const struct hs_player *player = hs_players_find(&match->players, name);
    return player != NULL && find_jump(match, player->history, time_us, out);
}

bool hs_match_mover_jump(const struct hs_match *match, struct hs_str mover, size_t at,
                         int64_t time_us, struct hs_frame_jump *out)
{
    const struct hs_mover *found = hs_movers_find(&match->movers, mover, at);
    return found != NULL && find_jump(match, found->history, time_us, out);
}
