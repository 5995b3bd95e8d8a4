"""margin.plot: what is drawn are the numbers, not merely something. Without matplotlib the rest works and this says what to install."""
import os
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import margin
from margin import experiments, metrics, plot


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def drawn(ax):
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())


def test_a_reliability_diagram_shows_the_table():
    log = margin.predictions(margin.simulate("abrupt", tasks=300), ["raw", "margin"])
    series = {}
    for method in ("raw", "margin"):
        rows = log.where(method=method)
        graded = ~np.isnan(rows["correct"])
        series[method] = rows["calibrated"][graded], rows["correct"][graded]
    ax = plot.reliability(series)
    assert drawn(ax).std() > 0
    for container, (name, (p, o)) in zip(ax.containers, series.items()):
        table = metrics.reliability(p, o)
        x, y = container.lines[0].get_data()
        seen = table["count"] > 0
        assert np.array_equal(x, table["probability"][seen]) and np.array_equal(y, table["outcome"][seen])
        assert f"{metrics.ece(p, o):.3f}" in container.get_label() and name in container.get_label()
    assert plot.reliability((p, o), ax=ax) is ax


def test_a_heat_map_shows_the_factors():
    pool = margin.Pool()
    for i in range(60):
        decision = pool.decide([("over$confident$", "x", 0.9), ("modest", "y", 0.4)])
        pool.feedback(decision.decision_id, outcomes={"over$confident$": 0, "modest": 1})
    ax = plot.factors(pool)
    assert drawn(ax).std() > 0
    shown = np.array(ax.images[0].get_array())
    frame = pool.factors()
    assert np.array_equal(shown.ravel(), frame["factor"])
    assert [text.get_text() for text in ax.get_yticklabels()] == pool.models
    assert {text.get_text() for text in ax.texts} == {f"{value:.2f}" for value in frame["factor"]}
    assert shown[0, 2] < 0.8 < 1.2 < shown[1, 1]
    drawn(plot.factors(frame))
    drawn(plot.factors(margin.Pool().factors() or margin.Frame({name: [] for name in frame})))


def test_convergence_shows_the_curves():
    report = experiments.convergence(margin.simulate("drift", tasks=120), orderings=3)
    ax = plot.convergence(report)
    assert drawn(ax).std() > 0
    for line, method in zip(ax.lines, list(report.frame)[1:]):
        assert line.get_label() == method and np.array_equal(line.get_ydata(), report.frame[method])


def test_without_matplotlib_only_this_is_missing(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')")
    code = ("import margin; margin.Calibrator(); margin.replay(margin.simulate('drift', tasks=50), orderings=0)\n"
            "try:\n    margin.plot\nexcept ImportError as error:\n    print(error)")
    run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
                         capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "margin.plot needs matplotlib: pip install margin[plot]"
