// Hindsight as a library in a C++17 game server: four ticks, one claim that hits and one that
// misses.
//
//     g++ -std=c++17 examples/library.cpp $(pkg-config --cflags --libs hindsight) -o library
//
// With `hindsight-static` instead of `hindsight`, the program needs no libhindsight.so at run time.
#include <hindsight/hit.h>
#include <hindsight/match.h>
#include <hindsight/ruleset.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace
{

// Destroys a library handle when its owner goes out of scope.
template <typename T, void (*destroy)(T *)> struct deleter {
    void operator()(T *handle) const
    {
        destroy(handle);
    }
};
using ruleset = std::unique_ptr<hs_ruleset, deleter<hs_ruleset, hs_ruleset_destroy>>;
using match = std::unique_ptr<hs_match, deleter<hs_match, hs_match_destroy>>;

match open_match(const hs_ruleset &rules)
{
    hs_match_limits limits{};
    limits.players = 64;
    limits.samples = 128;
    limits.movers = 16;
    match opened{hs_match_create(&rules, &limits)};
    if (!opened)
        throw std::runtime_error("out of memory");
    return opened;
}

// Posts the poses that the server simulated. Times are microseconds on the server's clock.
void post_tick(hs_match &game, int64_t time_us, double bob_y)
{
    hs_player_frame players[2]{};
    players[0].player = HS_STR("alice");
    players[0].weapon = HS_STR("rifle");
    // The match keeps the round trip, like the weapon, until another value is posted.
    players[0].fields = HS_FIELD_RTT;
    players[0].rtt_us = 40000;
    players[1].player = HS_STR("bob");
    players[1].position = {20, bob_y, 0};
    hs_frame frame{};
    frame.time_us = time_us;
    frame.players = players;
    frame.player_count = 2;
    hs_frame_result results[2];
    unsigned flags = 0;
    if (!hs_match_post_frame(&game, &frame, results, &flags))
        throw std::runtime_error("out of memory");
}

// Verifies a client's claim. Apply the damage only if hs_hit_record succeeds.
void verify(hs_match &game, uint64_t shot, int64_t hit_time_us, hs_vec end)
{
    hs_hit_claim claim{};
    claim.shot = shot;
    claim.shooter = HS_STR("alice");
    claim.target = HS_STR("bob");
    claim.hit_time_us = hit_time_us;
    claim.start = {0, 0, 1.6};
    claim.end = end;
    const auto result = std::make_unique<hs_hit_result>(); // too large for some stacks
    hs_hit_verify(&game, &claim, hit_time_us + 125000, result.get());
    std::printf("%s %s, damage %.2f", hs_verdict_name(result->verdict),
                hs_reason_name(result->reason), result->damage_total);
    if (result->has_margin)
        std::printf(", missed by %.3f", result->margin);
    std::puts("");
    if (!hs_hit_record(&game, &claim, result.get(), HS_STR("any answer")))
        throw std::runtime_error("not recorded: send it again");
}

} // namespace

int main()
try {
    // The match borrows the ruleset, so the ruleset is destroyed last.
    const ruleset rules{hs_ruleset_create_builtin(&hs_builtin_rulesets[1])}; // metres
    if (!rules)
        throw std::runtime_error("out of memory");
    const match game = open_match(*rules);
    for (int tick = 0; tick < 4; tick++)
        post_tick(*game, 12400000 + 50000 * tick, 3.4 + 0.2 * tick);
    verify(*game, 1042, 12425000, {20, 3.5, 1.6});
    verify(*game, 1043, 12525000, {20, 4.4, 1.6});
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
