#include "api/http/problem.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/json/writing.h"

static const struct {
    const char *name;
    int status;
    const char *title;
    const char *head; /* the first members of the document */
    size_t head_len;
} problems[HS_PROBLEM_COUNT] = {
#define HEAD(code, status, title)                                                                  \
    "{\"type\":\"urn:hindsight:problem:" code "\",\"title\":\"" title "\",\"status\":" #status
#define X(id, code, status, title)                                                                 \
    {code, status, title, HEAD(code, status, title), sizeof HEAD(code, status, title) - 1},
    HS_PROBLEMS(X)
#undef X
#undef HEAD
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

static void write_errors(struct hs_writer *writer, const struct hs_problem *problem)
{
    hs_write_begin_field(writer, "errors", '[');
    for (size_t i = 0; i < problem->count; i++) {
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "pointer", problem->errors[i].pointer);
        hs_write_text_field(writer, "detail", problem->errors[i].detail);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
    if (problem->left_out > 0)
        hs_write_int_field(writer, "errors_left_out", (int64_t)problem->left_out);
}

void hs_problem_encode(const struct hs_problem *problem, const char *instance,
                       struct hs_buffer *out)
{
    const char *name = problems[problem->code].name, *title = problems[problem->code].title;
    unsigned retry_after_ms = hs_problem_retry_after_ms(problem);
    struct hs_writer writer = {.buffer = out, .needs_comma = true};
    hs_buffer_append(out, problems[problem->code].head, problems[problem->code].head_len);
    hs_write_text_field(&writer, "detail", problem->detail[0] != '\0' ? problem->detail : title);
    hs_write_text_field(&writer, "instance", instance);
    hs_write_text_field(&writer, "code", name);
    if (problem->count > 0)
        write_errors(&writer, problem);
    if (retry_after_ms > 0)
        hs_write_int_field(&writer, "retry_after_ms", retry_after_ms);
    hs_write_end(&writer, '}');
}
