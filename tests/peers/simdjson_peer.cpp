#include "tests/peers/simdjson_peer.h"

#if __has_include(<simdjson.h>)

#include <cmath>
#include <new>
#include <simdjson.h>

using namespace simdjson;

struct hs_simdjson {
    padded_string body;
    ondemand::parser parser;
    hs_simdjson(const char *text, size_t len) : body(text, len) {}
};

bool hs_simdjson_is_there(void)
{
    return true;
}

hs_simdjson *hs_simdjson_create(const char *body, size_t len)
{
    return new (std::nothrow) hs_simdjson(body, len);
}

void hs_simdjson_destroy(hs_simdjson *peer)
{
    delete peer;
}

static int64_t micros(double seconds)
{
    return static_cast<int64_t>(std::nearbyint(seconds * 1e6));
}

static void read_text(ondemand::value value, const char **text, size_t *len)
{
    std::string_view view = value.get_string();
    *text = view.data();
    *len = view.size();
}

static void read_numbers(ondemand::value value, double *out, size_t count)
{
    size_t i = 0;
    for (double number : value.get_array()) {
        if (i == count)
            throw simdjson_error(CAPACITY);
        out[i++] = number;
    }
    if (i < count)
        throw simdjson_error(INDEX_OUT_OF_BOUNDS);
}

/* Reads the bones of a player. With `flat` all bones are in one array; otherwise each has its own.
   */
static void read_bones(ondemand::value value, bool flat, hs_peer_player &player)
{
    size_t count = 0;
    for (ondemand::value item : value.get_array()) {
        if (count == (flat ? 7 : 1) * HS_PEER_BONES)
            throw simdjson_error(CAPACITY);
        if (flat)
            player.bones[count / 7][count % 7] = item.get_double();
        else
            read_numbers(item, player.bones[count], 7);
        count++;
    }
    player.bone_count = flat ? count / 7 : count;
}

static void read_player(ondemand::value value, hs_peer_player &player)
{
    ondemand::object object = value.get_object();
    player.bone_count = 0;
    for (auto field : object) {
        std::string_view key = field.unescaped_key();
        if (key == "player")
            read_text(field.value(), &player.name, &player.name_len);
        else if (key == "position")
            read_numbers(field.value(), player.position, 3);
        else if (key == "rotation")
            read_numbers(field.value(), player.rotation, 4);
        else if (key == "bones")
            read_bones(field.value(), false, player);
        else if (key == "aim")
            read_numbers(field.value(), player.aim, 3);
        else if (key == "rtt")
            player.rtt_us = micros(field.value().get_double());
        else
            throw simdjson_error(NO_SUCH_FIELD);
    }
}

static void read_player_row(ondemand::value value, size_t columns, hs_peer_player &player)
{
    size_t column = 0;
    player.bone_count = 0;
    for (ondemand::value cell : value.get_array()) {
        size_t member = column == 3 && columns == 5 ? 4 : column == 4 && columns == 5 ? 5 : column;
        switch (member) {
        case 0:
            read_text(cell, &player.name, &player.name_len);
            break;
        case 1:
            read_numbers(cell, player.position, 3);
            break;
        case 2:
            read_numbers(cell, player.rotation, 4);
            break;
        case 3:
            read_bones(cell, true, player);
            break;
        case 4:
            read_numbers(cell, player.aim, 3);
            break;
        default:
            player.rtt_us = micros(cell.get_double());
        }
        column++;
    }
    if (column != columns)
        throw simdjson_error(INDEX_OUT_OF_BOUNDS);
}

static void read_move(ondemand::value value, hs_peer_move &move)
{
    ondemand::object object = value.get_object();
    for (auto field : object) {
        std::string_view key = field.unescaped_key();
        if (key == "player")
            read_text(field.value(), &move.name, &move.name_len);
        else if (key == "seq")
            move.seq = field.value().get_uint64();
        else if (key == "client_time")
            move.client_us = micros(field.value().get_double());
        else if (key == "received")
            move.received_us = micros(field.value().get_double());
        else if (key == "mode")
            read_text(field.value(), &move.mode, &move.mode_len);
        else if (key == "position")
            read_numbers(field.value(), move.position, 3);
        else
            throw simdjson_error(NO_SUCH_FIELD);
    }
}

static void read_move_row(ondemand::value value, hs_peer_move &move)
{
    size_t column = 0;
    for (ondemand::value cell : value.get_array()) {
        switch (column++) {
        case 0:
            read_text(cell, &move.name, &move.name_len);
            break;
        case 1:
            move.seq = cell.get_uint64();
            break;
        case 2:
            move.client_us = micros(cell.get_double());
            break;
        case 3:
            move.received_us = micros(cell.get_double());
            break;
        case 4:
            read_text(cell, &move.mode, &move.mode_len);
            break;
        default:
            read_numbers(cell, move.position, 3);
        }
    }
}

static size_t count_of(ondemand::value columns)
{
    size_t count = 0;
    for (ondemand::value column : columns.get_array()) {
        std::string_view name = column.get_string();
        count += name.size() > 0;
    }
    return count;
}

static void read_players(ondemand::value value, bool compact, hs_peer_tick &out)
{
    size_t columns = compact ? count_of(value.find_field("columns")) : 0;
    ondemand::array items =
        compact ? value.find_field("rows").get_array() : value.get_array();
    for (ondemand::value item : items) {
        if (out.player_count == HS_PEER_PLAYERS)
            throw simdjson_error(CAPACITY);
        hs_peer_player &player = out.players[out.player_count++];
        if (compact)
            read_player_row(item, columns, player);
        else
            read_player(item, player);
    }
}

static void read_moves(ondemand::value value, bool compact, hs_peer_tick &out)
{
    if (compact)
        count_of(value.find_field("columns"));
    ondemand::array items =
        compact ? value.find_field("rows").get_array() : value.get_array();
    for (ondemand::value item : items) {
        if (out.move_count == HS_PEER_PLAYERS)
            throw simdjson_error(CAPACITY);
        hs_peer_move &move = out.moves[out.move_count++];
        if (compact)
            read_move_row(item, move);
        else
            read_move(item, move);
    }
}

bool hs_simdjson_read(hs_simdjson *peer, bool compact, hs_peer_tick *out)
{
    out->player_count = out->move_count = 0;
    try {
        ondemand::document document = peer->parser.iterate(peer->body);
        for (ondemand::value frame : document.find_field("frames").get_array()) {
            out->time_us = micros(frame.find_field("time").get_double());
            read_players(frame.find_field("players"), compact, *out);
        }
        read_moves(document.find_field("moves"), compact, *out);
        return true;
    } catch (const simdjson_error &) {
        return false;
    }
}

#else

bool hs_simdjson_is_there(void)
{
    return false;
}

hs_simdjson *hs_simdjson_create(const char *, size_t)
{
    return nullptr;
}

void hs_simdjson_destroy(hs_simdjson *) {}

bool hs_simdjson_read(hs_simdjson *, bool, hs_peer_tick *)
{
    return false;
}

#endif
