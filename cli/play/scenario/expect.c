#include "cli/play/scenario/expect.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/scenario/reference.h"
#include "cli/play/words.h"

/* Lengths and directions in scenarios have three decimals. */
static const double length_tolerance = 1e-3; /* metres */
static const double direction_tolerance = 1e-3;
/* Answers have six decimals; a double near 2e9 s has a resolution of 2.4e-7. */
static const double plain_tolerance = 2e-6;

struct comparison {
    double unit;
    char *fault;
    char pointer[256];
    size_t pointer_len;
    double tolerance; /* applies to the numbers at `pointer` */
};

static bool compare(struct comparison *cmp, const json_t *expected, const json_t *actual);

__attribute__((format(printf, 2, 3))) static bool fail(struct comparison *cmp, const char *format,
                                                       ...)
{
    int used = snprintf(cmp->fault, HS_EXPECT_FAULT_MAX,
                        "%s: ", cmp->pointer_len != 0 ? cmp->pointer : "the answer");
    if (used > 0 && used < HS_EXPECT_FAULT_MAX) {
        va_list args;
        va_start(args, format);
        vsnprintf(cmp->fault + used, (size_t)(HS_EXPECT_FAULT_MAX - used), format, args);
        va_end(args);
    }
    return false;
}

/* Fails with the message "BEFORE VALUE BETWEEN GOT". `got` may be NULL. */
static bool fail_json(struct comparison *cmp, const char *before, const json_t *value,
                      const char *between, const json_t *got)
{
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12);
    char *first = json_dumps(value, flags);
    char *second = got != NULL ? json_dumps(got, flags) : NULL;
    fail(cmp, "%s %.160s%s %.1600s", before, first != NULL ? first : "?", between,
         second != NULL ? second : "nothing");
    free(first);
    free(second);
    return false;
}

static bool fail_values(struct comparison *cmp, const json_t *expected, const json_t *actual)
{
    return fail_json(cmp, "expected", expected, ", got", actual);
}

static size_t enter(struct comparison *cmp, const char *segment)
{
    size_t before = cmp->pointer_len;
    int used = snprintf(cmp->pointer + before, sizeof(cmp->pointer) - before, "/%s", segment);
    cmp->pointer_len = used > 0 && before + (size_t)used < sizeof(cmp->pointer)
                           ? before + (size_t)used
                           : sizeof(cmp->pointer) - 1;
    return before;
}

static void leave(struct comparison *cmp, size_t before)
{
    cmp->pointer_len = before;
    cmp->pointer[before] = '\0';
}

static double tolerance_of(const struct comparison *cmp, const char *key, const json_t *object)
{
    switch (hs_quantity_of(key)) {
    case HS_QUANTITY_LENGTH:
    case HS_QUANTITY_POINT:
    case HS_QUANTITY_DISPLACEMENT:
    case HS_QUANTITY_EXTENTS:
    case HS_QUANTITY_BONES:
        return length_tolerance * cmp->unit;
    case HS_QUANTITY_DIRECTION:
    case HS_QUANTITY_ROTATION:
        return direction_tolerance;
    case HS_QUANTITY_MEASURE:
        return hs_measures_length(object) ? length_tolerance * cmp->unit : plain_tolerance;
    default:
        return plain_tolerance;
    }
}

/* Returns whether `value` matches an element of `array`. If `is_choice` is true, the elements are
   expectations; otherwise `value` is the expectation. Does not report why an element does not
   match. */
static bool has_match(const struct comparison *cmp, const json_t *value, const json_t *array,
                      bool is_choice)
{
    char ignored[HS_EXPECT_FAULT_MAX];
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *element = json_array_get(array, i);
        struct comparison inner = *cmp;
        inner.fault = ignored;
        if (compare(&inner, is_choice ? element : value, is_choice ? value : element))
            return true;
    }
    return false;
}

static bool compare_contents(struct comparison *cmp, const json_t *expected, const json_t *actual,
                             bool wanted)
{
    if (!json_is_array(actual))
        return fail_values(cmp, expected, actual);
    for (size_t i = 0; i < json_array_size(expected); i++) {
        const json_t *element = json_array_get(expected, i);
        if (has_match(cmp, element, actual, false) != wanted)
            return fail_json(cmp, wanted ? "no" : "unwanted", element, " in", actual);
    }
    return true;
}

static bool compare_size(struct comparison *cmp, const json_t *expected, const json_t *actual)
{
    size_t size = json_array_size(actual) + json_object_size(actual) + json_string_length(actual);
    if (json_is_integer(expected) && (json_int_t)size == json_integer_value(expected))
        return true;
    return fail(cmp, "expected %lld elements, got %zu", (long long)json_integer_value(expected),
                size);
}

/* Compares a value with an operator. An operator is an object whose first key begins with $. */
static bool compare_operator(struct comparison *cmp, const json_t *expected, const json_t *actual)
{
    const json_t *argument;
    if ((argument = json_object_get(expected, "$contains")) != NULL)
        return compare_contents(cmp, argument, actual, true);
    if ((argument = json_object_get(expected, "$lacks")) != NULL)
        return compare_contents(cmp, argument, actual, false);
    if ((argument = json_object_get(expected, "$size")) != NULL)
        return compare_size(cmp, argument, actual);
    if ((argument = json_object_get(expected, "$one_of")) != NULL)
        return has_match(cmp, actual, argument, true) || fail_values(cmp, argument, actual);
    if (json_object_get(expected, "$any") != NULL)
        return actual != NULL || fail(cmp, "is missing");
    if (json_object_get(expected, "$absent") != NULL)
        return actual == NULL || fail(cmp, "should not be there");
    const json_t *within = json_object_get(expected, "$within");
    if ((argument = json_object_get(expected, "$near")) != NULL && json_is_number(within)) {
        double before = cmp->tolerance;
        cmp->tolerance = json_number_value(within);
        bool same = compare(cmp, argument, actual);
        cmp->tolerance = before;
        return same;
    }
    return fail(cmp, "the expectation has an unknown operator");
}

static bool compare_object(struct comparison *cmp, const json_t *expected, const json_t *actual)
{
    void *first = json_object_iter((json_t *)(uintptr_t)expected);
    if (first != NULL && json_object_iter_key(first)[0] == '$')
        return compare_operator(cmp, expected, actual);
    if (!json_is_object(actual))
        return fail_values(cmp, expected, actual);
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)expected, key, member)
    {
        struct comparison inner = *cmp;
        inner.tolerance = tolerance_of(cmp, key, actual);
        enter(&inner, key);
        if (!compare(&inner, member, json_object_get(actual, key)))
            return false;
    }
    return true;
}

static bool compare_array(struct comparison *cmp, const json_t *expected, const json_t *actual)
{
    size_t count = json_array_size(expected);
    if (!json_is_array(actual) || json_array_size(actual) != count)
        return fail_values(cmp, expected, actual);
    for (size_t i = 0; i < count; i++) {
        char index[24];
        snprintf(index, sizeof(index), "%zu", i);
        size_t before = enter(cmp, index);
        if (!compare(cmp, json_array_get(expected, i), json_array_get(actual, i)))
            return false;
        leave(cmp, before);
    }
    return true;
}

static bool compare(struct comparison *cmp, const json_t *expected, const json_t *actual)
{
    if (json_is_object(expected))
        return compare_object(cmp, expected, actual);
    if (actual == NULL)
        return fail(cmp, "is missing");
    if (json_is_array(expected))
        return compare_array(cmp, expected, actual);
    if (json_is_number(expected) && json_is_number(actual)) {
        double difference = fabs(json_number_value(expected) - json_number_value(actual));
        return difference <= cmp->tolerance || fail_values(cmp, expected, actual);
    }
    return json_equal(expected, actual) || fail_values(cmp, expected, actual);
}

bool hs_expect_json(const json_t *expected, const json_t *actual, double unit,
                    char fault[HS_EXPECT_FAULT_MAX])
{
    struct comparison cmp = {.unit = unit, .fault = fault, .tolerance = plain_tolerance};
    fault[0] = '\0';
    return compare(&cmp, expected, actual);
}

/* Compares the pointers in a problem document's errors. Each expected pointer must occur exactly
   once, and no other pointer may occur. */
static bool compare_errors(struct comparison *cmp, const json_t *pointers, const json_t *errors)
{
    bool same = json_array_size(errors) == json_array_size(pointers);
    enter(cmp, "errors");
    for (size_t i = 0; same && i < json_array_size(pointers); i++) {
        size_t count = 0;
        for (size_t k = 0; k < json_array_size(errors); k++)
            count += json_equal(json_object_get(json_array_get(errors, k), "pointer"),
                                json_array_get(pointers, i)) == 1;
        same = count == 1;
    }
    return same || fail_values(cmp, pointers, errors);
}

static bool only_known(struct comparison *cmp, const json_t *expect)
{
    static const char *const known[] = {"status", "body", "code", "errors", NULL};
    const char *unknown = hs_unknown_member(expect, known);
    return unknown == NULL || fail(cmp, "the expectation has an unknown member \"%s\"", unknown);
}

/* Compares the status. If the status differs, the message also quotes the body, because the body
   contains the reason. */
static bool status_matches(struct comparison *cmp, const json_t *expected, long status,
                           const char *body)
{
    json_t *wanted = expected != NULL ? json_deep_copy(expected) : json_integer(200);
    json_t *got = json_integer(status);
    bool same = compare(cmp, wanted, got);
    if (!same) {
        char *text = json_dumps(wanted, JSON_COMPACT | JSON_ENCODE_ANY);
        fail(cmp, "expected status %.60s, got %ld: %.300s", text != NULL ? text : "?", status,
             body != NULL ? body : "");
        free(text);
    }
    json_decref(wanted);
    json_decref(got);
    return same;
}

bool hs_expect_answer(const json_t *expect, long status, const char *body, size_t size, double unit,
                      char fault[HS_EXPECT_FAULT_MAX])
{
    struct comparison cmp = {.unit = unit, .fault = fault, .tolerance = plain_tolerance};
    fault[0] = '\0';
    if (!only_known(&cmp, expect))
        return false;
    if (!status_matches(&cmp, json_object_get(expect, "status"), status, body))
        return false;

    const json_t *content = json_object_get(expect, "body");
    const json_t *code = json_object_get(expect, "code");
    const json_t *errors = json_object_get(expect, "errors");
    if (content == NULL && code == NULL && errors == NULL)
        return true;
    json_t *actual = json_loadb(body, size, JSON_DECODE_ANY, NULL);
    if (actual == NULL)
        return fail(&cmp, "the answer is not JSON: %.200s", body);
    bool same = (content == NULL || hs_expect_json(content, actual, unit, fault));
    if (same && code != NULL) {
        size_t before = enter(&cmp, "code");
        same = compare(&cmp, code, json_object_get(actual, "code"));
        leave(&cmp, before);
    }
    same =
        same && (errors == NULL || compare_errors(&cmp, errors, json_object_get(actual, "errors")));
    json_decref(actual);
    return same;
}
