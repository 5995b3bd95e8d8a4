"""pandas, polars, pyarrow and River as they really are: their tables are logs, frames become theirs, and River drives a calibrator. Run by
`wheel.py --all`, which installs them."""
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from river import metrics as river_metrics

import margin

LOG = margin.simulate("abrupt", tasks=200, seed=2)
EXPECTED = margin.predictions(LOG, ["raw", "margin"])

TABLES = {
    "pandas": lambda: LOG.to_pandas(),
    "pandas, categories": lambda: LOG.to_pandas().astype({"model": "category", "phase": "category"}),
    "pandas, strings and nullable numbers": lambda: LOG.to_pandas().convert_dtypes(),
    "pandas, pyarrow dtypes": lambda: LOG.to_pandas().convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: polars.DataFrame(dict(LOG)),
    "polars, lazy": lambda: polars.DataFrame(dict(LOG)).lazy(),
    "polars, categories": lambda: polars.DataFrame(dict(LOG)).with_columns(polars.col("model").cast(polars.Categorical)),
    "pyarrow": lambda: pyarrow.table(dict(LOG)),
    "pyarrow, dictionaries": lambda: pyarrow.table({**LOG, "model": pyarrow.array(LOG["model"]).dictionary_encode()}),
    "pyarrow, batches": lambda: pyarrow.table(dict(LOG)).to_reader(max_chunksize=37),
    "pyarrow, one batch": lambda: pyarrow.table(dict(LOG)).combine_chunks().to_batches()[0],
    "pyarrow, large strings": lambda: pyarrow.table({**LOG, "task": pyarrow.array(LOG["task"]).cast(pyarrow.large_string())}),
    "pyarrow, views": lambda: pyarrow.table({**LOG, "task": pyarrow.array(LOG["task"]).cast(pyarrow.string_view())}),
    "pyarrow, a slice of more": lambda: pyarrow.concat_tables([pyarrow.table(dict(LOG)).slice(0, 5), pyarrow.table(dict(LOG))]).slice(5),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_same_log(name):
    found = margin.predictions(TABLES[name](), ["raw", "margin"])
    for column in EXPECTED:
        assert np.array_equal(found[column], EXPECTED[column], equal_nan=EXPECTED[column].dtype.kind == "f"), column


def test_dates_of_pandas_are_times():
    frame = LOG.to_pandas()
    frame["t"] = pandas.to_datetime("2024-05-17") + pandas.to_timedelta(np.arange(len(frame)), unit="s")
    from margin import experiments
    by_date = experiments.split(frame, "margin", orderings=2, resamples=0)
    frame["t"] = frame["t"].astype("int64") / {"datetime64[ns]": 1e9, "datetime64[us]": 1e6, "datetime64[s]": 1}[str(frame["t"].dtype)]
    assert repr(experiments.split(frame, "margin", orderings=2, resamples=0).frame) == repr(by_date.frame)


def test_frames_become_tables():
    frame = margin.replay(LOG, ["raw", "margin"], orderings=2)
    assert frame.to_pandas()["ece"].tolist() == polars.DataFrame(dict(frame))["ece"].to_list() == pyarrow.table(
        dict(frame))["ece"].to_pylist()


def test_strings_of_numpy_are_names():
    names = np.array(["a", "b", "a"], dtype=np.dtypes.StringDType())
    calibrator = margin.Calibrator()
    calibrator.observe_batch(names, [0.9, 0.8, 0.7], [1, 0, 1])
    assert calibrator.models == ["a", "b"]


def test_columns_of_every_library_are_columns():
    p, o = EXPECTED["calibrated"][~np.isnan(EXPECTED["correct"])], EXPECTED["correct"][~np.isnan(EXPECTED["correct"])]
    for make in (pandas.Series, polars.Series, pyarrow.array):
        assert margin.metrics.ece(make(p), make(o)) == margin.metrics.ece(p, o)
        calibrator = margin.Calibrator()
        names = make(EXPECTED["model"][:100].tolist())
        assert calibrator.calibrate_batch(names, make(EXPECTED["confidence"][:100])).tolist() == EXPECTED["confidence"][:100].tolist()


def test_river_evaluates_a_calibrator_as_one_of_its_own():
    rows = [row for row in LOG.records() if row["confidence"] == row["confidence"] and row["correct"] == row["correct"]]
    stream = [({"model": row["model"], "confidence": row["confidence"]}, bool(row["correct"])) for row in rows]
    own, total = margin.Calibrator("online_platt"), []  # never quite 0 or 1, so that nobody's clipping matters
    for x, y in stream:
        p = own.calibrate(x["model"], x["confidence"])
        total.append(-np.log(p if y else 1 - p))
        own.observe(x["model"], x["confidence"], y)
    loss = river_metrics.LogLoss()
    river = margin.Calibrator("online_platt")
    for x, y in stream:
        loss.update(y, river.predict_proba_one(x))
        river.learn_one(x, y)
    assert loss.get() == pytest.approx(np.mean(total), rel=1e-9)
    assert river.digest == own.digest
