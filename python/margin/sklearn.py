"""Estimators for scikit-learn: confidences calibrated in a pipeline, and a classifier whose probabilities are calibrated as outcomes come.

>>> import numpy as np
>>> from margin.sklearn import ConfidenceCalibrator
>>> stated = np.array([[0.9], [0.9], [0.9], [0.6]])
>>> calibrator = ConfidenceCalibrator("windowed_accuracy_replace").fit(stated, [1, 0, 0, 0])
>>> calibrator.predict_proba([[0.9]])
array([[0.75, 0.25]])

Both learn in the order of the rows and go on with partial_fit. scikit-learn is needed, and nothing else.
"""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, has_fit_parameter, _check_sample_weight

from margin._core import Calibrator

__all__ = ["CalibratedClassifier", "ConfidenceCalibrator"]

_ONLY = "model"  # the name of a model that is the only one


def _weights(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("sample_weight: expected no negative weight")
    largest = weights.max(initial=0.0)
    # The core's weights are in (0, 1]; only their ratio means something to a scikit-learn estimator.
    return weights / largest if largest > 1 else weights


class ConfidenceCalibrator(ClassifierMixin, TransformerMixin, BaseEstimator):
    """Stated confidence to the probability of being right, learned row by row.

    Parameters
    ----------
    method : a calibration method, one of ``margin.methods()``.
    parameters : its parameters, by name.
    column : the column of X that holds the stated confidence; the others are not looked at.
    model_column : the column that says which model a row is of, as a whole number; None where there is only one model.
    scores : "probability" where confidences are in [0, 1]; "decision" where they are scores of a decision function, which a logistic curve
        maps to (0, 1).

    ``y`` says whether each response was right; of two labels the one that sorts last means right. ``transform`` gives the calibrated
    confidence as one column, ``predict_proba`` the probabilities of wrong and right. Rows with weight 0 teach nothing.
    """

    def __init__(self, method: str = "margin", *, parameters: Optional[Mapping[str, Any]] = None, column: int = -1,
                 model_column: Optional[int] = None, scores: str = "probability") -> None:
        self.method = method
        self.parameters = parameters
        self.column = column
        self.model_column = model_column
        self.scores = scores

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ConfidenceCalibrator":
        X, y = check_X_y(X, y, dtype=np.float64)
        self._begin(X, y)
        return self._learn(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "ConfidenceCalibrator":
        """Goes on from what was learned. ``classes`` is needed by the first call whose rows do not show both labels."""
        X, y = check_X_y(X, y, dtype=np.float64)
        if not hasattr(self, "calibrator_"):
            self._begin(X, y if classes is None else np.asarray(classes))
        self._check_features(X)
        if self.calibrator_.design_time:
            raise ValueError(f"method: {self.method} is fitted once, by fit(), expected one that learns online")
        unknown = set(np.unique(y)) - set(self.classes_)
        if unknown:
            raise ValueError(f"y: got {sorted(unknown)}, expected {self.classes_.tolist()}")
        return self._learn(X, y, sample_weight)

    def transform(self, X: Any) -> np.ndarray:
        return self._right(X)[:, np.newaxis]

    def predict_proba(self, X: Any) -> np.ndarray:
        right = self._right(X)
        return np.column_stack([1 - right, right])

    def predict(self, X: Any) -> np.ndarray:
        right = self._right(X)
        return self.classes_[(right >= 0.5).astype(int)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        return np.array(["calibrated"], dtype=object)

    def _begin(self, X: np.ndarray, labels: np.ndarray) -> None:
        check_classification_targets(labels)
        if type_of_target(labels) not in ("binary",) and len(np.unique(labels)) > 2:
            raise ValueError("Only binary classification is supported. The type of the target "
                             f"is {type_of_target(labels)}.")
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            raise ValueError(f"y: got {len(self.classes_)} class, expected two: wrong and right")
        self.n_features_in_ = X.shape[1]
        for column in (self.column, self.model_column):
            if column is not None and not -X.shape[1] <= column < X.shape[1]:
                raise ValueError(f"column: got {column}, expected one of the {X.shape[1]} columns of X")
        if self.scores not in ("probability", "decision"):
            raise ValueError(f"scores: got {self.scores!r}, expected 'probability' or 'decision'")
        self.calibrator_ = Calibrator(self.method, **dict(self.parameters or {}))

    def _check_features(self, X: np.ndarray) -> None:
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input")

    def _rows(self, X: np.ndarray) -> Tuple[Union[str, np.ndarray], np.ndarray]:
        stated = X[:, self.column]
        if self.scores == "decision":
            stated = 1 / (1 + np.exp(-np.clip(stated, -500, 500)))
        if self.model_column is None:
            return _ONLY, np.ascontiguousarray(stated)
        models = X[:, self.model_column]
        if (models != np.floor(models)).any():
            raise ValueError("model_column: expected whole numbers")
        return np.array([f"{int(model)}" for model in models], dtype=object), np.ascontiguousarray(stated)

    def _learn(self, X: np.ndarray, y: np.ndarray, sample_weight: Any) -> "ConfidenceCalibrator":
        weights = _weights(sample_weight, X)
        kept = weights > 0
        models, stated = self._rows(X[kept])
        right = (y[kept] == self.classes_[1]).astype(float)
        if self.calibrator_.design_time:
            self.calibrator_.fit(models, stated, right, weights[kept])
        else:
            self.calibrator_.observe_batch(models, stated, right, weights[kept])
        return self

    def _right(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "calibrator_")
        X = check_array(X, dtype=np.float64)
        self._check_features(X)
        models, stated = self._rows(X)
        # A model that never came must not join because somebody asked.
        return self.calibrator_.copy().calibrate_batch(models, stated)

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later; _more_tags says the same to earlier ones
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def _more_tags(self) -> Dict[str, Any]:
        return {
            "binary_only": True,
            "poor_score": True,  # it sees one column and corrects it; it does not look for classes in the others
            "_xfail_checks": {
                "check_sample_weights_invariance": "learns in the order of the rows, which the check shuffles",
            },
        }


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose probabilities are calibrated online, class by class.

    Parameters
    ----------
    estimator : a classifier with predict_proba; LogisticRegression() when None.
    method, parameters : the calibration method, as for ConfidenceCalibrator.
    holdout : the part of the rows of fit(), the last ones, that the estimator does not see and the calibrator learns from. Below 10 rows of
        holdout both see all rows.

    ``partial_fit`` teaches the calibrator from rows whose outcome has become known; the estimator stays as it is, which is the point: a
    model in production is corrected as its outcomes come.
    """

    def __init__(self, estimator: Any = None, *, method: str = "margin", parameters: Optional[Mapping[str, Any]] = None,
                 holdout: float = 0.25) -> None:
        self.estimator = estimator
        self.method = method
        self.parameters = parameters
        self.holdout = holdout

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CalibratedClassifier":
        X, y = check_X_y(X, y, accept_sparse=["csr"])
        check_classification_targets(y)
        if not 0 <= self.holdout < 1:
            raise ValueError(f"holdout: got {self.holdout}, expected a number in [0, 1)")
        weights = None if sample_weight is None else _weights(sample_weight, X)
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        seen = len(y) - int(len(y) * self.holdout)
        if len(y) - seen < 10 or len(np.unique(y[:seen])) < len(self.classes_):
            seen = len(y)
        base = clone(self.estimator) if self.estimator is not None else LogisticRegression()
        weighted = weights is not None and has_fit_parameter(base, "sample_weight")
        self.estimator_ = base.fit(X[:seen], y[:seen], **({"sample_weight": weights[:seen]} if weighted and weights is not None else {}))
        self.calibrator_ = Calibrator(self.method, **dict(self.parameters or {}))
        if self.calibrator_.design_time:
            raise ValueError(f"method: {self.method} is fitted once, expected one that learns online")
        rest = slice(seen if seen < len(y) else 0, None)
        return self._teach(X[rest], y[rest], None if weights is None else weights[rest])

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "CalibratedClassifier":
        """Teaches the calibrator; the first call of an estimator that was not fitted is fit(). ``classes`` is accepted where they are those
        of fit()."""
        if not hasattr(self, "calibrator_"):
            return self.fit(X, y, sample_weight)
        X, y = check_X_y(X, y, accept_sparse=["csr"])
        unknown = set(y if classes is None else classes) - set(self.classes_)
        if unknown:
            raise ValueError(f"y: got {sorted(unknown)}, expected {self.classes_.tolist()}")
        self._check_features(X)
        return self._teach(X, y, None if sample_weight is None else _weights(sample_weight, X))

    def predict_proba(self, X: Any) -> np.ndarray:
        stated = self._stated(X)
        calibrated = np.column_stack([self.calibrator_.calibrate_batch(f"class {k}", np.ascontiguousarray(stated[:, k]))
                                      for k in range(len(self.classes_))])
        total = calibrated.sum(axis=1, keepdims=True)
        # Where every class is calibrated to 0 nothing is known beyond what was stated.
        return np.where(total > 0, calibrated / np.where(total > 0, total, 1), stated)

    def predict(self, X: Any) -> np.ndarray:
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def _teach(self, X: Any, y: np.ndarray, weights: Optional[np.ndarray]) -> "CalibratedClassifier":
        stated = self._stated(X)
        kept = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        for k, label in enumerate(self.classes_):
            self.calibrator_.observe_batch(f"class {k}", np.ascontiguousarray(stated[kept, k]), (y[kept] == label).astype(float),
                                           None if weights is None else weights[kept])
        return self

    def _stated(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "calibrator_")
        X = check_array(X, accept_sparse=["csr"])
        self._check_features(X)
        return np.clip(self.estimator_.predict_proba(X), 0, 1)

    def _check_features(self, X: Any) -> None:
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Sparse rows are the estimator's affair; LogisticRegression takes them.
        tags.input_tags.sparse = self.estimator is None or self.estimator.__sklearn_tags__().input_tags.sparse
        return tags

    def _more_tags(self) -> Dict[str, Any]:
        return {"_xfail_checks": {"check_sample_weights_invariance": "learns in the order of the rows, which the check shuffles"}}
