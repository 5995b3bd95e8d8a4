"""A replay's twin in plain Python: one prequential pass of every method over a log, with the vote `sum`, as docs/cli.md defines it.

replay.py MARGIN: compares `MARGIN replay` with it on simulated logs, and the alarms of margin_adaptive's clocks.
replay.py --time FILE: how long it takes by itself; bench_replay asks.
Straightforward online code: state that is kept up to date, the way one would write it first.
"""
import bisect
import collections
import json
import math
import os
import subprocess
import sys
import tempfile
import time

from twin import Adaptive, Margin, clip01

TOLERANCE = 1e-9
WINDOW, BINS, ALPHA = 200, 10, 0.04


def sigmoid(z):
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0 else math.exp(z) / (1.0 + math.exp(z))


def bin_of(c):
    return min(BINS - 1, int(c * BINS))


class Raw:
    """Also what a design-time method does without calibration rows."""

    def __init__(self):
        self.models = {}

    def start(self):
        return None

    def join(self, name):
        self.models[name] = self.start()

    def calibrate(self, name, c):
        return c

    def learn(self, rows):
        pass


class PerModel(Raw):
    def learn(self, rows):
        for name, c, o, w in rows:
            self.update(self.models[name], c, o)


class SlidingWindowHistogram(PerModel):
    def start(self):
        return collections.deque(), [0] * BINS, [0.0] * BINS

    def calibrate(self, name, c):
        _, count, hits = self.models[name]
        return hits[bin_of(c)] / count[bin_of(c)] if count[bin_of(c)] else c

    def update(self, state, c, o):
        window, count, hits = state
        window.append((bin_of(c), o))
        count[bin_of(c)] += 1
        hits[bin_of(c)] += o
        if len(window) > WINDOW:
            b, old = window.popleft()
            count[b] -= 1
            hits[b] -= old


class DecayedHistogram(PerModel):
    def start(self):
        return [(k + 0.5) / BINS for k in range(BINS)], [False] * BINS

    def calibrate(self, name, c):
        accuracy, seen = self.models[name]
        return accuracy[bin_of(c)] if seen[bin_of(c)] else c

    def update(self, state, c, o):
        accuracy, seen = state
        accuracy[bin_of(c)] += ALPHA * (o - accuracy[bin_of(c)])
        seen[bin_of(c)] = True


class WindowedAccuracy(PerModel):
    def start(self):
        return {"window": collections.deque(), "c": 0.0, "o": 0.0}

    def update(self, state, c, o):
        state["window"].append((c, o))
        state["c"] += c
        state["o"] += o
        if len(state["window"]) > WINDOW:
            c, o = state["window"].popleft()
            state["c"] -= c
            state["o"] -= o


class WindowedAccuracyReplace(WindowedAccuracy):
    def calibrate(self, name, c):
        state = self.models[name]
        return state["o"] / len(state["window"]) if state["window"] else c


class WindowedAccuracyMultiply(WindowedAccuracy):
    def calibrate(self, name, c):
        state = self.models[name]
        return clip01(c * state["o"] / state["c"]) if state["c"] > 0 else c


class OnlinePlatt(PerModel):
    ETA, LAMBDA = 0.1, 1e-4

    def start(self):
        return [1.0, 0.0]

    def calibrate(self, name, c):
        a, b = self.models[name]
        return sigmoid(a * c + b)

    def update(self, state, c, o):
        a, b = state
        error = sigmoid(a * c + b) - o
        state[:] = a - self.ETA * (error * c + self.LAMBDA * a), b - self.ETA * (error + self.LAMBDA * b)


class AciQuantileScale(PerModel):
    STEP, TARGET = 0.05, 0.5

    def start(self):
        return {"window": collections.deque(), "sorted": [], "level": self.TARGET}

    @staticmethod
    def quantile(state):
        scores = state["sorted"]
        return scores[max(0, math.ceil(state["level"] * len(scores)) - 1)] if scores else 0.0

    def calibrate(self, name, c):
        return clip01(c - self.quantile(self.models[name]))

    def update(self, state, c, o):
        score = c - o
        if state["sorted"]:
            covered = score <= self.quantile(state)
            state["level"] = clip01(state["level"] + self.STEP * (self.TARGET - covered))
        state["window"].append(score)
        bisect.insort(state["sorted"], score)
        if len(state["window"]) > WINDOW:
            del state["sorted"][bisect.bisect_left(state["sorted"], state["window"].popleft())]


METHODS = {
    "raw": Raw,
    "temperature_scaling": Raw,
    "platt_scaling": Raw,
    "histogram_binning": Raw,
    "sliding_window_histogram": SlidingWindowHistogram,
    "decayed_histogram": DecayedHistogram,
    "windowed_accuracy_replace": WindowedAccuracyReplace,
    "windowed_accuracy_multiply": WindowedAccuracyMultiply,
    "online_platt": OnlinePlatt,
    "aci_quantile_scale": AciQuantileScale,
    "margin": Margin,
    "margin_adaptive": Adaptive,
}


def read_tasks(path):
    """[[(model, answer, confidence, outcome)]] by task, in file order; rows without a confidence are left out."""
    tasks = {}
    with open(path) as lines:
        for row in map(json.loads, lines):
            if row["confidence"] is not None:
                tasks.setdefault((row.get("phase"), row["task"]), []).append((row["model"], row.get("answer"), row["confidence"], row["correct"]))
    return list(tasks.values())


def select(rows, calibrated):
    """The first of the answers with the largest sum of calibrated confidence; None when nobody answers."""
    scores = {}
    for (_, answer, _, _), p in zip(rows, calibrated):
        if answer is not None:
            scores[answer] = scores.get(answer, 0.0) + p
    return max(scores, key=scores.get) if scores else None


class Score:
    """The metrics of `margin replay`, summed up as the rows come."""

    def __init__(self):
        self.bins, self.of_model = [0.0] * BINS, {}
        self.rows, self.squares, self.logs, self.selected, self.right = 0, 0.0, 0.0, 0, 0.0
        self.contests, self.points = 0, 0.0

    def add(self, rows, calibrated, selected):
        for (model, _, _, o), p in zip(rows, calibrated):
            self.rows += 1
            self.bins[bin_of(p)] += o - p
            own = self.of_model.setdefault(model, [0, [0.0] * BINS])
            own[0] += 1
            own[1][bin_of(p)] += o - p
            self.squares += (p - o) ** 2
            q = min(1 - 1e-6, max(1e-6, p))
            self.logs -= o * math.log(q) + (1 - o) * math.log(1 - q)
        for i, (_, _, _, o) in enumerate(rows):
            for j in range(i):
                if o != rows[j][3]:
                    self.contests += 1
                    ahead = (calibrated[i] - calibrated[j]) * (o - rows[j][3])
                    self.points += 1.0 if ahead > 0 else 0.5 if ahead == 0 else 0.0
        if selected is not None:
            self.selected += 1
            self.right += max(o for _, y, _, o in rows if y == selected)

    def values(self):
        per_model = [sum(map(abs, bins)) / count for count, bins in self.of_model.values()]
        return {"ece": sum(map(abs, self.bins)) / self.rows, "ece_per_model": sum(per_model) / len(per_model), "brier": self.squares / self.rows,
                "log_loss": self.logs / self.rows, "pass1": self.right / self.selected, "resolution": self.points / self.contests}


def one_pass(make, tasks):
    """[(calibrated confidences, selected answer)] by task, each before its outcomes are learned."""
    state, said = make(), []
    for rows in tasks:
        for model, _, _, _ in rows:
            if model not in state.models:
                state.join(model)
        calibrated = [state.calibrate(model, c) for model, _, c, _ in rows]
        said.append((calibrated, select(rows, calibrated)))
        state.learn([(model, c, o, 1.0) for model, _, c, o in rows])
    return said


def passes(tasks):
    return {method: one_pass(make, tasks) for method, make in METHODS.items()}


def scores(tasks, by_method):
    """{method: {metric: value}}"""
    result = {}
    for method, said in by_method.items():
        score = Score()
        for rows, (calibrated, selected) in zip(tasks, said):
            score.add(rows, calibrated, selected)
        result[method] = score.values()
    return result


def clock_alarms(tasks):
    """[(model, task from 1, clock, the clock it beat, evidence, limit)]: when margin_adaptive's clocks noticed a shift."""
    state, alarms = Adaptive().reference, []
    for number, rows in enumerate(tasks, 1):
        state.begin_task()
        for model, _, c, o in rows:
            state.update(model, c, o)
            alarms += [("(pool)" if who is None else who, number, *rest) for who, *rest in state.alarms]
        state.end_task()
    return alarms


def compare_clocks(margin, path):
    told = subprocess.run([margin, "experiment", "watch", path, "--json"], check=True, capture_output=True)
    theirs = next(table["rows"] for table in json.loads(told.stdout) if table["title"].startswith("Clocks of margin_adaptive"))
    ours = clock_alarms(read_tasks(path))
    assert [alarm[:4] for alarm in ours] == [tuple(row[:4]) for row in theirs], f"twin {ours}, margin {theirs}"
    for alarm, row in zip(ours, theirs):
        assert all(abs(a - b) <= TOLERANCE for a, b in zip(alarm[4:], row[4:])), f"twin {alarm}, margin {row}"
    return {alarm[0] == "(pool)" for alarm in ours}, len(ours)


def compare(margin):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.jsonl")
        for cohort, count in (("newcomers", 800), ("collapse", 500), ("drift", 400)):
            subprocess.run([margin, "simulate", cohort, "--tasks", str(count), "--out", path], check=True)
            told = subprocess.run([margin, "replay", path, "--orderings", "0", "--method", "all", "--json"], check=True, capture_output=True)
            tasks = read_tasks(path)
            theirs, ours = json.loads(told.stdout)["methods"], scores(tasks, passes(tasks))
            assert sorted(ours) == sorted(theirs), f"twin has {sorted(ours)}, margin {sorted(theirs)}"
            for method, metrics in ours.items():
                for metric, value in metrics.items():
                    difference = abs(value - theirs[method][metric])
                    assert difference <= TOLERANCE, f"{cohort} {method} {metric}: twin {value!r}, margin {theirs[method][metric]!r}"
            print(f"{cohort}: {len(ours)} methods agree to {TOLERANCE}")
        for cohort, count in (("collapse", 1000), ("sawtooth", 2000)):
            subprocess.run([margin, "simulate", cohort, "--tasks", str(count), "--out", path], check=True)
            whose, alarms = compare_clocks(margin, path)
            assert alarms and (cohort == "collapse" or whose == {True, False}), f"{cohort}: too few alarms to compare"
            print(f"{cohort}: {alarms} alarms of clocks agree to {TOLERANCE}")


def main():
    if sys.argv[1] != "--time":
        return compare(sys.argv[1])
    tasks = read_tasks(sys.argv[2])
    start = time.process_time()
    said = passes(tasks)
    passed = time.process_time()
    result = scores(tasks, said)
    print(f"rows {sum(map(len, tasks))}\npasses {passed - start!r}\nscores {time.process_time() - passed!r}")
    for method, metrics in result.items():
        print(f"{method} {metrics['ece']!r}")


if __name__ == "__main__":
    main()
