"""check_golden.py FOLDER: the golden files as other programs read them, by Python's csv and json."""

import csv
import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def rows(name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.reader(file, strict=True))


def is_number(field):
    try:
        float(field)
    except ValueError:
        return False
    return True


scores, hostile = rows("scores.csv"), rows("hostile.csv")
assert scores[0] == ["method", "ECE", "ECE_low", "ECE_high", "Brier", "rows", "remark"], scores[0]
assert scores[3] == ["modèle_été", "0.0074", "", "", "", "128", 'a, "b"'], scores[3]
assert [len(row) for row in hostile] == [2, 2, 2], hostile
for field in (field for row in scores + hostile for field in row):
    assert not field.startswith(("=", "+", "-", "@", "\t", "\r")) or is_number(field), field

table = json.loads((folder / "scores.json").read_text("utf-8"))
assert table["rows"][0][1] == {"value": 0.3232, "low": 0.3191, "high": 0.3275}, table
assert table["rows"][2] == ["modèle_été", 0.0074, None, 128, 'a, "b"'], table
(attack,) = json.loads((folder / "hostile.json").read_text("utf-8"))
assert attack["title"] == "<script>\"'&]]>=1+1\x1b[2J\x07\r\u202e|`\\end{tabular}%\ufffd", attack
