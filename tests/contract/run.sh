#!/bin/sh
# Tests openapi.yaml with other tools: linters, two client generators, a validating proxy.
#     sh tests/contract/run.sh PROGRAM GAME
# GAME is the program built from examples/game_server.c.
# Installs and generates everything in build/contract.
set -eu
program=$1
game=$2
here=tests/contract
work=build/contract

if ! command -v npm >/dev/null 2>&1; then
    echo 'SKIP: npm is not installed. Not done: redocly, spectral, generated clients, prism'
    exit 0
fi

mkdir -p "$work"
cp "$here/package.json" "$here/package-lock.json" "$here/call.ts" "$here/play.mjs" "$work/"
if ! cmp -s "$work/package-lock.json" "$work/installed.json"; then
    if ! (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
        echo 'SKIP: npm cannot install. Not done: redocly, spectral, generated clients, prism'
        exit 0
    fi
    cp "$work/package-lock.json" "$work/installed.json"
fi
PATH=$PWD/$work/node_modules/.bin:$PATH

echo '=== linters'
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
redocly lint --config "$here/redocly.yaml" openapi.yaml
spectral lint --fail-severity hint --ruleset "$here/spectral.yaml" openapi.yaml

echo '=== generated clients'
openapi-typescript openapi.yaml --output "$work/types.ts"
swagger-typescript-api generate --silent --enum-style union --path openapi.yaml --output "$work" \
    --name client.ts

compile() {
    (cd "$work" && tsc --strict --target es2022 --module nodenext "$@")
}
compile call.ts

# call.ts uses both generated clients. With a misspelling in it, the compiler must report one error
# for each client that names the misspelt word.
misspell() {
    sed "$2" "$here/call.ts" > "$work/misspelled.ts"
    found=$(compile --noEmit misspelled.ts | grep -cE "^misspelled.ts.* error .*'\"?$3\"?'" || true)
    if [ "$found" -ne 2 ]; then
        echo "A misspelled $1 ($3) is a compile error of $found of the two clients" >&2
        exit 1
    fi
    echo "  a misspelled $1 does not compile"
}
misspell member "s/ target: 'bob'/ taget: 'bob'/" taget
misspell 'value of an enum' "s/event: 'spawn'/event: 'spwan'/" spwan
misspell path 's|{match}/ticks|{match}/tics|; s/postTick/postTic/' '(.*/tics|postTic)'

echo '=== a real call, and a validating proxy'
node "$work/play.mjs" "$program" "$game" "$work"
