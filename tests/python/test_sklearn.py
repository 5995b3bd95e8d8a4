"""margin.sklearn: scikit-learn's own estimator checks, pipelines, and the same numbers as the calibrator itself."""
import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import margin
from margin import metrics
from margin.sklearn import CalibratedClassifier, ConfidenceCalibrator

RANDOM = np.random.default_rng(11)
STATED = RANDOM.beta(5, 1.5, 3000)
RIGHT = (RANDOM.random(3000) < STATED ** 3).astype(int)

# What scikit-learn skips by itself: it learns in the order of the rows, and these shuffle them.
SHUFFLING = {"check_sample_weights_invariance", "check_sample_weight_equivalence_on_dense_data",
             "check_sample_weight_equivalence_on_sparse_data"}


def checks_of(estimator):
    if hasattr(estimator_checks, "estimator_checks_generator"):  # scikit-learn 1.6 and later
        return estimator_checks.estimator_checks_generator(estimator)
    return estimator_checks.check_estimator(estimator, generate_only=True)


@pytest.mark.parametrize("estimator", [ConfidenceCalibrator(scores="decision"), ConfidenceCalibrator("online_platt", scores="decision"),
                                       CalibratedClassifier()], ids=repr)
def test_scikit_learns_own_checks_pass(estimator):
    passed = 0
    for checked, check in checks_of(estimator):
        name = check.func.__name__
        if name in SHUFFLING:
            continue
        try:
            check(checked)
            passed += 1
        except sklearn.exceptions.SkipTestWarning:
            pass
        except Exception as error:  # the name of the check is what one wants to read
            if type(error).__name__ != "SkipTest":
                raise AssertionError(f"{name}: {error}") from error
    assert passed > 30, f"only {passed} checks were run"


def test_confidences_are_what_the_calibrator_says():
    estimator = ConfidenceCalibrator("margin", parameters={"alpha": 0.02}).fit(STATED[:, None], RIGHT)
    own = margin.Calibrator("margin", alpha=0.02)
    own.observe_batch("model", STATED, RIGHT)
    fresh = np.linspace(0, 1, 50)
    expected = own.calibrate_batch("model", fresh)
    assert np.array_equal(estimator.transform(fresh[:, None])[:, 0], expected)
    assert np.array_equal(estimator.predict_proba(fresh[:, None]), np.column_stack([1 - expected, expected]))
    assert np.array_equal(estimator.predict(fresh[:, None]), (expected >= 0.5).astype(int))


def test_fit_is_partial_fit_in_pieces():
    whole = ConfidenceCalibrator("margin_adaptive").fit(STATED[:, None], RIGHT)
    pieces = ConfidenceCalibrator("margin_adaptive")
    for part in np.array_split(np.arange(len(STATED)), 7):
        pieces.partial_fit(STATED[part, None], RIGHT[part], classes=[0, 1])
    assert pieces.calibrator_.digest == whole.calibrator_.digest


def test_models_have_calibration_of_their_own():
    models = RANDOM.integers(0, 3, len(STATED))
    right = np.where(models == 2, 0, 1)
    X = np.column_stack([models, STATED])
    estimator = ConfidenceCalibrator(model_column=0).fit(X, right)
    p = estimator.predict_proba([[0, 0.9], [2, 0.9], [7, 0.9]])[:, 1]
    assert p[0] > 0.85 and p[1] < 0.1 and p[1] < p[2] < p[0]
    assert estimator.calibrator_.models and "7" not in estimator.calibrator_.models, "asking must not make a model join"


def test_design_time_methods_are_fitted_once():
    platt = ConfidenceCalibrator("platt_scaling").fit(STATED[:, None], RIGHT)
    reference = LogisticRegression(penalty=None if sklearn.__version__ >= "1.2" else "none").fit(STATED[:, None], RIGHT)
    np.testing.assert_allclose(platt.predict_proba(STATED[:, None]), reference.predict_proba(STATED[:, None]), atol=1e-3)
    with pytest.raises(ValueError, match="fitted once"):
        platt.partial_fit(STATED[:, None], RIGHT)
    with pytest.raises(ValueError, match="fitted once"):
        CalibratedClassifier(method="platt_scaling").fit(np.eye(30), np.arange(30) % 2)


def test_a_pipeline_a_search_and_a_pickle():
    X, y = make_classification(1500, random_state=0, flip_y=0.2)
    model = make_pipeline(StandardScaler(), CalibratedClassifier(GaussianNB(), method="margin"))
    search = GridSearchCV(model, {"calibratedclassifier__method": ["margin", "margin_adaptive", "raw"]}, scoring="neg_brier_score", cv=3)
    search.fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.predict_proba(X), search.predict_proba(X))
    assert clone(search.best_estimator_).get_params()["calibratedclassifier__method"] == search.best_params_["calibratedclassifier__method"]
    stated = cross_val_predict(GaussianNB(), X, y, cv=3, method="predict_proba")[:, 1:]
    calibrated = make_pipeline(ConfidenceCalibrator("margin")).fit(stated, y).predict_proba(stated)
    assert calibrated.shape == (1500, 2)


def test_a_classifier_in_production_is_corrected_as_its_world_changes():
    X, y = make_classification(6000, n_informative=6, random_state=3)
    model = CalibratedClassifier(RandomForestClassifier(30, random_state=0), method="margin_adaptive").fit(X[:2000], y[:2000])
    changed = np.where(RANDOM.random(4000) < 0.5, RANDOM.integers(0, 2, 4000), y[2000:])  # from now on half the labels are noise
    before = model.predict_proba(X[4000:])
    for part in np.array_split(np.arange(2000, 4000), 20):
        model.partial_fit(X[part], changed[part - 2000])
    after = model.predict_proba(X[4000:])
    truth = changed[2000:]
    np.testing.assert_allclose(after.sum(axis=1), 1)
    assert metrics.ece(after[:, 1], truth) < metrics.ece(before[:, 1], truth) / 2
    assert brier_score_loss(truth, after[:, 1]) < brier_score_loss(truth, before[:, 1])


def test_classes_may_be_many_and_have_names():
    X, y = make_classification(900, n_classes=3, n_informative=5, random_state=1)
    names = np.array(["cat", "dog", "owl"])[y]
    model = CalibratedClassifier().fit(X, names)
    assert model.classes_.tolist() == ["cat", "dog", "owl"] and model.predict_proba(X).shape == (900, 3)
    assert (model.predict(X) == names).mean() > 0.5


@pytest.mark.parametrize("make, message", [
    (lambda: ConfidenceCalibrator().fit([[1.5]] * 4, [0, 1, 0, 1]), "row 0: confidences: got 1.5"),
    (lambda: ConfidenceCalibrator(column=4).fit([[0.5]] * 4, [0, 1, 0, 1]), "column: got 4"),
    (lambda: ConfidenceCalibrator(scores="odds").fit([[0.5]] * 4, [0, 1, 0, 1]), "scores: got 'odds'"),
    (lambda: ConfidenceCalibrator("nope").fit([[0.5]] * 4, [0, 1, 0, 1]), "nope"),
    (lambda: ConfidenceCalibrator().fit([[0.5]] * 3, [0, 1, 2]), "Only binary classification is supported"),
    (lambda: ConfidenceCalibrator().fit([[0.5]] * 3, [1, 1, 1]), "1 class"),
    (lambda: ConfidenceCalibrator(model_column=0).fit([[0.5, 0.5]] * 2, [0, 1]), "whole numbers"),
    (lambda: ConfidenceCalibrator().fit([[0.5]] * 2, [0, 1]).partial_fit([[0.5]], [7]), "y: got"),
    (lambda: CalibratedClassifier(holdout=1).fit([[0.5]] * 2, [0, 1]), "holdout: got 1"),
], ids=range(9))
def test_what_is_refused_is_named(make, message):
    with pytest.raises((ValueError, LookupError), match=message):
        make()
