"""The golden vectors as Python reads them: rows of a stream by task, and the tolerance of each method."""
import json
import os
import pathlib

DATA = pathlib.Path(os.environ["MARGIN_SOURCE"]) / "tests" / "golden" / "data"
FITTED = {"temperature_scaling", "platt_scaling", "histogram_binning"}
TRANSCENDENTAL = {"online_platt", "margin_adaptive", "margin_adaptive@1", "margin_adaptive@2"}


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def tolerance(method):
    return 1e-6 if method in FITTED else 1e-9 if method in TRANSCENDENTAL else 1e-12


def tasks(stream):
    """The usable rows of each (phase, task), in the order of its first row; a row's place in the file is its key "place"."""
    found = {}
    usable = [row for row in lines(f"{stream}.jsonl") if row["confidence"] is not None]
    for place, row in enumerate(usable):
        found.setdefault((row.get("phase"), row["task"]), []).append({**row, "place": place})
    return list(found.values())


def cases(stream, without=("lag",)):
    """The expected lines whose parameters a calibrator alone can have."""
    return [line for line in lines(f"{stream}.expected.jsonl") if not set(without) & set(line["params"])]
