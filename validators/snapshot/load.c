/* Reads the parts of a match in the order in which save.c writes them. */
#include "validators/snapshot/load.h"

#include "validators/hit.h"
#include "validators/match/accounts.h"
#include "validators/match/player_moves.h"
#include "validators/snapshot.h"
#include "validators/snapshot/excerpt.h"

void hs_loading_get(struct hs_loading *l, enum hs_saved_id id, void *to)
{
    if (!hs_saved_get(&l->reader, &l->names, id, to))
        l->is_damaged = true;
}

/* Reads a struct. In an excerpt, the struct has no counters. */
static void get_counted(struct hs_loading *l, enum hs_saved_id id, void *to)
{
    bool is_sane = l->is_excerpt ? hs_saved_get_uncounted(&l->reader, &l->names, id, to)
                                 : hs_saved_get(&l->reader, &l->names, id, to);
    if (!is_sane)
        l->is_damaged = true;
}

bool hs_loading_flag(struct hs_loading *l)
{
    return hs_bytes_get_max(&l->reader, 1, 1) != 0;
}

int64_t hs_loading_time(struct hs_loading *l)
{
    int64_t time_us = (int64_t)hs_bytes_get(&l->reader, 8);
    if (time_us > HS_SAVED_TIME_MAX || time_us < -HS_SAVED_TIME_MAX)
        l->is_damaged = true;
    return time_us;
}

bool hs_loading_is_fine(const struct hs_loading *l)
{
    return !l->reader.failed && !l->is_damaged && !l->no_memory;
}

static void *make(struct hs_loading *l, size_t count, size_t size)
{
    void *made = calloc(count, size);
    if (made == NULL)
        l->no_memory = true;
    return made;
}

struct hs_str hs_loading_name(struct hs_loading *l, bool may_be_empty)
{
    struct hs_str name = hs_bytes_get_name(&l->reader);
    if (!hs_name_is_valid(name) && !(may_be_empty && name.len == 0))
        l->is_damaged = true;
    return name;
}

static void load_movers(struct hs_loading *l)
{
    uint64_t count = hs_bytes_get(&l->reader, 4);
    for (uint64_t i = 0; i < count && hs_loading_is_fine(l); i++) {
        struct hs_mover_state state = {0};
        struct hs_str name = hs_loading_name(l, false);
        hs_loading_get(l, HS_SAVED_MOVER_STATE, &state);
        state.is_stale = state.tells_solid;
        if (hs_loading_is_fine(l) &&
            !hs_movers_restore(&l->match->movers, &l->match->limits, name, &state))
            l->no_memory = true;
        if (hs_loading_is_fine(l) && l->is_excerpt)
            hs_excerpt_get_mover(l, &l->match->movers.all[l->match->movers.count - 1]);
    }
}

static bool is_weapon(const struct hs_loading *l, uint16_t weapon)
{
    return weapon < l->match->ruleset->weapon_count;
}

static bool is_state(const struct hs_loading *l, const struct hs_state *state)
{
    const struct hs_ruleset *ruleset = l->match->ruleset;
    bool has_weapon = is_weapon(l, state->weapon) || state->weapon == HS_NONE ||
                      state->weapon == HS_WEAPON_FOREIGN;
    return has_weapon && state->rig < ruleset->rig_count &&
           state->stance < ruleset->rigs[state->rig]->stance_count;
}

int32_t hs_loading_delay(struct hs_loading *l)
{
    uint32_t word = (uint32_t)hs_bytes_get(&l->reader, 4);
    if (word > INT32_MAX && word != UINT32_MAX)
        l->is_damaged = true;
    return word > INT32_MAX ? -1 : (int32_t)word;
}

void hs_loading_team(struct hs_loading *l, struct hs_state *state)
{
    struct hs_str team = hs_loading_name(l, true);
    state->team = HS_NONE;
    if (!hs_loading_is_fine(l))
        return;
    if (!is_state(l, state))
        l->is_damaged = true;
    else if (team.len > 0 && !hs_match_intern_team(l->match, team, &state->team))
        /* While a match is saved in parts, players can change their teams. So the parts can contain
           more than HS_MAX_TEAMS names. The team of some players is then unknown until a frame
           posts the team. */
        l->no_memory = l->match->team_count < HS_MAX_TEAMS;
}

/* Reads the values that the next sample of a player inherits. Returns false if the saved player had
   no such values. */
static bool load_state(struct hs_loading *l, struct hs_inherited *carried)
{
    if (!hs_loading_flag(l))
        return false;
    if (l->is_excerpt) {
        hs_excerpt_get_state(l, &carried->state);
    } else {
        hs_loading_get(l, HS_SAVED_STATE, &carried->state);
        hs_loading_team(l, &carried->state);
    }
    carried->rtt_us = hs_loading_delay(l);
    carried->interp_us = hs_loading_delay(l);
    carried->state.tells_stance = false;
    carried->state.stale = HS_STALE_ALL;
    if (!carried->state.tells_solid)
        carried->state.stale = HS_STALE_ALL & ~HS_STALE_SOLID;
    return hs_loading_is_fine(l);
}

static void load_shot(struct hs_loading *l, struct hs_posted_shot *shot)
{
    hs_loading_get(l, HS_SAVED_SHOT, shot);
    uint16_t checks = shot->check_count, directions = shot->direction_count;
    shot->check_count = shot->direction_count = 0;
    if (checks > HS_MAX_REMEMBERED || directions > HS_MAX_PELLETS || !is_weapon(l, shot->weapon))
        l->is_damaged = true;
    for (; hs_loading_is_fine(l) && shot->check_count < checks; shot->check_count++) {
        struct hs_remembered_check *check = &shot->checks[shot->check_count];
        hs_loading_get(l, HS_SAVED_REMEMBERED, check);
        if (check->outcome > HS_OUTCOME_UNKNOWN)
            l->is_damaged = true;
        for (uint16_t i = 0; i < shot->check_count; i++) /* each check may occur only once */
            if (shot->checks[i].check == check->check)
                l->is_damaged = true;
    }
    if (!hs_loading_is_fine(l) || directions == 0)
        return;
    shot->directions = make(l, directions, sizeof *shot->directions);
    for (; hs_loading_is_fine(l) && shot->direction_count < directions; shot->direction_count++) {
        struct hs_vec *direction = &shot->directions[shot->direction_count];
        direction->x = hs_bytes_get_real(&l->reader);
        direction->y = hs_bytes_get_real(&l->reader);
        direction->z = hs_bytes_get_real(&l->reader);
        if (!hs_vec_is_finite(*direction))
            l->is_damaged = true;
    }
}

void hs_loading_entry(struct hs_loading *l, struct hs_ledger_entry *entry)
{
    hs_loading_get(l, HS_SAVED_ENTRY, entry);
    if (hs_loading_flag(l)) {
        entry->shot = make(l, 1, sizeof *entry->shot);
        if (entry->shot != NULL)
            load_shot(l, entry->shot);
    }
    size_t size = hs_bytes_get(&l->reader, 4);
    const unsigned char *answer = hs_loading_is_fine(l) ? hs_bytes_take(&l->reader, size) : NULL;
    if (answer == NULL || size == 0)
        return;
    entry->answer = make(l, size, 1);
    if (entry->answer == NULL)
        return;
    memcpy(entry->answer, answer, size);
    entry->answer_size = size;
}

static void load_numbers(struct hs_loading *l, struct hs_ledger_numbers *numbers)
{
    hs_loading_get(l, HS_SAVED_NUMBERS, numbers);
    uint32_t count = (uint32_t)hs_bytes_get_max(&l->reader, 4, HS_LEDGER_MAX_NUMBERS);
    if (count == 0 || !hs_loading_is_fine(l))
        return;
    if (!hs_ledger_make_places(numbers, count))
        l->no_memory = true;
    while (hs_loading_is_fine(l) && numbers->count < count) {
        struct hs_ledger_entry *entry = &numbers->entries[numbers->count++];
        *entry = (struct hs_ledger_entry){0};
        hs_loading_entry(l, entry);
        if (entry->answer != NULL)
            numbers->answers++;
        bool is_in_order = numbers->count == 1 || entry[-1].number < entry->number;
        if (!is_in_order || entry->noted >= numbers->notes)
            l->is_damaged = true;
    }
}

static void load_cadences(struct hs_loading *l, struct hs_ledger *ledger)
{
    uint16_t count = (uint16_t)hs_bytes_get_max(&l->reader, 2, l->match->ruleset->weapon_count);
    if (count == 0 || !hs_loading_is_fine(l))
        return;
    ledger->cadences = make(l, count, sizeof *ledger->cadences);
    if (ledger->cadences != NULL)
        ledger->cadence_capacity = count;
    while (hs_loading_is_fine(l) && ledger->cadence_count < count) {
        struct hs_cadence *cadence = &ledger->cadences[ledger->cadence_count++];
        hs_loading_get(l, HS_SAVED_CADENCE, cadence);
        if (!is_weapon(l, cadence->weapon) || cadence->count > HS_LEDGER_SHOTS)
            l->is_damaged = true;
        for (uint16_t i = 1; i < HS_LEDGER_SHOTS && i < cadence->count; i++)
            if (cadence->fire_time_us[i] < cadence->fire_time_us[i - 1])
                l->is_damaged = true;
    }
}

static void load_answer(struct hs_loading *l, struct hs_move_answers *answers)
{
    uint32_t i = answers->count;
    struct hs_move_answer answer = {0};
    struct hs_move_result result;
    uint64_t seq = hs_bytes_get(&l->reader, 8), epoch = hs_bytes_get(&l->reader, 8);
    hs_move_result_clear(&result);
    hs_loading_get(l, HS_SAVED_ANSWER, &answer);
    hs_loading_get(l, HS_SAVED_RESULT, &result);
    if (result.failure_count > HS_MOVE_CHECK_COUNT ||
        (unsigned)result.position > HS_MOVE_POSITION_CORRECTION ||
        (result.corrected_mode != HS_NONE &&
         result.corrected_mode >= l->match->ruleset->moves.mode_count))
        l->is_damaged = true;
    for (uint16_t f = 0; hs_loading_is_fine(l) && f < result.failure_count; f++)
        hs_loading_get(l, HS_SAVED_FAILURE, &result.failures[f]);
    if (hs_loading_is_fine(l) &&
        !hs_move_answers_write(answers, i, &answer.digest, epoch, seq, &result))
        l->no_memory = true;
    answers->count = i + 1;
    answers->next = answers->count % answers->capacity;
}

static void load_answers(struct hs_loading *l, struct hs_player_moves *moves)
{
    struct hs_move_answers read = {0};
    bool has_answers = hs_loading_flag(l);
    if (has_answers)
        hs_loading_get(l, HS_SAVED_ANSWERS, &read);
    uint64_t count = hs_bytes_get_max(&l->reader, 1, has_answers ? HS_MOVES_KEPT : 0);
    if (!has_answers || !hs_loading_is_fine(l))
        return;
    uint32_t capacity = HS_MOVES_FIRST;
    while (capacity < count)
        capacity = 2 * capacity < HS_MOVES_KEPT ? 2 * capacity : HS_MOVES_KEPT;
    moves->answers = hs_move_answers_create(capacity);
    if (moves->answers == NULL) {
        l->no_memory = true;
        return;
    }
    moves->answers->newest_epoch = read.newest_epoch;
    moves->answers->newest_seq = read.newest_seq;
    while (hs_loading_is_fine(l) && moves->answers->count < count)
        load_answer(l, moves->answers);
}

/* Returns whether the values in `checks` are safe to use: indices are within their arrays, credits
   are not negative, and values that the code converts to integers are not too large. */
static bool is_usable(const struct hs_move_checks *checks)
{
    const struct hs_timing *timing = &checks->timing;
    const struct hs_movement *movement = &checks->movement;
    return timing->guard.cell < HS_LEAD_CELLS && timing->guard.settling_cell < HS_LEAD_CELLS &&
           timing->burst_part >= 0 && timing->credit_us >= 0 &&
           timing->wrapped_us <= HS_MOVES_LONGEST_US && timing->wrapped_us >= 0 &&
           timing->guard.shift_us <= HS_MOVES_LONGEST_US &&
           timing->guard.shift_us >= -HS_MOVES_LONGEST_US && movement->tick_us >= 0 &&
           movement->tick_us <= 1e6F && movement->unused_us >= 0;
}

/* Reads the move checks. If this program cannot read the move checks, the checks start again with
   the saved credit, so that the player gains no credit. */
static void load_checks(struct hs_loading *l, struct hs_move_checks *checks)
{
    struct hs_timing credit = {.has_credit = hs_loading_flag(l)};
    credit.credit_us = hs_bytes_get_real(&l->reader);
    credit.heard_us = hs_loading_time(l);
    if (!(credit.credit_us >= 0 && credit.credit_us <= (double)HS_SAVED_TIME_MAX))
        l->is_damaged = true;
    size_t size = hs_bytes_get(&l->reader, 4);
    const unsigned char *block = hs_bytes_take(&l->reader, size);
    struct hs_bytes_reader reader = {.failed = block == NULL};
    if (block != NULL)
        reader = (struct hs_bytes_reader){block, block + size, false};
    bool is_known = l->knows_checks && block != NULL &&
                    hs_saved_get(&reader, &l->names, HS_SAVED_MOVE_CHECKS, checks) &&
                    !reader.failed && reader.at == reader.end && is_usable(checks);
    if (is_known)
        return;
    *checks = (struct hs_move_checks){.timing = credit};
    l->restarted_checks = true;
}

static void load_moves(struct hs_loading *l, struct hs_player *player)
{
    if (!hs_loading_flag(l))
        return;
    player->moves = make(l, 1, sizeof *player->moves);
    if (player->moves == NULL)
        return;
    get_counted(l, HS_SAVED_MOVES, player->moves);
    if (!(player->moves->unmoved_us >= 0) || !(player->moves->unmoved_client_us >= 0))
        l->is_damaged = true;
    player->moves->is_restored = true;
    load_checks(l, &player->moves->checks);
    load_answers(l, player->moves);
}

/* Moves the player from `read` into the match. After the call, `read` owns no memory. `carried`
   contains the values that the next sample inherits, and may be NULL. */
static void settle(struct hs_loading *l, struct hs_str name, struct hs_player *read,
                   const struct hs_inherited *carried)
{
    struct hs_players *players = &l->match->players;
    struct hs_player *player;
    if (hs_players_add(players, name, l->match->limits.samples, &player) != HS_PLAYERS_ADDED) {
        l->no_memory = true;
        return;
    }
    read->name = player->name;
    read->hash = player->hash;
    read->history = player->history;
    hs_history_carry(read->history, carried);
    read->ledger.bytes = hs_ledger_bytes(&read->ledger);
    read->ledger.budget = player->ledger.budget;
    *player = *read;
    *read = (struct hs_player){0};
    if (player->left)
        players->present--;
    if (l->is_excerpt)
        hs_excerpt_get_player(l, player);
}

static void load_player(struct hs_loading *l)
{
    struct hs_player read = {0};
    struct hs_inherited carried = {0};
    struct hs_str name = hs_loading_name(l, false);
    hs_name_set(&read.account, hs_loading_name(l, true));
    get_counted(l, HS_SAVED_PLAYER, &read);
    bool is_known = hs_loading_is_fine(l) && load_state(l, &carried);
    bool has_ledger = !l->is_excerpt || hs_loading_flag(l);
    if (hs_loading_is_fine(l) && has_ledger) {
        load_numbers(l, &read.ledger.hits);
        load_numbers(l, &read.ledger.shots);
        load_cadences(l, &read.ledger);
    }
    if (hs_loading_is_fine(l))
        load_moves(l, &read);
    if (hs_loading_is_fine(l) && hs_players_find(&l->match->players, name) == NULL)
        settle(l, name, &read, is_known ? &carried : NULL);
    hs_ledger_clear(&read.ledger);
    hs_player_moves_destroy(read.moves, NULL);
}

static bool is_present(const struct hs_players *players, struct hs_str account)
{
    for (uint32_t i = 0; i < players->count; i++)
        if (!players->all[i]->left && hs_str_equal(hs_name_str(&players->all[i]->account), account))
            return true;
    return false;
}

/* Reads the parked accounts. A player may leave while the match is saved in parts. If the player
   was already saved, the bytes may contain the player's account twice: once with the player, and
   once in the list of parked accounts. In this case the parked account is ignored. Later, the
   replay of the journal ends the player's session. */
static void load_accounts(struct hs_loading *l)
{
    uint64_t count = hs_bytes_get(&l->reader, 4);
    for (uint64_t i = 0; i < count && hs_loading_is_fine(l); i++) {
        struct hs_account account = {0};
        struct hs_str name = hs_loading_name(l, false);
        hs_loading_get(l, HS_SAVED_ACCOUNT, &account);
        for (int k = 0; k < HS_ACCOUNT_WEAPONS; k++)
            if (account.weapon[k] != HS_NONE &&
                account.weapon[k] >= l->match->ruleset->weapon_count)
                l->is_damaged = true;
        if (!(account.credit_us >= 0))
            l->is_damaged = true;
        if (!hs_loading_is_fine(l) || is_present(&l->match->players, name))
            continue;
        hs_name_set(&account.name, name);
        if (!hs_accounts_restore(&l->match->players, &account))
            l->no_memory = true;
    }
}

/* Reads all parts after the head. Restores all saved players, even if there are more players than
   the limit allows. */
static void load_match(struct hs_loading *l)
{
    struct hs_match *match = l->match;
    uint32_t limit = match->players.limit;
    get_counted(l, HS_SAVED_MATCH, match);
    match->players.sessions = hs_bytes_get(&l->reader, 8);
    if (match->has_opening)
        match->players.evict_before_us = match->newest_us - match->claim_window_us;
    match->has_lost_shots = true;
    match->lost_until_us = INT64_MAX; /* until the first frame */
    match->lost_from_us =
        match->has_opening ? match->newest_us - match->ruleset->history.keep_us : INT64_MIN;
    if (hs_loading_is_fine(l) && l->is_excerpt)
        hs_excerpt_get_match(l);
    if (hs_loading_is_fine(l))
        load_movers(l);
    match->players.limit = UINT32_MAX;
    while (hs_loading_is_fine(l) && hs_loading_flag(l))
        load_player(l);
    load_accounts(l);
    if (!l->is_excerpt)
        match->players.account_changes = hs_bytes_get(&l->reader, 8);
    if (l->reader.at != l->reader.end)
        l->is_damaged = true;
    match->players.limit = match->players.count > limit ? match->players.count : limit;
    match->limits.players = match->players.limit;
    hs_players_reverse(&match->players);
}

/* Sets the limits of the restored match, and reserves its bytes. Returns false if the bytes are
   above a limit. */
static bool reserve_bytes(struct hs_match *match, const struct hs_match_limits *limits)
{
    size_t bytes = hs_match_count_bytes(match);
    match->limits.bytes = limits->bytes;
    match->limits.shared = limits->shared;
    hs_budget_init(&match->budget, limits->bytes > 0 ? limits->bytes : SIZE_MAX, limits->shared);
    if (hs_budget_reserve(&match->budget, bytes))
        return true;
    hs_budget_init(&match->budget, SIZE_MAX, NULL);
    atomic_store(&match->budget.used, bytes);
    return false;
}

bool hs_match_is_excerpt(const void *bytes, size_t size)
{
    struct hs_bytes_reader reader = {bytes, (const unsigned char *)bytes + size, false};
    return hs_bytes_get(&reader, 4) == HS_EXCERPT_VERSION && !reader.failed;
}

/* The rigs of the two rulesets must be equal, because an excerpt contains bounds that were computed
   from the hitboxes of the rigs. */
bool hs_excerpt_fits(const struct hs_ruleset *saved_with, const struct hs_ruleset *other)
{
    bool fits = saved_with->rig_count == other->rig_count &&
                saved_with->weapon_count <= other->weapon_count && saved_with->up == other->up;
    /* Padding bytes are equal, because rigs are zeroed before they are filled. So bytes can be
       compared. */
    for (uint16_t i = 0; fits && i < saved_with->rig_count; i++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
        fits = memcmp(saved_with->rigs[i], other->rigs[i], sizeof *other->rigs[i]) == 0;
    for (uint16_t i = 0; fits && i < saved_with->weapon_count; i++)
        fits = strcmp(saved_with->weapons[i]->name.text, other->weapons[i]->name.text) == 0;
    return fits;
}

/* Reads the version, layouts and names (save_head in save.c). Returns false if this program
   cannot read the bytes that follow. */
static bool load_head(struct hs_loading *l)
{
    uint64_t version = hs_bytes_get(&l->reader, 4);
    l->is_excerpt = version == HS_EXCERPT_VERSION;
    if (l->is_excerpt) {
        l->knows_checks = true;
        hs_saved_own_names(&l->names);
        return hs_bytes_get(&l->reader, 8) == hs_saved_format();
    }
    bool is_known = version == HS_SAVED_VERSION &&
                    hs_bytes_get(&l->reader, 8) == hs_saved_layout(0, HS_SAVED_MOVE_CHECKS);
    l->knows_checks =
        hs_bytes_get(&l->reader, 8) == hs_saved_layout(HS_SAVED_MOVE_CHECKS, HS_SAVED_STRUCTS);
    if (is_known)
        hs_saved_get_names(&l->reader, &l->names);
    return is_known;
}

enum hs_match_load hs_match_load(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits, const void *bytes,
                                 size_t size, struct hs_match **out)
{
    struct hs_loading l = {.reader = {bytes, (const unsigned char *)bytes + size, false}};
    *out = NULL;
    if (!load_head(&l))
        return l.reader.failed ? HS_MATCH_DAMAGED : HS_MATCH_OTHER_VERSION;
    /* Load without a memory limit, because the size of the match is not known yet. reserve_bytes
       sets the limit later. */
    struct hs_match_limits no_bytes = *limits;
    no_bytes.bytes = 0;
    no_bytes.shared = NULL;
    l.match = hs_match_create(ruleset, &no_bytes);
    if (l.match == NULL)
        return HS_MATCH_LOAD_NO_MEMORY;
    load_match(&l);
    if (hs_loading_is_fine(&l) && !reserve_bytes(l.match, limits))
        l.no_memory = true;
    if (hs_loading_is_fine(&l)) {
        *out = l.match;
        return l.restarted_checks ? HS_MATCH_LOADED_PARTLY : HS_MATCH_LOADED;
    }
    hs_match_destroy(l.match);
    return l.no_memory ? HS_MATCH_LOAD_NO_MEMORY : HS_MATCH_DAMAGED;
}

void hs_match_lost_payments(struct hs_match *match)
{
    match->has_lost_shots = true;
    match->has_lost_payments = true;
    match->lost_from_us = INT64_MIN;
    match->lost_until_us = INT64_MAX; /* until the next frame */
}

void hs_match_lost_moves(struct hs_match *match)
{
    for (uint32_t i = 0; i < match->players.count; i++)
        if (match->players.all[i]->moves != NULL)
            match->players.all[i]->moves->has_lost_moves = true;
}
