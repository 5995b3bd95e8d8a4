"""The `margin` binary against the golden vectors: cli_golden.py MARGIN DATA STREAM runs `margin replay` for every line of
STREAM.expected.jsonl and STREAM.selection.jsonl (or of frozen.expected.jsonl) and compares predictions, metrics and selections.

Tolerances: 1e-12 where only + - * / occur, 1e-9 where exp, log or powers do, 1e-6 for fitted methods.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

FITTED = {"temperature_scaling", "platt_scaling", "histogram_binning"}
TRANSCENDENTAL = {"online_platt", "margin_adaptive", "margin_adaptive@1", "margin_adaptive@2", "log_odds", "discounted", "stacked"}
OWN_FLAG = {"alpha", "bands", "shrinkage", "window", "lag"}


def tolerance_of(*names):
    return 1e-6 if FITTED & set(names) else 1e-9 if TRANSCENDENTAL & set(names) else 1e-12


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Checker:
    def __init__(self, margin, data):
        self.margin, self.data = margin, Path(data)
        self.compared = 0
        self.failures = []

    def replay(self, stream, *flags):
        """The --json result, the predictions and the decisions of one pass in file order."""
        with tempfile.TemporaryDirectory() as folder:
            predictions, decisions = Path(folder) / "predictions.jsonl", Path(folder) / "decisions.jsonl"
            command = [self.margin, "replay", str(self.data / f"{stream}.jsonl"), "--orderings", "0", "--json",
                       "--predictions", str(predictions), "--decisions", str(decisions), *flags]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                raise SystemExit(f"{' '.join(command)}: exit code {run.returncode}\n{run.stderr}")
            return json.loads(run.stdout), read_lines(predictions), read_lines(decisions)

    def equal(self, what, got, expected):
        self.compared += 1
        if got != expected:
            self.failures.append(f"{what}: got {got!r}, expected {expected!r}")

    def near(self, what, got, expected, tolerance):
        self.compared += 1
        if got is None or not abs(got - expected) <= tolerance:
            self.failures.append(f"{what}: got {got!r}, expected {expected!r} within {tolerance}")

    def near_all(self, what, got, expected, tolerance):
        self.equal(f"{what}: count", len(got), len(expected))
        for i, (g, e) in enumerate(zip(got, expected)):
            self.near(f"{what}[{i}]", g, e, tolerance)

    def metrics(self, what, method, scores, expected):
        for metric in ("ece", "brier", "log_loss"):
            # A log loss takes logarithms whatever the method.
            least = 1e-9 if metric == "log_loss" else 0.0
            self.near(f"{what}: {metric}", scores[metric], expected[metric], max(tolerance_of(method), least))

    def expected_line(self, stream, line):
        method = line["method"]
        flags = ["--method", method]
        for name, value in line["params"].items():
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            flags += [f"--{name}", text] if name in OWN_FLAG else ["--set", f"{method}.{name}={text}"]
        what = f"{stream} {' '.join(flags[1:])}"
        result, predictions, _ = self.replay(stream, *flags)
        rows = [row for row in read_lines(self.data / f"{stream}.jsonl") if row["confidence"] is not None]
        self.equal(f"{what}: observations", result["observations"], line["rows"])
        self.equal(f"{what}: excluded", result["excluded"], line["excluded"])
        self.equal(f"{what}: rows", [(p["task"], p["model"], p["method"], p["confidence"], p["correct"]) for p in predictions],
                   [(r["task"], r["model"], method, r["confidence"], r["correct"]) for r in rows])
        self.near_all(f"{what}: calibrated", [p["calibrated"] for p in predictions], line["calibrated"], tolerance_of(method))
        self.metrics(what, method, result["methods"][method], line)

    def selection_line(self, stream, line):
        method = line["method"]
        for ties, expected in line.get("resolution", {}).items():
            result, _, _ = self.replay(stream, "--method", method, "--ties", ties)
            self.near(f"{stream} {method} resolution {ties}", result["methods"][method]["resolution"], expected, tolerance_of(method))
        if "vote" not in line:
            return
        vote = line["vote"]  # the vectors are of version 1
        what = f"{stream} {method} {vote}"
        result, _, decisions = self.replay(stream, "--method", method, "--vote", f"{vote}@1")
        self.near(f"{what}: pass1", result["methods"][method]["pass1"], line["pass1"], 1e-12)
        self.equal(f"{what}: selected", [d["selected"] for d in decisions], line["selected"])
        if "probability" in line:
            self.near_all(f"{what}: share", [d["share"] for d in decisions], line["probability"], tolerance_of(method, vote))

    def frozen_line(self, line):
        method = line["method"]
        result, predictions, _ = self.replay("shift", "--method", method, "--phase", "hard", "--fit", f"{self.data / 'shift.jsonl'}:easy")
        self.near_all(f"frozen {method}: calibrated", [p["calibrated"] for p in predictions], line["calibrated"], tolerance_of(method))
        self.metrics(f"frozen {method}", method, result["methods"][method], line)


def main():
    margin, data, stream = sys.argv[1:]
    checker = Checker(margin, data)
    if stream == "frozen":
        for line in read_lines(checker.data / "frozen.expected.jsonl"):
            checker.frozen_line(line)
    else:
        for line in read_lines(checker.data / f"{stream}.expected.jsonl"):
            checker.expected_line(stream, line)
        for line in read_lines(checker.data / f"{stream}.selection.jsonl"):
            checker.selection_line(stream, line)
    for failure in checker.failures[:20]:
        print(failure)
    print(f"{stream}: {checker.compared} comparisons, {len(checker.failures)} failures")
    return 1 if checker.failures or checker.compared < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
