#!/usr/bin/env python3
"""A complete game server that lets Hindsight verify its hits. It needs the standard library only.

    python3 examples/game_server.py [unreal|unity|godot|source] [SECONDS]

It simulates a match of ten players with network latency. Two of them cheat. Time is simulated too,
so a match runs as fast as the service answers. The program prints who was caught. Its exit code is
0 only if every honest claim was accepted and every forged claim was refused. HINDSIGHT_URL is the
address of the service (http://127.0.0.1:8080). HINDSIGHT_TOKEN is the bearer token, if the service
requires one.

Copy `Service`, and the methods `tick`, `post` and `resync` of `Match`. The rest stands for parts
that your game already has.
"""
import http.client
import json
import math
import os
import random
import sys
import time
import urllib.parse

RATE = 60      # ticks a second
SPEED = 7.0    # metres a second
EYE = 1.6      # metres above the feet, as in the rig of the built-in rulesets
CHEST = 1.2    # metres above the feet; players aim here
INTERP = 0.05  # seconds; the interpolation delay of the clients
TRIES = 50

# ---- the game's frame of reference ----

# Your game posts positions as its engine has them and converts nothing. This program simulates in
# metres with x ahead, y left, z up. It converts its positions, so that it can stand for a game on
# each engine. Coordinate i of the engine is sign[i] * unit * own[axis[i]].
ENGINES = {  # the built-in ruleset: unit, axis, sign
    "unreal": (100, (0, 1, 2), (1, -1, 1)),       # centimetres; x ahead, y right, z up
    "unity": (1, (1, 2, 0), (-1, 1, 1)),          # metres; x right, y up, z ahead
    "godot": (1, (1, 2, 0), (-1, 1, -1)),         # metres; x right, y up, z behind
    "source": (1 / 0.0254, (0, 1, 2), (1, 1, 1)), # inches; x ahead, y left, z up
}


def to_engine(engine, own):
    unit, axis, sign = ENGINES[engine]
    return [sign[i] * unit * own[axis[i]] for i in range(3)]


# ---- HTTP ----


class Service:
    """One connection for all requests, which stays open."""

    def __init__(self, url, token):
        parts = urllib.parse.urlsplit(url)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        self.connection = kinds[parts.scheme](parts.netloc, timeout=10)
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = "Bearer " + token

    def request(self, method, path, body=None):
        """Sends `body`, again and again while the service is overloaded. Returns the answer.

        Returns None if the answer has no body, or if the name is unknown (404, except for a PUT). Any
        other error ends the program. This method blocks: call it from a separate thread, never
        from the thread that runs your ticks.
        """
        sent = None if body is None else json.dumps(body)
        for _ in range(TRIES):
            try:
                self.connection.request(method, "/v1" + path, sent, self.headers)
                response = self.connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException):
                # The service may have handled the request. A retry is safe: no hit counts twice.
                self.connection.close()
                time.sleep(0.05)
                continue
            if response.status in (502, 504):  # sent by a balancer; a retry is safe
                time.sleep(0.05)
            elif response.status in (429, 503):
                time.sleep(self.pause(response, text))
            elif response.status == 409 and b'"match_moved"' in text:
                pass  # another replica has the match now, and gets the next request
            elif response.status == 404 and method != "PUT":
                return None
            elif response.status < 300:
                return json.loads(text) if text else None
            else:  # the request is wrong; `detail` and `errors` have the reason
                print(method, path, response.status, text.decode(), file=sys.stderr)
                sys.exit(2)
        print(method, path, "no answer", file=sys.stderr)
        sys.exit(2)

    @staticmethod
    def pause(response, text):
        """Seconds to wait. Answers of a balancer have the header only."""
        try:
            return json.loads(text)["retry_after_ms"] / 1000
        except (ValueError, KeyError):
            return float(response.getheader("Retry-After", "1"))


# ---- the game: yours has this already ----

WALLS = [((-16, -0.25, 0), (16, 0.25, 3)), ((17.5, 5, 0), (18.5, 13, 3))]
NAMES = ["mallory", "trudy", "alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"]
KINDS = ["honest", "old times", "no latency", "through walls",  # kinds of claims
         "beside", "from elsewhere", "no shot", "used number"]
# mallory uses the first three cheats, and trudy the others.
HONEST, OLD_TIME, NO_LATENCY, WALL_SHOT, BESIDE, ELSEWHERE, NO_SHOT, USED_NUMBER = range(8)


class Player:
    def __init__(self, index):
        self.name = NAMES[index]  # the first two players cheat
        # Seconds, without jitter. The shortest and the longest round trip belong to honest players.
        self.rtt = 0.02 + 0.22 * ((index + 5) % len(NAMES)) / (len(NAMES) - 1)
        self.next_shot = 0.0
        self.shots = self.claims = self.accepted = self.damage = 0


def feet(player, now):
    """Position on the server. Players run in circles, five on each side of the long wall."""
    radius = 3.5
    angle = SPEED / radius * now * (1 if player % 2 else -1) + player
    return ((player // 2 - 2) * 12 + radius * math.cos(angle),
            (9 if player % 2 else -9) + radius * math.sin(angle), 0.0)


def raised(point, height):
    return (point[0], point[1], point[2] + height)


def wall_between(a, b, margin):
    """True if a wall, grown by `margin` on every side, is between two points."""
    for low, high in WALLS:
        enter, leave = 0.0, 1.0
        for k in range(3):
            way = b[k] - a[k] if abs(b[k] - a[k]) > 1e-9 else 1e-9
            ends = ((low[k] - margin - a[k]) / way, (high[k] + margin - a[k]) / way)
            enter, leave = max(enter, min(ends)), min(leave, max(ends))
        if enter <= leave:
            return True
    return False


def body_between(shooter, target, a, b, seen):
    """True if a third player is within a metre of the line of fire, as the shooter sees it."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    for i in range(len(NAMES)):
        x, y, _ = feet(i, seen)
        part = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy)
        part = min(1.0, max(0.0, part))
        away = math.hypot(a[0] + part * dx - x, a[1] + part * dy - y)
        if i not in (shooter, target) and away < 1:
            return True
    return False


# ---- a client: what it saw, and what it claims ----


class Claim:
    def __init__(self, shooter, target, seen, start, end, kind):
        self.shooter = shooter
        self.target = target  # None: the shot missed on the client's screen
        self.seen = seen      # server time of the poses on the client's screen
        self.start, self.end = start, end
        self.kind = kind


def choose_kind(shooter, player):
    if shooter == 0:
        return OLD_TIME + player.claims % 3
    # trudy's first two cheats post their shots. From then on the service expects a posted shot for
    # every hit that trudy claims.
    return BESIDE + player.claims % 4 if shooter == 1 else HONEST


def client_shoots(shooter, player, now):
    """The shot of a client whose packet arrives at `now`. None: the client has no target."""
    target = (shooter + random.randint(1, len(NAMES) - 1)) % len(NAMES)
    # The client saw a snapshot that the server sent one round trip earlier, and it shows every
    # snapshot INTERP later. The client knows the server time of the pose on its screen, and sends
    # this time with the shot.
    rtt = max(0.02, player.rtt + random.uniform(-0.02, 0.02))
    seen = now - rtt - INTERP
    # The shooter's own moves arrive with the shot, so the server has the shooter at this place now.
    start = raised(feet(shooter, now), EYE)
    kind = choose_kind(shooter, player)
    if kind == OLD_TIME:
        seen = now - random.uniform(0.6, 0.8)
    elif kind == NO_LATENCY:
        seen = now + 0.04  # claims to see players where they are now
    elif kind == ELSEWHERE:  # fires from beside their own eye, for example out of cover
        start = (start[0] + 1.5, start[1], start[2])
    end = raised(feet(target, seen), CHEST)
    if kind == WALL_SHOT and not wall_between(start, end, -0.1):
        return None
    if kind == BESIDE:  # claims a hit with a shot that passes over the head
        end = raised(end, random.uniform(1, 3))
    if kind != HONEST:
        return Claim(shooter, target, seen, start, end, kind)
    # Honest players shoot at visible players. One shot in five misses and is not claimed.
    if wall_between(start, end, 0.5) or body_between(shooter, target, start, end, seen):
        return None
    end = (end[0] + random.uniform(-0.15, 0.15), end[1], end[2])
    if random.random() < 0.2:
        return Claim(shooter, None, seen, start, raised(end, 1.5), HONEST)
    return Claim(shooter, target, seen, start, raised(end, random.uniform(-0.15, 0.15)), HONEST)


# ---- the server's tick ----


class Match:
    def __init__(self, service, engine):
        self.service, self.engine = service, engine
        self.name = "example-python-" + engine
        self.players = [Player(i) for i in range(len(NAMES))]
        self.tally = [{"claims": 0, "accepted": 0, "why": ""} for _ in KINDS]
        self.recent = []     # the frames of the last second
        self.whole = False   # the service has a whole second of frames
        # How often the match moved to another replica, and the number of claims that came when the
        # service lacked poses for them.
        self.resyncs = self.undecided = 0

    def open(self):
        """Puts the walls as a map and opens a match with it."""
        boxes = []
        for wall in WALLS:
            a, b = (to_engine(self.engine, corner) for corner in wall)
            # A mirrored axis swaps min and max.
            boxes.append({"min": [min(p) for p in zip(a, b)], "max": [max(p) for p in zip(a, b)]})
        self.service.request("PUT", "/maps/" + self.name, {"boxes": boxes})
        # End a match that an aborted run left open.
        self.service.request("DELETE", "/matches/" + self.name)
        self.put()

    def put(self):
        """Opens the match. If it is open already, this changes nothing."""
        self.service.request("PUT", "/matches/" + self.name,
                             {"ruleset": self.engine, "map": self.name})

    def close(self):
        # Mistakes of this integration that the service found in the claims.
        hints = self.service.request("GET", "/matches/" + self.name)["hints"]
        print("  hints: %d" % len(hints))
        for hint in hints:
            print("  " + hint["detail"])
        self.service.request("DELETE", "/matches/" + self.name)
        self.service.request("DELETE", "/maps/" + self.name)

    def pose(self, i, now, first):
        """One player's entry in the frame. `rtt` is what the server measured: it has jitter too."""
        player = self.players[i]
        entry = {"player": player.name, "position": to_engine(self.engine, feet(i, now)),
                 "rtt": player.rtt + random.uniform(-0.01, 0.01)}
        if first:  # the service remembers these until they change
            entry.update(event="spawn", weapon="rifle", interp=INTERP)
        return entry

    def tick(self, now, first, shooting):
        frame = {"time": now, "players": [self.pose(i, now, first) for i in range(len(NAMES))]}
        body = {"now": now, "frames": [frame], "shots": [], "hits": []}
        claims = []
        for i, player in enumerate(self.players):
            claim = None
            if shooting and now >= player.next_shot:
                claim = client_shoots(i, player, now)
            if claim is None:
                continue
            # The built-in rifle fires every 0.15 s at most, and reloads for 2 s after 30 rounds.
            player.next_shot = now + (2.1 if player.shots % 30 == 29 else random.uniform(0.2, 0.4))
            player.shots += claim.kind != USED_NUMBER
            # Every shot is posted, and a claim if the client says that the shot hit. The number is
            # unique for the shooter in this match. Two cheats claim a hit without a shot, or with
            # the number of an earlier shot.
            start = to_engine(self.engine, claim.start)
            end = to_engine(self.engine, claim.end)
            # The hit has to follow the direction of its shot.
            if claim.kind not in (NO_SHOT, USED_NUMBER):
                body["shots"].append({"shot": player.shots, "shooter": player.name, "time": now,
                                      "origin": start,
                                      "direction": [b - a for a, b in zip(start, end)]})
            if claim.target is None:
                continue
            # The claim has no fire_time. So the shooter's pose at `now` counts, which is right
            # because the shooter's moves arrived with the shot.
            body["hits"].append({"shot": player.shots, "shooter": player.name,
                                 "target": NAMES[claim.target], "hit_time": claim.seen,
                                 "start": start, "end": end})
            claims.append(claim)
        answer = self.post(body)
        # Frames that are posted again also have the fields that are normally sent only once.
        entries = [dict(entry, weapon="rifle", interp=INTERP) for entry in frame["players"]]
        self.recent = self.recent[-RATE + 1:] + [{"time": now, "players": entries}]
        # A refused frame is a mistake of the game server, so print it.
        if answer["frames"]["refused"]:
            print(answer["frames"], file=sys.stderr)
        # Each result has the index of its hit in the request. Hits that the brief answer does not
        # list are accepted, without damage.
        results = {result["index"]: result for result in answer.get("hits", [])}
        for i, claim in enumerate(claims):
            self.apply(claim, results.get(i, {"verdict": "accepted"}))

    def post(self, body):
        for _ in range(TRIES):
            answer = self.service.request("POST", "/matches/" + self.name + "/ticks?brief=true",
                                          body)
            if answer is None:  # another replica has the match now, and knows nothing about it
                self.resync()
                continue
            # The service could not verify some claims now (`over_budget`, `not_recorded`), so send
            # the same request again. Verdicts already given stay as they are.
            pause = max([hit.get("retry_after_ms", 0) for hit in answer.get("hits", [])], default=0)
            if pause == 0:
                break
            time.sleep(pause / 1000)
        else:
            sys.exit("no answer to the ticks of " + self.name)
        whole = "need" not in answer["frames"]
        if self.whole and not whole:  # the service restarted, or another replica took over
            self.resync()
        self.whole = whole
        return answer

    def resync(self):
        self.resyncs += 1
        self.put()
        self.service.request("POST", "/matches/" + self.name + "/frames", {"frames": self.recent})

    def apply(self, claim, result):
        player, kind = self.players[claim.shooter], self.tally[claim.kind]
        if result["verdict"] == "inconclusive":  # the poses of that time were lost
            self.undecided += 1
            return
        accepted = result["verdict"] == "accepted"
        for count in (player.__dict__, kind):
            count["claims"] += 1
            count["accepted"] += accepted
        # Your game applies this damage. The example only adds it up.
        player.damage += sum(one["amount"] for one in result.get("damage", []))
        if not accepted:
            details = [check["detail"] for check in result["checks"] if "detail" in check]
            kind["why"] = "; " + ": ".join([result["reason"]] + details[:1])

    def report(self):
        """Prints the result. True if every verdict is right."""
        print("  %-8s %6s %7s %9s %7s" % ("player", "rtt ms", "claims", "accepted", "damage"))
        for p in self.players:
            print("  %-8s %6.0f %7d %9d %7d%s" %
                  (p.name, p.rtt * 1e3, p.claims, p.accepted, p.damage,
                   "  caught" if p.claims > 0 and p.accepted == 0 else ""))
        good = True
        for name, kind in zip(KINDS, self.tally):
            print("  %s: %d of %d claims accepted%s" %
                  (name, kind["accepted"], kind["claims"], kind["why"]))
            wanted = kind["claims"] if name == "honest" else 0
            good = good and kind["claims"] > 0 and kind["accepted"] == wanted
        if self.resyncs:
            print("  the match moved: %d, undecided claims: %d" % (self.resyncs, self.undecided))
        good = good and (self.undecided == 0 or self.resyncs > 0)
        print("No honest claim was refused. Every forged claim was refused." if good
              else "FAILED: a verdict is wrong.")
        return good


def main():
    engine = sys.argv[1] if len(sys.argv) > 1 else "unity"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    if engine not in ENGINES or seconds <= 0:
        sys.exit("usage: %s [unreal|unity|godot|source] [SECONDS]" % sys.argv[0])
    random.seed(7)
    print("%s: %.0f s of ten players at %.0f m/s, as %s counts" %
          (sys.argv[0], seconds, SPEED, engine))
    match = Match(Service(os.environ.get("HINDSIGHT_URL", "http://127.0.0.1:8080"),
                          os.environ.get("HINDSIGHT_TOKEN")), engine)
    match.open()
    # Nobody shoots in the first second: the service has no history yet.
    for i in range(int((seconds + 1) * RATE)):
        match.tick(100 + i / RATE, i == 0, i >= RATE)
    match.close()
    sys.exit(0 if match.report() else 1)


if __name__ == "__main__":
    main()
