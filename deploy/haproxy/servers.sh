#!/bin/sh
# Prints hindsight.cfg with other servers, for replicas that DNS knows by name:
#   sh servers.sh NAME:PORT... > haproxy.cfg
# The id of a server is the place of its name in the list. So keep the order, and add new names at
# the end. A name that DNS does not know yet counts as a server that is down. MAXCONN is the limit
# of requests for each server. Clients may upload rulesets and maps through HAProxy, because these
# replicas share them (--state-redis).
set -eu
sed '/^    server /d
    /^    # Without --state-redis/,/^    http-request return status 403/d
    s/^    default-server /&init-addr last,libc,none resolvers system resolve-prefer ipv4 /
    s/ maxconn 64 / maxconn '"${MAXCONN:-64}"' /' "$(dirname "$0")/hindsight.cfg"
id=0
for address; do
    id=$((id + 1))
    echo "    server hindsight$id $address id $id"
done
cat <<'END'

# Ask the name servers of this machine for the addresses, because a restarted replica may have a new
# one.
resolvers system
    parse-resolv-conf
    accepted_payload_size 8192
    timeout resolve 1s
    hold valid 1s
    hold nx 1s
END
