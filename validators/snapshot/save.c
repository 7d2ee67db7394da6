#include "validators/snapshot.h"

#include "validators/base/saved.h"
#include "validators/match/accounts.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/snapshot/excerpt.h"

/*
 * The saved bytes contain, in this order:
 * - the version
 * - the layout of everything except the move checks
 * - the layout of the move checks
 * - the names in all vocabularies (vocabulary.h)
 * - the match
 * - the movers
 * - the players, in reverse order of their index: a byte with value 1 precedes each player, and a
 *   byte with value 0 follows the last player
 * - the accounts of players who left
 * - the number of account changes.
 *
 * An excerpt contains a hash instead of the two layouts and the names. An excerpt does not contain
 * the number of account changes.
 */

/* Saves a struct. An excerpt does not contain the counters of the struct. */
static void put_counted(const struct hs_excerpt *excerpt, enum hs_saved_id id, const void *from,
                        struct hs_bytes *out)
{
    if (excerpt != NULL)
        hs_saved_put_uncounted(out, id, from);
    else
        hs_saved_put(out, id, from);
}

static void save_movers(const struct hs_match *match, struct hs_excerpt *excerpt,
                        struct hs_bytes *out)
{
    size_t at = out->len;
    uint32_t count = 0;
    hs_bytes_put(out, 0, 4);
    for (uint32_t i = 0; i < match->movers.count; i++) {
        const struct hs_mover *mover = &match->movers.all[i];
        if (excerpt != NULL && !hs_excerpt_has_mover(excerpt, match, mover))
            continue;
        count++;
        hs_bytes_put_name(out, mover->name.text);
        hs_saved_put(out, HS_SAVED_MOVER_STATE, hs_mover_newest_state(mover));
        if (excerpt != NULL)
            hs_excerpt_put_mover(excerpt, mover, out);
    }
    hs_bytes_patch(out, at, count, 4);
}

static void save_head(const struct hs_match *match, struct hs_excerpt *excerpt,
                      struct hs_bytes *out)
{
    if (excerpt != NULL) {
        hs_bytes_put(out, HS_EXCERPT_VERSION, 4);
        hs_bytes_put(out, match->saved_format, 8);
    } else {
        hs_bytes_put(out, HS_SAVED_VERSION, 4);
        hs_bytes_put(out, hs_saved_layout(0, HS_SAVED_MOVE_CHECKS), 8);
        hs_bytes_put(out, hs_saved_layout(HS_SAVED_MOVE_CHECKS, HS_SAVED_STRUCTS), 8);
        hs_saved_put_names(out);
    }
    put_counted(excerpt, HS_SAVED_MATCH, match, out);
    hs_bytes_put(out, match->players.sessions, 8);
    if (excerpt != NULL)
        hs_excerpt_put_match(match, out);
    save_movers(match, excerpt, out);
}

/* Saves the state that the next sample of the player inherits. */
static void save_state(const struct hs_match *match, struct hs_excerpt *excerpt,
                       const struct hs_player *player, struct hs_bytes *out)
{
    struct hs_inherited inherited;
    int64_t newest = (int64_t)hs_history_count(player->history) - 1;
    bool is_known = hs_history_inherited(player->history, newest, &inherited);
    hs_bytes_put(out, is_known, 1);
    if (!is_known)
        return;
    uint16_t team = inherited.state.team;
    if (excerpt != NULL) {
        hs_excerpt_put_state(excerpt, match, &inherited.state, out);
    } else {
        hs_saved_put(out, HS_SAVED_STATE, &inherited.state);
        hs_bytes_put_name(out, team == HS_NONE ? "" : match->teams[team].text);
    }
    hs_bytes_put(out, (uint32_t)inherited.rtt_us, 4);
    hs_bytes_put(out, (uint32_t)inherited.interp_us, 4);
}

static void save_numbers(const struct hs_ledger_numbers *numbers, const struct hs_excerpt *excerpt,
                         struct hs_bytes *out)
{
    uint32_t count = 0;
    hs_saved_put(out, HS_SAVED_NUMBERS, numbers);
    size_t at = out->len;
    hs_bytes_put(out, 0, 4);
    for (uint32_t i = 0; i < numbers->count; i++) {
        if (excerpt != NULL && !hs_excerpt_has_number(excerpt, numbers, &numbers->entries[i]))
            continue;
        struct hs_ledger_entry entry = numbers->entries[i];
        if (excerpt != NULL)
            entry.answer_size = 0;
        count++;
        hs_saved_put_entry(out, &entry);
    }
    hs_bytes_patch(out, at, count, 4);
}

static void save_ledger(const struct hs_ledger *ledger, const struct hs_excerpt *excerpt,
                        struct hs_bytes *out)
{
    save_numbers(&ledger->hits, excerpt, out);
    save_numbers(&ledger->shots, excerpt, out);
    hs_bytes_put(out, ledger->cadence_count, 2);
    for (uint16_t i = 0; i < ledger->cadence_count; i++)
        hs_saved_put(out, HS_SAVED_CADENCE, &ledger->cadences[i]);
}

static void save_answers(const struct hs_move_answers *answers, struct hs_bytes *out)
{
    uint32_t count = answers != NULL ? answers->count : 0;
    hs_bytes_put(out, answers != NULL, 1);
    if (answers != NULL)
        hs_saved_put(out, HS_SAVED_ANSWERS, answers);
    hs_bytes_put(out, count, 1);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = (answers->next + answers->capacity - count + k) % answers->capacity;
        const struct hs_move_answer *answer = &answers->answer[i];
        struct hs_move_result result;
        hs_move_result_clear(&result);
        hs_move_answer_read(answer, &result);
        hs_bytes_put(out, answers->seq[i], 8);
        hs_bytes_put(out, answer->epoch, 8);
        hs_saved_put(out, HS_SAVED_ANSWER, answer);
        hs_saved_put(out, HS_SAVED_RESULT, &result);
        for (uint16_t f = 0; f < result.failure_count; f++)
            hs_saved_put(out, HS_SAVED_FAILURE, &result.failures[f]);
    }
}

/* The credit is saved twice: with the move checks and before them. So a program with another layout
   of the move checks can still read the credit. */
static void save_moves(const struct hs_excerpt *excerpt, const struct hs_player_moves *moves,
                       const struct hs_move_answers *answers, struct hs_bytes *out)
{
    hs_bytes_put(out, moves != NULL, 1);
    if (moves == NULL)
        return;
    const struct hs_timing *timing = &moves->checks.timing;
    put_counted(excerpt, HS_SAVED_MOVES, moves, out);
    hs_bytes_put(out, timing->has_credit, 1);
    hs_bytes_put_real(out, timing->credit_us);
    hs_bytes_put(out, (uint64_t)timing->heard_us, 8);
    size_t before = out->len;
    hs_bytes_put(out, 0, 4);
    hs_saved_put(out, HS_SAVED_MOVE_CHECKS, &moves->checks);
    hs_bytes_patch(out, before, out->len - before - 4, 4);
    save_answers(answers, out);
}

static void save_player(const struct hs_match *match, struct hs_excerpt *excerpt,
                        const struct hs_player *player, struct hs_bytes *out)
{
    bool is_whole = excerpt == NULL, acts = is_whole || hs_excerpt_is_shooter(excerpt, player);
    const struct hs_player_moves *moves = acts ? player->moves : NULL;
    hs_bytes_put(out, 1, 1);
    hs_bytes_put_name(out, player->name.text);
    hs_bytes_put_name(out, player->account.text);
    put_counted(excerpt, HS_SAVED_PLAYER, player, out);
    save_state(match, excerpt, player, out);
    if (!is_whole)
        hs_bytes_put(out, acts, 1);
    if (acts)
        save_ledger(&player->ledger, excerpt, out);
    save_moves(excerpt, moves, is_whole && moves != NULL ? moves->answers : NULL, out);
    if (!is_whole)
        hs_excerpt_put_player(excerpt, match, player, out);
}

static void save_accounts(const struct hs_accounts *accounts, struct hs_bytes *out)
{
    hs_bytes_put(out, accounts->count, 4);
    for (uint32_t i = 0; i < accounts->count; i++) {
        hs_bytes_put_name(out, accounts->all[i].name.text);
        hs_saved_put(out, HS_SAVED_ACCOUNT, &accounts->all[i]);
    }
}

/* After this many restarts of a save in parts, the whole match is saved in one part. */
enum { RESTARTS_MAX = 3 };

static void begin_save(const struct hs_match *match, struct hs_save_cursor *cursor,
                       struct hs_bytes *out)
{
    cursor->has_begun = true;
    cursor->start = out->len;
    cursor->clock = match->clock;
    cursor->account_changes = match->players.account_changes;
    cursor->players = match->players.count;
    save_head(match, NULL, out);
}

/* Returns whether the match has changed since the save began, in a way that makes the saved parts
   contradict the later parts. There are three such changes. After a clock reset, the later parts
   have times of another clock. After a player took a parked account, the player may already be
   saved without the account's values, and the list of parked accounts no longer contains these
   values. After a player's account was set, the player may already be saved with values that the
   list of parked accounts now contains too. */
static bool is_outdated(const struct hs_match *match, const struct hs_save_cursor *cursor)
{
    return cursor->clock != match->clock ||
           cursor->account_changes != match->players.account_changes;
}

/* Players are saved in reverse order of their index. If a player is evicted between two parts, the
   index of each later player decreases by one. So a player may be saved twice, but no player is
   skipped. The reader ignores the second copy. */
bool hs_match_save_part(const struct hs_match *match, struct hs_save_cursor *cursor,
                        size_t part_bytes, struct hs_bytes *out)
{
    bool starts_again = cursor->has_begun && is_outdated(match, cursor);
    if (starts_again) {
        out->len = cursor->start;
        cursor->restarts++;
    }
    size_t before = out->len;
    if (starts_again || !cursor->has_begun)
        begin_save(match, cursor, out);
    if (cursor->restarts >= RESTARTS_MAX)
        part_bytes = SIZE_MAX;
    if (cursor->players > match->players.count)
        cursor->players = match->players.count;
    do {
        if (cursor->players == 0) {
            hs_bytes_put(out, 0, 1);
            save_accounts(&match->players.accounts, out);
            hs_bytes_put(out, match->players.account_changes, 8);
            return false;
        }
        save_player(match, NULL, match->players.all[--cursor->players], out);
    } while (out->len - before < part_bytes && !out->failed);
    return !out->failed;
}

void hs_match_save(const struct hs_match *match, struct hs_bytes *out)
{
    struct hs_save_cursor cursor = {0};
    while (hs_match_save_part(match, &cursor, SIZE_MAX, out))
        continue;
}

/* Most excerpts are smaller than this. So a buffer with this size rarely grows. */
enum { USUAL_BYTES = 32768 };

void hs_excerpt_save(const struct hs_match *match, struct hs_excerpt *excerpt, struct hs_bytes *out)
{
    const struct hs_players *players = &match->players;
    static const struct hs_accounts no_accounts;
    hs_bytes_ensure(out, USUAL_BYTES);
    save_head(match, excerpt, out);
    for (uint32_t i = players->count; i-- > 0;)
        if (hs_excerpt_has_player(excerpt, match, players->all[i]))
            save_player(match, excerpt, players->all[i], out);
    hs_bytes_put(out, 0, 1);
    save_accounts(&no_accounts, out);
}
