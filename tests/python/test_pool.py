"""margin.Pool: golden selections, explanations that add up, lifecycle, snapshots, and what it refuses."""
import copy
import pickle

import golden
import numpy as np
import pytest

import margin

SELECTIONS = [(stream, line) for stream in ("edges", "shift") for line in golden.lines(f"{stream}.selection.jsonl") if "vote" in line]


def decide(pool, rows, **options):
    return pool.decide([{"model": row["model"], "answer": row["answer"], "confidence": row["confidence"]} for row in rows], **options)


@pytest.mark.parametrize("case", SELECTIONS, ids=lambda case: f"{case[0]}-{case[1]['method']}-{case[1]['vote']}")
def test_decisions_equal_the_golden_selections(case):
    stream, line = case
    pool = margin.Pool(line["method"], line["vote"] + "@1")  # the vectors are of version 1
    selected, shares, pass1 = [], [], []
    for rows in golden.tasks(stream):
        decision = decide(pool, rows, task=rows[0]["task"])
        selected.append(decision.answer)
        shares.append(decision.share)
        graded = {row["model"]: row["correct"] for row in rows if row["correct"] is not None}
        if graded:
            assert pool.feedback(decision.decision_id, outcomes=graded).status == "applied"
            supporters = [graded[row["model"]] for row in rows if row["answer"] == decision.answer and row["model"] in graded]
            pass1 += [max(supporters)] if supporters else []
    assert selected == line["selected"]
    if stream == "shift":
        assert np.mean(pass1) == pytest.approx(line["pass1"], abs=1e-12)
    if "probability" in line:
        np.testing.assert_allclose(shares, line["probability"], rtol=0, atol=1e-9)


def test_an_explanation_adds_up():
    pool = margin.Pool("margin_adaptive", "sum")
    for rows in golden.tasks("shift")[:100]:
        decision = decide(pool, rows)
        pool.feedback(decision.decision_id, outcomes={row["model"]: row["correct"] for row in rows})
        for vote in decision.votes:
            supporters = [response for response in decision.responses if response.model in vote.models]
            assert vote.score == pytest.approx(sum(response.weight for response in supporters), abs=1e-12)
        for response in decision.responses:
            assert response.calibrated == pytest.approx(min(1, response.factor * response.stated), abs=1e-12)
        assert decision.share == pytest.approx(max(v.score for v in decision.votes) / sum(v.score for v in decision.votes), abs=1e-12)
        low, high = decision.interval
        assert low <= decision.p_correct <= high
    assert decision.status in ("calibrated", "drifting")


def test_an_explanation_is_for_people():
    responses = [("a", "Paris", 0.9), ("b", "Lyon", 0.95), {"model": "c", "answer": "Paris", "confidence": 0.6, "channel": "logprob"},
                 {"model": "d", "answer": "Lyon"}]
    said = str(margin.Pool(vote="stacked").decide(responses)).splitlines()
    assert said[0] == "Paris (a)" and said[1].endswith(", cold, on 0 outcomes")
    assert [line.split()[:5] for line in said if line.startswith(("c ", "d "))] == [["c", "logprob", "0.6", "1", "0.6"],
                                                                                 ["d", "verbalized", "-", "-", "-"]]
    assert "scale 1" in said[said.index("") + 6] and said[-1] == "without a or c another answer would have been selected"
    assert str(margin.Pool().decide(responses, max_error=0.01)).startswith("abstained")
    assert str(margin.Pool().decide([("a", None, 0.5)])).startswith("nothing selected")


def test_factors_are_what_calibrates():
    pool = margin.Pool("margin", "sum")
    for rows in golden.tasks("shift")[:60]:
        pool.feedback(decide(pool, rows).decision_id, outcomes={row["model"]: row["correct"] for row in rows})
    factors = pool.factors()
    assert factors.rows == 3 * len(pool.models)
    for row in factors.records():
        assert pool.calibrate(row["model"], row["confidence"]) == row["calibrated"]
        assert row["low"] <= row["factor"] <= row["high"]
    pool.pin(pool.models[0], 0.5)
    assert pool.calibrate(pool.models[0], 0.8) == 0.4
    assert set(pool.factors().where(model=pool.models[0])["pinned"]) == {0.5}
    pool.unpin(pool.models[0])
    assert pool.calibrate(pool.models[0], 0.8) != 0.4


def test_three_forms_of_feedback_and_an_early_one():
    responses = [("a", "Paris", 0.9), margin.Response("b", "Lyon", 0.8), {"model": "c", "answer": "paris", "confidence": 0.7}]
    digests = set()
    for form in ({"correct_answer": "PARIS"}, {"outcomes": {"a": 1, "b": 0, "c": 1}}):
        pool = margin.Pool()
        decision = pool.decide(responses, kind="text", decision_id="01890a5d-ac96-774b-bcce-b302099a8057", time_ms=1000)
        assert decision.answer == "Paris" and [vote.models for vote in decision.votes] == [["a", "c"], ["b"]]
        assert sorted(pool.feedback(decision.decision_id, time_ms=2000, **form).updated) == ["a", "b", "c"]
        assert pool.pending == 0
        digests.add(tuple(pool.factors()["factor"]))
    assert len(digests) == 1
    pool = margin.Pool()
    early = "01890a5d-ac96-774b-bcce-b302099a8058"
    then = int("01890a5dac96", 16)  # the time inside that id
    assert pool.feedback(early, outcome=1, time_ms=then).status == "pending_decision"
    pool.decide(responses, decision_id=early, time_ms=then + 1)
    assert pool.factors().where(model="a", band=2)["n"][0] == 1
    assert pool.feedback(early, outcome=1, time_ms=then + 2).status == "duplicate"
    with pytest.raises(margin.Conflict):
        pool.feedback(early, outcome=0, time_ms=then + 3)


def test_abstention_names_no_answer():
    decision = margin.Pool().decide([("a", "x", 0.3), ("b", "y", 0.3)], max_error=0.01)
    assert decision.abstained and decision.answer is None and decision.model is None and decision.p_correct is not None


def test_a_pool_abstains_by_its_own_bound_unless_a_question_names_one():
    responses = [("a", "x", 0.3), ("b", "y", 0.3)]
    strict = margin.Pool(max_error=0.01)
    assert strict.decide(responses).abstained and not strict.decide(responses, max_error=0.99).abstained
    assert margin.Pool.restore(strict.snapshot()).decide(responses).abstained
    assert not margin.Pool().decide(responses).abstained


def test_members_come_and_go_and_learning_freezes():
    pool = margin.Pool()
    pool.join("a")
    pool.join("b", predecessor="a")
    pool.leave("a")
    assert pool.models == ["b"]
    pool.freeze()
    decision = pool.decide([("b", "x", 0.9)])
    assert pool.feedback(decision.decision_id, outcome=0).not_learned == ["b"]
    assert pool.frozen and pool.calibrate("b", 0.9) == 0.9
    pool.resume()
    assert not pool.frozen


def test_snapshots_copies_and_pickles_hold_the_state():
    pool = margin.Pool("margin_adaptive", "stacked")
    for rows in golden.tasks("shift")[:50]:
        pool.feedback(decide(pool, rows).decision_id, outcomes={row["model"]: row["correct"] for row in rows})
    pending = decide(pool, golden.tasks("shift")[50])
    for twin in (pool.copy(), copy.copy(pool), copy.deepcopy(pool), pickle.loads(pickle.dumps(pool)), margin.Pool.restore(pool.snapshot())):
        assert twin.digest == pool.digest and twin.pending == 1 and repr(twin) == repr(pool)
        twin.feedback(pending.decision_id, outcome=1)
        assert twin.digest != pool.digest


REFUSALS = [
    (lambda p: p.decide([]), margin.InvalidArgument, "response"),
    (lambda p: p.decide([("a", "x", 1.5)]), margin.InvalidArgument, "confidence"),
    (lambda p: p.decide([("a", "x", 0.5), ("a", "y", 0.5)]), margin.InvalidArgument, "a"),
    (lambda p: p.decide([("@a", "x", 0.5)]), margin.InvalidArgument, "does not begin with '@'"),
    (lambda p: p.decide([("a", "x")]), margin.WrongType, r"expected a Response, a dict or \(model, answer, confidence\)"),
    (lambda p: p.decide([{"answer": "x"}]), margin.InvalidArgument, "expected the field model"),
    (lambda p: p.decide([{"model": "a", "confidnce": 0.5}]), margin.InvalidArgument, r"responses\[0\].confidnce: expected model, answer"),
    (lambda p: p.decide([("a", 7, 0.5)]), margin.WrongType, r"responses\[0\].answer: got int, expected str"),
    (lambda p: p.decide([("a", "x", "sure")]), margin.WrongType, r"responses\[0\].confidence: got str, expected a number"),
    (lambda p: p.decide([("a", "x", 0.5)], kind="poem"), margin.InvalidArgument, "poem"),
    (lambda p: p.decide([("a", "x", 0.5)], vote="som"), margin.NotFound, "sum"),
    (lambda p: p.decide([("a", "x", 0.5)], max_error=2), margin.InvalidArgument, "max_error"),
    (lambda p: p.decide([("a", "x", 0.5)], audit_rate=-1), margin.InvalidArgument, "audit_rate"),
    (lambda p: p.decide([("a", "x", 0.5)], time_ms=-1), margin.InvalidArgument, "time_ms"),
    (lambda p: p.decide([("a", "x", float("nan"))]), margin.InvalidArgument, r"^responses\[0\].confidence: got nan"),
    (lambda p: p.decide([("a", "x", 0.5)], decision_id="x"), margin.InvalidArgument, "^decision_id: expected a UUID"),
    (lambda p: p.feedback("x", outcome=1), margin.InvalidArgument, "^decision_id: expected a UUID"),
    (lambda p: p.feedback("01890a5d-ac96-774b-bcce-b302099a8057"), margin.InvalidArgument, "exactly one of correct_answer, outcome and"),
    (lambda p: p.feedback("01890a5d-ac96-774b-bcce-b302099a8057", outcome=1, correct_answer="x"), margin.InvalidArgument, "exactly one"),
    (lambda p: p.feedback("01890a5d-ac96-774b-bcce-b302099a8057", outcome=2), margin.InvalidArgument, "^outcome: got 2"),
    (lambda p: p.feedback("01890a5d-ac96-774b-bcce-b302099a8057", outcomes={"a": 2}), margin.InvalidArgument, "^outcomes: a: got 2"),
    (lambda p: p.feedback(p.decide([("a", "x", 0.5)]).decision_id, outcomes={"b": 1}), margin.InvalidArgument, "^outcomes: b did not"),
    (lambda p: p.feedback("01890a5d-ac96-774b-bcce-b302099a8057", outcome=1, weight=7), margin.InvalidArgument, "weight"),
    (lambda p: p.calibrate("nobody", 0.5), margin.NotFound, "never answered"),
    (lambda p: p.pin("a", 99), margin.MarginError, "99"),
    (lambda p: margin.Pool("nope"), margin.NotFound, "nope"),
    (lambda p: margin.Pool(calibrator_parameters={"alpha": 9}), margin.InvalidArgument, "alpha"),
    (lambda p: margin.Pool(remedy="pills"), margin.MarginError, "pills"),
    (lambda p: margin.Pool(pending_days=-1), margin.InvalidArgument, "pending_days: got -1"),
    (lambda p: margin.Pool(max_error=0), margin.InvalidArgument, "max_error: got 0, expected a number in "),
    (lambda p: margin.Pool.restore(b"junk"), margin.Corrupt, ""),
]


@pytest.mark.parametrize("call, error, message", REFUSALS, ids=[str(i) for i in range(len(REFUSALS))])
def test_what_is_refused_is_named(call, error, message):
    with pytest.raises(error, match=message) as raised:
        call(margin.Pool())
    assert isinstance(raised.value, margin.MarginError) and str(raised.value)
