"""Whatever it is given, the package answers or raises one of its own, or Python's TypeError for a call that fits no signature: never a
crash,
never another exception, and never a changed state after a refusal."""
import pickle

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import margin
from margin import metrics

EXPECTED = (margin.MarginError, TypeError, OverflowError)
FEW = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)

numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True, width=64), st.integers(-3, 3), st.booleans(),
                    st.sampled_from([0.0, -0.0, 1.0, 5e-324]))
probabilities = st.floats(0, 1)
texts = st.text(alphabet=st.characters(blacklist_categories=()), max_size=8)  # surrogates and control characters, too
scalars = st.one_of(st.none(), numbers, texts, st.binary(max_size=4), st.complex_numbers(), st.just(object()))
dtypes = st.sampled_from(["float64", "float32", "int8", "uint64", "bool", "object", "U4", "complex128", "datetime64[s]", "float16"])


@st.composite
def columns(draw):
    """A list, an array of any dtype and shape, or no column at all."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return draw(scalars)
    if kind == 1:
        return draw(st.lists(scalars, max_size=6))
    if kind == 2:
        return draw(st.lists(probabilities, max_size=6))
    values = draw(st.lists(probabilities, max_size=6))
    array = np.array(values, dtype="float64").astype(draw(dtypes))
    return array.reshape(draw(st.sampled_from([(-1,), (1, -1), (-1, 1)]))) if kind == 3 else array[::-1]


models = st.one_of(texts, st.lists(texts, max_size=6), st.lists(st.integers(-2**70, 2**70), max_size=6),
                   st.lists(st.integers(0, 3), max_size=6), columns())
methods = st.sampled_from([method["identifier"] for method in margin.methods()])


def answers_or_refuses(call):
    try:
        return call()
    except EXPECTED as error:
        assert str(error) or isinstance(error, TypeError)
        return None


@FEW
@seed(1)
@given(methods, models, columns(), columns(), columns(), columns())
def test_batches(method, names, confidences, outcomes, weights, tasks):
    calibrator = margin.Calibrator(method)
    calibrator.observe("m", 0.5, 1.0)
    for call in (lambda: calibrator.calibrate_batch(names, confidences),
                 lambda: calibrator.observe_batch(names, confidences, outcomes, weights, tasks),
                 lambda: calibrator.prequential_batch(names, confidences, outcomes, weights, tasks),
                 lambda: calibrator.fit(names, confidences, outcomes, weights)):
        before = calibrator.digest, calibrator.models
        try:
            result = call()
        except EXPECTED:
            assert (calibrator.digest, calibrator.models) == before
            continue
        if result is not None:
            assert ((result >= 0) & (result <= 1)).all()
    assert pickle.loads(pickle.dumps(calibrator)).digest == calibrator.digest


@FEW
@seed(2)
@given(methods, st.lists(st.tuples(texts, scalars, scalars, scalars), max_size=8))
def test_single_calls(method, rows):
    calibrator = margin.Calibrator(method)
    for model, confidence, outcome, weight in rows:
        answers_or_refuses(lambda: calibrator.calibrate(model, confidence))
        answers_or_refuses(lambda: calibrator.observe(model, confidence, outcome, weight))
        answers_or_refuses(lambda: calibrator.explain(model, confidence))
        answers_or_refuses(lambda: calibrator.learn_one({"model": model, "confidence": confidence}, outcome))
        answers_or_refuses(lambda: calibrator.join(model, outcome))
    for name in calibrator.models:
        assert 0 <= calibrator.calibrate(name, 0.5) <= 1


@FEW
@seed(3)
@given(st.text(max_size=12), st.dictionaries(st.text(max_size=8), scalars | st.lists(numbers, max_size=3), max_size=3),
       st.binary(max_size=40))
def test_making_and_restoring(method, parameters, junk):
    answers_or_refuses(lambda: margin.Calibrator(method, **{k: v for k, v in parameters.items() if k != "method"}))
    answers_or_refuses(lambda: margin.Calibrator("margin", **{k: v for k, v in parameters.items() if k != "method"}))
    answers_or_refuses(lambda: margin.Calibrator.restore(junk, ["a"]))
    answers_or_refuses(lambda: margin.Pool.restore(junk))


@FEW
@seed(4)
@given(st.data())
def test_damaged_snapshots(data):
    calibrator, pool = margin.Calibrator(data.draw(methods)), margin.Pool(vote="stacked")
    calibrator.observe("a", 0.7, 1)
    pool.feedback(pool.decide([("a", "x", 0.7)]).decision_id, outcome=1)
    for bytes_, restore in ((calibrator.snapshot(), lambda b: margin.Calibrator.restore(b, ["a"])), (pool.snapshot(), margin.Pool.restore)):
        at = data.draw(st.integers(0, len(bytes_) - 1))
        damaged = bytes_[:at] + bytes([bytes_[at] ^ data.draw(st.integers(1, 255))]) + bytes_[at + 1:]
        answers_or_refuses(lambda: restore(damaged[:data.draw(st.integers(0, len(damaged)))]))
        answers_or_refuses(lambda: restore(damaged))


responses = st.one_of(scalars, st.tuples(texts, st.none() | texts, scalars), st.dictionaries(st.sampled_from(
    ["model", "answer", "confidence", "channel", "abstained", "colour"]), scalars, max_size=5))


@FEW
@seed(5)
@given(st.lists(responses, max_size=4), st.dictionaries(st.sampled_from(
    ["task", "segment", "kind", "max_error", "vote", "audit_rate", "probe", "decision_id", "time_ms"]), scalars, max_size=3),
    st.dictionaries(st.sampled_from(["correct_answer", "outcome", "outcomes", "weight", "source", "time_ms"]),
                    scalars | st.dictionaries(texts, scalars, max_size=2), max_size=3))
def test_pools(given_responses, options, feedback):
    pool = margin.Pool()
    decision = answers_or_refuses(lambda: pool.decide(given_responses, **options))
    if decision is not None:
        answers_or_refuses(lambda: pool.feedback(decision.decision_id, **feedback))
    answers_or_refuses(lambda: pool.feedback(str(options), **feedback))
    assert margin.Pool.restore(pool.snapshot()).digest == pool.digest


@FEW
@seed(6)
@given(columns(), columns(), models, columns(), st.integers(-2, 40))
def test_metrics(p, o, labels, other, bins):
    for call in (lambda: metrics.ece(p, o, bins), lambda: metrics.brier(p, o), lambda: metrics.log_loss(p, o), lambda: metrics.auroc(p, o),
                 lambda: metrics.smooth_ece(p, o), lambda: metrics.equal_mass_ece(p, o, bins), lambda: metrics.debiased_ece(p, o, bins),
                 lambda: metrics.brier_parts(p, o, bins), lambda: metrics.ece_per_model(p, o, labels, bins),
                 lambda: metrics.reliability(p, o, bins), lambda: metrics.risk_coverage(p, o), lambda: metrics.sharpness(p),
                 lambda: metrics.ece_band(p, bins, 20), lambda: metrics.pairwise_resolution(labels, p, o, answers=other),
                 lambda: metrics.paired_bootstrap(p, other, o, labels, resamples=20)):
        answers_or_refuses(call)


@FEW
@seed(7)
@given(
    st.lists(st.dictionaries(st.sampled_from(
        ["task", "model", "confidence", "correct", "answer", "phase", "channel", "segment", "kind", "abstained", "weight", "t", "colour"]),
                             scalars | probabilities,
                             max_size=13),
             max_size=5), st.dictionaries(st.sampled_from(["task", "model", "confidence", "correct", "answer", "t"]), columns(),
                                          max_size=6))
def test_logs(rows, table):
    answers_or_refuses(lambda: margin.replay([{
        "task": f"q{i}",
        "model": "a",
        "confidence": 0.5,
        "correct": 1,
        **row
    } for i, row in enumerate(rows)], ["raw", "margin"],
                                             orderings=2))
    answers_or_refuses(lambda: margin.read_log(rows))
    answers_or_refuses(lambda: margin.read_log(table))
