/*
 * Reads mutated request bodies with the direct reader and by a tree of values. Compares which
 * bodies both accept, and every field; see hs_fuzz_body_decode. Runs without sanitizers, so that a
 * hundred million bodies take an hour and not a day.
 *
 *   differential COUNT [SEED [CORPUS]]   CORPUS: tests/fuzz/corpus
 *
 * Each round of half a million bodies begins with the corpus and its compact forms. Short bodies
 * that the direct reader accepts replace others, so that mutations accumulate. The last line of
 * output has the counts. A difference is written to differential-SEED.json, and the exit code is 1.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/fuzz/body.h"
#include "tests/support/fuzz/json_mutate.h"

enum { MOST = 4096, KEPT = 768, POOL = 8192, ROUND = 500000, MUTATIONS = 3 };

static const struct {
    const char *name;
    enum hs_route route;
} posts[] = {{"frames", HS_ROUTE_FRAMES_POST},
             {"moves", HS_ROUTE_MOVES_POST},
             {"shots", HS_ROUTE_SHOTS_POST},
             {"hits", HS_ROUTE_HITS_POST},
             {"ticks", HS_ROUTE_TICKS_POST}};

enum { POSTS = sizeof posts / sizeof *posts };

static struct pool {
    struct {
        uint8_t *data;
        size_t size;
    } bodies[POOL];
    size_t count;
} pools[POSTS];

static struct {
    /* all bodies; those without a fault; those that the direct reader accepts */
    unsigned long done, decoded, direct;
} counts;

static struct hs_random dice;

/* Keeps a copy of the body. If the pool is full, the copy replaces another body. */
static void keep(struct pool *pool, const void *data, size_t size)
{
    size_t at = pool->count < POOL ? pool->count++ : (size_t)hs_random_index(&dice, POOL);
    free(pool->bodies[at].data);
    pool->bodies[at].data = malloc(size + 1);
    if (pool->bodies[at].data == NULL)
        exit(2);
    memcpy(pool->bodies[at].data, data, size);
    pool->bodies[at].size = size;
}

/* Compares both readers on one body. Returns a sentence about the difference, or NULL. */
static const char *read_both(size_t post, const uint8_t *data, size_t size, bool keeps)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request tick = {0};
    hs_fuzz_body_open(&body, data, size);
    const char *fault = hs_fuzz_body_decode(&body, posts[post].route, &tick);
    bool is_fine = body.problem.code == HS_PROBLEM_NONE && body.malformed.count == 0;
    counts.done++;
    counts.decoded += is_fine;
    counts.direct += body.is_direct;
    if (keeps && is_fine) {
        char *compact = hs_fuzz_body_compact(body.root);
        if (strlen(compact) <= MOST)
            keep(&pools[post], compact, strlen(compact));
        free(compact);
    }
    hs_fuzz_body_close(&body);
    return fault;
}

static size_t mutate(const struct pool *pool, uint8_t out[MOST])
{
    size_t from = (size_t)hs_random_index(&dice, (int)pool->count), size = pool->bodies[from].size;
    memcpy(out, pool->bodies[from].data, size);
    if (hs_random_chance(&dice, 0.1)) {
        uint8_t crossed[MOST];
        size_t other = (size_t)hs_random_index(&dice, (int)pool->count);
        size_t len = hs_json_cross(out, size, pool->bodies[other].data, pool->bodies[other].size,
                                   crossed, MOST, &dice);
        memcpy(out, crossed, len);
        size = len > 0 ? len : size;
    }
    for (int i = hs_random_index(&dice, MUTATIONS); i >= 0; i--) {
        size_t mutated = hs_json_mutate(out, size, MOST, &dice);
        size = mutated > 0 ? mutated : size;
    }
    return size;
}

static void report(const char *what)
{
    printf("%s %lu bodies: %lu without a fault, %lu read directly\n", what, counts.done,
           counts.decoded, counts.direct);
    fflush(stdout);
}

static void run(unsigned long count, unsigned long seed)
{
    static uint8_t body[MOST];
    for (unsigned long i = 0; i < ROUND && counts.done < count; i++) {
        size_t post = i % POSTS;
        size_t size = mutate(&pools[post], body);
        unsigned long before = counts.direct;
        const char *fault = read_both(post, body, size, false);
        if (fault != NULL) {
            char name[64];
            snprintf(name, sizeof name, "differential-%lu.json", seed);
            FILE *file = fopen(name, "wb");
            if (file != NULL) {
                fwrite(body, 1, size, file);
                fclose(file);
            }
            report("failed after");
            printf("POST %s, %s: %s\n", posts[post].name, name, fault);
            exit(1);
        }
        if (counts.direct > before && size <= KEPT && hs_random_chance(&dice, 0.1))
            keep(&pools[post], body, size);
    }
}

static void load(size_t post, const char *corpus)
{
    char path[1024];
    while (pools[post].count > 0) {
        free(pools[post].bodies[--pools[post].count].data);
        pools[post].bodies[pools[post].count].data = NULL;
    }
    snprintf(path, sizeof path, "%s/%s", corpus, posts[post].name);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        static uint8_t data[MOST];
        snprintf(path, sizeof path, "%s/%s/%s", corpus, posts[post].name, entry->d_name);
        FILE *file = entry->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        size_t size = file != NULL ? fread(data, 1, sizeof data, file) : 0;
        if (file != NULL)
            fclose(file);
        if (size == 0)
            continue;
        keep(&pools[post], data, size);
        const char *fault = read_both(post, data, size, true);
        if (fault != NULL) {
            printf("%s: %s\n", path, fault);
            exit(1);
        }
    }
    if (folder != NULL)
        closedir(folder);
    if (pools[post].count == 0) {
        fprintf(stderr, "no corpus in %s/%s\n", corpus, posts[post].name);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4 || strtoul(argv[1], NULL, 10) == 0) {
        fprintf(stderr, "usage: differential COUNT [SEED [CORPUS]]\n");
        return 2;
    }
    unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : (unsigned long)time(NULL);
    dice = hs_random_start(seed, 0);
    printf("seed %lu\n", seed);
    unsigned long count = strtoul(argv[1], NULL, 10);
    while (counts.done < count) {
        for (size_t post = 0; post < POSTS; post++)
            load(post, argc > 3 ? argv[3] : "tests/fuzz/corpus");
        run(count, seed);
        report("read");
    }
    report("no difference in");
    return 0;
}
