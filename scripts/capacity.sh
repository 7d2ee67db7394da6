#!/bin/sh
# The worksheet of docs/deploy.md: processors and memory for matches, from the rows that
# bench_capacity wrote to build/bench.jsonl on this machine.
#   sh scripts/capacity.sh MATCHES PLAYERS HZ BONES [FORM [BENCH_FILE]]
#     FORM: plain, brief or compact (docs/bench.md)
set -eu
if [ $# -lt 4 ]; then
    sed -n 's/^#   sh /usage: sh /p' "$0" >&2
    exit 2
fi
awk -v matches="$1" -v players="$2" -v hz="$3" -v bones="$4" -v form="${5:-plain}" '
    # Rows {"name":"capacity_64x16_plain_matches","value":52,..}: 64 players, 16 bones each.
    match($0, "\"capacity_[0-9x]+_" form "_(matches|match_bytes)\"") {
        split(substr($0, RSTART + 10, RLENGTH - 11), part, "_")
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
    # A tick costs base + players * (root + bones * bone); and so does the memory of a match.
    function model(cost,    root, bone) {
        root = (cost[100, 0] - cost[16, 0]) / 84
        bone = (cost[100, 16] - cost[100, 0]) / 1600
        return cost[16, 0] - 16 * root + players * (root + bones * bone)
    }
    END {
        if (!((100, 0) in us) || !((16, 0) in us) || !((100, 16) in us)) {
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
