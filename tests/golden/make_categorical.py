"""make_categorical.py > data/categorical.txt: outcomes of three classes, and what the definition in docs/calibration.md says of each before
it is learned. Plain Python over whole histories; categorical_golden_test reads the file. Columns: model, confidence, class, weight, then
the probability of each class."""
import math
import random

CLASSES, ALPHA, BANDS, SHRINKAGE = 3, 0.08, 4, 15.0


def shares(history, band):
    """One exponential average per class over what the band has seen, and its count."""
    middle = (band + 0.5) / BANDS
    share = [middle] + [(1.0 - middle) / (CLASSES - 1)] * (CLASSES - 1)
    count = 0.0
    for confidence, outcome, weight in history:
        if min(BANDS - 1, math.floor(confidence * BANDS)) != band:
            continue
        rate = ALPHA if weight == 1.0 else -math.expm1(weight * math.log1p(-ALPHA))
        share = [(1.0 - rate) * s + (rate if j == outcome else 0.0) for j, s in enumerate(share)]
        count += weight
    return share, count


def distribution(history, confidence):
    by_band = [shares(history, band) for band in range(BANDS)]
    own, count = by_band[min(BANDS - 1, math.floor(confidence * BANDS))]
    total = sum(n for _, n in by_band)
    if total == 0.0:
        return own
    whole = [sum(n * share[j] for share, n in by_band) / total for j in range(CLASSES)]
    z = count / (count + SHRINKAGE)
    return [z * a + (1.0 - z) * b for a, b in zip(own, whole)]


def main():
    source = random.Random(11)
    histories = [[], []]
    for _ in range(600):
        model = source.randrange(2)
        confidence = source.choice((0.0, 0.25, 0.5, 0.9, 1.0)) if source.random() < 0.5 else source.random()
        refuses = 0.3 * (1.0 - confidence)
        draw = source.random()
        outcome = 2 if draw < refuses else 0 if draw < refuses + (0.3 + 0.4 * confidence) * (0.5 + 0.5 * model) else 1
        weight = 1.0 if source.random() < 0.7 else 1.0 - source.random()
        told = distribution(histories[model], confidence)
        print(model, repr(confidence), outcome, repr(weight), *map(repr, told))
        histories[model].append((confidence, outcome, weight))


if __name__ == "__main__":
    main()
