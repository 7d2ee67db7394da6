#include "service/reload/sources.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CHANGED_MAX = 4096 }; /* maximum size of the list of changes, which is logged in one line */

void hs_reload_fault(struct hs_reload *reload, const char *source, const struct hs_problem *problem)
{
    reload->faults++;
    reload->fault(reload->context, source, problem);
}

void hs_reload_fault_text(struct hs_reload *reload, const char *source, const char *format, ...)
{
    char text[256];
    struct hs_problem problem;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hs_problem_init(&problem);
    hs_problem_set(&problem, HS_PROBLEM_INVALID_REQUEST, "%s", text);
    hs_reload_fault(reload, source, &problem);
}

void hs_reload_changed(struct hs_reload *reload, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reload->changes++;
    if (reload->changed.len + strlen(text) + 2 > CHANGED_MAX)
        return;
    if (reload->changed.len > 0)
        hs_buffer_puts(&reload->changed, "; ");
    hs_buffer_puts(&reload->changed, text);
}

bool hs_reload_run(const struct hs_reload_step *steps, size_t count,
                   const struct hs_options *options, struct hs_reload *reload)
{
    void *prepared[HS_RELOAD_STEPS_MAX] = {NULL};
    if (count > HS_RELOAD_STEPS_MAX)
        count = HS_RELOAD_STEPS_MAX;
    for (size_t i = 0; i < count; i++)
        prepared[i] = steps[i].prepare(steps[i].context, options, reload);
    bool fine = reload->faults == 0;
    for (size_t i = 0; i < count; i++) {
        if (prepared[i] == NULL)
            continue;
        if (fine)
            steps[i].commit(steps[i].context, prepared[i], reload);
        else
            steps[i].discard(steps[i].context, prepared[i]);
    }
    return fine;
}

void hs_reload_free(struct hs_reload *reload)
{
    hs_buffer_free(&reload->changed);
}
