"""margin.experiments: every table of every experiment equals what the command line prints for the same file."""
import cli
import numpy as np
import pytest

import margin
from margin import experiments

FEW = {"orderings": 3, "resamples": 50}
FEW_FLAGS = ["--orderings", 3, "--resamples", 50]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.jsonl"
    cli.run("simulate", "abrupt", "--tasks", 240, "--seed", 9, "--out", path)
    return path


def assert_equal(report, printed):
    """`printed` is a table, or a list of tables, as --json has them."""
    tables = printed if isinstance(printed, list) else printed.get("tables", [printed])
    assert [title for title, _ in report.tables] == [table["title"] for table in tables]
    for (title, frame), table in zip(report.tables, tables):
        for i, column in enumerate(table["columns"]):
            cells = [row[i] for row in table["rows"]]
            values = [cell["value"] if isinstance(cell, dict) else cell for cell in cells]
            if column["kind"] == "text":
                assert frame[column["name"]].tolist() == [None if v is None else str(v) for v in values], title
                continue
            assert np.array_equal(frame[column["name"]],
                                  np.array([np.nan if v is None else v for v in values], dtype=float),
                                  equal_nan=True), title
            if any(isinstance(cell, dict) for cell in cells):
                for end in ("low", "high"):
                    ends = [cell[end] if isinstance(cell, dict) else np.nan for cell in cells]
                    assert np.array_equal(frame[f"{column['name']}_{end}"], ends, equal_nan=True), title


ON_ONE_LOG = [
    ("selection", {}, []),
    ("resolution", {"contest": "answers", "ties": "strict"}, ["--contest", "answers", "--ties", "strict"]),
    ("convergence", {"checkpoints": [5, 50]}, ["--checkpoints", "5,50"]),
    ("inversion", {"model_orders": 3}, ["--model-orders", 3]),
    ("split", {}, []),
]


@pytest.mark.parametrize("name, options, flags", ON_ONE_LOG, ids=[case[0] for case in ON_ONE_LOG])
def test_experiments_on_one_log_equal_the_command_line(file, name, options, flags):
    few, few_flags = (FEW, FEW_FLAGS) if name != "convergence" else ({"orderings": 3}, ["--orderings", 3])
    printed = cli.as_json("experiment", name, file, "--method", "margin,margin_adaptive", *few_flags, *flags)
    assert_equal(getattr(experiments, name)(file, ["margin", "margin_adaptive"], **few, **options), printed)


def test_shift_equals_the_command_line(file):
    printed = cli.as_json("experiment", "shift", "--source", f"{file}:01", "--target", f"{file}:02", *FEW_FLAGS, "--boundary", "carry",
                          "--focus", "margin_adaptive")
    assert_equal(experiments.shift((file, "01"), (file, "02"), boundary="carry", focus="margin_adaptive", **FEW), printed)


def test_transfer_equals_the_command_line(file):
    printed = cli.as_json("experiment", "transfer", "--source", f"{file}:01", "--target", f"{file}:02", *FEW_FLAGS, "--method", "margin")
    assert_equal(experiments.transfer((file, "01"), (file, "02"), "margin", **FEW), printed)


def test_feedback_equals_the_command_line(file):
    printed = cli.as_json("experiment", "feedback", "--source", f"{file}:01", "--target", f"{file}:02", *FEW_FLAGS, "--method", "margin",
                          "--lags", "0,30", "--remedy", "implied", "--audit", "0,0.1")
    assert_equal(experiments.feedback((file, "01"), (file, "02"), "margin", lags=[0, 30], remedies=["implied"], audits=[0, 0.1], **FEW),
                 printed)


def test_ablation_equals_the_command_line(file):
    printed = cli.as_json("experiment", "ablation", "--source", f"{file}:01", "--target", f"{file}:02", *FEW_FLAGS, "--preset", "bands",
                          "--sweep", "margin.alpha=0.02,0.08", "--metric", "ece,brier")
    assert_equal(experiments.ablation((file, "01"), (file, "02"), ["bands", "margin.alpha=0.02,0.08"], metrics=["ece", "brier"], **FEW),
                 printed)


def test_pool_equals_the_command_line(file):
    printed = cli.as_json("experiment", "pool", file, "--orderings", 2, "--method", "margin,margin_adaptive", "--observations", 600)
    assert_equal(experiments.pool(file, ["margin", "margin_adaptive"], orderings=2, observations=600), printed)
    printed = cli.as_json("experiment", "pool", file, "--orderings", 3, "--scenario", "cold_start", "--method", "margin,margin_adaptive",
                          "--focus", "margin", "--observations", 600)
    report = experiments.pool(file, ["margin", "margin_adaptive"], scenarios=["cold_start"], focus="margin", orderings=3, observations=600)
    assert_equal(report, printed)


def test_votes_equal_the_command_line(file):
    printed = cli.as_json("experiment", "votes", "--source", f"{file}:01", "--target", f"{file}:02", "--method", "margin,margin_adaptive",
                          "--votes", "stacked,sum,majority", "--focus", "sum", "--max-error", 0.2, "--pools", "2,all", "--subsets", 3,
                          *FEW_FLAGS)
    report = experiments.votes((file, "01"), (file, "02"), ["margin", "margin_adaptive"], votes=["stacked", "sum", "majority"], focus="sum",
                               max_error=0.2, pools=[2, "all"], subsets=3, **FEW)
    assert_equal(report, printed)
    printed = cli.as_json("experiment", "votes", "--all-pairs", file, "--feedback", "selected", "--remedy", "implied", "--lag", 5,
                          *FEW_FLAGS)
    assert_equal(experiments.votes(file, feedback="selected", remedy="implied", lag=5, **FEW), printed)


def test_every_pair_of_phases_is_the_grid_of_the_command_line(file):
    printed = cli.as_json("experiment", "shift", "--all-pairs", file, "--method", "raw,margin", *FEW_FLAGS)
    assert_equal(experiments.shift(file, methods=["raw", "margin"], **FEW), printed)


def test_watch_equals_the_command_line(tmp_path):
    path = tmp_path / "collapse.jsonl"
    cli.run("simulate", "collapse", "--tasks", 800, "--seed", 3, "--out", path)
    report = experiments.watch(path, false_reports=1e-3)
    assert report.frame.rows, "a collapse is seen"
    assert_equal(report, cli.as_json("experiment", "watch", path, "--false-reports", 1e-3))


def test_gaming_equals_the_command_line():
    printed = cli.as_json("experiment", "gaming", "--runs", 4, "--tasks", 300, "--seed", 5, "--false-reports", 1e-4)
    assert_equal(experiments.gaming(runs=4, tasks=300, seed=5, false_reports=1e-4), printed)


def test_paper_equals_the_command_line():
    printed = cli.as_json("experiment", "paper", "--orderings", 1, "--resamples", 20, "--seed", 2)
    assert_equal(experiments.paper(orderings=1, resamples=20, seed=2), printed)


def test_a_report_is_a_page(file, tmp_path):
    report = experiments.selection(file, "margin", **FEW)
    assert report.html().startswith("<!") and report.title in report.html()
    path = report.write(str(tmp_path / "out"))
    assert open(path, encoding="utf-8").read() == report.html()
    assert report.frame.rows and report.title in repr(report)


class Constant:
    def predict(self, model, confidence):
        return 0.7

    def learn(self, model, confidence, outcome, weight):
        pass


def test_python_calibrators_run_in_experiments(file):
    shift = experiments.shift((file, "01"), (file, "02"), {"margin": "margin", "constant": Constant}, **FEW)
    row = shift.frame.where(method="constant")
    rows = [r for r in cli.lines(file) if r["phase"] == "02" and r["confidence"] is not None and r["correct"] is not None]
    expected = abs(np.mean([r["correct"] for r in rows]) - 0.7)
    assert [v for name, v in row.items() if name != "method"][0][0] == pytest.approx(expected, abs=1e-12)


def test_what_is_refused_is_named(file):
    for call, error, message in [
        (lambda: experiments.shift((file, "01"), (file, "09"), "margin", **FEW), margin.NotFound, "09"),
        (lambda: experiments.shift((file, "01"), (file, "02"), "margin", focus="raw", **FEW), margin.NotFound, "raw"),
        (lambda: experiments.shift((file, "01"), (file, "02"), "margin", boundary="x", **FEW), margin.InvalidArgument, "x"),
        (lambda: experiments.shift((file, "01"), (file, "02"), "margin", orderings=0), margin.InvalidArgument, "orderings"),
        (lambda: experiments.transfer((file, "01"), (file, "02"), "platt_scaling", **FEW), margin.InvalidArgument, "fitted once"),
        (lambda: experiments.pool(file, "platt_scaling"), margin.InvalidArgument, "learn online"),
        (lambda: experiments.pool(file, scenarios=["flood"]), margin.NotFound, "flood"),
        (lambda: experiments.pool(file, window=0), margin.InvalidArgument, "window"),
        (lambda: experiments.pool(file, "margin", focus="raw"), margin.NotFound, "focus: raw"),
        (lambda: experiments.ablation(file, file, [], **FEW), margin.InvalidArgument, "sweeps"),
        (lambda: experiments.ablation(file, file, "margin.colour=1", **FEW), margin.InvalidArgument, "colour"),
        (lambda: experiments.feedback(file, file, audits=[0.1], **FEW), margin.InvalidArgument, "remedies"),
        (lambda: experiments.inversion(file, subsets={"few": ["nobody"]}, **FEW), margin.NotFound, "nobody"),
        (lambda: experiments.split(file, at="soon", **FEW), margin.InvalidArgument, "soon"),
        (lambda: experiments.votes(file, votes=["sum"], **FEW), margin.NotFound, "focus: stacked"),
        (lambda: experiments.votes(file, votes=["loudest", "stacked"], **FEW), margin.NotFound, "loudest"),
        (lambda: experiments.votes(file, pools=[0], **FEW), margin.InvalidArgument, "pools"),
        (lambda: experiments.votes(file, pools=[99], **FEW), margin.InvalidArgument, "as many models"),
        (lambda: experiments.votes(file, max_error=2, **FEW), margin.InvalidArgument, "max_error"),
        (lambda: experiments.votes((file, "01"), **FEW), margin.InvalidArgument, "target"),
        (lambda: experiments.watch(file, false_reports=0.5), margin.InvalidArgument, "false_reports"),
        (lambda: experiments.gaming(runs=0), margin.InvalidArgument, "runs"),
        (lambda: experiments.gaming(tasks=10), margin.InvalidArgument, "tasks"),
        (lambda: experiments.paper(orderings=0), margin.InvalidArgument, "orderings"),
        (lambda: experiments.paper(orderings=-1), margin.WrongType, "orderings"),
        (lambda: experiments.shift((file, "01"), (file, "02"), phases="01"), TypeError, "phases"),
        (lambda: experiments.pool(file, lag=3), TypeError, "lag"),
        (lambda: margin.replay(file, resamples=5), TypeError, "resamples"),
        (lambda: experiments.selection([{
            "task": "q",
            "model": "a",
            "confidence": 0.5,
            "correct": 1
        }], **FEW), margin.InvalidArgument, "answer"),
    ]:
        with pytest.raises(error, match=message):
            call()
