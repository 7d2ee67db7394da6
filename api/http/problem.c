#include "api/http/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/json/escape.h"

static const struct {
    const char *name;
    int status;
    const char *title;
} problems[HS_PROBLEM_COUNT] = {
#define X(id, code, status, title) {code, status, title},
    HS_PROBLEMS(X)
#undef X
};

void hs_problem_init(struct hs_problem *problem)
{
    problem->code = HS_PROBLEM_NONE;
    problem->detail[0] = '\0';
    problem->retry_after_ms = 0;
    problem->count = 0;
    problem->left_out = 0;
}

void hs_problem_set(struct hs_problem *problem, enum hs_problem_code code, const char *format, ...)
{
    if (problem->code != HS_PROBLEM_NONE)
        return;
    problem->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(problem->detail, sizeof problem->detail, format, args);
    va_end(args);
}

void hs_problem_add(struct hs_problem *problem, const char *pointer, const char *format, ...)
{
    if (problem->code == HS_PROBLEM_NONE)
        problem->code = HS_PROBLEM_INVALID_REQUEST;
    if (problem->count == HS_PROBLEM_MAX) {
        problem->left_out++;
        return;
    }
    snprintf(problem->errors[problem->count].pointer, HS_POINTER_MAX, "%s", pointer);
    va_list args;
    va_start(args, format);
    vsnprintf(problem->errors[problem->count].detail, HS_DETAIL_MAX, format, args);
    va_end(args);
    problem->count++;
}

unsigned hs_problem_retry_after_ms(const struct hs_problem *problem)
{
    int status = problems[problem->code].status;
    if (status != 429 && status != 503)
        return 0;
    return problem->retry_after_ms > 0 ? problem->retry_after_ms : HS_RETRY_AFTER_MS;
}

int hs_problem_status(enum hs_problem_code code)
{
    return problems[code].status;
}

const char *hs_problem_name(enum hs_problem_code code)
{
    return problems[code].name;
}

static void put_member(struct hs_buffer *out, const char *name, const char *text)
{
    hs_buffer_append(out, "\"", 1);
    hs_buffer_puts(out, name);
    hs_buffer_append(out, "\":", 2);
    hs_escape_json(out, (struct hs_str){text, strlen(text)});
}

static void put_errors(const struct hs_problem *problem, struct hs_buffer *out)
{
    hs_buffer_puts(out, ",\"errors\":[");
    for (size_t i = 0; i < problem->count; i++) {
        hs_buffer_puts(out, i == 0 ? "{" : ",{");
        put_member(out, "pointer", problem->errors[i].pointer);
        hs_buffer_puts(out, ",");
        put_member(out, "detail", problem->errors[i].detail);
        hs_buffer_puts(out, "}");
    }
    hs_buffer_puts(out, "]");
    if (problem->left_out > 0)
        hs_buffer_printf(out, ",\"errors_left_out\":%zu", problem->left_out);
}

void hs_problem_encode(const struct hs_problem *problem, const char *instance,
                       struct hs_buffer *out)
{
    const char *title = problems[problem->code].title;
    hs_buffer_puts(out, "{\"type\":\"urn:hindsight:problem:");
    hs_buffer_puts(out, problems[problem->code].name);
    hs_buffer_append(out, "\",", 2);
    put_member(out, "title", title);
    hs_buffer_printf(out, ",\"status\":%d,", problems[problem->code].status);
    put_member(out, "detail", problem->detail[0] != '\0' ? problem->detail : title);
    hs_buffer_puts(out, ",");
    put_member(out, "instance", instance);
    hs_buffer_puts(out, ",");
    put_member(out, "code", problems[problem->code].name);
    if (problem->count > 0)
        put_errors(problem, out);
    unsigned retry_after_ms = hs_problem_retry_after_ms(problem);
    if (retry_after_ms > 0)
        hs_buffer_printf(out, ",\"retry_after_ms\":%u", retry_after_ms);
    hs_buffer_puts(out, "}");
}
