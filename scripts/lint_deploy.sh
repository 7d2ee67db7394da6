#!/bin/sh
# Checks what is deployed. `make install` installs all files, and `make uninstall` removes them. The
# systemd unit is valid, is confined (exposure under 2.0), and allows all system calls of the program.
# The man page has no faults. The container image has everything that the program needs. Changes
# nothing outside build/. Usage: lint_deploy.sh PROGRAM
set -u
cd "$(dirname "$0")/.." || exit 1
program=$1
work=$PWD/build/deploy
root=$work/root
faults=0 server=
fault() {
    printf '%s\n' "$*"
    faults=$((faults + 1))
}
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
}
trap finish EXIT
rm -rf "$work" && mkdir -p "$work"

echo '== make install'
make -s install DESTDIR="$root" PREFIX=/usr SYSCONFDIR=/opt/etc >"$work/install.log" 2>&1 ||
    fault "install fails: $(tail -n 1 "$work/install.log")"
unit=$root/usr/lib/systemd/system/hindsight.service
config=$root/opt/etc/hindsight/hindsight.json
for file in "$unit" "$config" "$root/usr/bin/hindsight" "$root/usr/share/man/man1/hindsight.1" \
    "$root/usr/lib/sysusers.d/hindsight.conf" "$root/opt/etc/hindsight/rules" \
    "$root/usr/share/doc/hindsight/deploy/haproxy/hindsight.cfg" \
    "$root/usr/share/doc/hindsight/deploy/nginx/hindsight.conf" \
    "$root/usr/share/doc/hindsight/deploy/envoy/hindsight.yaml" \
    "$root/usr/share/doc/hindsight/deploy/kubernetes/production/kustomization.yaml" \
    "$root/usr/share/doc/hindsight/deploy/compose.yaml" \
    "$root/usr/share/doc/hindsight/deploy/prometheus/alerts.yml" \
    "$root/usr/share/doc/hindsight/deploy/prometheus/hindsight.rules.yml" \
    "$root/usr/share/doc/hindsight/deploy/grafana/hindsight.json"; do
    [ -e "$file" ] || fault "not installed: ${file#"$root"}"
done
grep -q '^ExecStart=/usr/bin/hindsight serve --config /opt/etc/hindsight/hindsight.json$' "$unit" ||
    fault 'the unit does not start what was installed'
grep -q '"rules": "/opt/etc/hindsight/rules"' "$config" || fault 'the configuration names other rules'
echo '{"max_maps": 7, "rules": "'"$root"'/opt/etc/hindsight/rules"}' >"$config"
make -s install DESTDIR="$root" PREFIX=/usr SYSCONFDIR=/opt/etc >>"$work/install.log" 2>&1
"$root/usr/bin/hindsight" check-config "$config" | grep -q '^max_maps  *7 .*file$' ||
    fault 'installing again overwrites the configuration'

echo '== library'
# The example program of docs/library.md, compiled with the installed library, prints what the page
# says.
awk '/^```/ { inside = !inside && $0 == fence; next } inside' fence='```c' docs/library.md >"$work/judge.c"
awk '/^```/ { if (inside) exit; inside = seen && $0 == "```"; next } /^The program prints/ { seen = 1 } inside' \
    docs/library.md >"$work/judge.said"
flags=$(PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
    pkg-config --cflags --libs hindsight) || fault 'pkg-config does not know the library'
# shellcheck disable=SC2086 # a list of words
if ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror "$work/judge.c" $flags -o "$work/judge"; then
    LD_LIBRARY_PATH=$root/usr/lib "$work/judge" >"$work/judge.out" || fault 'the program of docs/library.md fails'
    [ -s "$work/judge.said" ] || fault 'docs/library.md does not say what its program prints'
    cmp -s "$work/judge.out" "$work/judge.said" ||
        fault "the program of docs/library.md prints: $(cat "$work/judge.out")"
else
    fault 'the program of docs/library.md does not compile'
fi

echo '== systemd unit'
# systemd-analyze needs the units that hindsight.service names. The folder does not have them, so
# make empty ones.
for target in sysinit basic shutdown network-online multi-user; do
    printf '[Unit]\nDescription=%s\n' "$target" >"${unit%/*}/$target.target"
done
systemd-analyze verify --root="$root" --man=no hindsight.service >"$work/verify.log" 2>&1 ||
    fault 'systemd-analyze verify fails'
rm -f "${unit%/*}"/*.target
[ ! -s "$work/verify.log" ] || fault "systemd-analyze verify: $(cat "$work/verify.log")"
systemd-analyze security --offline=true --threshold=19 --no-pager "$unit" >"$work/security.log" 2>&1 ||
    fault 'the exposure is not under 2.0: build/deploy/security.log'
tail -n 1 "$work/security.log"

echo '== balancers'
sh deploy/haproxy/servers.sh localhost:8081 localhost:8082 >"$work/haproxy.cfg"
bad=$(haproxy -c -q -f "$work/haproxy.cfg" 2>&1) || fault "haproxy with names: $bad"
grep -q '^    server hindsight2 localhost:8082 id 2$' "$work/haproxy.cfg" || fault 'servers.sh writes no server'
sed "s|/var/log/nginx/|$work/|" deploy/nginx/hindsight.conf >"$work/nginx.conf"
bad=$(nginx -t -q -c "$work/nginx.conf" -e stderr -g "pid $work/nginx.pid;" 2>&1) || fault "nginx: $bad"
[ -z "$bad" ] || fault "nginx: $bad"

echo '== manifests'
mkdir -p "$work/manifests"
echo '{}' >"$work/manifests/defaults.json"
"$program" check-config "$work/manifests/defaults.json" >"$work/options" || fault 'check-config fails without settings'
manifests='/usr/bin/python3 scripts/lint_manifests.py'
$manifests "$work/options" envoy deploy/envoy/hindsight.yaml || fault 'deploy/envoy'
$manifests "$work/options" compose deploy/compose.yaml || fault 'deploy/compose.yaml'
printf '{"tokens":[%s]}\n' "$("$program" token new --tenant game --scopes ingest | tail -n 1)" >"$work/manifests/tokens.json"
HINDSIGHT_RULES='' HINDSIGHT_TOKEN_FILE=$work/manifests/tokens.json "$program" check-config \
    deploy/kubernetes/base/hindsight.json >"$work/kubernetes.log" 2>&1 ||
    fault "deploy/kubernetes/base/hindsight.json: $(cat "$work/kubernetes.log")"
if ! command -v kubectl >/dev/null 2>&1; then
    echo 'SKIP: kubectl is not installed. Not done: deploy/kubernetes'
else
    kubectl kustomize deploy/kubernetes/production >"$work/manifests.yaml" || fault 'kubectl kustomize fails'
    $manifests "$work/options" kubernetes <"$work/manifests.yaml" || fault 'deploy/kubernetes'
    # Runs the command of the balancer's pod, and checks that HAProxy accepts the configuration that
    # this command writes.
    mkdir -p "$work/balancer"
    REPLICAS_MAX=3 NAMESPACE=x CLUSTER_DOMAIN=invalid MAXCONN=32 sh -ec "$(
        /usr/bin/python3 -c 'import sys, yaml
print(next(o for o in yaml.safe_load_all(sys.stdin) if o["kind"] == "Deployment")
      ["spec"]["template"]["spec"]["containers"][0]["args"][0]
      .replace("/etc/hindsight/", "deploy/haproxy/").replace("/tmp/", sys.argv[1] + "/")
      .replace("exec haproxy -W -db -f", "exec cat"))' "$work/balancer" <"$work/manifests.yaml"
    )" servers >"$work/balancer.cfg"
    [ "$(grep -c '^    server hindsight[1-3] hindsight-[0-2]\.hindsight-replicas\.x\.svc\.invalid:8080 id [1-3]$' "$work/balancer.cfg")" -eq 3 ] ||
        fault 'the balancer of deploy/kubernetes has other servers'
    haproxy -c -q -f "$work/balancer.cfg" >"$work/balancer.log" 2>&1 || fault "$(cat "$work/balancer.log")"
fi

echo '== simulation'
# docs/scaling.md has the output of these commands.
for settings in '' '--state 144000' '--gbit 1'; do
    # shellcheck disable=SC2086 # a list of words
    python3 scripts/scaling.py $settings >"$work/scaling" || fault 'scripts/scaling.py fails'
    [ -z "$settings" ] || sed -i '/ replicas: /!d' "$work/scaling"
    bad=$(grep -v '^== ' "$work/scaling" | grep -vxFf docs/scaling.md)
    [ -z "$bad" ] || fault "docs/scaling.md does not have, with settings '$settings': $bad"
done

echo '== man page'
bad=$(groff -man -Tutf8 -ww -z deploy/hindsight.1 2>&1)
[ -z "$bad" ] || fault "groff: $bad"

# Waits until the service with the process id $1 is ready. Plays a scenario against it, sends SIGHUP,
# and ends it with SIGTERM. The standard output of the service is in $work/out.
use_service() {
    tries=0
    until grep -q ' ready ' "$work/out" || [ "$tries" -ge 200 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    admin=$(sed -n 's/.* admin=http:\/\/127.0.0.1:\([0-9]*\)$/\1/p' "$work/out")
    if [ -z "$admin" ]; then
        kill "$1"
        return 1
    fi
    "$program" play tests/scenarios/time.json --url "http://127.0.0.1:$admin" >"$work/play.log" 2>&1
    played=$?
    kill -HUP "$1" && sleep 1 && kill -TERM "$1" && return "$played"
}
options='--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --drain-wait-seconds 0'

echo '== system calls'
if ! strace -f -qq -o "$work/calls" true 2>/dev/null; then
    echo 'SKIP: strace is not allowed to trace here'
else
    : >"$work/out"
    # While it works, the background thread gets a signal every 0.1 ms. Under strace, handling one
    # signal takes longer. So the timer of these signals can be started 20 times; then starting fails.
    # shellcheck disable=SC2086 # a list of words, here and below
    strace -D -f -qq -o "$work/calls" -e signal=none -e inject=timer_settime:error=EINVAL:when=20+ \
        "$program" serve $options --rules "$work" \
        --record "$work/record" --data "$work/data" >"$work/out" 2>"$work/err" &
    server=$!
    use_service "$server" || fault "the service does not serve under strace: $(tail -n 1 "$work/err")"
    wait "$server"
    server=
    # Prints the system calls of a list of systemd, which contains calls and other lists.
    list() {
        case $1 in @*) ;; *) echo "$1" && return ;; esac
        systemd-analyze syscall-filter "$1" | sed -n 's/^    \([@a-z0-9_-]*\)$/\1/p' |
            while read -r name; do list "$name"; done
    }
    # Each line of the unit adds calls to the allowed ones or, if it begins with `~`, removes calls.
    list @default >"$work/allowed"
    sed -n 's/^SystemCallFilter=//p' "$unit" | while read -r line; do
        for name in ${line#\~}; do list "$name"; done >"$work/named"
        case $line in
        \~*) grep -vxFf "$work/named" "$work/allowed" >"$work/kept" && mv "$work/kept" "$work/allowed" ;;
        *) cat "$work/named" >>"$work/allowed" ;;
        esac
    done
    # SQLite calls fchown only as root, and the account of the unit is not root.
    sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' "$work/calls" | grep -vx fchown | sort -u >"$work/used"
    bad=$(grep -vxFf "$work/allowed" "$work/used" | tr '\n' ' ')
    [ -z "$bad" ] || fault "the unit refuses calls of the program: $bad"
    [ "$(wc -l <"$work/used")" -ge 30 ] || fault 'strace saw next to nothing'
fi

echo '== container'
if [ "$(id -u)" -ne 0 ]; then
    echo 'SKIP: the image is only tried as root'
else
    sh deploy/container/rootfs.sh "$program" "$work/image"
    : >"$work/out" # so that use_service does not read the port of the server before
    # shellcheck disable=SC2086
    chroot --userspec=65532:65532 "$work/image" /usr/bin/hindsight serve $options --record \
        /var/lib/hindsight/record --data /var/lib/hindsight >"$work/out" 2>"$work/err" &
    server=$!
    use_service "$server" || fault "the image does not serve: $(tail -n 1 "$work/err")"
    wait "$server" || fault "the service of the image ends with code $?"
    server=
    [ "$(stat -c %u "$work/image/var/lib/hindsight/record")" = 65532 ] || fault 'it ran as somebody else'
    [ ! -e "$work/image/bin/sh" ] || fault 'there is a shell in the image'
fi

echo '== make uninstall'
make -s uninstall DESTDIR="$root" PREFIX=/usr SYSCONFDIR=/opt/etc >>"$work/install.log" 2>&1
left=$(find "$root" ! -type d ! -path "$config" | tr '\n' ' ')
[ -z "$left" ] || fault "uninstall leaves $left"

[ "$faults" -eq 0 ] && echo 'lint-deploy: clean'
[ "$faults" -eq 0 ]
