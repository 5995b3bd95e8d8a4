"""platt_against_sklearn.py CALIBRATOR_PROBE: platt_scaling against scikit-learn's LogisticRegression, temperature_scaling against SciPy.

Our penalty 1e-6/2 (a^2 + b^2) holds for the intercept too, which scikit-learn never penalises; so the intercept is given to it as a
feature that is always 1, with fit_intercept=False and C = 1e6. A graded outcome o is a right row of weight w*o and a wrong one of w*(1-o).
"""
import random
import sys

import numpy
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import probe

QUESTIONS = numpy.linspace(0.0, 1.0, 41)


def random_rows(seed, count, graded, weighted):
    source = random.Random(seed)
    rows = []
    for _ in range(count):
        c = source.random() ** 0.4
        o = source.random() if graded and source.random() < 0.3 else float(source.random() < 0.2 + 0.5 * c)
        rows.append((0, c, o, 1.0 - source.random() if weighted else 1.0))
    return rows


STREAMS = {
    "plain": random_rows(1, 600, graded=False, weighted=False),
    "weighted": random_rows(2, 600, graded=False, weighted=True),
    "graded and weighted": random_rows(3, 600, graded=True, weighted=True),
    "few rows": random_rows(4, 8, graded=False, weighted=True),
    "one confidence": [(0, 0.9, float(i % 3 == 0), 1.0) for i in range(90)],
    "separable": [(0, i / 40, float(i > 20), 1.0) for i in range(41)],
    "separable the wrong way": [(0, i / 40, float(i < 20), 1.0) for i in range(41)],
    "always right": [(0, 0.5 + i / 100, 1.0, 1.0) for i in range(50)],
}


def ask(program, method, rows):
    commands = [("fit", *row) for row in rows] + [("freeze",)] + [("predict", 0, float(c)) for c in QUESTIONS]
    return numpy.array(probe.run(program, method, {}, commands))


def split_graded(rows):
    table = numpy.array([row[1:] for row in rows])
    confidence, outcome, weight = table.T
    features = numpy.concatenate([confidence, confidence])
    labels = numpy.concatenate([numpy.ones_like(outcome), numpy.zeros_like(outcome)])
    weights = numpy.concatenate([weight * outcome, weight * (1.0 - outcome)])
    return features[weights > 0], labels[weights > 0], weights[weights > 0]


def with_constant(confidence):
    return numpy.column_stack([confidence, numpy.ones_like(confidence)])


def sklearn_platt(rows):
    confidence, label, weight = split_graded(rows)
    if len(set(label)) == 1:
        # scikit-learn refuses a single class: a row of the other class, with a weight far below rounding, makes two.
        confidence, label, weight = numpy.append(confidence, 0.5), numpy.append(label, 1.0 - label[0]), numpy.append(weight, 1e-18)
    model = LogisticRegression(C=1e6, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=10000)
    model.fit(with_constant(confidence), label, sample_weight=weight)
    return model.predict_proba(with_constant(QUESTIONS))[:, 1]


def scipy_temperature(rows):
    confidence, label, weight = split_graded(rows)
    odds = logit(numpy.clip(confidence, 1e-6, 1 - 1e-6))

    def loss(log_temperature):
        z = odds / numpy.exp(log_temperature)
        return numpy.sum(weight * (numpy.logaddexp(0.0, z) - label * z))

    best = minimize_scalar(loss, bounds=(numpy.log(0.05), numpy.log(20.0)), method="bounded", options={"xatol": 1e-12})
    ends = [numpy.log(0.05), numpy.log(20.0)]
    return expit(logit(numpy.clip(QUESTIONS, 1e-6, 1 - 1e-6)) / numpy.exp(min([best.x, *ends], key=loss)))


def main(program):
    failures = 0
    for method, reference in (("platt_scaling", sklearn_platt), ("temperature_scaling", scipy_temperature)):
        for name, rows in STREAMS.items():
            difference = numpy.max(numpy.abs(ask(program, method, rows) - reference(rows)))
            good = difference <= 1e-6
            failures += not good
            print(f"{'ok  ' if good else 'FAIL'} {method}, {name}: largest difference {difference:.2e}, allowed 1e-06")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
