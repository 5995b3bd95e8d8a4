"""margin.Calibrator: the golden vectors one by one and in batches, copies and pickles, and what it refuses."""
import copy
import pickle

import golden
import numpy as np
import pytest

import margin

CASES = [(stream, line) for stream in ("edges", "shift", "zeros") for line in golden.cases(stream)]


def identify(case):
    return f"{case[0]}-{case[1]['method']}-{'-'.join(f'{k}={v}' for k, v in case[1]['params'].items())}"


def teach(calibrator, rows):
    """Calibrates the rows of one task, then learns the graded ones."""
    calibrated = [calibrator.calibrate(row["model"], row["confidence"]) for row in rows]
    graded = [row for row in rows if row["correct"] is not None]
    if graded:
        calibrator.begin_task()
        for row in graded:
            calibrator.observe(row["model"], row["confidence"], row["correct"], row.get("weight", 1.0))
        calibrator.end_task()
    return calibrated


def small_log(rows=5000, models=4, seed=7):
    random = np.random.default_rng(seed)
    names = np.array([f"model {i}" for i in range(models)], dtype=object)[random.integers(0, models, rows)]
    confidences = random.beta(4, 2, rows)
    return names, confidences, (random.random(rows) < confidences ** 2).astype(float)


@pytest.mark.parametrize("case", CASES, ids=identify)
def test_one_by_one_equals_the_golden_vectors(case):
    stream, line = case
    calibrator = margin.Calibrator(line["method"], **line["params"])
    calibrated = np.full(line["rows"], np.nan)
    for rows in golden.tasks(stream):
        calibrated[[row["place"] for row in rows]] = teach(calibrator, rows)
    np.testing.assert_allclose(calibrated, line["calibrated"], rtol=0, atol=golden.tolerance(line["method"]))


@pytest.mark.parametrize("case", [case for case in CASES if case[0] in ("shift", "zeros")], ids=identify)
def test_a_batch_with_tasks_equals_the_golden_vectors(case):
    stream, line = case
    rows = [row for task in golden.tasks(stream) for row in task]
    assert all(row["correct"] is not None for row in rows)
    calibrated = np.full(line["rows"], np.nan)
    calibrated[[row["place"] for row in rows]] = margin.Calibrator(line["method"], **line["params"]).prequential_batch(
        [row["model"] for row in rows], [row["confidence"] for row in rows], [row["correct"] for row in rows],
        weights=[row.get("weight", 1.0) for row in rows], tasks=[f"{row.get('phase')} {row['task']}" for row in rows])
    np.testing.assert_allclose(calibrated, line["calibrated"], rtol=0, atol=golden.tolerance(line["method"]))


@pytest.mark.parametrize("line", golden.lines("frozen.expected.jsonl"), ids=lambda line: line["method"])
def test_fitted_methods_equal_the_golden_vectors(line):
    rows = sorted((row for task in golden.tasks("shift") for row in task), key=lambda row: row["place"])

    def columns(phase, *names):
        return [[row[name] for row in rows if row["phase"] == phase] for name in names]

    calibrator = margin.Calibrator(line["method"])
    calibrator.fit(*columns("easy", "model", "confidence", "correct"))
    calibrated = calibrator.calibrate_batch(*columns("hard", "model", "confidence"))
    np.testing.assert_allclose(calibrated, line["calibrated"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", [method["identifier"] for method in margin.methods()])
def test_batches_equal_single_calls_to_the_bit(method):
    models, confidences, outcomes = small_log()
    one, batch, observed = (margin.Calibrator(method) for _ in range(3))
    expected = []
    for model, confidence, outcome in zip(models, confidences, outcomes):
        expected.append(one.calibrate(model, confidence))
        one.observe(model, confidence, outcome)
    assert np.array_equal(batch.prequential_batch(models, confidences, outcomes), expected)
    observed.observe_batch(models, confidences, outcomes)
    assert one.digest == batch.digest == observed.digest
    assert one.models == batch.models == observed.models
    assert np.array_equal(batch.calibrate_batch(models, confidences), [one.calibrate(m, c) for m, c in zip(models, confidences)])


def test_every_spelling_of_a_column_says_the_same():
    models, confidences, outcomes = small_log(300)
    digests = set()
    for spelled in (models, models.tolist(), tuple(models), models.astype(str)):
        calibrator = margin.Calibrator()
        calibrator.observe_batch(spelled, confidences.tolist(), outcomes.astype(bool))
        digests.add(calibrator.digest)
    for dtype in (np.uint32, np.int64, np.uint8):
        calibrator = margin.Calibrator()
        calibrator.join(models[0])
        ids = np.array([calibrator.join(model) for model in dict.fromkeys(models)], dtype=dtype)
        by_name = dict(zip(dict.fromkeys(models), ids))
        calibrator.observe_batch(np.array([by_name[m] for m in models], dtype=dtype), np.repeat(confidences, 2)[::2], outcomes.astype(int))
        digests.add(calibrator.digest)
    # Who is joined before the first row enters from an empty pool; all others enter when they first come.
    assert len(digests) == 2


def test_double_columns_are_not_copied():
    # A calibrator whose batch is larger than what is left of the address space for a second copy would fail; here the counter of
    # numpy's own allocations tells.
    import tracemalloc
    models = np.zeros(1_000_000, dtype=np.uint32)
    confidences, outcomes = np.full(1_000_000, 0.9), np.ones(1_000_000)
    calibrator = margin.Calibrator()
    calibrator.join("only")
    tracemalloc.start()
    calibrator.observe_batch(models, confidences, outcomes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000, f"numpy allocated {peak} bytes for columns that could be used as they are"


def test_pickles_and_copies_go_on_alike_and_apart():
    models, confidences, outcomes = small_log()
    original = margin.Calibrator("margin_adaptive")
    original.observe_batch(models, confidences, outcomes)
    original.leave("model 1")
    twins = [pickle.loads(pickle.dumps(original)), copy.copy(original), copy.deepcopy(original), original.copy(),
             margin.Calibrator.restore(original.snapshot(), original.models)]
    for twin in twins:
        assert twin.digest == original.digest and twin.models == original.models and twin.present == original.present
        assert twin.method == "margin_adaptive" and twin.parameters == original.parameters
        twin.observe("model 0", 0.9, 0.0)
        assert twin.digest != original.digest
    original.observe("model 0", 0.9, 0.0)
    assert {twin.digest for twin in twins} == {original.digest}


def test_explanations_hold_what_calibrate_says():
    calibrator = margin.Calibrator("margin", bands=3, shrinkage=0)
    for _ in range(10):
        calibrator.observe("m", 0.9, 0.0)
    explanation = calibrator.explain("m", 0.9)
    assert explanation.calibrated == calibrator.calibrate("m", 0.9)
    assert explanation.factor == pytest.approx(explanation.calibrated / 0.9, abs=1e-15)
    assert (explanation.band, explanation.bands, explanation.observations) == (2, 3, 10.0)
    assert explanation.terms and all(isinstance(value, float) for value in explanation.terms.values())


def test_newcomers_enter_from_the_pool_at_their_first_row():
    # Mid-batch as well: the batch must join the newcomer after what came before, not at its beginning.
    calibrator = margin.Calibrator("margin", bands=1, shrinkage=0)
    calibrated = calibrator.prequential_batch(["old"] * 200 + ["new"], [0.8] * 201, [0.0] * 201)
    assert calibrated[-1] < 0.01


def test_leaving_and_coming_back():
    calibrator = margin.Calibrator()
    calibrator.observe("a", 0.9, 1.0)
    calibrator.leave("a")
    assert calibrator.models == ["a"] and calibrator.present == []
    with pytest.raises(margin.NotFound, match="a has left"):
        calibrator.observe("a", 0.9, 1.0)
    with pytest.raises(margin.NotFound, match="row 0: .*a has left"):
        calibrator.observe_batch(["a"], [0.9], [1.0])
    before = calibrator.calibrate("a", 0.9)
    calibrator.join("a")
    assert calibrator.present == ["a"] and calibrator.calibrate("a", 0.9) == before
    calibrator.join("b", predecessor="a")
    with pytest.raises(margin.NotFound, match="nobody has never joined"):
        calibrator.join("c", predecessor="nobody")
    assert calibrator.models == ["a", "b"]


REFUSALS = [
    (lambda c: c.calibrate("m", 1.5), margin.InvalidArgument, r"^confidence: got 1.5, expected a number in \[0, 1\]$"),
    (lambda c: c.calibrate("m", float("nan")), margin.InvalidArgument, "^confidence: got nan, expected"),
    (lambda c: c.observe("m", 0.5, 2), margin.InvalidArgument, "^outcome: got 2, expected"),
    (lambda c: c.observe("m", 0.5, 1, weight=0), margin.InvalidArgument, r"^weight: got 0, expected a number in \(0, 1\]$"),
    (lambda c: c.explain("never", 0.5), margin.NotFound, "never has never joined"),
    (lambda c: c.leave("never"), margin.NotFound, "never has never joined"),
    (lambda c: c.calibrate_batch("m", [0.5, np.nan]), margin.InvalidArgument, "^row 1: confidences: got nan"),
    (lambda c: c.calibrate_batch(["m"], [[0.5]]), margin.InvalidArgument, r"^confidences: got shape \(1, 1\), expected one dimension$"),
    (lambda c: c.calibrate_batch(["m"], 0.5), margin.InvalidArgument, r"^confidences: got shape \(\), expected one dimension$"),
    (lambda c: c.calibrate_batch(["m"], ["0.5"]), margin.WrongType, "^confidences: got dtype <U3, expected numbers$"),
    (lambda c: c.calibrate_batch(["m"], "high"), margin.WrongType, "^confidences: got str"),
    (lambda c: c.calibrate_batch(["m"], [None]), margin.WrongType, "^confidences: got dtype object, expected numbers$"),
    (lambda c: c.calibrate_batch(["m"], {0.5}), margin.WrongType, "^confidences: got set, expected a column$"),
    (lambda c: c.calibrate_batch((name for name in "m"), [0.5]), margin.WrongType, "^models: got generator, expected a column$"),
    (lambda c: c.calibrate_batch(["m"], np.ma.array([0.5], mask=[True])), margin.WrongType, "^confidences: got MaskedArray"),
    (lambda c: c.calibrate_batch(["m"], [0.5j]), margin.WrongType, "^confidences: got dtype complex128"),
    (lambda c: c.calibrate_batch(["m", "m"], [0.5]), margin.InvalidArgument, "^models: got 2 rows, expected 1 as in confidences$"),
    (lambda c: c.calibrate_batch([0.5], [0.5]), margin.WrongType, "^models: got dtype float64, expected text or whole numbers$"),
    (lambda c: c.calibrate_batch(["m", 1], [0.5, 0.5]), margin.WrongType, "^row 1: models: got int, expected str$"),
    (lambda c: c.calibrate_batch(["\ud800"], [0.5]), margin.InvalidArgument, "^models: got a str with lone surrogates"),
    (lambda c: c.calibrate_batch([99], [0.5]), margin.NotFound, "^row 0: models: expected names, or ids that join"),
    (lambda c: c.calibrate_batch([-1], [0.5]), margin.NotFound, "^row 0: models"),
    (lambda c: c.calibrate_batch(np.array([99], dtype=np.uint32), [0.5]), margin.NotFound, "^row 0: models"),
    (lambda c: c.observe_batch("m", [0.5, 0.5], [1]), margin.InvalidArgument, "^outcomes: got 1 rows, expected 2 as in confidences$"),
    (lambda c: c.observe_batch("m", [0.5], [1], weights=[2]), margin.InvalidArgument, r"^row 0: weights: got 2, expected"),
    (lambda c: c.observe_batch("m", [0.5], [1], tasks=[1, 2]), margin.InvalidArgument, "^tasks: got 2 rows, expected 1"),
    (lambda c: c.fit("m", [0.5], [1]), margin.Unsupported, "margin learns online and has no fit"),
    (lambda c: c.learn_one({"model": "m"}, 1), margin.InvalidArgument, "^x: expected the key confidence$"),
    (lambda c: c.learn_one({"confidence": "high"}, 1), margin.WrongType, "^confidence: got str, expected a number$"),
    (lambda c: margin.Calibrator("margin_adaptiv"), margin.NotFound, "margin_adaptive"),
    (lambda c: margin.Calibrator("margin", alfa=1), margin.InvalidArgument, "alpha"),
    (lambda c: margin.Calibrator("margin", alpha=7), margin.InvalidArgument, "alpha.*7"),
    (lambda c: margin.Calibrator("margin", alpha=None), margin.WrongType, "margin.alpha: got NoneType"),
    (lambda c: margin.Calibrator.restore(b"junk", []), margin.Corrupt, "not a snapshot"),
    (lambda c: margin.Calibrator.restore(c.snapshot(), []), margin.Corrupt, "got 0 names"),
    (lambda c: margin.Calibrator.restore(c.snapshot(), ["a", "b"]), margin.Corrupt, "got 2 names"),
    (lambda c: margin.Calibrator.restore(c.snapshot(), ["a", "a"]), margin.Corrupt, "a twice"),
]


@pytest.mark.parametrize("call, error, message", REFUSALS, ids=[str(i) for i in range(len(REFUSALS))])
def test_what_is_refused_is_named_and_changes_nothing(call, error, message):
    calibrator = margin.Calibrator()
    calibrator.observe("m", 0.9, 1.0)
    before = calibrator.digest, calibrator.models
    with pytest.raises(error, match=message) as raised:
        call(calibrator)
    assert isinstance(raised.value, margin.MarginError)
    assert (calibrator.digest, calibrator.models) == before


def test_a_bad_row_deep_in_a_batch_teaches_nothing():
    models, confidences, outcomes = small_log()
    outcomes[4321] = np.nan
    calibrator = margin.Calibrator()
    with pytest.raises(margin.InvalidArgument, match=r"^row 4321: outcomes: got nan, expected a number in \[0, 1\]$"):
        calibrator.prequential_batch(models, confidences, outcomes)
    assert calibrator.models == []


def test_river_verbs_are_the_same_learner():
    river, own = margin.Calibrator("margin_adaptive"), margin.Calibrator("margin_adaptive")
    models, confidences, outcomes = small_log(500)
    for model, confidence, outcome in zip(models, confidences, outcomes):
        x = {"model": model, "confidence": confidence}
        p = own.calibrate(model, confidence)
        assert river.predict_proba_one(x) == {False: 1 - p, True: p}
        assert river.predict_one(x) is (p >= 0.5)
        river.learn_one(x, bool(outcome))
        own.observe(model, confidence, outcome)
    assert river.digest == own.digest
    one = margin.Calibrator()
    one.learn_one({"confidence": 0.9}, True)
    assert one.models == ["model"]


def test_methods_say_what_they_take():
    for method in margin.methods():
        defaults = {name: spec["default"] for name, spec in method["parameters"].items()}
        calibrator = margin.Calibrator(method["identifier"], **defaults)
        assert calibrator.parameters == defaults
        assert calibrator.version == method["version"]
        assert all(spec["meaning"] for spec in method["parameters"].values())
