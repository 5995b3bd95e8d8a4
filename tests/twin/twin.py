"""The twin of calibrators and pool: everything by the definitions alone, in plain Python without dependencies or cleverness. A pool is
computed from its whole log, without what was reverted. pool_against_twin.py holds the C++ pool against it, replay.py the replays.
"""
import math
import sys

from margin_adaptive import VERSION_1, VERSION_2, MarginAdaptive

TOLERANCE = 1e-12
FACTOR_MAX = 20.0


def clip01(x):
    return min(1.0, max(0.0, x))


def ratio(a, b):
    return 1.0 if b == 0 else min(a / b, FACTOR_MAX)


def add_once(names, name):
    if name not in names:
        names.append(name)


def mean(values):
    return sum(values) / len(values) if values else 1.0


class Margin:
    def __init__(self, alpha=0.04, bands=3, shrinkage=100.0, alpha_correct=0.0, alpha_incorrect=0.0, target="model", entry="pool"):
        self.up, self.down = alpha_correct or alpha, alpha_incorrect or alpha
        self.bands, self.shrinkage, self.target, self.entry = bands, shrinkage, target, entry
        self.models = {}

    def present(self):
        return [m for m in self.models.values() if m["present"]]

    def factor(self, m, k):
        return ratio(m["a"][k], m["c"][k])

    def model_factor(self, m):
        if not sum(m["n"]):
            return m["entry"]
        return ratio(sum(n * a for n, a in zip(m["n"], m["a"])), sum(n * c for n, c in zip(m["n"], m["c"])))

    def pool_factor(self, k):
        return mean([self.factor(m, k) for m in self.present() if m["n"][k] > 0])

    def join(self, name, donor=None):
        new = {"a": [], "c": [], "n": [0.0] * self.bands, "present": True}
        for k in range(self.bands):
            middle = (k + 0.5) / self.bands
            f = donor[0].factor(donor[1], k) if donor else self.pool_factor(k) if self.entry == "pool" else 1.0
            new["a"].append(min(1.0, f * middle))
            new["c"].append(1.0 / f if f * middle > 1 else middle)
        if donor:
            new["entry"] = donor[0].model_factor(donor[1])
        else:
            new["entry"] = mean([self.model_factor(m) for m in self.present() if sum(m["n"])]) if self.entry == "pool" else 1.0
        self.models[name] = new

    def band(self, c):
        return min(self.bands - 1, int(c * self.bands))

    def effective(self, name, k):
        m = self.models[name]
        target = self.model_factor(m) if self.target == "model" else self.pool_factor(k)
        share = 1.0 if self.shrinkage == 0 else m["n"][k] / (m["n"][k] + self.shrinkage)
        return share * self.factor(m, k) + (1 - share) * target

    def calibrate(self, name, c):
        return clip01(self.effective(name, self.band(c)) * c)

    def learn(self, rows):
        for name, c, o, w in rows:
            m, k = self.models[name], self.band(c)
            rate = 1 - (1 - (self.up * o + self.down * (1 - o))) ** w
            m["a"][k] = (1 - rate) * m["a"][k] + rate * o
            m["c"][k] = (1 - rate) * m["c"][k] + rate * c
            m["n"][k] += w

    def explain(self, name, k):
        return [self.calibrate(name, (k + 0.5) / self.bands), self.effective(name, k), self.models[name]["n"][k]]


class Adaptive:
    """The readable reference behind the same verbs; it knows no leaving and no entry from elsewhere, so scripts for it have none."""

    def __init__(self, version=3):
        self.reference, self.models, self.bands = MarginAdaptive(**{1: VERSION_1, 2: VERSION_2, 3: {}}[version]), {}, 3

    def join(self, name, donor=None):
        self.models[name] = {"present": True}
        self.reference.join(name)

    def calibrate(self, name, c):
        return self.reference.predict(name, c)

    def learn(self, rows):
        self.reference.begin_task()
        for name, c, o, w in rows:
            self.reference.update(name, c, o, w)
        self.reference.end_task()

    def explain(self, name, k):
        return [self.calibrate(name, (k + 0.5) / self.bands)]


class Trust:
    """The decision as one more model, from the list of its outcomes alone."""

    MEMORY, BINS, COLD, STALE, DRIFT_FOR, SLACK, LIMIT = 130.0, 10, 30.0, 1000, 100, 0.25, 16.0
    OWN_BIN, ALL_BINS = 0.5, 0.18

    def __init__(self):
        self.model, self.past, self.waiting, self.high, self.low, self.alarm = Adaptive(), [], 0, 0.0, 0.0, self.DRIFT_FOR
        self.model.join("@pool")

    def weights(self):
        """What is left of every outcome's weight, by bin."""
        left, kept = [[] for _ in range(self.BINS)], 1.0
        for s, _, w in reversed(self.past):
            left[self.bin(s)].append(w * kept)
            kept *= 1.0 - w / self.MEMORY
        return left

    def bin(self, share):
        return min(self.BINS - 1, int(share * self.BINS))

    def cold(self):
        return sum(map(sum, self.weights())) < self.COLD

    def status(self):
        if self.cold():
            return "cold"
        return "drifting" if self.alarm < self.DRIFT_FOR else "stale" if self.waiting >= self.STALE else "calibrated"

    def of(self, share):
        effective = [sum(left) ** 2 / sum(w * w for w in left) if left else 0.0 for left in self.weights()]
        n = effective[self.bin(share)]
        worth = self.OWN_BIN * n + self.ALL_BINS * sum(effective)  # what the interval rests on
        return {"p_correct": self.model.calibrate("@pool", share), "n": n, "worth": worth}

    def learn(self, share, outcome, weight):
        p = min(0.98, max(0.02, self.model.calibrate("@pool", share)))
        z = weight * (outcome - p) / math.sqrt(p * (1.0 - p))
        self.high, self.low = (0.0, 0.0) if self.cold() else (max(0.0, self.high + z - self.SLACK), max(0.0, self.low - z - self.SLACK))
        self.alarm = min(self.DRIFT_FOR, self.alarm + 1)
        if max(self.high, self.low) > self.LIMIT:
            self.high, self.low, self.alarm = 0.0, 0.0, 0
        self.model.learn([("@pool", share, outcome, weight)])
        self.past.append((share, outcome, weight))
        self.waiting = 0


def beta_cdf(a, b, x):
    """By Simpson's rule after x = sin^2 t, which tames both ends; a, b >= 1/2."""
    steps, end = 400, math.asin(math.sqrt(x))
    density = lambda t: 2.0 * math.sin(t) ** (2 * a - 1) * math.cos(t) ** (2 * b - 1)
    parts = [density(end * i / steps) * (1 if i in (0, steps) else 4 if i % 2 else 2) for i in range(steps + 1)]
    return sum(parts) * end / steps / 3.0 * math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))


class Pool:
    """The state after a log, by the rules of docs/pool.md."""

    def __init__(self):
        self.now, self.frozen, self.seen = 0, False, set()
        self.members, self.cells, self.decisions, self.early, self.feedbacks, self.awaited = {}, {}, {}, [], {}, set()
        self.trust, self.lessons = Trust(), {}

    def step(self, e, reverted=False):
        if e["id"] in self.seen:
            return {"status": "duplicate"}
        self.seen.add(e["id"])
        self.now = max(self.now, e["time"])
        if e["op"] == "configure":
            self.make = lambda: Margin(**e["parameters"]) if e["calibrator"] == "margin" else Adaptive(e["version"])
            self.pending_ms_max = e["pending_ms_max"]
            self.remedy, self.audit_rate = e["remedy"], e["audit_rate"]
            self.beside_wrong = [0.0, 0.0]  # decayed: how many beside a wrong selection were right, and how many there were
            self.cells = {cell: self.make() for cell in self.cells}
            return {"status": "applied"}
        oldest = self.now - self.pending_ms_max
        self.decisions = {i: d for i, d in self.decisions.items() if d["time"] >= oldest}
        self.early = [x for x in self.early if x["kept"] >= oldest]
        return getattr(self, e["op"])(e, reverted)

    def changed(self, really):
        return {"status": "applied" if really else "duplicate"}

    def join(self, e, _):
        member, predecessor = self.members.get(e["model"]), e["predecessor"] or None
        if predecessor and (predecessor not in self.members or predecessor == e["model"]):
            return {"status": "refused"}
        if not member:
            self.members[e["model"]] = {"present": True, "pin": None, "predecessor": predecessor}
            return self.changed(True)
        if predecessor and predecessor != member["predecessor"]:
            return {"status": "refused"}
        return self.presence(e["model"], True)

    def leave(self, e, _):
        return self.presence(e["model"], False) if e["model"] in self.members else {"status": "refused"}

    def presence(self, model, present):
        before, self.members[model]["present"] = self.members[model]["present"], present
        for cell in self.cells.values():
            if model in cell.models:
                cell.models[model]["present"] = present
        return self.changed(before != present)

    def freeze(self, e, _):
        before, self.frozen = self.frozen, True
        return self.changed(not before)

    def resume(self, e, _):
        before, self.frozen = self.frozen, False
        return self.changed(before)

    def pin(self, e, _):
        if e["model"] not in self.members:
            return {"status": "refused"}
        before, self.members[e["model"]]["pin"] = self.members[e["model"]]["pin"], e.get("factor")
        return self.changed(before != e.get("factor"))

    unpin = pin

    def enter(self, model, channel, segment):
        cell = self.cells.setdefault((channel, segment), self.make())
        if model in cell.models:
            return
        base, predecessor = self.cells.get((channel, "")), self.members[model]["predecessor"]
        if predecessor in cell.models:
            cell.join(model, (cell, cell.models[predecessor]))
        elif base and model in base.models:
            cell.join(model, (base, base.models[model]))
        else:
            cell.join(model)

    def seat(self, e):
        """Lets the task's models in, and says which responses have a part."""
        parts = []
        for r in e["responses"]:
            usable = r["confidence"] is not None and not r["abstained"]
            if usable and r["model"] not in self.members:
                self.members[r["model"]] = {"present": True, "pin": None, "predecessor": None}
            parts.append(usable and self.members[r["model"]]["present"])
            if parts[-1]:
                self.enter(r["model"], r["channel"], e["segment"])
        return parts

    def answer(self, e):
        """What decide() must say. Seats the models, which the event of the decision would do next anyway."""
        parts, calibrated, why, ballots = self.seat(e), [], [], []
        for r, part in zip(e["responses"], parts):
            value, because = 0.0, [1.0, 0, 0.0, 0.0]
            if part:
                c, pin = r["confidence"], self.members[r["model"]]["pin"]
                cell = self.cells[r["channel"], e["segment"]]
                value = cell.calibrate(r["model"], c) if pin is None else clip01(pin * c)
                band = min(cell.bands - 1, int(c * cell.bands))
                factor = pin if pin is not None else value / c if c > 0 else 1.0
                because = [factor, band, sum(w for k, _, _, w in self.lessons.get((r["model"], r["channel"], e["segment"]), []) if k == band), 0.0]
                if r["answer"] is not None:
                    ballots.append((r["answer"], value, r["model"]))
                    because[3] = value
            calibrated.append(value)
            why.append(because)
        said = {"calibrated": calibrated, "why": why, "selected": "", "share": 0.0, "close": False, "gap": 0.0, "decisive": [],
                "sure": {"p_correct": 0.0, "n": 0.0, "worth": 0.0}, "status": self.trust.status(), "scores": self.totals(ballots)}
        if ballots:
            best, said["close"], shares = self.select(ballots)
            said["selected"], said["share"] = best, shares[best]
            said["gap"] = shares[best] - max([share for y, share in shares.items() if y != best], default=0.0)
            said["sure"] = self.trust.of(shares[best])
            for model in dict.fromkeys(model for _, _, model in ballots):
                winner, close, _ = self.select([b for b in ballots if b[2] != model])
                said["close"] |= close
                if winner != best:
                    said["decisive"].append([model, winner])
        return said

    @staticmethod
    def totals(ballots):
        totals = {}
        for answer, value, _ in ballots:
            totals[answer] = totals.get(answer, 0.0) + value
        return totals

    def select(self, ballots):
        """The answer, whether rounding may decide between it and another, and everybody's share."""
        totals = self.totals(ballots)
        if not totals:
            return "", False, {}
        best, whole = max(totals, key=totals.get), sum(totals.values())  # the first of equals
        close = any(y != best and abs(t - totals[best]) < TOLERANCE for y, t in totals.items())
        if len(ballots) == 1:
            return best, close, {best: ballots[0][1]}
        return best, close, {y: t / whole if whole > 0 else 1 / len(totals) for y, t in totals.items()}

    def decide(self, e, _):
        parts = self.seat(e)
        responses = [dict(r, part=part, outcome=None, implied=None, audit=a) for r, part, a in zip(e["responses"], parts, e["audits"])]
        decision = {"time": self.now, "segment": e["segment"], "responses": responses, "selected": e["selected"], "share": e["share"]}
        self.trust.waiting += bool(e["selected"])
        self.decisions[e["id"]] = decision
        result = {"status": "applied", "learned": [], "implied": [], "unlearned": [], "dropped": 0}
        for x in [x for x in self.early if x["event"]["decision"] == e["id"]]:
            self.early.remove(x)
            joined = self.grade(decision, x["event"], x["reverted"])
            result["dropped"] += joined["status"] in ("refused", "conflict")
            for key in ("learned", "implied", "unlearned"):
                result[key] += joined.get(key, [])
        return result

    def outcome(self, e, reverted):
        if e["decision"] in self.decisions:
            return self.grade(self.decisions[e["decision"]], e, reverted)
        if int(e["decision"].replace("-", "")[:12], 16) < self.now - self.pending_ms_max:
            return {"status": "expired"}
        self.early.append({"event": e, "kept": self.now, "reverted": reverted})
        self.feedbacks[e["id"]] = {"source": e["source"], "held": False, "reverted": reverted}
        return {"status": "reverted" if reverted else "pending_decision"}

    def grades(self, decision, e):
        """[(response, outcome)], or None when the verdict does not fit the decision."""
        rows = []
        if e["grades"]:
            for g in e["grades"]:
                mine = [r for r in decision["responses"] if r["model"] == g["model"] and g["channel"] in ("", r["channel"])]
                if not mine or any(r is graded for r in mine for graded, _ in rows):
                    return None
                rows += [(r, g["outcome"]) for r in mine]
            return [row for r in decision["responses"] for row in rows if row[0] is r]
        if e["selected"] is not None and not decision["selected"]:
            return None
        for r in decision["responses"]:
            if r["confidence"] is None or r["abstained"]:
                continue
            if e["gold"] is not None:
                rows.append((r, 1.0 if r["answer"] == e["gold"] else 0.0))
            elif r["answer"] == decision["selected"]:
                rows.append((r, e["selected"]))
        return rows or None

    def grade(self, decision, e, reverted):
        rows = self.grades(decision, e)
        if rows is None:
            self.feedbacks.pop(e["id"], None)
            return {"status": "refused"}
        self.feedbacks[e["id"]] = {"source": e["source"], "held": False, "reverted": reverted}
        if reverted:
            return {"status": "reverted"}
        if any(r["outcome"] not in (None, o) for r, o in rows):
            return {"status": "conflict"}
        parts = [r for r in decision["responses"] if r["part"]]
        supporters = [r for r in parts if r["answer"] is not None and r["answer"] == decision["selected"]]
        beside = [r for r in parts if not any(r is s for s in supporters)]
        settled = any(r["outcome"] is not None for r in supporters)
        complete = all(any(r is x for x, _ in rows) for r in parts) and any(r["audit"] == 0 for r in beside)
        rows = [(r, o) for r, o in rows if r["outcome"] is None]
        if not rows:
            return {"status": "duplicate"}
        self.feedbacks[e["id"]]["held"] = True
        taught, learned, implied, unlearned = [], [], [], []
        for r, o in rows:
            teaches = r["part"] and self.members[r["model"]]["present"] and not self.frozen and r["implied"] != o
            if teaches:
                taught.append((r, o))
            add_once(learned if teaches else unlearned, r["model"])
            r["outcome"], r["weight"] = o, e["weight"]
        if self.remedy == "implied" and not self.frozen:
            fresh = [r for r, _ in rows]
            for r, o, certain in self.implied(supporters, beside, fresh, settled, complete):
                if not settled and self.members[r["model"]]["present"]:
                    r["implied"] = o if certain else None
                    taught.append((r, o))
        lessons = {}
        for r in decision["responses"]:
            for o in [o for x, o in taught if x is r]:
                self.enter(r["model"], r["channel"], decision["segment"])
                lessons.setdefault((r["channel"], decision["segment"]), []).append((r["model"], r["confidence"], o, e["weight"]))
                if r["outcome"] is None:
                    add_once(implied, r["model"])
        for (channel, segment), lesson in lessons.items():
            cell = self.cells[channel, segment]
            cell.learn(lesson)
            for model, c, o, w in lesson:
                self.lessons.setdefault((model, channel, segment), []).append((min(cell.bands - 1, int(c * cell.bands)), c, o, w))
        selected = [o for r, o in rows if r["answer"] is not None and r["answer"] == decision["selected"]]
        if selected and decision["share"] is not None:
            if not self.frozen:
                self.trust.learn(decision["share"], max(selected), e["weight"])
            decision["share"] = None
        return {"status": "applied", "learned": learned, "implied": implied, "unlearned": unlearned}

    def implied(self, supporters, beside, fresh, settled, complete):
        """[(response, outcome, whether it is certain)] of those without an outcome; learns the rate beside wrong selections."""
        known = [r["outcome"] for r in supporters if r["outcome"] is not None]
        if not known:
            return []
        right = max(known) >= 0.5

        def chance(r):
            if r["outcome"] is None:
                return self.audit_rate
            now = any(r is f for f in fresh)
            return 1.0 if now and complete else r["audit"] if now or not settled else 0.0

        smallest = min([1.0] + [max(0.01, chance(r)) for r in beside if chance(r) > 0])
        for r in beside:
            if not right and r["outcome"] is not None and chance(r) > 0:
                w = r["weight"] * smallest / max(0.01, chance(r))
                self.beside_wrong = [x * (1 - 0.01 * w) + w * add for x, add in zip(self.beside_wrong, (r["outcome"], 1))]
        rate = (self.beside_wrong[0] + 5) / (self.beside_wrong[1] + 20)
        lessons = [(r, float(right), True) for r in supporters] + [(r, 0.0 if right else rate, right) for r in beside]
        return [lesson for lesson in lessons if lesson[0]["outcome"] is None]

    def revert(self, e, _):
        if e["feedback"]:
            found = [self.feedbacks[e["feedback"]]] if e["feedback"] in self.feedbacks else []
            if not found:
                before = e["feedback"] in self.awaited
                self.awaited.add(e["feedback"])
                return self.changed(not before)
        else:
            found = [f for f in self.feedbacks.values() if f["source"] == e["source"]]
            if not found:
                return {"status": "refused"}
        if all(f["reverted"] for f in found):
            return self.changed(False)
        return {"status": "folding" if any(f["held"] and not f["reverted"] for f in found) else "applied"}

    def factors(self):
        rows = {}
        for (channel, segment), cell in self.cells.items():
            for model in cell.models:
                member = self.members[model]
                for k in range(cell.bands):
                    pin = -1.0 if member["pin"] is None else member["pin"]
                    rows[model, channel, segment, k] = [member["present"], pin] + self.evidence((model, channel, segment), k, cell) + \
                        cell.explain(model, k)
        return rows

    def evidence(self, where, k, cell):
        """Effective sample size and mean stated confidence of what a band remembers, by the weights left of each observation."""
        left, kept = [], 1.0
        for band, c, o, w in reversed(self.lessons.get(where, [])):
            if isinstance(cell, Margin):
                rate = (1 - (1 - (cell.up * o + cell.down * (1 - o))) ** w) * (band == k)
            else:
                rate = w / Trust.MEMORY
            if band == k:
                left.append((rate * kept, c))
            kept *= 1.0 - rate
        total = sum(w for w, _ in left)
        if not total:
            return [0.0, (k + 0.5) / cell.bands]
        return [total ** 2 / sum(w * w for w, _ in left), max(sum(w * c for w, c in left) / total, sys.float_info.min)]


def replay(log):
    """The state after the effective log: what a later revert takes back teaches nothing."""
    taken, seen = set(), set()
    for r, e in enumerate(log):
        again = e["id"] in seen
        seen.add(e["id"])
        if e["op"] == "revert" and not again:
            taken |= {i for i, x in enumerate(log) if x["op"] == "outcome" and
                      (x["id"] == e["feedback"] or (not e["feedback"] and i < r and x["source"] == e["source"]))}
    pool = Pool()
    for i, e in enumerate(log):
        pool.step(e, i in taken)
    return pool
