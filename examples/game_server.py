#!/usr/bin/env python3
"""A complete game server that lets Hindsight verify its hits. It needs only the standard library.

    python3 examples/game_server.py [unreal|unity|godot|source] [SECONDS]

It simulates a match between ten players, with network latency. Two of the players cheat. Time is
simulated too, so a match runs as fast as the service answers. The program prints who was caught.
Its exit code is 0 only if every honest claim was accepted and every forged claim was refused.
HINDSIGHT_URL is the address of the service (default http://127.0.0.1:8080). If the service needs a
token, set HINDSIGHT_TOKEN to the token.

Copy `Service`, and the methods `tick`, `post` and `resync` of `Match`, to your game. The rest
stands for parts that your game already has.
"""
import http.client
import json
import math
import os
import random
import sys
import time
import urllib.parse

RATE = 60      # ticks per second
SPEED = 7.0    # metres per second
EYE = 1.6      # metres above the feet, as in the rig of the built-in rulesets
CHEST = 1.2    # metres above the feet; players aim here
INTERP = 0.05  # seconds; the interpolation delay of the clients
TRIES = 400

# ---- the game's frame of reference ----

# Your game posts positions in the units and axes of its engine, and converts nothing. This program
# simulates in metres with x ahead, y left, z up. It converts its positions only to imitate games on
# different engines. The engine's coordinate i is sign[i] * unit * own[axis[i]].
ENGINES = {  # built-in ruleset: (units per metre, axis, sign)
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
    """Sends all requests over one connection, which stays open."""

    def __init__(self, url, token):
        parts = urllib.parse.urlsplit(url if "://" in url else "http://" + url)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        self.connection = kinds[parts.scheme](parts.netloc, timeout=10)
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = "Bearer " + token

    def request(self, method, path, body=None):
        """Sends a request, and repeats it while the service is overloaded or unreachable.

        Returns the answer, or None if the answer has no body, or if the service does not know the
        name (404, or 403 with tokens, except for a PUT). Any other error ends the program. This method blocks: call it
        from a separate thread, never from the thread that runs your ticks.
        """
        sent = None if body is None else json.dumps(body)
        for _ in range(TRIES):
            try:
                self.connection.request(method, "/v1" + path, sent, self.headers)
                response = self.connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException):
                # The service may have processed the request, but no hit counts twice.
                self.connection.close()
                time.sleep(0.05)
                continue
            if response.status in (502, 504):  # from a load balancer
                time.sleep(0.05)
            elif response.status in (429, 503):
                time.sleep(self.pause(response, text))
            elif response.status == 409 and b'"match_moved"' in text:
                pass  # another replica owns the match now, and will get the next request
            elif method != "PUT" and (response.status == 404 or (
                    # with tokens; if the token lacks a scope, the answer has this header
                    response.status == 403 and not response.getheader("WWW-Authenticate"))):
                return None
            elif response.status < 300:
                return json.loads(text) if text else None
            else:  # the request is wrong; `detail` and `errors` explain why
                print(method, path, response.status, text.decode(), file=sys.stderr)
                sys.exit(2)
        print(method, path, "no answer", file=sys.stderr)
        sys.exit(2)

    @staticmethod
    def pause(response, text):
        """Returns the seconds to wait. A load balancer sends only the header."""
        try:
            return json.loads(text)["retry_after_ms"] / 1000
        except (ValueError, KeyError):
            return float(response.getheader("Retry-After", "1"))


# ---- the game: your game already has this part ----

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
    """Returns a player's position on the server.

    Players run in circles, five players on each side of the long wall.
    """
    radius = 3.5
    angle = SPEED / radius * now * (1 if player % 2 else -1) + player
    return ((player // 2 - 2) * 12 + radius * math.cos(angle),
            (9 if player % 2 else -9) + radius * math.sin(angle), 0.0)


def raised(point, height):
    return (point[0], point[1], point[2] + height)


def wall_between(a, b, margin):
    """Returns whether a wall, grown by `margin` on every side, is between two points."""
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
    """Returns whether a third player is within a metre of the line of fire on the screen."""
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
    # trudy's first two cheats post their shots. Once a player has posted a shot with a weapon, the
    # service expects a posted shot for every hit with this weapon that the player claims.
    return BESIDE + player.claims % 4 if shooter == 1 else HONEST


def client_shoots(shooter, player, now):
    """Returns the claim of a client whose packet arrives at `now`, or None without a target."""
    target = (shooter + random.randint(1, len(NAMES) - 1)) % len(NAMES)
    # The client's screen showed a moment that was one round trip plus INTERP before `now`. The
    # client knows the server time of the poses on its screen, and sends this time with the shot.
    rtt = max(0.02, player.rtt + random.uniform(-0.02, 0.02))
    seen = now - rtt - INTERP
    # The shooter's moves arrive together with the shot, so the server has the shooter here now.
    start = raised(feet(shooter, now), EYE)
    kind = choose_kind(shooter, player)
    if kind == OLD_TIME:
        seen = now - random.uniform(0.6, 0.8)
    elif kind == NO_LATENCY:
        seen = now + 0.04  # claims to see players where they are now
    elif kind == ELSEWHERE:  # fires from beside the shooter's eye, for example outside the cover
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
        self.recent = []     # frames of the last second, oldest first
        self.whole = False   # the service has a whole second of frames
        # How often this program restored the match after the service had lost its frames, and how
        # many claims the service could not decide because of the loss.
        self.resyncs = self.undecided = 0

    def open(self):
        """Uploads a map with the walls, and opens a match on this map."""
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
        """Opens the match. Does nothing if the match is already open."""
        self.service.request("PUT", "/matches/" + self.name,
                             {"ruleset": self.engine, "map": self.name})

    def close(self):
        # Hints: likely mistakes in this integration, which the service derives from the claims.
        hints = self.service.request("GET", "/matches/" + self.name)["hints"]
        print("  hints: %d" % len(hints))
        for hint in hints:
            print("  " + hint["detail"])
        self.service.request("DELETE", "/matches/" + self.name)
        self.service.request("DELETE", "/maps/" + self.name)

    def pose(self, i, now, first):
        """Returns a player's entry in the frame. `rtt` is measured, so it includes jitter."""
        player = self.players[i]
        entry = {"player": player.name, "position": to_engine(self.engine, feet(i, now)),
                 "rtt": player.rtt + random.uniform(-0.01, 0.01)}
        if first:  # the service remembers these values until they change
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
            # The built-in rifle fires at most once in 0.15 s, and reloads for 2 s after 30 rounds.
            player.next_shot = now + (2.1 if player.shots % 30 == 29 else random.uniform(0.2, 0.4))
            player.shots += claim.kind != USED_NUMBER
            # Post the shot, and also a claim if the client says that the shot hit. A shooter must
            # not use the same shot number twice in a match. Two of the cheats post no shot: they
            # claim a hit without a shot, or with the number of an earlier shot.
            start = to_engine(self.engine, claim.start)
            end = to_engine(self.engine, claim.end)
            # The shot and the claimed path must have the same direction.
            if claim.kind not in (NO_SHOT, USED_NUMBER):
                body["shots"].append({"shot": player.shots, "shooter": player.name, "time": now,
                                      "origin": start,
                                      "direction": [b - a for a, b in zip(start, end)]})
            if claim.target is None:
                continue
            # Without a fire_time, the shooter's pose at `now` counts. This is correct for this game,
            # because the shooter's moves arrived together with the shot.
            body["hits"].append({"shot": player.shots, "shooter": player.name,
                                 "target": NAMES[claim.target], "hit_time": claim.seen,
                                 "start": start, "end": end})
            claims.append(claim)
        answer = self.post(body)
        # Remember the frame, in case the service needs it again. Then the frame must also contain
        # the fields that are normally sent only once.
        entries = [dict(entry, weapon="rifle", interp=INTERP) for entry in frame["players"]]
        self.recent = self.recent[-RATE + 1:] + [{"time": now, "players": entries}]
        # If the service refuses a pose, the game server has made a mistake: print the answer.
        if answer["frames"]["refused"]:
            print(answer["frames"], file=sys.stderr)
        # `index` is the position of the hit in the request. Hits that the brief answer does not
        # list were accepted without damage.
        results = {result["index"]: result for result in answer.get("hits", [])}
        for i, claim in enumerate(claims):
            self.apply(claim, results.get(i, {"verdict": "accepted"}))

    def post(self, body):
        for _ in range(TRIES):
            answer = self.service.request("POST", "/matches/" + self.name + "/ticks?brief=true",
                                          body)
            if answer is None:  # the service does not know the match (any more)
                self.resync()
                continue
            # If the service could not verify some claims yet (`over_budget`, `not_recorded`), send
            # the same request again. Verdicts that it has already given do not change.
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
        if result["verdict"] == "inconclusive":  # the service lost the poses of that time
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
        """Prints the result. Returns whether every verdict was right."""
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
    print("%s: %.0f s, ten players at %.0f m/s, in the units and axes of %s" %
          (sys.argv[0], seconds, SPEED, engine))
    match = Match(Service(os.environ.get("HINDSIGHT_URL", "http://127.0.0.1:8080"),
                          os.environ.get("HINDSIGHT_TOKEN")), engine)
    match.open()
    # Nobody shoots in the first second, while the service has too little history.
    for i in range(int((seconds + 1) * RATE)):
        match.tick(100 + i / RATE, i == 0, i >= RATE)
    match.close()
    sys.exit(0 if match.report() else 1)


if __name__ == "__main__":
    main()
