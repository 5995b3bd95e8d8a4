"""The golden lines of margin_adaptive's newest version: make_adaptive.py STREAM.jsonl prints them, computed by the Python reference
(tests/twin/margin_adaptive.py). Those of the versions before never change: of version 2 (margin_adaptive@2) the reference made them when it
was the newest, and those of version 1 come from an independent implementation.
"""
import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "twin"))
from margin_adaptive import MarginAdaptive  # noqa: E402

SETTINGS = [{}, {"clocks": [8, 200], "links": [0, 1], "roots": [0, 2], "curve_memory": 100}]


def line(rows, parameters):
    reference, tasks = MarginAdaptive(**parameters), {}
    for row in rows:
        if row["confidence"] is not None and not math.isnan(row["confidence"]):
            tasks.setdefault((row.get("phase"), row["task"]), []).append(row)
    said, order = {}, [row for task in tasks.values() for row in task]
    for task in tasks.values():
        for row in task:
            said[id(row)] = reference.predict(row["model"], row["confidence"])
        reference.begin_task()
        for row in task:
            if row["correct"] is not None:
                reference.update(row["model"], row["confidence"], row["correct"])
        reference.end_task()
    scored = [(said[id(row)], row["correct"]) for row in order if row["correct"] is not None]
    bins, squares, logs = [0.0] * 10, 0.0, 0.0
    for p, o in scored:
        bins[min(9, int(p * 10))] += o - p
        squares += (p - o) ** 2
        q = min(1 - 1e-6, max(1e-6, p))
        logs -= o * math.log(q) + (1 - o) * math.log(1 - q)
    n = len(scored)
    return {"method": "margin_adaptive", "params": parameters, "rows": n, "excluded": len(rows) - len(order), "ece": sum(map(abs, bins)) / n,
            "brier": squares / n, "log_loss": logs / n, "calibrated": [said[id(row)] for row in rows if id(row) in said]}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        log = [json.loads(text) for text in file]
    for setting in SETTINGS:
        print(json.dumps(line(log, setting)))
