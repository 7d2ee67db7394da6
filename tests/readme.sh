#!/bin/sh
# Types commands of README.md into a shell at a terminal, line by line, and compares their output
# with the page. Blocks marked `sh` are typed; an unmarked block after such a block is its output.
#     sh tests/readme.sh setup SHELL...     the blocks before the one with `make run`
#     sh tests/readme.sh service SHELL...   that block and those after it
#     sh tests/readme.sh block WORD PAGE    prints the first block of PAGE that has WORD
# SHELL... is the command that starts bash in the right folder. HS_README_SKIP is an extended regular
# expression: commands that match it are not typed. `make run` gets a separate terminal.
set -eu
limit_s=${HS_README_SECONDS:-7200} # time limit of one command
work=$(mktemp -d)
end_terminals() {
    exec 3>&- 4>&-
    for pid in "$work"/*.pid; do
        [ ! -e "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || true
    done
    wait
    rm -rf "$work"
}
trap end_terminals EXIT
trap 'exit 130' HUP INT TERM

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# WORK/NN.sh: the commands of a block; WORK/NN.out: their output on the page.
split() {
    awk -v folder="$work" '
        /^```/ {
            open = !open
            name = sprintf("%s/%02d.%s", folder, ++count, $0 == "```sh" ? "sh" : "out")
            next
        }
        open { print > name }' "$1"
}

# Starts SHELL... at terminal NAME. The prompt of the shell becomes a whole line: the exit code of
# the last command, or `more`.
open_terminal() {
    name=$1
    shift
    mkfifo "$work/$name.in"
    script -qfc "stty -echo; exec $*" /dev/null \
        <"$work/$name.in" >"$work/$name.log" 2>&1 &
    echo $! >"$work/$name.pid"
}

# Waits until terminal NAME has printed `count` lines that match the regular expression.
await() {
    tenths=0
    while [ "$(grep -cE "$2" "$work/$1.log")" -lt "$3" ]; do
        kill -0 "$(cat "$work/$1.pid")" 2>/dev/null || fail "terminal $1 ended: $(cat "$work/$1.log")"
        [ "$tenths" -lt "$((limit_s * 10))" ] || fail "no answer in $limit_s s: $(cat "$work/$1.log")"
        sleep 0.1
        tenths=$((tenths + 1))
    done
}

# Types a line at the terminal `calls`. `prompt` gets the next prompt of the shell.
type_line() {
    printf '%s\n' "$1" >&3
    prompts=$((prompts + 1))
    await calls '^=-= ' "$prompts"
    prompt=$(tr -d '\r' <"$work/calls.log" | sed -n 's/^=-= //p' | tail -n 1)
}

start_service() {
    printf '$ %s\n' "$1"
    printf '%s\n' "$1" >&4
    await service ' ready ' 1
    service_runs=yes
}

# Types a block. `typed` counts the commands. Their output is in WORK/answer.
type_block() {
    typed=0 prompt=0
    begin=$(wc -c <"$work/calls.log")
    while IFS= read -r line <&5; do
        if [ "$prompt" != more ] && printf %s "$line" | grep -qE "${HS_README_SKIP:-^\$}"; then
            printf 'not typed: %s\n' "$line"
            continue
        fi
        typed=$((typed + 1))
        case $line in 'make run'*) start_service "$line" && continue ;; esac
        printf '$ %s\n' "$line"
        type_line "$line"
        case $prompt in
            0 | more) ;;
            *) fail "\"$line\" ends with code $prompt: $(tail -n 40 "$work/calls.log")" ;;
        esac
    done 5<"$1"
    tail -c +"$((begin + 1))" "$work/calls.log" | tr -d '\r' | grep -v '^=-= ' >"$work/answer" || true
}

# Turns an answer on the page into JSON: `...` becomes a member or an element with this text.
well_formed() {
    awk '
        function element() {
            if (!value && !first)
                printf ","
            value = first = 0
        }
        { text = text $0 "\n" }
        END {
            for (first = 1; text != ""; text = substr(text, size + 1)) {
                size = 1
                if (match(text, /^"([^"\\]|\\.)*"/)) {
                    element()
                    printf "%s", substr(text, 1, size = RLENGTH)
                } else if (text ~ /^\.\.\./) {
                    element()
                    printf "%s", kinds ~ /\{$/ ? "\"...\":0" : "\"...\""
                    size = 3
                } else if (match(text, /^[-+.0-9a-zA-Z]+/)) {
                    element()
                    printf "%s", substr(text, 1, size = RLENGTH)
                } else if (text ~ /^[[{]/) {
                    element()
                    printf "%s", substr(text, 1, 1)
                    kinds = kinds substr(text, 1, 1)
                    first = 1
                } else if (text ~ /^[]}]/) {
                    printf "%s", substr(text, 1, 1)
                    kinds = substr(kinds, 1, length(kinds) - 1)
                    first = 0
                } else if (text ~ /^:/) {
                    printf ":"
                    value = 1
                }
            }
        }' "$1"
}

# Prints where the JSON answer differs from the page. Numbers may differ by one in the last digit
# that the page prints. `...` stands for any other members or elements, and for any end of a string.
differences() {
    jq -rn --argjson page "$1" --argjson answer "$2" '
        def differ($page; $answer; $at):
            def no: "\($at): \($answer | tojson), not \($page | tojson)";
            if ($page | type) != ($answer | type) then no
            elif ($page | type) == "object" then
                (($page | keys) - ["..."]) as $names
                | ($names[] as $name
                    | if $answer | has($name)
                      then differ($page[$name]; $answer[$name]; "\($at)/\($name)")
                      else "\($at): no \($name)" end),
                  (if $page | has("...") then empty
                   else (($answer | keys) - $names)[] | "\($at): \(.) is not on the page" end)
            elif ($page | type) == "array" then
                ($page - ["..."]) as $elements
                | if $elements == $page and ($page | length) != ($answer | length) then no
                  else
                    reduce $elements[] as $element ({left: $answer, lost: []};
                        ([.left | to_entries[]
                            | select([differ($element; .value; "")] == []) | .key][0]) as $found
                        | if $found == null then .lost += [$element]
                          else .left = .left[$found + 1:] end)
                    | .lost[] | "\($at): no element \(tojson) in \($answer | tojson)"
                  end
            elif ($page | type) == "number" then
                (($page | tostring | split(".")[1] // "") | length) as $digits
                | if $page == $answer or ($digits > 0
                      and ($page - $answer | fabs) <= 1.000001 * pow(10; -$digits))
                  then empty else no end
            elif ($page | type) == "string" and ($page | endswith("...")) then
                if $answer | startswith($page[:-3]) then empty else no end
            elif $page == $answer then empty else no end;
        differ($page; $answer; "")'
}

compare() {
    answers=$((answers + 1))
    if ! grep -q '^{' "$1"; then
        awk 'BEGIN { RS = "\001" } NR == 1 { page = $0; next } { found = index($0, page) }
            END { exit !found }' "$1" "$work/answer" || fail "the page prints$(printf '\n%s' "$(cat "$1")")
not$(printf '\n%s' "$(cat "$work/answer")")"
        return
    fi
    answer=$(grep '^{' "$work/answer" | tail -n 1)
    differ=$(differences "$(well_formed "$1")" "$answer") || fail "no JSON: $1"
    [ -z "$differ" ] || fail "$differ
in $answer"
}

# Ctrl-C ends the service at once, and the shell prompts again.
interrupt_service() {
    printf '\003' >&4
    before=$(date +%s%N)
    await service '^=-= ' 2
    took=$((($(date +%s%N) - before) / 1000000))
    [ "$took" -lt 2000 ] || fail "after Ctrl-C the service ran for $took ms"
    echo "Ctrl-C ends the service in $took ms"
}

part=$1
shift
if [ "$part" = block ]; then
    split "$2"
    found=$(grep -lF -- "$1" "$work"/*.sh "$work"/*.out 2>/dev/null | sort | head -n 1)
    [ -n "$found" ] || fail "no block with $1 in $2"
    cat "$found"
    exit 0
fi

split README.md
service_runs=no prompts=1 answers=0 commands=0 typed=0 now=setup
open_terminal calls "$@"
exec 3>"$work/calls.in"
open_terminal service "$@"
exec 4>"$work/service.in"
printf '%s\n' 'PS1="\n=-= \$?\n" PS2="\n=-= more\n"' | tee /dev/fd/4 >&3
await calls '^=-= ' 1
await service '^=-= ' 1
for block in "$work"/[0-9]*; do
    case $block in *.sh) grep -q '^make run' "$block" && now=service ;; esac
    [ "$now" = "$part" ] || continue
    case $block in
        *.sh)
            type_block "$block"
            commands=$((commands + typed))
            ;;
        *) [ "$typed" -eq 0 ] || compare "$block" ;;
    esac
done
[ "$service_runs" = no ] || interrupt_service
[ "$commands" -gt 0 ] || fail 'no command was typed'
echo "$commands lines typed, $answers answers as printed on the page"
