#!/bin/sh
# Style, static analysis, headers that compile alone. Prints what is wrong.
set -u
cd "$(dirname "$0")/.." || exit 1
faults=0
fault() {
    printf '%s\n' "$*"
    faults=$((faults + 1))
}
sources=$(git ls-files '*.c' '*.h')
mkdir -p build
flags="-std=c11 -I. -Ibuild/release/gen -D_GNU_SOURCE ${PKG_FLAGS:-}"

echo '== clang-format'
# shellcheck disable=SC2086 # lists of words, here and below
clang-format-14 --dry-run -Werror $sources >build/format.log 2>&1 ||
    fault "$(grep -c 'error:' build/format.log) places are not formatted: make format"

echo '== headers compile alone'
# shellcheck disable=SC2016 # the inner shell expands it, here and below
git ls-files '*.h' | xargs -P "$(nproc)" -n 1 sh -c '
    cc '"$flags"' -Wall -Wextra -Werror -fsyntax-only -x c "$1" 2>&1 |
        sed -n "1s|^|$1 does not compile alone: |p"' header >build/headers.log
[ -s build/headers.log ] && fault "$(cat build/headers.log)"

echo '== whole words that do not belong here'
bad=$(git grep -nIE '\b(TODO|FIXME|XXX|HACK)\b' -- '*.c' '*.h' '*.sh' Makefile ':!scripts/lint.sh')
[ -z "$bad" ] || fault "left for later: $bad"

echo '== threads that jemalloc does not prepare (service/system/thread.h)'
bad=$(git grep -nw pthread_create -- 'service/*.c' ':!service/system/thread.c')
[ -z "$bad" ] || fault "call hs_thread_start: $bad"

echo '== plain English'
plain_english='*.md *.sh *.c *.h *.def openapi.yaml deploy Makefile :!scripts/lint.sh'
# Players are "they"; the others are words and phrases that have a plainer form everywhere.
words='he|his|him|himself|anew|lest|likewise|wherefore|whoever|whomever|hereof|thereof'
words="$words|as ever|there (is|are|was|were) none|(is|are|was|were|be|been) (told|answered [0-9]+)"
# shellcheck disable=SC2086
bad=$(git grep -nIiE "\\b($words)\\b" -- $plain_english)
[ -z "$bad" ] || fault "not plain English: $bad"

echo '== clang-tidy'
# The static analyzer follows each function for up to 225,000 steps by default. With 50,000 the whole step
# takes less than half the time.
steps='-Xclang -analyzer-config -Xclang max-nodes=50000'
# shellcheck disable=SC2016
git ls-files 'validators/*.c' 'api/*.c' 'service/*.c' 'cli/*.c' |
    xargs -P "$(nproc)" -n 4 sh -c 'clang-tidy-14 --quiet "$@" -- '"$flags $steps"' 2>/dev/null' tidy \
        >build/tidy.log || {
    grep -E '(error|warning):' build/tidy.log | sort -u
    fault 'clang-tidy has findings'
}

# Without optimization a call stays a call. So what the linker drops from the program (cli, service,
# api) or from the shared library (validators) is called by nothing that is shipped; tests do not count.
echo '== functions nothing calls'
version=$(sed -n 's/.*HS_VERSION "\(.*\)"/\1/p' service/system/version.h)
rm -f build/unused/hindsight build/unused/libhindsight.so.*
LC_ALL=C make -j"$(nproc)" VARIANT=unused OPT=-O0 CFLAGS='-ffunction-sections -fdata-sections' \
    LDFLAGS=-Wl,--gc-sections,--print-gc-sections,--whole-archive,-z,muldefs \
    build/unused/hindsight "build/unused/libhindsight.so.$version" >build/unused.log 2>&1 ||
    fault "the build for this step fails: $(tail -n 1 build/unused.log)"
unused=$(sed -n "s/.*removing unused section '\.text\.\([a-z][a-z0-9_]*\)' in file '.*\(libapp\.a(\|\/obj\/\)\(.*\)\.o.*/\3.c: \1/p" \
    build/unused.log)
[ -z "$unused" ] || fault "delete what nothing calls, or make it part of the library's interface:
$unused"

if command -v shellcheck >/dev/null 2>&1; then
    echo '== shellcheck'
    # shellcheck disable=SC2046
    shellcheck -s sh $(git ls-files '*.sh') || fault 'shellcheck'
fi

[ "$faults" -eq 0 ] && echo 'lint: clean'
[ "$faults" -eq 0 ]
