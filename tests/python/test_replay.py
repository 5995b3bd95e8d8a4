"""margin.replay, predictions and decisions equal the command line on the same file; logs of every kind are the same log."""
import json
import math
import os
import signal
import threading
import time

import cli
import golden
import numpy as np
import pytest

import margin

METRICS = ["ece", "ece_per_model", "brier", "log_loss", "pass1", "resolution"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "abrupt.jsonl"
    cli.run("simulate", "abrupt", "--tasks", 300, "--seed", 5, "--out", path)
    return path


def assert_scores_equal(frame, expected):
    for name in METRICS:
        got = float(frame[name][0])
        assert (math.isnan(got) and expected[name] is None) or got == expected[name], name


@pytest.mark.parametrize("options, flags", [
    ({"orderings": 0}, ["--orderings", 0]),
    ({"orderings": 7, "seed": 3}, ["--orderings", 7, "--seed", 3]),
    ({"orderings": 0, "vote": "stacked", "lag": 20}, ["--orderings", 0, "--vote", "stacked", "--lag", 20]),
    ({"orderings": 2, "feedback": "selected", "remedy": "implied", "audit": 0.1},
     ["--orderings", 2, "--feedback", "selected", "--remedy", "implied", "--audit", 0.1]),
    ({"orderings": 0, "phases": "02", "ties": "strict", "malformed": "exclude", "kind": "text"},
     ["--orderings", 0, "--phase", "02", "--ties", "strict", "--malformed", "exclude", "--kind", "text"]),
], ids=str)
def test_replay_equals_the_command_line_to_the_bit(file, options, flags):
    expected = cli.as_json("replay", file, "--method", "all", *flags)
    frame = margin.replay(file, "all", **options)
    assert frame["method"].tolist() == list(expected["methods"])
    for method, scores in expected["methods"].items():
        row = frame.where(method=method)
        assert_scores_equal(row, scores)
        if "sd" in scores:
            assert row["ece_sd"][0] == scores["sd"]["ece"]
        assert row["observations"][0] == expected["observations"]


def test_parts_equal_the_command_line(file):
    expected = cli.as_json("replay", file, "--method", "margin", "--orderings", 3, "--by", "model", "--by", "phase")
    frame = margin.replay(file, "margin", orderings=3, by=["model", "phase"])
    for by, parts in expected["by"].items():
        for part, found in parts.items():
            row = frame.where(by=by, part=part)
            assert row["observations"][0] == found["observations"]
            for name, value in found["methods"]["margin"].items():
                assert row[name][0] == value


def test_predictions_and_decisions_equal_the_command_line(file, tmp_path):
    cli.run("replay", file, "--method", "raw,margin,margin_adaptive,online_platt", "--orderings", 0, "--predictions", tmp_path / "p.jsonl",
            "--decisions", tmp_path / "d.jsonl", "--json")
    methods = ["raw", "margin", "margin_adaptive", "online_platt"]
    found = list(margin.predictions(file, methods).records())
    expected = cli.lines(tmp_path / "p.jsonl")
    assert [{name: row[name] for name in expected[0]} for row in found] == expected
    found = list(margin.decisions(str(file), methods).records())
    expected = cli.lines(tmp_path / "d.jsonl")
    assert [{name: row[name] for name in expected[0]} for row in found] == expected


def test_design_time_methods_are_fitted_as_the_command_line_fits_them(file):
    expected = cli.as_json("replay", file, "--phase", "02", "--fit", f"{file}:01", "--method", "platt_scaling", "--orderings", 0)
    rows = [row for row in cli.lines(file) if row["phase"] == "01"]
    assert_scores_equal(margin.replay(file, "platt_scaling", phases=["02"], fit=rows, orderings=0), expected["methods"]["platt_scaling"])


@pytest.mark.parametrize("stream", ["edges", "shift", "zeros"])
def test_predictions_equal_the_golden_vectors(stream):
    log = margin.read_log(golden.DATA / f"{stream}.jsonl")
    for line in golden.lines(f"{stream}.expected.jsonl"):
        parameters = dict(line["params"])
        lag = parameters.pop("lag", 0)
        found = margin.predictions(log, margin.Calibrator(line["method"], **parameters), lag=lag)
        np.testing.assert_allclose(found["calibrated"], line["calibrated"], rtol=0, atol=golden.tolerance(line["method"]))


def test_simulations_equal_the_command_lines(file):
    frame = margin.simulate("abrupt", tasks=300, seed=5)
    rows = cli.lines(file)
    for name in ("task", "model", "confidence", "correct", "answer", "phase", "p"):
        assert [None if value != value else value for value in frame[name].tolist()] == [row[name] for row in rows], name
    # A log in memory is the log of the file.
    assert frames_equal(margin.replay(frame, orderings=2), margin.replay(file, orderings=2))


def frames_equal(a, b):
    return list(a) == list(b) and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


def test_every_form_of_a_log_is_the_same_log(file, tmp_path):
    rows = cli.lines(file)
    expected = margin.predictions(file, ["margin"])
    columns = {name: [row.get(name) for row in rows] for name in rows[0]}
    arrays = {**columns, "confidence": np.array(columns["confidence"], dtype=float), "correct": np.array(columns["correct"], dtype=float),
              "model": np.array(columns["model"]), "task": np.array(columns["task"], dtype=object)}
    csv = tmp_path / "log.csv"
    names = ["task", "model", "confidence", "correct", "answer", "phase"]
    csv.write_text("\n".join([",".join(names), *(",".join("" if row[n] is None else json.dumps(row[n]).strip('"') for n in names)
                                                 for row in rows)]))
    for form in (rows, tuple(rows), columns, arrays, margin.Frame(arrays), csv, [file], margin.read_log(file)):
        assert frames_equal(margin.predictions(form, ["margin"]), expected)
    percent = {**arrays, "confidence": arrays["confidence"] * 100}
    np.testing.assert_allclose(margin.predictions(percent, ["margin"], scale=100)["calibrated"], expected["calibrated"], atol=1e-12)


def test_numbers_may_be_names_and_times_may_be_dates():
    log = margin.read_log({
        "task": np.array([7, 7, 8]),
        "model": [1, 2, 1],
        "confidence": [0.5, None, float("nan")],
        "correct": [True, False, None],
        "t": np.array(["2024-05-17", "NaT", "2024-05-18"], dtype="datetime64[ns]"),
        "abstained": [False, False, True]
    })
    assert (log.rows, log.tasks, log.models) == (3, 2, ["1", "2"])
    assert margin.predictions(log, "raw")["task"].tolist() == ["7"]


class LastOutcome:
    """Says what the model's last outcome was."""

    def __init__(self):
        self.last = {}

    def predict(self, model, confidence):
        return self.last.get(model, confidence)

    def learn(self, model, confidence, outcome, weight):
        self.last[model] = outcome


class Rewritten:
    """windowed_accuracy_replace, in Python."""

    def __init__(self, window=200):
        self.window, self.seen = window, {}

    def predict(self, model, confidence):
        seen = self.seen.get(model)
        return sum(seen) / len(seen) if seen else confidence

    def learn(self, model, confidence, outcome, weight):
        self.seen[model] = (self.seen.get(model, []) + [outcome])[-self.window:]


def test_a_calibrator_written_in_python_joins_the_grid(file):
    frame = margin.replay(file, {"mine": Rewritten(), "theirs": "windowed_accuracy_replace", "last": LastOutcome}, orderings=3)
    mine, theirs = frame.where(method="mine"), frame.where(method="theirs")
    for name in METRICS:
        assert mine[name][0] == pytest.approx(theirs[name][0], abs=1e-12)
    assert frame.where(method="last")["brier"][0] > mine["brier"][0]
    lagged = margin.predictions(file, {"mine": Rewritten, "theirs": "windowed_accuracy_replace"}, lag=30)
    np.testing.assert_allclose(lagged.where(method="mine")["calibrated"], lagged.where(method="theirs")["calibrated"], atol=1e-12)


def test_a_python_calibrator_starts_fresh_in_every_pass(file):
    method = LastOutcome()
    first = margin.replay(file, {"last": method}, orderings=4)
    assert method.last == {} and frames_equal(margin.replay(file, {"last": method}, orderings=4), first)


class Broken(LastOutcome):
    def __init__(self, says):
        super().__init__()
        self.says = says

    def predict(self, model, confidence):
        return self.says() if callable(self.says) else self.says


@pytest.mark.parametrize("says, error, message", [
    (1.5, margin.InvalidArgument, r"^Broken.predict: got 1.5, expected a number in \[0, 1\]$"),
    (float("nan"), margin.InvalidArgument, "got nan"),
    ("high", margin.WrongType, "^Broken.predict: got str, expected a number"),
    (lambda: 1 / 0, ZeroDivisionError, "division by zero"),
], ids=["range", "nan", "type", "exception"])
def test_what_goes_wrong_in_a_python_calibrator_is_raised(file, says, error, message):
    for threads in (1, 4):
        with pytest.raises(error, match=message):
            margin.replay(file, Broken(says), orderings=8, threads=threads)


def test_ctrl_c_stops_a_replay(file):
    class Slow(LastOutcome):
        def predict(self, model, confidence):
            time.sleep(0.001)
            return confidence

    begin = time.monotonic()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        margin.replay(file, Slow(), orderings=1_000_000)
    # A million orderings take weeks; how soon exactly depends on the machine.
    assert time.monotonic() - begin < 60


ROW = {"task": "q", "model": "a", "confidence": 0.5, "correct": 1}
REFUSALS = [
    (lambda: margin.read_log([{
        **ROW, "confidence": 50
    }]), margin.InvalidArgument, r"^row 0: confidence: got 50, expected a number in \[0, 1\]"),
    (lambda: margin.read_log([ROW, {
        **ROW, "model": "@b"
    }]), margin.InvalidArgument, "^row 1: model: got \"@b\""),
    (lambda: margin.read_log([ROW, {
        **ROW, "model": 1.5
    }]), margin.InvalidArgument, "^row 1: model: got 1.5, expected a string$"),
    (lambda: margin.read_log([{
        **ROW, "correct": "yes"
    }]), margin.InvalidArgument, "^row 0: correct: got yes, expected a number"),
    (lambda: margin.read_log([{
        **ROW, "kind": "poem"
    }]), margin.InvalidArgument, "^row 0: kind: got poem"),
    (lambda: margin.read_log([{
        **ROW, "abstained": 1
    }]), margin.InvalidArgument, "^row 0: abstained: got 1"),
    (lambda: margin.read_log([{
        **ROW, "t": "soon"
    }]), margin.InvalidArgument, "^row 0: t: got soon"),
    (lambda: margin.read_log([{
        **ROW, "answer": [1]
    }]), margin.InvalidArgument, "^row 0: answer: got list"),
    (lambda: margin.read_log([ROW, ROW]), margin.Conflict, "^row 1: model: got a second response .* at row 0"),
    (lambda: margin.read_log([{
        **ROW, "confidence": 95
    }]), margin.InvalidArgument, "^row 0: confidence: got 95, .*for percentages: scale=100"),
    (lambda: margin.read_log([]), margin.InvalidArgument, "at least one row"),
    (lambda: margin.read_log({
        "task": ["q"],
        "model": ["a"],
        "confidence": [0.5]
    }), margin.InvalidArgument, "^correct: missing"),
    (lambda: margin.read_log({
        **{
            k: [v]
            for k, v in ROW.items()
        }, "model": ["a", "b"]
    }), margin.InvalidArgument, "^.*: got . rows, expected"),
    (lambda: margin.read_log({
        k: [v]
        for k, v in ROW.items()
    } | {"confidence": np.ones((1, 1))}), margin.InvalidArgument, r"shape \(1, 1\)"),
    (lambda: margin.read_log(7), margin.WrongType, "got int, expected a path"),
    (lambda: margin.read_log([ROW, 7]), margin.WrongType, "^row 1: got int, expected a dict$"),
    (lambda: margin.read_log("nowhere.jsonl"), margin.NotFound, "nowhere.jsonl"),
    (lambda: margin.read_log([ROW], scale=0), margin.InvalidArgument, "^scale: got 0"),
    (lambda: margin.replay([ROW], "nope"), margin.NotFound, "nope"),
    (lambda: margin.replay([ROW], []), margin.InvalidArgument, "at least one"),
    (lambda: margin.replay([ROW], ["raw", "raw"]), margin.InvalidArgument, "raw twice"),
    (lambda: margin.replay([ROW], object()), margin.WrongType, "predict and learn"),
    (lambda: margin.replay([ROW], "raw", phases=["other"]), margin.NotFound, "other"),
    (lambda: margin.replay([ROW], "raw", vote="som"), margin.NotFound, "sum"),
    (lambda: margin.replay([ROW], "raw", orderings=-1), margin.WrongType, "^orderings: got int, expected a whole number"),
    (lambda: margin.replay([ROW], "raw", feedback="some"), margin.InvalidArgument, "^feedback: got some"),
    (lambda: margin.replay([ROW], "raw", remedy="implied"), margin.InvalidArgument, "expected feedback"),
    (lambda: margin.replay([ROW], "raw", audit=2), margin.InvalidArgument, "^audit: got 2"),
    (lambda: margin.replay([ROW], "raw", by="colour"), margin.InvalidArgument, "^by: got colour"),
    (lambda: margin.replay([ROW], "raw", ties="never"), margin.InvalidArgument, "never"),
    (lambda: margin.replay([ROW], "raw", phases=7), TypeError, ""),
    (lambda: margin.replay([ROW], "raw", colour="red"), TypeError, "colour"),
    (lambda: margin.simulate("nowhere"), margin.NotFound, "nowhere"),
]


@pytest.mark.parametrize("call, error, message", REFUSALS, ids=[str(i) for i in range(len(REFUSALS))])
def test_what_is_refused_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_frame_is_a_table_in_a_notebook():
    frame = margin.Frame({"model": np.array(["<script>", None], dtype=object), "ece": [0.25, np.nan]})
    assert frame._repr_html_() == ("<table><tr><th>model</th><th>ece</th></tr><tr><td>&lt;script&gt;</td><td>0.25</td></tr>"
                                   "<tr><td>-</td><td>-</td></tr></table>")
    assert margin.Frame({"n": range(1000)})._repr_html_().endswith("</table><p>1000 rows</p>")


def test_a_calibrator_that_has_learned_cannot_enter():
    taught = margin.Calibrator()
    taught.observe("a", 0.5, 1)
    with pytest.raises(margin.InvalidArgument, match="has learned already"):
        margin.replay([ROW], taught)
