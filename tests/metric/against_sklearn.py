"""Compares the metrics of metric_probe with scikit-learn's on seeded data sets. Usage: against_sklearn.py PATH_TO_METRIC_PROBE"""
import json
import math
import subprocess
import sys

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

TOLERANCE = 1e-12
CLIP = 1e-6
BINS = 10


def probe(program, p, o, models):
    rows = "".join(f"{float(a)!r} {float(b)!r} {m}\n" for a, b, m in zip(p, o, models))
    return json.loads(subprocess.run([program], input=rows, text=True, capture_output=True, check=True).stdout)


def data_sets():
    """(name, p, o): shapes that real confidences have, and the corners."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        p = rng.beta(4, 2, 2000)
        yield f"smooth {seed}", p, (rng.random(2000) < p**1.5).astype(float)
        stated = rng.choice([0.05, 0.33, 0.55, 0.75, 0.85, 0.95, 0.99], 1500)
        yield f"few levels {seed}", stated, (rng.random(1500) < 0.6).astype(float)
        graded = rng.choice([0.0, 0.25, 0.5, 1.0], 800)
        yield f"graded {seed}", rng.random(800), graded
    rng = np.random.default_rng(9)
    yield "both ends", rng.choice([0.0, 1.0, 1e-300, 0.5], 400), rng.integers(0, 2, 400).astype(float)
    yield "imbalanced", rng.random(1000), (np.arange(1000) < 3).astype(float)
    yield "all tied", np.full(50, 0.7), (np.arange(50) % 3 == 0).astype(float)
    yield "two rows", np.array([0.2, 0.9]), np.array([0.0, 1.0])
    yield "all right", rng.random(40), np.ones(40)


def split_grades(p, o):
    """A graded row as a right one of weight o and a wrong one of weight 1-o: what scikit-learn can score."""
    y = np.concatenate([np.ones_like(o), np.zeros_like(o)])
    return y, np.concatenate([p, p]), np.concatenate([o, 1 - o])


def curve_error(p, o, strategy):
    """ECE from calibration_curve: its means, weighted by the counts it does not return."""
    mean_o, mean_p = calibration_curve(o, p, n_bins=BINS, strategy=strategy)
    if strategy == "uniform":
        edges = np.linspace(0, 1, BINS + 1)
    else:
        edges = np.percentile(p, np.linspace(0, 1, BINS + 1) * 100)
    counts = np.bincount(np.searchsorted(edges[1:-1], p), minlength=BINS)
    counts = counts[counts > 0]
    return float(np.sum(counts * np.abs(mean_o - mean_p)) / len(p)), mean_o, mean_p


class Comparison:
    def __init__(self):
        self.count = 0
        self.failures = []

    def near(self, where, ours, theirs):
        self.count += 1
        if ours is None or not math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            self.failures.append(f"{where}: ours {ours!r}, scikit-learn {theirs!r}")

    def null(self, where, ours):
        self.count += 1
        if ours is not None:
            self.failures.append(f"{where}: ours {ours!r}, expected null")


def compare(check, program, name, p, o):
    models = np.arange(len(p)) % 3
    ours = probe(program, p, o, models)
    y, pp, weight = split_grades(p, o)
    graded = bool(np.any((o != 0) & (o != 1)))
    # The weighted score of the split rows exceeds the score against the grade by the grade's own variance.
    grade_variance = float(np.mean(o * (1 - o)))
    check.near(f"{name} brier", ours["brier"], brier_score_loss(y, pp, sample_weight=weight) - grade_variance)
    clipped = np.clip(pp, CLIP, 1 - CLIP)
    check.near(f"{name} log_loss", ours["log_loss"], log_loss(y, clipped, sample_weight=weight, labels=[0, 1]))
    if 0 < o.sum() < len(o):
        check.near(f"{name} auroc", ours["auroc"], roc_auc_score(y, pp, sample_weight=weight))
    else:
        check.null(f"{name} auroc", ours["auroc"])
    check.near(f"{name} sharpness", ours["sharpness"], float(np.var(p)))
    if graded or o.min() == o.max():
        return
    # Its bins are closed above, ours below: they agree where no probability stands on an inner edge.
    if not np.any(np.isin(p, np.linspace(0, 1, BINS + 1)[1:-1])):
        error, mean_o, mean_p = curve_error(p, o, "uniform")
        check.near(f"{name} ece", ours["ece"], error)
        filled = [b for b in ours["reliability"] if b["count"] > 0]
        check.near(f"{name} filled bins", len(filled), len(mean_o))
        for i, (b, theirs_o, theirs_p) in enumerate(zip(filled, mean_o, mean_p)):
            check.near(f"{name} bin {i} outcome", b["mean_outcome"], theirs_o)
            check.near(f"{name} bin {i} probability", b["mean_probability"], theirs_p)
        per_model = [curve_error(p[models == m], o[models == m], "uniform")[0] for m in sorted(set(models))]
        check.near(f"{name} ece per model", ours["ece_per_model"], float(np.mean(per_model)))
    if len(p) % BINS == 0:
        check.near(f"{name} equal-mass ece", ours["equal_mass_ece"], curve_error(p, o, "quantile")[0])


def main():
    program = sys.argv[1]
    check = Comparison()
    for name, p, o in data_sets():
        compare(check, program, name, p, o)
    empty = probe(program, [], [], [])
    for metric in ("ece", "ece_per_model", "equal_mass_ece", "brier", "log_loss", "auroc", "sharpness"):
        check.null(f"no rows {metric}", empty[metric])
    for failure in check.failures:
        print(failure)
    print(f"{check.count} comparisons, {len(check.failures)} differ")
    return 1 if check.failures or check.count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
