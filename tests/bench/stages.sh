#!/bin/sh
# Prints how many instructions each stage of the service runs for one tick. The numbers are means
# over the last 100 of 200 ticks of a match. bench_capacity.c explains the arguments:
#   sh tests/bench/stages.sh [PLAYERS [BONES [FORM]]]         default: 64 0 plain
# $HS_PROGRAM (build/hindsight) runs under callgrind, which does not count the kernel's work.
set -eu
players=${1:-64} bones=${2:-0} form=${3:-plain}
export HS_PROGRAM="${HS_PROGRAM:-build/hindsight}"
bench=${HS_BENCH:-build/release/tests/bench/bench_capacity}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Prints lines "INSTRUCTIONS FUNCTION". A copy of a function that the compiler made counts as that
# function.
annotate() {
    callgrind_annotate --inclusive=yes --auto=no --threshold=100 "$1" | tr -d , |
        sed -n 's/^ *\([0-9]*\) ([^)]*)  *[^ ]*:\([A-Za-z_][A-Za-z0-9_]*\).*/\1 \2/p'
}

for ticks in 100 200; do
    HS_WRAP="valgrind -q --tool=callgrind --callgrind-out-file=$folder/$ticks" \
        "$bench" "$players" "$bones" "$form" "$ticks"
    annotate "$folder/$ticks" >"$folder/$ticks.txt"
done

# The last stage has the instructions that belong to none of the others.
awk -v first="$folder/100.txt" '
    { if (FILENAME == first) { if ($1 > a[$2]) a[$2] = $1 } else if ($1 > b[$2]) b[$2] = $1 }
    function cost(functions,    names, count, i, sum) {
        count = split(functions, names, " ")
        for (i = 1; i <= count; i++)
            sum += (b[names[i]] - a[names[i]]) / 100
        return sum
    }
    function row(name, value) { printf "%-40s %10d\n", name, value }
    END {
        all = cost("MHD_run")
        read = cost("hs_ticks_read_directly hs_body_parse")
        frames = cost("hs_match_post_frame")
        moves = cost("hs_match_check_move")
        claims = cost("hs_shot_verify_within hs_hit_verify_within")
        answers = cost("hs_frames_encode hs_move_encode hs_shot_encode hs_hit_encode")
        row("read the body", read)
        row("store the frame", frames)
        row("check the moves", moves)
        row("verify shots and claims", claims)
        row("write the answer", answers)
        row("HTTP, locks, metrics and the rest", all - read - frames - moves - claims - answers)
        row("the whole tick", all)
    }' "$folder/100.txt" "$folder/200.txt"
