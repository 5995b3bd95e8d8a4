"""calibrators_against_twin.py CALIBRATOR_PROBE: weights, models that come, go and return, short windows and odd parameters, each method
against its naive twin on random streams from fixed seeds."""
import random
import sys

import probe
import twin

EDGES = (0.0, 1e-300, 0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1.0)
ROWS = 700

# Method, parameters, the twin made with them, and how near it must be.
CASES = [
    ("sliding_window_histogram", {}, twin.SlidingWindowHistogram, 1e-12),
    ("sliding_window_histogram", {"window": 7, "bins": 4}, twin.SlidingWindowHistogram, 1e-12),
    ("decayed_histogram", {}, twin.DecayedHistogram, 1e-12),
    ("decayed_histogram", {"alpha": 1, "bins": 3}, twin.DecayedHistogram, 1e-12),
    ("windowed_accuracy_replace", {"window": 31}, twin.WindowedAccuracyReplace, 1e-12),
    ("windowed_accuracy_multiply", {"window": 31}, twin.WindowedAccuracyMultiply, 1e-12),
    ("windowed_accuracy_multiply", {"window": 1}, twin.WindowedAccuracyMultiply, 1e-12),
    ("online_platt", {}, twin.OnlinePlatt, 1e-9),
    ("online_platt", {"eta": 0.7, "lambda": 0.2}, lambda eta, **rest: twin.OnlinePlatt(eta, rest["lambda"]), 1e-9),
    ("aci_quantile_scale", {"window": 20}, twin.AciQuantileScale, 1e-12),
    ("aci_quantile_scale", {"window": 9, "step": 0.3, "target": 0.8}, twin.AciQuantileScale, 1e-12),
    ("margin", {}, twin.Margin, 1e-12),
    ("margin", {"bands": 5, "shrinkage": 3, "target": "pool_band"}, twin.Margin, 1e-12),
    ("margin", {"alpha_correct": 0.02, "alpha_incorrect": 0.1, "shrinkage": 0}, twin.Margin, 1e-12),
    ("margin", {"entry": "identity", "shrinkage": 20}, twin.Margin, 1e-12),
    ("margin", {"edges": "quantile"}, twin.Margin, 1e-12),
    ("margin", {"edges": "quantile", "bands": 7, "target": "pool_band"}, twin.Margin, 1e-12),
    ("margin", {"credibility": "estimated"}, twin.Margin, 1e-12),
    ("margin", {"credibility": "estimated", "shrinkage": 0, "target": "pool_band", "alpha": 0.2}, twin.Margin, 1e-12),
    ("margin", {"edges": "quantile", "credibility": "estimated", "bands": 4}, twin.Margin, 1e-12),
    ("margin", {"threshold": 0.5}, twin.Margin, 1e-12),
    ("margin", {"bands": 0}, twin.MarginBandChoice, 1e-12),
]


def observation(source, models):
    c = source.choice(EDGES) if source.random() < 0.4 else source.random()
    o = source.random() if source.random() < 0.2 else float(source.random() < 0.8 * c + 0.1)
    w = 1.0 if source.random() < 0.5 else 1.0 - source.random()
    return source.choice(models), c, o, w


def live_commands(seed):
    """Five models that join at different times; some leave, are asked about while away, and return."""
    source = random.Random(seed)
    present, commands = [], []
    for step in range(ROWS):
        if step % 120 == 0 and step // 120 < 5:
            present.append(step // 120)
            commands.append(("join", step // 120))
        if step % 50 == 40 and len(present) > 1:
            away = source.choice(present)
            present.remove(away)
            commands.append(("leave", away))
        elif step % 50 == 10 and step > 100:
            back = source.randrange(step // 120 + 1 if step < 600 else 5)
            if back not in present:
                present.append(back)
                commands.append(("join", back))
        model, c, o, w = observation(source, present)
        commands += [("predict", model, c), ("learn", model, c, o, w), ("predict", 0, source.random())]
    return commands


def answers(calibrator, commands):
    given = []
    for verb, *arguments in commands:
        result = getattr(calibrator, verb)(*arguments)
        if verb == "predict":
            given.append(result)
    return given


def largest_difference(got, expected):
    if len(got) != len(expected) or not got:
        raise SystemExit(f"{len(got)} answers, expected {len(expected)}")
    return max(abs(a - b) for a, b in zip(got, expected))


def frozen_difference(program, seed):
    """histogram_binning fitted on weighted rows; model 3 has none and passes its confidence through."""
    source = random.Random(seed)
    rows = [observation(source, [0, 1, 2]) for _ in range(400)]
    questions = [("predict", model, source.random()) for model in range(4) for _ in range(50)]
    reference = twin.HistogramBinning(bins=7)
    for row in rows:
        reference.learn(*row)
    got = probe.run(program, "histogram_binning", {"bins": 7}, [("join", 3)] + [("fit", *row) for row in rows] + [("freeze",)] + questions)
    return largest_difference(got, answers(reference, questions))


def main(program):
    failures = 0

    def report(name, difference, tolerance):
        nonlocal failures
        failures += not difference <= tolerance
        print(f"{'ok  ' if difference <= tolerance else 'FAIL'} {name}: largest difference {difference:.2e}, allowed {tolerance:.0e}")

    for method, parameters, make_twin, tolerance in CASES:
        for seed in (1, 2, 3):
            commands = live_commands(seed)
            difference = largest_difference(probe.run(program, method, parameters, commands), answers(make_twin(**parameters), commands))
            report(f"{method} {parameters} seed {seed}", difference, tolerance)
    for seed in (1, 2, 3):
        report(f"histogram_binning seed {seed}", frozen_difference(program, seed), 1e-12)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
