/* Which answers meet an expectation, and which do not. */
#include <check.h>
#include <string.h>

#include "cli/play/scenario/expect.h"
#include "tests/support/run_suite.h"

struct sample {
    bool holds;
    double unit;
    const char *expected, *actual;
    const char *fault; /* part of the expected fault; NULL: any fault */
};

static const struct sample samples[] = {
    /* Objects: only the named members matter. */
    {true, 1, "{}", "{\"a\":1}", NULL},
    {true, 1, "{\"a\":1}", "{\"b\":2,\"a\":1}", NULL},
    {false, 1, "{\"a\":1}", "{\"b\":1}", "/a: is missing"},
    {false, 1, "{\"a\":{\"b\":true}}", "{\"a\":{\"b\":false}}", "/a/b: expected true, got false"},
    {false, 1, "{\"a\":{}}", "{\"a\":[]}", "/a"},
    {true, 1, "{\"a\":null}", "{\"a\":null}", NULL},
    {false, 1, "{\"a\":null}", "{}", "/a: is missing"},
    {true, 1, "{\"a\":\"ok\"}", "{\"a\":\"ok\"}", NULL},
    {false, 1, "{\"a\":\"ok\"}", "{\"a\":\"ok_lenient\"}", "/a"},
    /* Arrays: length and elements matter. */
    {true, 1, "{\"a\":[1,{\"b\":2}]}", "{\"a\":[1,{\"b\":2,\"c\":3}]}", NULL},
    {false, 1, "{\"a\":[1]}", "{\"a\":[1,2]}", "/a"},
    {false, 1, "{\"a\":[]}", "{\"a\":[1]}", "/a"},
    {true, 1, "{\"a\":[]}", "{\"a\":[]}", NULL},
    {false, 1, "{\"a\":[1,2]}", "{\"a\":[1,3]}", "/a/1: expected 2, got 3"},
    {false, 1, "{\"a\":[[0],[1]]}", "{\"a\":[[0],[2]]}", "/a/1/0"},
    {false, 1, "{\"a\":[1]}", "{\"a\":{\"0\":1}}", "/a"},
    /* Numbers: the meaning of their field decides the tolerance. */
    {true, 1, "{\"damage_total\":40}", "{\"damage_total\":40.0}", NULL},
    {false, 1, "{\"damage_total\":40}", "{\"damage_total\":40.001}", NULL},
    {true, 1, "{\"alpha\":0.5}", "{\"alpha\":0.500001}", NULL},
    {false, 1, "{\"alpha\":0.5}", "{\"alpha\":0.50001}", NULL},
    {true, 1, "{\"distance\":20.104}", "{\"distance\":20.1034}", NULL},
    {false, 1, "{\"distance\":20.104}", "{\"distance\":20.1029}", NULL},
    {true, 100, "{\"distance\":2010.4}", "{\"distance\":2010.31}", NULL},
    {false, 100, "{\"distance\":2010.4}", "{\"distance\":2010.29}", NULL},
    {true, 100, "{\"point\":[0,0,5]}", "{\"point\":[0.09,0,5]}", NULL},
    {false, 100, "{\"point\":[0,0,5]}", "{\"point\":[0,0,5.2]}", "/point/2"},
    {false, 100, "{\"normal\":[0,0,1]}", "{\"normal\":[0,0.01,1]}", "/normal/1"},
    {true, 100, "{\"normal\":[0,0,1]}", "{\"normal\":[0,0.0009,1]}", NULL},
    {true, 100, "{\"measured\":5,\"unit\":\"length\"}", "{\"measured\":5.09,\"unit\":\"length\"}",
     NULL},
    {false, 100, "{\"measured\":5}", "{\"measured\":5.09,\"unit\":\"seconds\"}", "/measured"},
    {false, 1, "{\"time\":1700000000.85}", "{\"time\":1700000000.851}", "/time"},
    {true, 1, "{\"time\":1700000000.85}", "{\"time\":1700000000.850001}", NULL},
    {false, 1, "{\"a\":1}", "{\"a\":\"1\"}", NULL},
    {false, 1, "{\"a\":0}", "{\"a\":false}", NULL},
    /* Operators. */
    {true, 1, "{\"a\":{\"$absent\":true}}", "{}", NULL},
    {false, 1, "{\"a\":{\"$absent\":true}}", "{\"a\":null}", "/a: should not be there"},
    {true, 1, "{\"a\":{\"$any\":true}}", "{\"a\":null}", NULL},
    {false, 1, "{\"a\":{\"$any\":true}}", "{}", "/a: is missing"},
    {true, 1, "{\"a\":{\"$near\":3,\"$within\":0.5}}", "{\"a\":3.5}", NULL},
    {false, 1, "{\"a\":{\"$near\":3,\"$within\":0.5}}", "{\"a\":3.6}", "/a"},
    {false, 1, "{\"distance\":{\"$near\":3,\"$within\":1e-5}}", "{\"distance\":3.0001}", NULL},
    {true, 1, "{\"a\":{\"$near\":[1,2],\"$within\":0.5}}", "{\"a\":[1.4,1.6]}", NULL},
    {false, 1, "{\"a\":{\"$near\":[1,2],\"$within\":0.5}}", "{\"a\":[1.4,1.4]}", "/a/1"},
    {false, 1, "{\"a\":{\"$near\":3}}", "{\"a\":3}", "operator"},
    {false, 1, "{\"a\":{\"$nearly\":3}}", "{\"a\":3}", "operator"},
    {true, 1, "{\"a\":{\"$contains\":[2,1]}}", "{\"a\":[1,2,3]}", NULL},
    {false, 1, "{\"a\":{\"$contains\":[4]}}", "{\"a\":[1,2,3]}", "no 4 in"},
    {false, 1, "{\"a\":{\"$contains\":[1]}}", "{}", "/a"},
    {true, 1, "{\"a\":{\"$contains\":[{\"b\":2}]}}", "{\"a\":[{\"b\":1},{\"b\":2,\"c\":0}]}", NULL},
    {false, 1, "{\"a\":{\"$contains\":[{\"b\":2,\"c\":1}]}}",
     "{\"a\":[{\"b\":1,\"c\":1},{\"b\":2,\"c\":0}]}", NULL},
    {true, 1, "{\"a\":{\"$lacks\":[4]}}", "{\"a\":[1,2,3]}", NULL},
    {true, 1, "{\"a\":{\"$lacks\":[4]}}", "{\"a\":[]}", NULL},
    {false, 1, "{\"a\":{\"$lacks\":[4,2]}}", "{\"a\":[1,2,3]}", "unwanted 2"},
    {false, 1, "{\"a\":{\"$lacks\":[4]}}", "{}", "/a"},
    {true, 1, "{\"a\":{\"$size\":2}}", "{\"a\":[1,2]}", NULL},
    {true, 1, "{\"a\":{\"$size\":3}}", "{\"a\":\"abc\"}", NULL},
    {false, 1, "{\"a\":{\"$size\":2}}", "{\"a\":[1]}", "expected 2 elements, got 1"},
    {true, 1, "{\"a\":{\"$one_of\":[1,\"x\"]}}", "{\"a\":\"x\"}", NULL},
    {false, 1, "{\"a\":{\"$one_of\":[1,\"x\"]}}", "{\"a\":\"y\"}", "/a"},
};

START_TEST(each_pair_meets_its_expectation_or_not)
{
    const struct sample *sample = &samples[_i];
    json_t *expected = json_loads(sample->expected, 0, NULL);
    json_t *actual = json_loads(sample->actual, 0, NULL);
    ck_assert(expected != NULL && actual != NULL);
    char fault[HS_EXPECT_FAULT_MAX];
    bool holds = hs_expect_json(expected, actual, sample->unit, fault);
    ck_assert_msg(holds == sample->holds, "%s against %s: %s", sample->expected, sample->actual,
                  fault);
    ck_assert_msg(holds || strlen(fault) > 0, "no reason for %s", sample->expected);
    ck_assert_msg(sample->fault == NULL || strstr(fault, sample->fault) != NULL,
                  "\"%s\" does not say \"%s\"", fault, sample->fault);
    json_decref(expected);
    json_decref(actual);
}
END_TEST

static bool answer_holds(const char *expect, long status, const char *body)
{
    json_t *expected = json_loads(expect, 0, NULL);
    ck_assert(expected != NULL);
    char fault[HS_EXPECT_FAULT_MAX];
    bool holds = hs_expect_answer(expected, status, body, strlen(body), 1, fault);
    ck_assert(holds || strlen(fault) > 0);
    json_decref(expected);
    return holds;
}

START_TEST(an_answer_must_have_the_expected_status)
{
    ck_assert(answer_holds("{}", 200, ""));
    ck_assert(!answer_holds("{}", 201, ""));
    ck_assert(!answer_holds("{}", 400, "{}"));
    ck_assert(answer_holds("{\"status\":413}", 413, "not json"));
    ck_assert(!answer_holds("{\"status\":413}", 200, "{}"));
    ck_assert(answer_holds("{\"status\":{\"$one_of\":[200,201]}}", 201, ""));
    ck_assert(!answer_holds("{\"status\":{\"$one_of\":[200,201]}}", 204, ""));
}
END_TEST

START_TEST(an_answer_must_have_the_expected_body_and_code)
{
    ck_assert(answer_holds("{\"body\":{\"a\":1}}", 200, "{\"a\":1,\"b\":2}"));
    ck_assert(!answer_holds("{\"body\":{\"a\":1}}", 200, "{\"a\":2}"));
    ck_assert(!answer_holds("{\"body\":{\"a\":1}}", 200, "a: 1"));
    ck_assert(answer_holds("{\"status\":404,\"code\":\"unknown_match\"}", 404,
                           "{\"code\":\"unknown_match\"}"));
    ck_assert(!answer_holds("{\"status\":404,\"code\":\"unknown_match\"}", 404,
                            "{\"code\":\"unknown_route\"}"));
    ck_assert(!answer_holds("{\"status\":404,\"code\":\"unknown_match\"}", 404, "{}"));
    ck_assert_msg(!answer_holds("{\"boddy\":{}}", 200, "{}"), "a misspelt expectation passed");
}
END_TEST

START_TEST(an_answer_must_have_exactly_the_expected_errors)
{
    const char *two = "{\"errors\":[{\"pointer\":\"/a\"},{\"pointer\":\"/b/0\"}]}";
    ck_assert(answer_holds("{\"status\":400,\"errors\":[\"/b/0\",\"/a\"]}", 400, two));
    ck_assert_msg(!answer_holds("{\"status\":400,\"errors\":[\"/a\"]}", 400, two), "one too many");
    ck_assert_msg(!answer_holds("{\"status\":400,\"errors\":[\"/a\",\"/c\"]}", 400, two), "other");
    ck_assert_msg(!answer_holds("{\"status\":400,\"errors\":[\"/a\",\"/a\"]}", 400,
                                "{\"errors\":[{\"pointer\":\"/a\"},{\"pointer\":\"/a\"}]}"),
                  "twice the same");
    ck_assert(!answer_holds("{\"status\":400,\"errors\":[\"/a\"]}", 400, "{}"));
    ck_assert(answer_holds("{\"status\":400,\"errors\":[]}", 400, "{}"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("expect");
    TCase *json = tcase_create("json");
    tcase_add_loop_test(json, each_pair_meets_its_expectation_or_not, 0,
                        (int)(sizeof(samples) / sizeof(samples[0])));
    suite_add_tcase(suite, json);
    TCase *answer = tcase_create("answer");
    tcase_add_test(answer, an_answer_must_have_the_expected_status);
    tcase_add_test(answer, an_answer_must_have_the_expected_body_and_code);
    tcase_add_test(answer, an_answer_must_have_exactly_the_expected_errors);
    suite_add_tcase(suite, answer);
    return hs_run_suite(suite);
}
