#!/usr/bin/env python3
"""Simulates a cluster of replicas with measured costs: what it needs, and what limits its size.

    python3 scripts/scaling.py [--matches N] [--replicas N] [--players 10|16|64] ...
    python3 scripts/scaling.py measure      the costs below, from this machine; needs `make bench-build`

docs/scaling.md explains each line of the output, which is always the same for the same options.
"""
import argparse
import bisect
import glob
import hashlib
import http.client
import os
import random
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

# The keys are numbers of players. TICK_US is the processor time of a tick, computed from the rows
# capacity_P_plain_matches of docs/performance.md. `measure` prints the other figures.
TICK_US = {10: 1e6 / 60 / 567, 16: 1e6 / 60 / 457, 64: 1e6 / 60 / 174}
STATE_BYTES = {10: 1667030, 16: 2666676, 64: 10671162}  # state of a match after 10 min
PACKED = 0.218                       # size of a state in the store / STATE_BYTES
PAYMENT_BYTES = 618                  # record of an accepted shot or hit in the journal
VERDICT_BYTES = {10: 6751, 16: 8601, 64: 13073}  # stored verdict with its evidence
REDIS_WRITE_US_MB = 144              # processor time of Redis to take a megabyte of states
REDIS_READ_US_MB = 148               # processor time of Redis to return a megabyte of states
REDIS_APPEND_US = 24                 # processor time of Redis for one payment, measured with one match,
                                     # so hardly pipelined
RESTORE_US_MB = 8200                 # processor time of a replica to read and restore a packed megabyte

# The rates of the service (service/store).
STATES_A_SECOND = 4                  # how often the state of a changed match is written
STATE_BYTES_A_SECOND = 1 << 20       # but at most this many bytes of it are packed in a second
TAKERS = 32                          # a replica asks for this many states at the same time
PATIENCE_MS = 5000                   # and waits at most this long for one
REDIS_PIECE = 1 << 16                # Redis sends this many bytes to one client, then to the next
HZ = 60
MEASURED_S = 600                     # in this time a player fires more shots than the service remembers
CLAIMS = 0.25                        # claims per player and second, and as many shots (bench_capacity)
BUSY = 0.6                           # planned use of processors and networks, as a share

# ---- shares ----


def number(*parts):
    """A hash of 64 bits that is the same on every machine."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return struct.unpack("<Q", digest)[0]


class Ring:
    """A hash ring with `points` points for each replica, like those of HAProxy and nginx."""

    def __init__(self, replicas, points):
        pairs = sorted((number("point", r, p), r) for r in replicas for p in range(points))
        self.keys = [key for key, _ in pairs]
        self.owners = [owner for _, owner in pairs]

    def owner(self, key):
        return self.owners[bisect.bisect(self.keys, key) % len(self.owners)]


def shares(owners, replicas):
    """Returns the largest and the mean number of matches of a replica."""
    counts = dict.fromkeys(replicas, 0)
    for owner in owners:
        counts[owner] += 1
    return max(counts.values()), len(owners) / len(counts)


def show_shares(options, keys):
    print("== shares")
    for name, points in (("haproxy", 4096), ("nginx", 160)):
        replicas = range(options.replicas)
        ring, fewer = Ring(replicas, points), Ring(replicas[1:], points)
        before = [ring.owner(key) for key in keys]
        most, mean = shares(before, replicas)
        after = [fewer.owner(key) for key in keys]
        moved = sum(a != b for a, b in zip(after, before))
        others = sum(a != b and b != 0 for a, b in zip(after, before))
        print(f"{name:8} {points:5} points  mean {mean:6.1f}  most {most:4} ({most / mean:.2f} x)  "
              f"without one replica {moved:4} move, {others} of other replicas")
        if points == 4096:
            busiest = most
    return busiest


# ---- processors ----


def show_processors(options, busiest):
    tick = TICK_US[options.players]
    print("== processors")
    print(f"all replicas, all busy       {options.matches * HZ * tick / 1e6:8.1f}")
    print(f"a replica, mean              {options.matches / options.replicas * HZ * tick / 1e6:8.1f}")
    print(f"the busiest replica          {busiest * HZ * tick / 1e6:8.1f}")
    print(f"to plan for each replica     {busiest * HZ * tick / 1e6 / BUSY:8.1f}   at most 60 % busy")


# ---- the store ----


def traffic(players):
    """Returns the bytes of states, and the number of payment records, that a match sends in a second."""
    state = min(STATES_A_SECOND * STATE_BYTES[players], STATE_BYTES_A_SECOND)
    return PACKED * state, 2 * CLAIMS * players


def redis_busy(matches, players):
    """Returns the used share of Redis' processor, and the bytes a second on its network."""
    state, records = traffic(players)
    bytes_a_second = state + records * PAYMENT_BYTES
    seconds = matches * (state / 1e6 * REDIS_WRITE_US_MB + records * REDIS_APPEND_US) / 1e6
    return seconds, matches * bytes_a_second


def show_store(options):
    players, state = options.players, STATE_BYTES[options.players]
    busy, rate = redis_busy(options.matches, players)
    line = options.gbit * 1e9 / 8
    cells = max(busy, rate / line) / BUSY
    print("== the shared store")
    print(f"state of a match             {PACKED * state / 1e3:8.1f} kB, written every "
          f"{max(1 / STATES_A_SECOND, state / STATE_BYTES_A_SECOND):.2f} s")
    print(f"payments of a match          {traffic(players)[1]:8.1f} records/s")
    print(f"memory, all states           {options.matches * PACKED * state / 1e9:8.2f} GB, plan twice as much")
    print(f"traffic of all matches       {rate / 1e6:8.1f} MB/s, {rate / line:.2f} of {options.gbit} Gbit/s")
    print(f"processor of one Redis       {busy:8.2f} of 1")
    print(f"cells, each with one Redis   {int(cells) + 1:8}   at most 60 % busy; {options.matches / (int(cells) + 1):.0f} matches each")
    print(f"matches that one Redis takes {int(options.matches / cells):8}")
    return int(cells) + 1


# ---- failover ----


class Cell:
    """A part of the replicas that has a separate Redis and separate matches."""

    def __init__(self, index, cells, options, keys):
        self.replicas = range(index, options.replicas, cells)
        self.keys = [key for key in keys if key % cells == index]
        ring = Ring(self.replicas, 4096)
        self.owners = [ring.owner(key) for key in self.keys]

    def fail(self, gone, store, dice):
        """Returns how long each match of the replicas in `gone` waits, the pauses of Redis before each
        state is complete, and the largest number of matches on one of the other replicas."""
        rest = [r for r in self.replicas if r not in gone]
        if len(rest) == len(self.replicas):
            return [], [], shares(self.owners, rest)[0]
        ring = Ring(rest, 4096)
        owners = [ring.owner(key) for key in self.keys]
        asked = {r: [] for r in rest}
        for before, after in zip(self.owners, owners):
            if before in gone:
                asked[after].append(dice.random() / HZ)
        waits, pauses = store.send({r: sorted(times) for r, times in asked.items()})
        return waits, pauses, shares(owners, rest)[0]


class Store:
    """Redis while many states are asked for. It runs the commands that have come, sends a piece to
    each replica, and begins again."""

    def __init__(self, state, line):
        self.state, self.line = state, line
        self.run = REDIS_APPEND_US / 1e6 + state / 1e6 * REDIS_READ_US_MB / 1e6
        self.restore = state / 1e6 * RESTORE_US_MB / 1e6

    def send(self, asked):
        now, waits, pauses = 0.0, [], []
        links = [Link(times) for times in asked.values() if times]
        while links:
            ran = sum(link.ask(now) for link in links)
            sending = [link for link in links if link.sent]
            if not sending:
                now = min(link.next() for link in links)
                continue
            size = sum(min(REDIS_PIECE, self.state - link.sent[0].bytes) for link in sending)
            now += max(ran * self.run, size / self.line)
            for link in sending:
                link.receive(now, self, waits, pauses)
            links = [link for link in links if link.times or link.sent]
        return waits, pauses


class Take:
    """A state that was asked for."""

    def __init__(self, arrival, now):
        self.arrival, self.bytes, self.moved, self.pause = arrival, 0, now, 0.0


class Link:
    """The takes of one replica. Its replies come in order, and one processor restores the matches."""

    def __init__(self, times):
        self.times, self.sent, self.ends, self.moved = times, [], [], 0.0

    def ask(self, now):
        """Asks for more states. Returns for how many."""
        self.ends = [end for end in self.ends if end > now]
        count = 0
        while self.times and self.times[0] <= now and len(self.sent) + len(self.ends) < TAKERS:
            self.sent.append(Take(self.times.pop(0), now))
            count += 1
        return count

    def next(self):
        return self.times[0] if len(self.ends) < TAKERS else max(self.times[0], min(self.ends))

    def receive(self, now, store, waits, pauses):
        for take in self.sent:
            take.pause = max(take.pause, now - max(take.moved, self.moved))
        self.moved = now
        self.sent[0].bytes += REDIS_PIECE
        if self.sent[0].bytes < store.state:
            return
        take = self.sent.pop(0)
        self.ends.append(max([now, *self.ends]) + store.restore)
        waits.append(self.ends[-1] - take.arrival)
        pauses.append(max(take.pause, 0 if now - take.moved < PATIENCE_MS / 1e3 else now - take.moved))


def show_failover(options, keys, count_of_cells):
    """Some replicas fail. Within a tick, in random order, the other replicas request the states of all
    their matches."""
    dice = random.Random(1)
    store = Store(PACKED * STATE_BYTES[options.players], options.gbit * 1e9 / 8)
    cells = [Cell(i, count_of_cells, options, keys) for i in range(count_of_cells)]
    print("== failover")
    for count in sorted({1, 2, max(1, options.replicas // 10), options.replicas // 3}):
        gone = set(dice.sample(range(options.replicas), count))
        results = [cell.fail(gone, store, dice) for cell in cells]
        waits = [wait for result in results for wait in result[0]]
        pauses = [pause for result in results for pause in result[1]]
        late = sum(pause * 1e3 > options.take_ms for pause in pauses)
        print(f"{count:3} of {options.replicas} replicas: {len(waits):5} matches move, {late:5} start empty, "
              f"longest pause of Redis {max(pauses, default=0) * 1e3:5.0f} ms, "
              f"longest wait {max(waits, default=0) * 1e3:5.0f} ms, "
              f"then the most on a replica {max(result[2] for result in results):4}")


# ---- evidence ----


def show_evidence(options):
    verdicts = options.matches * options.players * CLAIMS
    stored = verdicts * options.stored
    print("== evidence")
    print(f"verdicts                     {verdicts:8.0f} /s")
    print(f"stored ({100 * options.stored:.0f} %)                 {stored:8.0f} /s, {stored * VERDICT_BYTES[options.players] / 1e6:.2f} MB/s")
    print(f"PostgreSQL, a day            {stored * VERDICT_BYTES[options.players] * 86400 / 1e9:8.1f} GB")
    print(f"PostgreSQL, {options.days} days          {stored * VERDICT_BYTES[options.players] * 86400 * options.days / 1e12:8.2f} TB")
    print(f"a replica while it is away   {stored * VERDICT_BYTES[options.players] * 3600 / options.replicas / 1e6:8.1f} MB each hour")


# ---- measuring the costs ----


def play(players, settings):
    """Plays one match with the load of bench_capacity against a service with these settings."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as wrapper:
        wrapper.write(f'exec "$@" --checkpoint-seconds 3600 {settings}\n')
        wrapper.flush()
        subprocess.run(["build/release/tests/bench/bench_capacity", str(players), "0", "plain", str(MEASURED_S * HZ)],
                       check=True, env={"HS_PROGRAM": os.path.abspath("build/hindsight"), **os.environ,
                                        "HS_WRAP": "sh " + wrapper.name})


def measure_service():
    """Measures the files that the service has after a match."""
    for players in sorted(STATE_BYTES):
        folder = tempfile.mkdtemp()
        play(players, f"--data={folder} --evidence-sample 1")
        journal = sum(map(os.path.getsize, glob.glob(folder + "/journal.*")))
        print(f"state of a match of {players} players: {os.path.getsize(folder + '/checkpoint')} bytes")
        print(f"a payment, {players} players: {journal / (2 * CLAIMS * players * MEASURED_S):.0f} bytes of the journal")
        for path in glob.glob(folder + "/evidence-*.db"):
            rows = sqlite3.connect(path).execute("SELECT count(*) FROM verdicts").fetchone()[0]
            print(f"a stored verdict, {players} players: {os.path.getsize(path) / rows:.0f} bytes ({rows} verdicts)")
        shutil.rmtree(folder)


class Redis:
    """A private server on a free port of this machine, whose files are in `folder`."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                                         "--dir", folder], stdout=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port))
                break
            except OSError:
                time.sleep(0.05)
        self.file = self.socket.makefile("rb")

    def send(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))

    def reply(self):
        line = self.file.readline()
        if line[:1] == b"$" and line != b"$-1\r\n":
            return self.file.read(int(line[1:]) + 2)
        return line

    def info(self, section):
        self.send("INFO", section)
        return dict(line.split(":", 1) for line in self.reply().decode().split("\r\n") if ":" in line)

    def busy_us(self):
        fields = self.info("cpu")
        return 1e6 * (float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"]))

    def cost(self, times, *words):
        """Returns the processor time of one command that is sent in pipelines of ten."""
        before = self.busy_us()
        for _ in range(times // 10):
            for _ in range(10):
                self.send(*words)
            for _ in range(10):
                self.reply()
        return (self.busy_us() - before) / times


class Replica:
    """A service with the store, on free ports of this machine."""

    def __init__(self, store):
        self.process = subprocess.Popen(
            [os.path.abspath("build/hindsight"), "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
             "--data=", "--rules=", "--state-redis", f"127.0.0.1:{store.port}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(re.search(r"data=http://127.0.0.1:(\d+)", self.process.stdout.readline())[1])

    def busy_us(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().split()
        return 1e6 * (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def post(self, match):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", f"/v1/matches/{match}/frames", '{"frames":[]}', {"Content-Type": "application/json"})
        status = connection.getresponse().status
        connection.close()
        return status


def measure_restore(redis, megabytes):
    """A match goes to and fro between two replicas. A second later a replica asks whether it still has
    the match."""
    replicas = [Replica(redis) for _ in range(2)]
    busy, moves = 0, 40
    for move in range(moves):
        replica = replicas[move % 2]
        time.sleep(1.1)
        before = replica.busy_us()
        if replica.post("m0") != 200:
            raise SystemExit("a match that moves is not answered")
        busy += replica.busy_us() - before
    print(f"a replica reads and restores a packed megabyte: {busy / moves / megabytes:.0f} us")
    for replica in replicas:
        replica.process.terminate()
        replica.process.wait()


def measure_redis():
    folder = tempfile.mkdtemp()
    redis = Redis(folder)
    state = os.urandom(int(PACKED * STATE_BYTES[16]))
    megabytes = len(state) / 1e6
    redis.cost(100, "SET", "state", state)
    write = redis.cost(2000, "SET", "state", state) / megabytes
    print(f"Redis takes a megabyte of states: {write:.0f} us")
    print(f"Redis returns a megabyte of states: {redis.cost(2000, 'GET', 'state') / megabytes:.0f} us")
    busy, received = redis.busy_us(), int(redis.info("stats")["total_net_input_bytes"])
    play(16, f"--data= --state-redis 127.0.0.1:{redis.port}")
    payments = 2 * CLAIMS * 16 * MEASURED_S
    states = int(redis.info("stats")["total_net_input_bytes"]) - received - payments * PAYMENT_BYTES
    print(f"Redis appends a payment: {(redis.busy_us() - busy - write * states / 1e6) / payments:.0f} us")
    redis.send("STRLEN", "hs:v1:{/m0}:state")
    size = int(redis.reply()[1:])
    print(f"a state of 16 players in the store: {size} bytes")
    measure_restore(redis, size / 1e6)
    redis.process.terminate()
    redis.process.wait()
    shutil.rmtree(folder)


def main():
    if sys.argv[1:] == ["measure"]:
        measure_service()
        measure_redis()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=10000, help="open matches (10000)")
    parser.add_argument("--replicas", type=int, default=100, help="replicas (100)")
    parser.add_argument("--players", type=int, default=16, choices=sorted(TICK_US), help="of a match (16)")
    parser.add_argument("--state", type=int, help="bytes of the state of a match, before packing (measured)")
    parser.add_argument("--take-ms", type=float, default=250, help="state-take-ms of the service (250)")
    parser.add_argument("--gbit", type=float, default=10, help="network of Redis, in Gbit/s (10)")
    parser.add_argument("--stored", type=float, default=0.03, help="share of verdicts that are stored (0.03)")
    parser.add_argument("--days", type=int, default=30, help="evidence-days (30)")
    options = parser.parse_args()
    if options.matches < 1 or options.replicas < 6 or options.gbit <= 0:
        parser.error("at least 1 match, 6 replicas and some network")
    if options.state:
        STATE_BYTES[options.players] = options.state
    keys = [number("match", i) for i in range(options.matches)]
    busiest = show_shares(options, keys)
    show_processors(options, busiest)
    cells = show_store(options)
    show_failover(options, keys, cells)
    show_evidence(options)


main()
