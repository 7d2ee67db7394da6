#!/bin/sh
# Runs the example game servers against the service at HINDSIGHT_URL, or starts one for them.
#     sh scripts/example.sh PROGRAM GAME
# GAME is the program built from examples/game_server.c.
set -eu
program=$1
game=$2

if [ -z "${HINDSIGHT_URL:-}" ]; then
    # Variables that the user set for another service must not configure this service.
    for name in $(env | sed -n 's/^\(HINDSIGHT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
    ready=$(mktemp)
    "$program" serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --drain-wait-seconds 0 \
        --data= --log-level error > "$ready" &
    service=$!
    trap 'kill "$service" 2>/dev/null || true; wait "$service" || true; rm -f "$ready"' EXIT
    trap 'exit 1' HUP INT TERM
    while ! grep -q ready "$ready"; do
        kill -0 "$service" 2>/dev/null || exit 1
        sleep 0.05
    done
    HINDSIGHT_URL=$(sed -n 's/.* data=\([^ ]*\).*/\1/p' "$ready")
    export HINDSIGHT_URL
fi

for engine in unreal unity godot source; do
    "$game" "$engine"
done
if ! command -v python3 > /dev/null 2>&1; then
    echo 'SKIP: python3 is not installed. Not done: examples/game_server.py'
    exit 0
fi
for engine in unreal unity godot source; do
    python3 examples/game_server.py "$engine"
done
