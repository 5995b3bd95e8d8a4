"""The Python package beside what people use today, on the same rows in one run: compare.py [--rows N] [--check]

    PYTHONPATH=build/release/python python3 bench/python/compare.py

The work is online calibration: every row is calibrated with what was learned before it, then learned. Rivals that refit do so every 1,000
rows on all rows so far and use the last fit in between. Each rival runs on as many rows as it can do in a while and is reported per row;
the fastest of several rounds counts, in processor time, everybody on one thread. Rivals that are not installed are named and left out.
Before anything is timed, the package's answer is compared with the same formula written in plain Python. --check exits 1 when the package
is less than 100 times as fast as the nearest rival that does the whole work row by row.
"""
import argparse
import importlib.metadata
import json
import os
import platform
import sys
import time
import warnings

# Threads that wait for each other inside a library count as processor time: its rows would look dearer than they are.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import margin

MODELS = 8
REFIT = 1000
LEAST_SECONDS = 1.0  # of every measurement, so that quick ones have their quiet moment as well
PROMISED = 100  # times as fast as the nearest rival that works row by row


def rows_of(count):
    random = np.random.default_rng(1)
    models = random.integers(0, MODELS, count).astype(np.uint32)
    confidences = np.round(random.beta(6, 1.5, count), 2)
    return models, confidences, (random.random(count) < confidences ** (1 + models / 4)).astype(float)


# Our own.

def batch(method):
    def run(models, confidences, outcomes):
        calibrator = margin.Calibrator(method)
        for model in range(MODELS):
            calibrator.join(str(model))
        return calibrator.prequential_batch(models, confidences, outcomes)

    return run


def calls(models, confidences, outcomes):
    calibrator, names = margin.Calibrator("margin"), [str(model) for model in range(MODELS)]
    for name in names:
        calibrator.join(name)
    calibrated = []
    for model, confidence, outcome in zip(models.tolist(), confidences.tolist(), outcomes.tolist()):
        calibrated.append(calibrator.calibrate(names[model], confidence))
        calibrator.observe(names[model], confidence, outcome)
    return np.array(calibrated)


def read(models, confidences, outcomes):
    return margin.read_log({"task": np.arange(len(models)), "model": models, "confidence": confidences, "correct": outcomes})


def replay():
    """A live replay of a log that was read before, a task per row: votes and every score. The first round reads; the fastest counts."""
    logs = {}

    def run(*rows):
        if len(rows[0]) not in logs:
            logs[len(rows[0])] = read(*rows)
        return margin.replay(logs[len(rows[0])], "margin", orderings=0, threads=1)

    return run


# Rivals that work row by row.

def plain_python(models, confidences, outcomes, alpha=0.04, bands=3, shrinkage=100.0):
    """The formula of `margin` with models that have all joined before the first row."""
    a = [[(band + 0.5) / bands for band in range(bands)] for _ in range(MODELS)]
    c = [list(row) for row in a]
    n = [[0] * bands for _ in range(MODELS)]
    calibrated = []
    for model, confidence, outcome in zip(models.tolist(), confidences.tolist(), outcomes.tolist()):
        band = min(bands - 1, int(confidence * bands))
        am, cm, nm = a[model], c[model], n[model]
        weight = sum(n_k * c_k for n_k, c_k in zip(nm, cm))
        whole = min(20.0, sum(n_k * a_k for n_k, a_k in zip(nm, am)) / weight) if weight > 0 else 1.0
        own = min(20.0, am[band] / cm[band]) if cm[band] > 0 else 1.0
        seen = nm[band]
        factor = seen / (seen + shrinkage) * own + shrinkage / (seen + shrinkage) * whole
        calibrated.append(min(1.0, max(0.0, factor * confidence)))
        am[band] = (1 - alpha) * am[band] + alpha * outcome
        cm[band] = (1 - alpha) * cm[band] + alpha * confidence
        nm[band] = seen + 1
    return np.array(calibrated)


def plain_numpy(models, confidences, outcomes, alpha=0.04, bands=3, shrinkage=100.0):
    """The same with its state in numpy arrays."""
    a = np.tile((np.arange(bands) + 0.5) / bands, (MODELS, 1))
    c, n = a.copy(), np.zeros((MODELS, bands))
    calibrated = np.empty(len(models))
    for row in range(len(models)):
        model, confidence = models[row], confidences[row]
        band = min(bands - 1, int(confidence * bands))
        weight = n[model] @ c[model]
        whole = min(20.0, (n[model] @ a[model]) / weight) if weight > 0 else 1.0
        own = min(20.0, a[model, band] / c[model, band])
        seen = n[model, band]
        factor = (seen * own + shrinkage * whole) / (seen + shrinkage)
        calibrated[row] = min(1.0, max(0.0, factor * confidence))
        a[model, band] += alpha * (outcomes[row] - a[model, band])
        c[model, band] += alpha * (confidence - c[model, band])
        n[model, band] += 1
    return calibrated


def river_pipeline(models, confidences, outcomes, bands=3):
    """What a River user would write for this work: decayed means per model and band, and a logistic regression per model that sees them."""
    from river import linear_model, optim, stats
    right = [[stats.EWMean(0.04) for _ in range(bands)] for _ in range(MODELS)]
    stated = [[stats.EWMean(0.04) for _ in range(bands)] for _ in range(MODELS)]
    learners = [linear_model.LogisticRegression(optimizer=optim.SGD(0.1)) for _ in range(MODELS)]
    calibrated = []
    for model, confidence, outcome in zip(models.tolist(), confidences.tolist(), outcomes.tolist()):
        band = min(bands - 1, int(confidence * bands))
        x = {"confidence": confidence, "right": right[model][band].get(), "stated": stated[model][band].get()}
        calibrated.append(learners[model].predict_proba_one(x)[True])
        learners[model].learn_one(x, bool(outcome))
        right[model][band].update(outcome)
        stated[model][band].update(confidence)
    return np.array(calibrated)


def river_logistic(models, confidences, outcomes):
    from river import linear_model, optim
    learners = [linear_model.LogisticRegression(optimizer=optim.SGD(0.1)) for _ in range(MODELS)]
    calibrated = []
    for model, confidence, outcome in zip(models.tolist(), confidences.tolist(), outcomes.tolist()):
        x = {"confidence": confidence}
        calibrated.append(learners[model].predict_proba_one(x)[True])
        learners[model].learn_one(x, bool(outcome))
    return np.array(calibrated)


def river_means(models, confidences, outcomes, bands=3):
    """Band factors alone, from River's decayed means: a part of the work, without the model's own factor and the blend of the two."""
    from river import stats
    right = [[stats.EWMean(0.04) for _ in range(bands)] for _ in range(MODELS)]
    stated = [[stats.EWMean(0.04) for _ in range(bands)] for _ in range(MODELS)]
    calibrated = []
    for model, confidence, outcome in zip(models.tolist(), confidences.tolist(), outcomes.tolist()):
        band = min(bands - 1, int(confidence * bands))
        seen = stated[model][band].get()
        calibrated.append(min(1.0, confidence * right[model][band].get() / seen) if seen else confidence)
        right[model][band].update(outcome)
        stated[model][band].update(confidence)
    return np.array(calibrated)


# Rivals that refit.

def refitting(fit):
    """`fit(confidences, outcomes)` returns a function of confidences; one fit per model, every REFIT rows."""
    def run(models, confidences, outcomes):
        calibrated, fits = confidences.copy(), {}
        for begin in range(0, len(models), REFIT):
            part = slice(begin, begin + REFIT)
            for model in range(MODELS):
                here = np.flatnonzero(models[part] == model) + begin
                if model in fits and len(here):
                    calibrated[here] = fits[model](confidences[here])
            seen = slice(0, begin + REFIT)
            for model in range(MODELS):
                of_model = models[seen] == model
                c, o = confidences[seen][of_model], outcomes[seen][of_model]
                if len(np.unique(o)) == 2:
                    fits[model] = fit(c, o)
        return calibrated

    return run


def numpy_histogram(c, o):
    which = np.minimum((c * 10).astype(int), 9)
    count = np.bincount(which, minlength=10)
    mean = np.where(count > 0, np.bincount(which, o, minlength=10) / np.maximum(count, 1), (np.arange(10) + 0.5) / 10)
    return lambda new: mean[np.minimum((new * 10).astype(int), 9)]


def sklearn_sigmoid(c, o):
    from sklearn.linear_model import LogisticRegression
    fitted = LogisticRegression(C=1e6).fit(c[:, None], o)
    return lambda new: fitted.predict_proba(new[:, None])[:, 1]


def sklearn_isotonic(c, o):
    from sklearn.isotonic import IsotonicRegression
    return IsotonicRegression(out_of_bounds="clip").fit(c, o).predict


def netcal_histogram(c, o):
    from netcal.binning import HistogramBinning
    fitted = HistogramBinning(10)
    fitted.fit(c, o)
    return fitted.transform


def netcal_logistic(c, o):
    from netcal.scaling import LogisticCalibration
    fitted = LogisticCalibration()
    fitted.fit(c, o)
    return fitted.transform


OURS = {"margin, batch": batch("margin"), "margin_adaptive, batch": batch("margin_adaptive"), "online_platt, batch": batch("online_platt"),
        "margin, replay with all scores": replay(), "reading the log of that replay from columns": read,
        "margin, calibrate and observe one by one": calls}
ONLINE = {"plain Python, the same formula": (plain_python, None), "numpy row by row, the same formula": (plain_numpy, None),
          "River pipeline, means and logistic": (river_pipeline, "river"), "River LogisticRegression": (river_logistic, "river")}
PARTS = {"River EWMean, band factors alone": (river_means, "river")}
REFITTED = {
    "numpy histogram, refit": (refitting(numpy_histogram), None),
    "scikit-learn sigmoid, refit": (refitting(sklearn_sigmoid), "scikit-learn"),
    "scikit-learn isotonic, refit": (refitting(sklearn_isotonic), "scikit-learn"),
    "netcal histogram, refit": (refitting(netcal_histogram), "netcal"),
    "netcal logistic, refit": (refitting(netcal_logistic), "netcal")
}


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def nanoseconds_per_row(run, rows, rounds):
    run(*rows_of(2 * REFIT))  # what a rival imports when it is first used is no part of its rows
    spent = []
    while len(spent) < rounds or (rounds > 1 and sum(spent) < LEAST_SECONDS):
        begin = time.process_time()
        run(*rows)
        spent.append(time.process_time() - begin)
    return min(spent) / len(rows[0]) * 1e9


def compare_with_reference():
    rows = rows_of(5000)
    expected = plain_python(*rows)
    for name, run in (("batch", OURS["margin, batch"]), ("calls", calls), ("numpy", plain_numpy)):
        far = np.abs(run(*rows) - expected).max()
        if not far < 1e-9:
            raise SystemExit(f"{name}: differs from the reference by {far}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of our batches; rivals get fewer [1000000]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    compare_with_reference()

    all_rows, some_rows, few_rows = rows_of(chosen.rows), rows_of(min(chosen.rows, 50_000)), rows_of(min(chosen.rows, 20_000))
    measured, counts = {}, {}

    def measure(name, run, rows, rounds):
        measured[name], counts[name] = nanoseconds_per_row(run, rows, rounds), len(rows[0])

    for name, run in OURS.items():
        measure(name, run, some_rows if run is calls else all_rows, chosen.rounds)
    versions, online = {"Python": platform.python_version(), "numpy": np.__version__}, []
    for group, rows in ((ONLINE, some_rows), (PARTS, some_rows), (REFITTED, few_rows)):
        for name, (run, package) in group.items():
            if package and version_of(package) is None:
                print(f"left out: {name}: {package} is not installed", file=sys.stderr)
                continue
            if package:
                versions[package] = version_of(package)
            measure(name, run, rows, max(1, chosen.rounds // 2))
            if group is ONLINE:
                online.append(name)

    ours = measured["margin, batch"]
    print(f"{'':46}{'rows':>10}{'ns per row':>12}{'x margin, batch':>18}")
    for name, nanoseconds in measured.items():
        print(f"{name:46}{counts[name]:10}{nanoseconds:12.1f}{nanoseconds / ours:18.1f}")
    nearest = min(online, key=lambda name: measured[name])
    ratio = measured[nearest] / ours
    print(f"\nnearest that works row by row: {nearest}, {ratio:.0f} times")
    print(json.dumps({"versions": versions, "rows": counts, "nanoseconds_per_row": {n: round(v, 1) for n, v in measured.items()}}))
    if chosen.check and ratio < PROMISED:
        print(f"promised: {PROMISED} times", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
