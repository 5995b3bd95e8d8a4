"""The thread-safety that the package promises: objects may be shared, calls on one wait for each other, and long calls of different ones
run
at the same time. And the memory that long use takes: none."""
import gc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import margin
from margin import metrics

ROWS = 200_000
RANDOM = np.random.default_rng(3)
CONFIDENCES = RANDOM.random(ROWS)
OUTCOMES = (RANDOM.random(ROWS) < CONFIDENCES).astype(float)


def in_threads(*works):
    failures = []

    def run(work):
        try:
            work()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "two threads wait for each other"
    if failures:
        raise failures[0]


def test_a_shared_calibrator_learns_every_row_once():
    shared = margin.Calibrator("windowed_accuracy_replace", window=10)
    shared.join("m")

    def batches():
        for part in np.array_split(np.arange(ROWS), 20):
            shared.prequential_batch("m", CONFIDENCES[part], OUTCOMES[part])

    def singles():
        for i in range(2000):
            shared.observe("m", 0.5, 1.0)
            assert 0 <= shared.calibrate("m", 0.5) <= 1
            shared.explain("m", 0.5)

    def copies():
        for _ in range(50):
            assert margin.Calibrator.restore(shared.snapshot(), shared.models).models == ["m"]

    in_threads(batches, batches, singles, singles, copies)
    counted = margin.Calibrator("margin", bands=1)
    long, right = np.tile(CONFIDENCES, 5), np.tile(OUTCOMES, 5)  # long enough for threads to meet in the middle
    in_threads(*[lambda: counted.observe_batch("m", long, right) for _ in range(4)],
               *[lambda: [counted.observe("m", 0.5, 1.0) for _ in range(5000)] for _ in range(2)])
    assert counted.explain("m", 0.5).observations == 4 * len(long) + 2 * 5000


def test_new_models_may_come_from_every_thread():
    shared = margin.Calibrator()
    names = [[f"{thread}-{i}" for i in range(300)] for thread in range(4)]
    in_threads(*[lambda own=own: [shared.observe_batch([name, "everybody"], [0.5, 0.5], [1, 0]) for name in own] for own in names])
    assert len(shared.models) == 4 * 300 + 1
    assert all(shared.explain(name, 0.5).observations == 1 for own in names for name in own)


def test_a_shared_pool_keeps_its_decisions_apart():
    pool = margin.Pool("margin")

    def work():
        for _ in range(200):
            decision = pool.decide([("a", "x", 0.9), ("b", "y", 0.4)])
            assert pool.feedback(decision.decision_id, outcomes={"a": 1, "b": 0}).updated == ["a", "b"]

    in_threads(*[work] * 6)
    assert pool.pending == 0 and pool.factors().where(model="a")["n"].sum() == 1200


@pytest.mark.parametrize("work", [
    lambda: margin.Calibrator("margin_adaptive").prequential_batch("m", np.tile(CONFIDENCES, 10), np.tile(OUTCOMES, 10)),
    lambda: metrics.ece_band(CONFIDENCES[:20_000], simulations=1000),
    lambda: margin.replay(margin.simulate("drift", tasks=500), "all", orderings=20),
], ids=["batch", "metric", "replay"])
def test_long_calls_give_the_interpreter_away(work):
    # This thread would stand still for the whole of a call that keeps the lock.
    thread, turns = threading.Thread(target=work), 0
    thread.start()
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 10


GROWTH = """
import gc, resource, pickle
import numpy as np, margin
from margin import metrics

p = np.random.default_rng(1).random(2000)
o = (p > 0.5).astype(float)
names = np.array([f"m{i % 7}" for i in range(2000)], dtype=object)
log = margin.read_log(margin.simulate("drift", tasks=60))

class Mine:
    def predict(self, model, confidence):
        return confidence
    def learn(self, *_):
        pass

class Bad(Mine):
    def predict(self, model, confidence):
        raise ValueError(model)

def once():
    calibrator = margin.Calibrator("margin_adaptive")
    calibrator.prequential_batch(names, p, o, tasks=names)
    calibrator.observe_batch(names.tolist(), p.tolist(), o > 0.5)
    pickle.loads(pickle.dumps(calibrator)).explain("m1", 0.5).terms
    refused = (lambda: calibrator.calibrate("x", 2), lambda: calibrator.observe_batch(names, p, o[:-1]), lambda: margin.Calibrator("nope"))
    for bad in refused:
        try:
            bad()
        except margin.MarginError:
            pass
    pool = margin.Pool()
    pool.feedback(pool.decide([("a", "x", 0.9), ("b", "y", 0.8)]).decision_id, outcome=1)
    pool.factors()
    metrics.reliability(p, o), metrics.paired_bootstrap(p, p, o, names, resamples=50), metrics.risk_coverage(p, o)
    margin.replay(log, {"mine": Mine, "margin": "margin"}, orderings=1, threads=1)
    margin.predictions(log, "margin"), margin.simulate("drift", tasks=60)
    try:
        margin.replay(log, Bad(), orderings=2)
    except ValueError:
        pass

def used():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

for _ in range(40):
    once()
first = used()
for _ in range(100):
    once()
print(used() - first)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_long_use_takes_no_memory():
    run = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True)
    grown = int(run.stdout)
    # A leak of one column of this loop would be 100 x 16 kB.
    assert grown < 1_000_000, f"{grown} bytes more after 100 rounds"


def test_objects_are_freed():
    import weakref

    class Held:
        def predict(self, model, confidence):
            return confidence

        def learn(self, *_):
            pass

    held = Held()
    gone = weakref.ref(held)
    margin.replay([{"task": "q", "model": "a", "confidence": 0.5, "correct": 1}], held, orderings=3)
    del held
    gc.collect()
    assert gone() is None
