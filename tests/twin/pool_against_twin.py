"""The pool against its twin: pool_against_twin.py DRIVER [SEED]. Random scripts of events and questions go through the C++ driver; after
every line the twin computes everything again. All numbers must agree to 1e-12.
"""
import json
import random
import subprocess
import sys

from twin import Pool, TOLERANCE, beta_cdf, replay

START_MS = 1_700_000_000_000


class Script:
    """One random life of a pool, line by line."""

    MODELS = ["ada", "bob", "cyd", "dan", "ada2", "bob2", "cyd2"]
    SOURCES = ["alice", "bob", "mallory"]

    def __init__(self, rng):
        self.rng, self.time, self.decisions, self.feedbacks, self.past, self.held = rng, START_MS, [], [], [], []
        self.adaptive = rng.random() < 0.25
        self.reverts = rng.random() < 0.6  # else decisions expire
        self.coming = [self.new_id() for _ in range(3)]  # decisions still to be made, known to early feedback

    def new_id(self):
        h = "%012x7%03x%016x" % (self.time, self.rng.getrandbits(12), self.rng.getrandbits(62) | 1 << 63)
        return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))

    def event(self, op, **fields):
        return {"op": op, "id": self.new_id(), "time": self.time, **fields}

    def configure(self):
        rng, parameters = self.rng, {}
        if not self.adaptive:
            options = {"alpha": rng.choice([0.04, 0.3, 1.0]), "bands": rng.choice([1, 2, 5]), "shrinkage": rng.choice([0, 3.5, 100]),
                       "alpha_correct": rng.choice([0.02, 0.5]), "alpha_incorrect": rng.choice([0.1, 0.9]),
                       "target": rng.choice(["model", "pool_band"]), "entry": rng.choice(["pool", "identity"])}
            parameters = {name: value for name, value in options.items() if rng.random() < 0.5}
        pending = 10**10 if self.reverts else rng.choice([2000, 20000])
        calibrator = "margin_adaptive" if self.adaptive else "margin"
        version = rng.choice([1, 2, 3]) if self.adaptive else 1
        return self.event("configure", calibrator=calibrator, version=version, parameters=parameters, pending_ms_max=pending,
                          remedy=rng.choice(["none", "implied"]), audit_rate=rng.choice([0.0, 0.3, 1.0]))

    def decide(self):
        rng, responses = self.rng, []
        for model in rng.sample(self.MODELS, rng.randint(1, 5)):
            for channel in rng.choice([["verbalized"], ["verbalized"], ["consistency"], ["verbalized", "consistency"]]):
                confidence = rng.choice([0.0, 1.0, 1e-300, 0.5, None] + [rng.random()] * 10)
                responses.append({"model": model, "answer": rng.choice(["x", "y", "z", None]), "confidence": confidence, "channel": channel,
                                  "abstained": rng.random() < 0.05})
        e = self.event("decide", segment="" if self.adaptive else rng.choice(["", "", "law", "art"]), responses=responses,
                       max_error=rng.choice([None, 0.2, 0.6]))
        if rng.random() < 0.2:
            e["id"], self.coming[0] = self.coming[0], self.new_id()
        self.decisions.append(e["id"])
        return e

    def outcome(self):
        rng = self.rng
        known = self.decisions[-8:]
        e = self.event("outcome", decision=rng.choice(known if known and rng.random() < 0.85 else self.coming), grades=[], gold=None,
                       selected=None, weight=rng.choice([1.0, 1.0, 0.5, 0.01]), source=rng.choice(self.SOURCES))
        form = rng.choice(["grades", "gold", "selected"])
        if form == "grades":
            for model in rng.sample(self.MODELS, rng.randint(1, 3)):
                e["grades"].append({"model": model, "outcome": rng.choice([0.0, 1.0, 0.25]), "channel": rng.choice(["", "", "verbalized"])})
        elif form == "gold":
            e["gold"] = rng.choice("xyz")
        else:
            e["selected"] = rng.choice([0.0, 1.0])
        self.feedbacks.append(e["id"])
        return e

    def revert(self):
        rng = self.rng
        if rng.random() < 0.2 or not self.feedbacks:
            return self.event("revert", feedback=None, source=rng.choice(self.SOURCES))
        if rng.random() < 0.2:
            held = self.outcome()
            self.held.append(held)
            return self.event("revert", feedback=held["id"], source="")
        return self.event("revert", feedback=rng.choice(self.feedbacks[-6:]), source="")

    def next(self):
        rng, model = self.rng, self.rng.choice(self.MODELS)
        self.time += rng.choice([0, 1, 700])
        kind = rng.random()
        if self.held and rng.random() < 0.3:
            return self.held.pop()
        if kind < 0.05 and self.past:
            return rng.choice(self.past)  # delivered again
        if kind < 0.40:
            return self.decide()
        if kind < 0.75:
            return self.outcome()
        if kind < 0.83 and self.reverts:
            return self.revert()
        if kind < 0.86:
            return self.event(rng.choice(["freeze", "resume", "resume"]))
        if kind < 0.90:
            return self.event("pin", model=model, factor=rng.choice([0.0, 0.5, 3.0]))
        if kind < 0.93 or self.adaptive:
            return self.event("unpin", model=model)
        if kind < 0.955:
            return self.event("leave", model=model)
        return self.event("join", model=model, predecessor=rng.choice(["", model[:3] if model.endswith("2") else ""]))


class Driver:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self):
        self.process.stdin.write("new\n")

    def ask(self, command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def agree(path, ours, theirs):
    if isinstance(ours, float) or isinstance(theirs, float):
        assert abs(ours - theirs) <= TOLERANCE, f"{path}: twin {ours!r}, pool {theirs!r}"
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), f"{path}: twin {ours!r}, pool {theirs!r}"
        for i, pair in enumerate(zip(ours, theirs)):
            agree(f"{path}[{i}]", *pair)
    else:
        assert ours == theirs, f"{path}: twin {ours!r}, pool {theirs!r}"


def check_decision(e, ours, said):
    agree("calibrated", ours["calibrated"], said["calibrated"])
    agree("why", ours["why"], said["why"])
    agree("status", ours["status"], said["status"])
    if ours["close"]:
        return
    agree("selected", [ours["selected"], ours["share"], ours["gap"]], [said["selected"], said["share"], said["gap"]])
    agree("scores", [ours["scores"].get(y, 0.0) for y in said["answers"]], said["scores"])
    agree("decisive", ours["decisive"], said["decisive"])
    p, n, worth = ours["sure"]["p_correct"], ours["sure"]["n"], ours["sure"]["worth"]
    agree("sure", [p, n], [said["p_correct"], said["effective_n"]])
    agree("abstained", e["max_error"] is not None and 1.0 - p > e["max_error"], said["abstained"])
    for bound, tail, holds in ((said["low"], 0.05, said["low"] <= p), (said["high"], 0.95, said["high"] >= p)):
        assert holds, f"{p!r} is outside its interval"
        if ours["selected"] and bound != said["p_correct"]:
            chance = beta_cdf(p * worth + 0.5, (1 - p) * worth + 0.5, bound)
            assert abs(chance - tail) < 2e-3, f"the interval's bound {bound!r} has {chance!r} below it"


def check_event(ours, theirs):
    for key, value in {"learned": [], "implied": [], "unlearned": [], "dropped": 0, **ours}.items():
        agree(key, value, theirs[key])


def run(driver, seed, counts):
    script, log = Script(random.Random(seed)), []
    driver.start()
    for line in range(45):
        e = script.configure() if line == 0 else script.next()
        before = replay(log)
        if e["op"] == "decide" and e["id"] not in before.seen:
            command = dict(e, responses=[{k: v for k, v in r.items() if v is not None} for r in e["responses"]])
            said, ours = driver.ask(command), before.answer(e)
            check_decision(e, ours, said)
            e["selected"], e["share"], e["audits"] = said["selected"], said["share"], said["audits"]
            theirs = said["event"]
        elif e["op"] == "decide":
            theirs = driver.ask(e)["event"]
        else:
            theirs = driver.ask({k: v for k, v in e.items() if v is not None})
        taken_back = e["op"] == "outcome" and e["id"] in before.awaited
        ours = before.step(e, taken_back)
        check_event(ours, theirs)
        log.append(e)
        script.past.append(e)
        counts["implied"] = counts.get("implied", 0) + len(ours.get("implied", []))
        counts[e["op"] + " " + ours["status"]] = counts.get(e["op"] + " " + ours["status"], 0) + 1
    ours = replay(log).factors()
    theirs = {tuple(row[:4]): row[4:] for row in driver.ask({"op": "factors"})}
    agree("factor rows", sorted(ours), sorted(theirs))
    for key, row in ours.items():
        agree(f"factors {key}", [float(x) for x in row], [float(x) for x in theirs[key][:len(row)]])


def run_long(driver, seed):
    """Decisions whose outcomes come at once, right at first and then mostly wrong: warm, and drifting, which short scripts never get to.
    The twin keeps its state here: the log is too long to start anew at every line."""
    script, pool, statuses = Script(random.Random(seed)), Pool(), set()
    driver.start()
    configure = dict(script.configure(), pending_ms_max=10**10)
    driver.ask(configure)
    pool.step(configure)
    for line in range(300):
        script.time += 1
        e = script.decide()
        said, ours = driver.ask(dict(e, responses=[{k: v for k, v in r.items() if v is not None} for r in e["responses"]])), pool.answer(e)
        check_decision(e, ours, said)
        statuses.add(said["status"])
        e["selected"], e["share"], e["audits"] = said["selected"], said["share"], said["audits"]
        check_event(pool.step(e), said["event"])
        if said["selected"]:
            right = script.rng.random() < (0.9 if line < 200 else 0.05)
            outcome = script.event("outcome", decision=e["id"], grades=[], gold=None, selected=float(right), weight=1.0, source="")
            check_event(pool.step(outcome), driver.ask({k: v for k, v in outcome.items() if v is not None}))
    assert statuses == {"cold", "calibrated", "drifting"}, f"a long life had {sorted(statuses)}"


def main():
    driver, counts = Driver(sys.argv[1]), {}
    seeds = [int(sys.argv[2])] if len(sys.argv) > 2 else range(1, 301)
    for seed in seeds:
        try:
            run(driver, seed, counts)
        except AssertionError as error:
            sys.exit(f"twin.py DRIVER {seed}: {error}")
    for seed in seeds[:4]:
        run_long(driver, seed)
    for name in sorted(counts):
        print(f"{counts[name]:6d} {name}")
    if len(seeds) > 1:
        statuses = ("applied", "duplicate", "pending_decision", "expired", "conflict", "reverted", "refused")
        expected = ["outcome " + status for status in statuses] + ["revert folding", "revert applied", "implied"]
        missing = [name for name in expected if not counts.get(name)]
        assert not missing, f"no script had: {missing}"
    print(f"{len(seeds)} scripts agree to {TOLERANCE}")


if __name__ == "__main__":
    main()
