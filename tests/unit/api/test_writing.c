/* Numbers and texts as JSON. The reference is the C library: printf and strtod. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/digits.h"
#include "api/json/escape.h"
#include "api/json/writing.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

enum { ROUNDS = 600000, TEXT = 64 };

/* ---- the reference ---- */

static void reference_exact(double value, char out[TEXT])
{
    if (!isfinite(value)) {
        snprintf(out, TEXT, "null");
        return;
    }
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(out, TEXT, "%.0f", value == 0 ? 0.0 : value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, TEXT, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static void reference_time(int64_t us, char out[TEXT])
{
    uint64_t rest = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    int len = snprintf(out, TEXT, "%s%llu.%06llu", us < 0 ? "-" : "",
                       (unsigned long long)(rest / 1000000), (unsigned long long)(rest % 1000000));
    while (out[len - 1] == '0')
        out[--len] = '\0';
    if (out[len - 1] == '.')
        out[--len] = '\0';
}

/* Writes millionths, rounded half to even. */
static void reference_real(double value, char out[TEXT])
{
    if (fabs(value) < 9e12)
        reference_time((int64_t)nearbyint(value * 1e6), out);
    else
        reference_exact(value, out);
}

/* ---- comparison with the writer ---- */

#define WRITE(what, value, out)                                                                    \
    do {                                                                                           \
        struct hs_writer writer = {.buffer = &buffer};                                             \
        buffer.len = 0;                                                                            \
        hs_write_##what(&writer, value);                                                           \
        ck_assert(!buffer.failed && buffer.len < TEXT);                                            \
        memcpy(out, buffer.data, buffer.len);                                                      \
        (out)[buffer.len] = '\0';                                                                  \
    } while (0)

static struct hs_buffer buffer;

static void setup(void)
{
    buffer = (struct hs_buffer){0};
}

static void teardown(void)
{
    hs_buffer_free(&buffer);
}

static void same_exact(double value)
{
    char written[TEXT], expected[TEXT];
    WRITE(exact, value, written);
    reference_exact(value, expected);
    ck_assert_msg(strcmp(written, expected) == 0, "%a: %s, not %s", value, written, expected);
}

static void same_real(double value)
{
    char written[TEXT], expected[TEXT];
    WRITE(real, value, written);
    reference_real(value, expected);
    ck_assert_msg(strcmp(written, expected) == 0, "%a: %s, not %s", value, written, expected);
}

static void same_time(int64_t us)
{
    char written[TEXT], expected[TEXT];
    WRITE(time, us, written);
    reference_time(us, expected);
    ck_assert_msg(strcmp(written, expected) == 0, "%lld: %s, not %s", (long long)us, written,
                  expected);
    WRITE(int, us, written);
    snprintf(expected, TEXT, "%lld", (long long)us);
    ck_assert_str_eq(written, expected);
}

static double any_double(struct hs_random *random)
{
    uint64_t bits = hs_random_bits(random);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Draws a number of any size between the smallest and the largest that answers have. */
static double usual_double(struct hs_random *random)
{
    double size = pow(10, hs_random_between(random, -5, 16));
    return hs_random_between(random, -size, size);
}

/* Compares the numbers from `value` - 2 steps to `value` + 2 steps. */
static void around(double value, void (*same)(double))
{
    double at = nextafter(nextafter(value, -HUGE_VAL), -HUGE_VAL);
    for (int i = 0; i < 5; i++, at = nextafter(at, HUGE_VAL)) {
        same(at);
        same(-at);
    }
}

START_TEST(doubles_are_written_as_printf_writes_them)
{
    struct hs_random random = hs_random_start(14, 1);
    for (long i = 0; i < ROUNDS; i++) {
        same_exact(usual_double(&random));
        if (i % 8 == 0)
            same_exact(any_double(&random));
        /* A quarter of the numbers have few decimals, as people write them. */
        if (i % 4 == 0)
            same_exact(floor(usual_double(&random)) / pow(10, (double)(i % 9)));
    }
}
END_TEST

/* Powers of two, at which the distance between doubles changes; powers of ten; ties; the ends of
   the ranges that are written in different ways. */
START_TEST(doubles_at_the_ends_of_ranges_are_written_as_printf_does)
{
    const double edges[] = {
        0,    -0.0, (double)NAN, HUGE_VAL, -HUGE_VAL, DBL_MIN, DBL_MAX, DBL_TRUE_MIN,      1e-3,
        1e-4, 1e15, 1e16,        1e17,     0.1,       1.0 / 3, 2.0 / 3, 9.9999999999999995};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        same_exact(edges[i]);
        around(edges[i], same_exact);
        around(edges[i], same_real);
    }
    for (int exponent = -1074; exponent < 1024; exponent++)
        around(ldexp(1, exponent), same_exact);
    for (int exponent = -20; exponent < 20; exponent++) {
        around(pow(10, exponent), same_exact);
        around(9 * pow(10, exponent), same_real);
    }
    for (int i = 0; i < 100000; i++)
        same_exact(i + 0.5 + (double)i * 1e9);
}
END_TEST

START_TEST(reals_are_rounded_half_to_even)
{
    struct hs_random random = hs_random_start(14, 2);
    for (long i = 0; i < ROUNDS; i++) {
        same_real(usual_double(&random));
        same_real((double)(i - ROUNDS / 2) / 64); /* ties */
        if (i % 8 == 0)
            same_real(any_double(&random));
    }
}
END_TEST

START_TEST(times_and_integers_are_written_as_printf_does)
{
    struct hs_random random = hs_random_start(14, 3);
    const int64_t edges[] = {0, 1, -1, 9, 10, 99, 100, 999999, 1000000, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        same_time(edges[i]);
    int64_t power = 1;
    for (int i = 0; i < 18; i++, power *= 10)
        for (int off = -2; off <= 2; off++) {
            same_time(power + off);
            same_time(-power + off);
        }
    for (long i = 0; i < ROUNDS; i++)
        same_time((int64_t)(hs_random_bits(&random) >> (i % 64)) * (i % 2 == 0 ? 1 : -1));
}
END_TEST

START_TEST(floats_read_back)
{
    struct hs_random random = hs_random_start(14, 4);
    for (long i = 0; i < ROUNDS / 10; i++) {
        uint32_t bits = (uint32_t)hs_random_bits(&random);
        char written[TEXT];
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        WRITE(float, value, written);
        ck_assert_msg(strtof(written, NULL) == value, "%a: %s", (double)value, written);
    }
}
END_TEST

START_TEST(hexadecimal_digits_are_those_of_printf)
{
    struct hs_random random = hs_random_start(14, 6);
    for (long i = 0; i < ROUNDS; i++) {
        char written[TEXT], expected[TEXT];
        uint64_t value = hs_random_bits(&random) >> (i % 64);
        *hs_digits_hex(written, value) = '\0';
        snprintf(expected, sizeof expected, "%016llx", (unsigned long long)value);
        ck_assert_str_eq(written, expected);
    }
}
END_TEST

/* Rounds a number as printf does. Earlier, sentences of failed checks had their numbers from
   printf. */
static double reference_rounded(double value, int digits, char out[TEXT])
{
    char text[TEXT];
    snprintf(text, TEXT, "%.*e", digits - 1, value);
    double shown = strtod(text, NULL);
    int decimals = digits - 1 - (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    int len = snprintf(out, TEXT, "%.*f", decimals > 0 ? decimals : 0, shown);
    while (strchr(out, '.') != NULL && out[len - 1] == '0')
        out[--len] = '\0';
    if (out[len - 1] == '.')
        out[--len] = '\0';
    return shown;
}

static void same_rounded(double value, int digits)
{
    char written[TEXT], expected[TEXT];
    double shown = 0;
    char *end = hs_digits_rounded(written, value, digits, &shown);
    bool is_usual = fabs(value) >= 1e-3 && fabs(value) < 1e15;
    ck_assert_int_eq(end != NULL, is_usual);
    if (end == NULL)
        return;
    *end = '\0';
    double wanted = reference_rounded(value, digits, expected);
    ck_assert_msg(strcmp(written, expected) == 0 && (digits > 15 || shown == wanted),
                  "%a with %d digits: %s, not %s", value, digits, written, expected);
}

START_TEST(significant_digits_are_rounded_half_to_even)
{
    struct hs_random random = hs_random_start(14, 5);
    for (long i = 0; i < ROUNDS; i++) {
        int digits = 1 + (int)(i % 16);
        same_rounded(usual_double(&random), digits);
        same_rounded((double)(i - ROUNDS / 2) / 8, digits);        /* ties */
        same_rounded(floor(usual_double(&random)) / 1000, digits); /* milliseconds */
        same_rounded((double)i * 5 * pow(10, (double)(i % 9)), digits);
    }
    for (int exponent = -4; exponent < 17; exponent++)
        for (int digits = 1; digits <= 16; digits++)
            for (double at = pow(10, exponent), i = 0; i < 5; i++, at = nextafter(at, 0))
                same_rounded(at, digits);
}
END_TEST

/* ---- texts ---- */

/* Tests each byte at each place of a short and a long text. The fast path takes only ASCII text
   without anything to escape. */
START_TEST(every_byte_is_escaped_at_every_place)
{
    for (size_t len = 1; len <= 20; len++)
        for (size_t place = 0; place < len; place++)
            for (int byte = 0; byte < 256; byte++) {
                char text[TEXT], expected[2 * TEXT], middle[8];
                memset(text, 'a', len);
                text[place] = (char)byte;
                if (byte < 0x20 || byte == 0x7F)
                    snprintf(middle, sizeof middle, "\\u%04x", byte);
                else if (byte == '"' || byte == '\\')
                    snprintf(middle, sizeof middle, "\\%c", byte);
                else
                    snprintf(middle, sizeof middle, byte < 0x80 ? "%c" : "\\ufffd", byte);
                snprintf(expected, sizeof expected, "\"%.*s%s%.*s\"", (int)place, text, middle,
                         (int)(len - place - 1), text + place + 1);
                buffer.len = 0;
                hs_escape_json(&buffer, (struct hs_str){text, len});
                ck_assert_uint_eq(buffer.len, strlen(expected));
                ck_assert_int_eq(memcmp(buffer.data, expected, buffer.len), 0);
            }
}
END_TEST

START_TEST(members_and_elements_have_their_commas)
{
    static const char expected[] =
        "{\"a\":1,\"b "
        "\\\"\":[true,false,null,\"x\",\"\"],\"c\":{},\"d\":[0.5,-1,2.25],\"e\":7,\"f\":\"g\","
        "\"h\":\"p-1\",\"i\":[\"\",null,[1e+20,null,0]]}";
    struct hs_writer writer = {.buffer = &buffer};
    const char *volatile name = "b \""; /* volatile, so that the compiler does not know the text */
    hs_write_begin(&writer, '{');
    hs_write_int_field(&writer, "a", 1);
    hs_write_begin_field(&writer, name, '[');
    hs_write_bool(&writer, true);
    hs_write_bool(&writer, false);
    hs_write_null(&writer);
    hs_write_text(&writer, "x");
    hs_write_str(&writer, (struct hs_str){NULL, 0});
    hs_write_end(&writer, ']');
    hs_write_begin_field(&writer, "c", '{');
    hs_write_end(&writer, '}');
    hs_write_vec_field(&writer, "d", (struct hs_vec){0.5, -1, 2.25});
    hs_write_key(&writer, "e");
    hs_write_raw(&writer, HS_STR("7"));
    hs_write_text_field(&writer, "f", "g");
    hs_write_plain_field(&writer, "h", HS_STR("p-1"));
    hs_write_begin_field(&writer, "i", '[');
    hs_write_word(&writer, "");
    hs_write_real(&writer, (double)INFINITY);
    hs_write_vec(&writer, (struct hs_vec){1e20, (double)NAN, -1e-9});
    hs_write_end(&writer, ']');
    hs_write_end(&writer, '}');
    ck_assert_uint_eq(buffer.len, strlen(expected));
    ck_assert_int_eq(memcmp(buffer.data, expected, buffer.len), 0);
}
END_TEST

/* The answer is complete, wherever in it the buffer grows. */
START_TEST(answers_are_whole_wherever_the_buffer_grows)
{
    for (size_t start = 1000; start < 1040; start++) {
        struct hs_buffer grown = {0};
        struct hs_writer writer = {.buffer = &grown};
        for (size_t i = 0; i < start; i++)
            hs_buffer_append(&grown, " ", 1);
        hs_write_begin(&writer, '[');
        hs_write_real(&writer, 1.5);
        hs_write_text(&writer, "some text");
        hs_write_time(&writer, INT64_MIN);
        hs_write_vec(&writer, (struct hs_vec){-0.5, 1e300, 2});
        hs_write_word(&writer, "word");
        hs_write_end(&writer, ']');
        static const char expected[] =
            "[1.5,\"some text\",-9223372036854.775808,[-0.5,1e+300,2],\"word\"]";
        ck_assert_uint_eq(grown.len, start + strlen(expected));
        ck_assert_int_eq(memcmp(grown.data + start, expected, strlen(expected)), 0);
        hs_buffer_free(&grown);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("writing");
    TCase *tests = tcase_create("json");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, doubles_are_written_as_printf_writes_them);
    tcase_add_test(tests, doubles_at_the_ends_of_ranges_are_written_as_printf_does);
    tcase_add_test(tests, reals_are_rounded_half_to_even);
    tcase_add_test(tests, times_and_integers_are_written_as_printf_does);
    tcase_add_test(tests, floats_read_back);
    tcase_add_test(tests, hexadecimal_digits_are_those_of_printf);
    tcase_add_test(tests, significant_digits_are_rounded_half_to_even);
    tcase_add_test(tests, every_byte_is_escaped_at_every_place);
    tcase_add_test(tests, members_and_elements_have_their_commas);
    tcase_add_test(tests, answers_are_whole_wherever_the_buffer_grows);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
