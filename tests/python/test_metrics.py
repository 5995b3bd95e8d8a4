"""margin.metrics against scikit-learn, numpy loops and the golden vectors."""
import math

import golden
import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics

import margin
from margin import metrics

RANDOM = np.random.default_rng(5)
P = RANDOM.beta(2, 1.5, 4000)
O = (RANDOM.random(4000) < P ** 1.5).astype(float)


def loop_ece(p, o, bins=10):
    which = np.minimum((p * bins).astype(int), bins - 1)
    return sum(abs(o[which == b].sum() - p[which == b].sum()) for b in range(bins)) / len(p)


@pytest.mark.parametrize("bins", [1, 7, 10, 100])
def test_ece_is_the_sum_over_bins(bins):
    assert metrics.ece(P, O, bins) == pytest.approx(loop_ece(P, O, bins), abs=1e-12)


def test_scores_equal_those_of_scikit_learn():
    assert metrics.brier(P, O) == pytest.approx(sklearn.metrics.brier_score_loss(O, P), abs=1e-12)
    assert metrics.log_loss(P, O) == pytest.approx(sklearn.metrics.log_loss(O, np.clip(P, 1e-6, 1 - 1e-6)), abs=1e-12)
    assert metrics.auroc(P, O) == pytest.approx(sklearn.metrics.roc_auc_score(O, P), abs=1e-12)
    assert metrics.auroc(np.round(P, 1), O) == pytest.approx(sklearn.metrics.roc_auc_score(O, np.round(P, 1)), abs=1e-12)
    assert metrics.sharpness(P) == pytest.approx(np.var(P), abs=1e-12)


def test_reliability_equals_scikit_learns_curve():
    table = metrics.reliability(P, O)
    true, predicted = sklearn.calibration.calibration_curve(O, P, n_bins=10)
    np.testing.assert_allclose(table["outcome"], true, atol=1e-12)
    np.testing.assert_allclose(table["probability"], predicted, atol=1e-12)
    assert table["count"].sum() == len(P)
    assert (table["outcome_low"] <= table["outcome"]).all() and (table["outcome"] <= table["outcome_high"]).all()
    empty = metrics.reliability([0.95], [1])
    assert empty["count"].tolist() == [0] * 9 + [1] and np.isnan(empty["outcome"][:9]).all()


def test_other_errors_hold_what_they_promise():
    models = RANDOM.integers(0, 3, len(P))
    assert metrics.ece_per_model(P, O, models) == pytest.approx(np.mean([loop_ece(P[models == m], O[models == m]) for m in range(3)]))
    assert metrics.ece_per_model(P, O, [f"m{m}" for m in models]) == metrics.ece_per_model(P, O, models)
    parts = metrics.brier_parts(P, O)
    total = parts["reliability"] - parts["resolution"] + parts["uncertainty"] + parts["within_variance"] - parts["within_covariance"]
    assert total == pytest.approx(metrics.brier(P, O), abs=1e-12)
    drawn = (RANDOM.random(len(P)) < P).astype(float)
    band = metrics.ece_band(P)
    assert band["low"] < band["mean"] < band["high"] and metrics.ece(P, O) > band["high"]
    assert metrics.smooth_ece(P, O) > 2 * metrics.smooth_ece(P, drawn)
    assert metrics.equal_mass_ece(P, O) == pytest.approx(
        sum(abs(part.sum()) for part in np.array_split((O - P)[np.argsort(P)], 10)) / len(P), abs=1e-3)
    assert metrics.debiased_ece(P, drawn)["squared"] < metrics.debiased_ece(P, O)["squared"]


def test_risk_coverage_is_the_error_above_each_threshold():
    curve, area = metrics.risk_coverage(P, O)
    order = np.argsort(-P)
    risks = np.cumsum(1 - O[order]) / np.arange(1, len(P) + 1)
    np.testing.assert_allclose(curve["risk"], risks, atol=1e-12)
    assert area == pytest.approx(risks.mean(), abs=1e-12)


@pytest.mark.parametrize("stream", ["edges", "shift", "zeros"])
def test_pairwise_resolution_equals_the_golden_vectors(stream):
    expected = {line["method"]: line["calibrated"] for line in golden.lines(f"{stream}.expected.jsonl") if not line["params"]}
    rows = sorted((row for task in golden.tasks(stream) for row in task), key=lambda row: row["place"])
    for line in golden.lines(f"{stream}.selection.jsonl"):
        if "resolution" not in line:
            continue
        kept = [(f"{row.get('phase')} {row['task']}", p, row["correct"], row["confidence"])
                for row, p in zip(rows, expected[line["method"]]) if row["correct"] is not None]
        tasks, confidences, outcomes, stated = zip(*kept)
        for ties, value in line["resolution"].items():
            found = metrics.pairwise_resolution(tasks, confidences, outcomes, stated=stated, ties=ties)
            assert found["resolution"] == pytest.approx(value, abs=golden.tolerance(line["method"]))


def test_pairwise_resolution_counts_what_it_leaves_out():
    found = metrics.pairwise_resolution([1, 1, 1], [0.9, math.nan, 0.5], [1, 0, 0], missing="half")
    assert (found["contests"], found["missing"], found["points"], found["both_wrong"]) == (2, 1, 1.5, 1)
    found = metrics.pairwise_resolution([1, 1, 1], [0.9, math.nan, 0.5], [1, 0, 0])
    assert (found["contests"], found["resolution"]) == (1, 1.0)


def test_the_bootstrap_pairs_and_resamples_tasks():
    tasks = np.repeat(np.arange(1000), 4)
    better = P ** 1.5
    found = metrics.paired_bootstrap(better, P, O, tasks, resamples=2000, metric="brier")
    per_task = ((better - O) ** 2 - (P - O) ** 2).reshape(1000, 4).mean(axis=1)
    assert found["difference"] == pytest.approx(per_task.mean(), abs=1e-12)
    half = 1.96 * per_task.std() / math.sqrt(1000)
    assert found["low"] == pytest.approx(per_task.mean() - half, rel=0.1) and found["high"] == pytest.approx(per_task.mean() + half,
                                                                                                             rel=0.1)
    assert found["verdict"] == "win" and found["p_value"] < 0.01
    assert metrics.paired_bootstrap(P, better, O, tasks, resamples=2000, metric="brier")["verdict"] == "loss"
    assert metrics.paired_bootstrap(P, P, O, tasks, resamples=100)["verdict"] == "tie"
    assert metrics.paired_bootstrap(better, P, O, tasks, resamples=2000, metric="brier") == found
    assert metrics.paired_bootstrap(better, P, O, resamples=200)["a"] == pytest.approx(metrics.ece(better, O), abs=1e-15)


def test_what_is_undefined_is_none():
    assert metrics.ece([], []) is None and metrics.brier([], []) is None and metrics.log_loss([], []) is None
    assert metrics.auroc([0.5, 0.6], [1, 1]) is None and metrics.risk_coverage([], []) is None
    assert metrics.debiased_ece([], []) is None and metrics.ece_band([]) is None and metrics.brier_parts([], []) is None
    assert metrics.pairwise_resolution([], [], [])["resolution"] is None


REFUSALS = [
    (lambda: metrics.ece([0.5, 1.5], [0, 1]), margin.InvalidArgument, r"^row 1: probabilities: got 1.5, expected a number in \[0, 1\]$"),
    (lambda: metrics.brier([0.5], [math.nan]), margin.InvalidArgument, "^row 0: outcomes: got nan"),
    (lambda: metrics.brier([0.5], [1, 0]), margin.InvalidArgument, "^outcomes: got 2 rows, expected 1 as in probabilities$"),
    (lambda: metrics.brier([[0.5]], [1]), margin.InvalidArgument, r"^probabilities: got shape \(1, 1\)"),
    (lambda: metrics.log_loss(["x"], [1]), margin.WrongType, "^probabilities: got dtype"),
    (lambda: metrics.ece([0.5], [1], bins=0), margin.InvalidArgument, "^bins: got 0"),
    (lambda: metrics.ece_band([0.5], simulations=0), margin.InvalidArgument, "^simulations: got 0"),
    (lambda: metrics.ece_per_model([0.5], [1], []), margin.InvalidArgument, "^models: got 0 rows"),
    (lambda: metrics.pairwise_resolution([1], [0.5], [1], ties="never"), margin.InvalidArgument, "never"),
    (lambda: metrics.pairwise_resolution([1], [0.5], [1], contest="answers"), margin.InvalidArgument, "^answers: expected a column"),
    (lambda: metrics.pairwise_resolution([1], [0.5], [1], ties="raw"), margin.InvalidArgument, "^stated: expected a column"),
    (lambda: metrics.pairwise_resolution([1], [7], [1]), margin.InvalidArgument, "^row 0: confidences: got 7"),
    (lambda: metrics.paired_bootstrap([0.5], [0.5], [1], metric="f1"), margin.NotFound, "expected ece, brier or log_loss"),
    (lambda: metrics.paired_bootstrap([0.5], [0.5], [1], resamples=0), margin.LimitExceeded, "^resamples: got 0"),
    (lambda: metrics.paired_bootstrap([0.5], [0.5], [1], resamples=2**40), margin.LimitExceeded, "product of at most"),
    (lambda: metrics.paired_bootstrap([], [], []), margin.LimitExceeded, "of 0 tasks"),
]


@pytest.mark.parametrize("call, error, message", REFUSALS, ids=[str(i) for i in range(len(REFUSALS))])
def test_what_is_refused_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
