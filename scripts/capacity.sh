#!/bin/sh
# Prints the worksheet of docs/deploy.md: how many processors and how much memory matches need. The
# figures are from the rows that bench_capacity wrote to build/bench.jsonl on this machine.
#   sh scripts/capacity.sh MATCHES PLAYERS HZ BONES [FORM [BENCH_FILE]]
#     FORM: plain, brief or compact (docs/bench.md)
set -eu
if [ $# -lt 4 ]; then
    sed -n 's/^#   sh /usage: sh /p' "$0" >&2
    exit 2
fi
awk -v matches="$1" -v players="$2" -v hz="$3" -v bones="$4" -v form="${5:-plain}" '
    # Rows {"name":"capacity_64x16_plain_matches","value":52,..}: 64 players, 16 bones each.
    match($0, "^.\"name\":\"capacity_[0-9x]+_" form "_(matches|match_bytes)\"") {
        split(substr($0, RSTART + 18, RLENGTH - 19), part, "_")
        split(part[1], size, "x")
        value = $0
        sub(/.*"value":/, "", value)
        if (value + 0 <= 0)
            next
        if (part[4] == "bytes")
            bytes[size[1], size[2] + 0] = value + 0
        else
            us[size[1], size[2] + 0] = 1e6 / 60 / (value + 0)
    }
    # The cost for `players`, on the straight line between the next smaller and the next larger
    # measured number of players. `with` is the number of bones: 0 or 16.
    function line(cost, with,    low, high) {
        low = players < 16 ? 10 : players < 64 ? 16 : 64
        high = low == 10 ? 16 : low == 16 ? 64 : 100
        return cost[low, with] + (players - low) * (cost[high, with] - cost[low, with]) / (high - low)
    }
    # The additional cost of bones is proportional to their number.
    function model(cost) {
        return line(cost, 0) + bones / 16 * (line(cost, 16) - line(cost, 0))
    }
    END {
        for (i = split("10 16 64 100", sizes, " "); i > 0; i--)
            missing += !((sizes[i], 0) in us) + !((sizes[i], 16) in us)
        if (missing > 0) {
            print "there are no rows of the form " form ": run make bench" > "/dev/stderr"
            exit 1
        }
        tick = model(us)
        busy = matches * hz * tick / 1e6
        printf "a tick                %8.0f us of a processor\n", tick
        printf "matches a processor   %8.0f\n", 1e6 / hz / tick
        printf "processors, all busy  %8.1f\n", busy
        printf "processors to plan    %8.0f   at most 60 %% busy\n", int(busy / 0.6) + 1
        printf "memory                %8.1f GB\n", matches * model(bytes) / 1e9
    }' "${6:-build/bench.jsonl}"
