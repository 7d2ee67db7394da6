#include "tests/integration/http_lane.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/http/raw.h"

/*
 * Even a service with sanitizers on a busy machine answers within this time. A service that hangs
 * exceeds this time.
 */
enum { PATIENCE_MS = 60000, PIECE = 65536, LONG_ANSWER = 32768 };

/* For the answer to a doubtful request (http_requests.h) the lane waits DOUBT_MS, then closes the
   sending side, and waits DOUBT_END_MS more. The end must not arrive together with the last bytes:
   libmicrohttpd would overlook it until the connection was idle for long. */
enum { DOUBT_MS = 5, DOUBT_END_MS = 50 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- sending ---- */

static bool last_is(const struct hs_lane *lane, enum hs_sent kind)
{
    return lane->requests[lane->count - 1].kind == kind;
}

static size_t whole_count(const struct hs_lane *lane)
{
    return last_is(lane, HS_SENT_WHOLE) ? lane->count : lane->count - 1;
}

const char *hs_lane_begin(struct hs_lane *lane, struct hs_request_maker *maker, uint64_t seed,
                          uint64_t number)
{
    const int on = 1;
    if (lane->fd < 0) {
        lane->fd = hs_raw_connect(lane->port);
        if (lane->fd < 0)
            return "the service accepts no connection";
        setsockopt(lane->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        fcntl(lane->fd, F_SETFL, fcntl(lane->fd, F_GETFL) | O_NONBLOCK);
    }
    lane->random = hs_random_start(seed, number);
    lane->number = number;
    lane->began_ms = now_ms();
    lane->out_ms = 0;
    lane->out.len = lane->in.len = lane->sent = lane->taken = lane->answered = 0;
    lane->closing = lane->ended = lane->half_closed = false;
    lane->count = 1 + (size_t)hs_random_index(&lane->random, HS_LANE_REQUESTS);
    for (size_t i = 0; i < lane->count; i++)
        hs_request_make(maker, i + 1 == lane->count, &lane->random, &lane->out, &lane->requests[i]);
    lane->busy = true;
    return NULL;
}

struct pollfd hs_lane_poll(const struct hs_lane *lane)
{
    bool more = lane->sent < lane->out.len && !lane->ended;
    return (struct pollfd){.fd = lane->fd, .events = (short)(more ? POLLIN | POLLOUT : POLLIN)};
}

/* Sends everything at once in most cases, otherwise one piece, so that the service receives
   requests cut at any place. */
static void send_some(struct hs_lane *lane)
{
    size_t left = lane->out.len - lane->sent, piece = left;
    if (left > 1 && hs_random_chance(&lane->random, 0.25))
        piece = 1 + (size_t)hs_random_index(&lane->random, left < 400 ? (int)left : 400);
    ssize_t sent = send(lane->fd, lane->out.data + lane->sent, piece, MSG_NOSIGNAL);
    if (sent > 0)
        lane->sent += (size_t)sent;
    else if (errno != EAGAIN && errno != EINTR)
        /* the service closed the connection: the remaining answers show whether it was allowed
           to */
        lane->sent = lane->out.len;
}

static void receive_some(struct hs_lane *lane)
{
    char piece[PIECE];
    ssize_t got = recv(lane->fd, piece, sizeof piece, 0);
    if (got > 0)
        hs_buffer_append(&lane->in, piece, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        lane->ended = true;
}

/* ---- answers ---- */

bool hs_lane_header(const struct hs_lane_answer *answer, const char *name, char *value, size_t size)
{
    size_t len = strlen(name);
    const char *at = answer->head, *end = answer->head + answer->head_size;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL && ++at < end) {
        if ((size_t)(end - at) <= len || strncasecmp(at, name, len) != 0 || at[len] != ':')
            continue;
        const char *from = at + len + 1, *to = memchr(from, '\r', (size_t)(end - from));
        while (from < end && *from == ' ')
            from++;
        snprintf(value, size, "%.*s", to != NULL ? (int)(to - from) : 0, from);
        return true;
    }
    return false;
}

static int status_of(const char *head, size_t size)
{
    if (size < 13 || strncmp(head, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)head[7]) ||
        head[8] != ' ' || (head[12] != ' ' && head[12] != '\r'))
        return 0;
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (!isdigit((unsigned char)head[i]))
            return 0;
        status = status * 10 + (head[i] - '0');
    }
    return status;
}

enum parsed { PARSED_WHOLE, PARSED_PART, PARSED_WRONG };

/* Takes the next answer from the received bytes, and skips interim answers. */
static enum parsed parse(struct hs_lane *lane, bool head_only, struct hs_lane_answer *answer)
{
    char value[64];
    answer->body_size = 0;
    for (;;) {
        size_t left = lane->in.len - lane->taken;
        if (left == 0)
            return PARSED_PART;
        const char *at = lane->in.data + lane->taken, *end = memmem(at, left, "\r\n\r\n", 4);
        if (end == NULL)
            return PARSED_PART;
        answer->head = at;
        answer->head_size = (size_t)(end - at) + 4;
        answer->status = status_of(at, answer->head_size);
        if (answer->status != 100)
            break;
        lane->taken += answer->head_size;
    }
    if (answer->status == 0)
        return PARSED_WRONG;
    bool has_length = hs_lane_header(answer, "Content-Length", value, sizeof value);
    if (!has_length && answer->status != 204)
        return PARSED_WRONG;
    answer->closes = false;
    answer->body = answer->head + answer->head_size;
    answer->body_size = head_only || !has_length ? 0 : (size_t)strtoull(value, NULL, 10);
    if (hs_lane_header(answer, "Connection", value, sizeof value))
        answer->closes = strcasecmp(value, "close") == 0;
    if (lane->in.len - lane->taken < answer->head_size + answer->body_size)
        return PARSED_PART;
    return PARSED_WHOLE;
}

/* Checks all received answers, in the order of the requests. */
static const char *take_answers(struct hs_lane *lane)
{
    while (lane->answered < whole_count(lane) && !lane->closing) {
        const struct hs_sent_request *request = &lane->requests[lane->answered];
        struct hs_lane_answer answer;
        enum parsed parsed = parse(lane, request->head, &answer);
        if (parsed != PARSED_WHOLE)
            return parsed == PARSED_PART ? NULL : "the received bytes are no answer";
        answer.to = request;
        const char *fault = lane->judge(lane->context, &answer);
        if (fault != NULL)
            return fault;
        lane->taken += answer.head_size + answer.body_size;
        lane->closing = answer.closes;
        lane->answered++;
    }
    return NULL;
}

/* Called after the end of the connection: checks the answer to a doubtful request
   (http_requests.h), if one arrived. */
static const char *take_rest(struct hs_lane *lane)
{
    size_t left = lane->in.len - lane->taken;
    if (left == 0)
        return NULL;
    const char *at = lane->in.data + lane->taken;
    for (const char *end; status_of(at, left) == 100 && (end = memmem(at, left, "\r\n\r\n", 4));) {
        left -= (size_t)(end - at) + 4;
        at = end + 4;
    }
    if (left == 0)
        return NULL;
    struct hs_lane_answer answer = {.status = status_of(at, left), .head = at};
    const char *end = memmem(at, left, "\r\n\r\n", 4);
    if (answer.status == 0 || end == NULL)
        return "the bytes received for a doubtful request are no answer";
    answer.head_size = (size_t)(end - at) + 4;
    answer.body = at + answer.head_size;
    answer.body_size = left - answer.head_size;
    return lane->judge(lane->context, &answer);
}

/* ---- the volley ---- */

void hs_lane_close(struct hs_lane *lane)
{
    if (lane->fd >= 0)
        close(lane->fd);
    lane->fd = -1;
}

static void end_volley(struct hs_lane *lane)
{
    static const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    bool cut = last_is(lane, HS_SENT_CUT);
    if (cut && hs_random_chance(&lane->random, 0.5))
        setsockopt(lane->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (lane->ended || lane->closing || !last_is(lane, HS_SENT_WHOLE))
        hs_lane_close(lane);
    lane->busy = false;
}

/*
 * If the service refuses a request without reading its body, it ends the connection. The kernel
 * then drops earlier answers that were not read yet. Only a long answer can arrive in part.
 */
static bool is_cut_off(struct hs_lane *lane)
{
    struct hs_lane_answer answer;
    return lane->answered + 1 < lane->count &&
           parse(lane, lane->requests[lane->answered].head, &answer) == PARSED_PART &&
           lane->in.len > lane->taken && answer.body_size > LONG_ANSWER;
}

static const char *after_end(struct hs_lane *lane)
{
    const char *fault = NULL;
    if (lane->answered < whole_count(lane) && !lane->closing) {
        if (!is_cut_off(lane))
            return "the connection ended without an answer";
        end_volley(lane);
        return NULL;
    }
    if (lane->closing && lane->taken < lane->in.len)
        fault = "bytes came after the last answer";
    else if (!lane->closing && last_is(lane, HS_SENT_DOUBTFUL))
        fault = take_rest(lane);
    if (fault == NULL)
        end_volley(lane);
    return fault;
}

static const char *await_end(struct hs_lane *lane)
{
    int64_t now = now_ms();
    if (lane->out_ms == 0)
        lane->out_ms = now;
    if (!lane->half_closed && (lane->in.len > lane->taken || now - lane->out_ms >= DOUBT_MS)) {
        shutdown(lane->fd, SHUT_WR);
        lane->half_closed = true;
    }
    if (now - lane->out_ms < DOUBT_END_MS)
        return NULL;
    const char *fault = take_rest(lane);
    if (fault == NULL)
        end_volley(lane);
    return fault;
}

const char *hs_lane_step(struct hs_lane *lane, short events)
{
    if (events & (POLLIN | POLLERR | POLLHUP))
        receive_some(lane);
    if ((events & POLLOUT) && lane->sent < lane->out.len && !lane->ended)
        send_some(lane);
    if (lane->in.failed)
        return "out of memory";
    const char *fault = take_answers(lane);
    if (fault != NULL)
        return fault;
    if (lane->ended)
        return after_end(lane);
    bool out = lane->sent == lane->out.len, all = lane->answered == whole_count(lane);
    if (out && !lane->closing && last_is(lane, HS_SENT_CUT) &&
        (all || lane->number % 2 == 0)) { /* the remaining answers are cut off */
        end_volley(lane);
    } else if (out && all && !lane->closing && last_is(lane, HS_SENT_DOUBTFUL)) {
        return await_end(lane);
    } else if (out && all && !lane->closing && last_is(lane, HS_SENT_WHOLE)) {
        if (lane->taken < lane->in.len)
            return "more answers came than requests were sent";
        end_volley(lane);
    }
    if (lane->busy && now_ms() - lane->began_ms > PATIENCE_MS)
        return lane->closing ? "the connection should be closed, but is open" : "no answer came";
    return NULL;
}

size_t hs_lane_done(const struct hs_lane *lane)
{
    return lane->answered + (lane->answered == whole_count(lane) && !last_is(lane, HS_SENT_WHOLE));
}

/* ---- reports ---- */

static void print_bytes(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '\\' || byte == '"' || byte < 0x20 || byte > 0x7e)
            fprintf(stderr, "\\%03o", byte);
        else
            fputc(byte, stderr);
    }
    fputc('\n', stderr);
}

void hs_lane_print(const struct hs_lane *lane)
{
    static const char *const kinds[] = {"whole", "doubtful", "cut"};
    fprintf(stderr, "volley %llu to port %u, %zu of %zu bytes sent, %zu answered:\n",
            (unsigned long long)lane->number, lane->port, lane->sent, lane->out.len,
            lane->answered);
    for (size_t i = 0; i < lane->count; i++) {
        const struct hs_sent_request *request = &lane->requests[i];
        fprintf(stderr, "request %zu, %s: ", i, kinds[request->kind]);
        print_bytes(lane->out.data + request->begin, request->end - request->begin);
    }
    size_t left = lane->in.len - lane->taken;
    fprintf(stderr, "came, not taken: ");
    print_bytes(left > 0 ? lane->in.data + lane->taken : "", left < 4096 ? left : 4096);
}
