"""csv_equals_jsonl.py MARGIN: a log written as JSON lines and as CSV, by Python's own writers, gives the same bytes out of every command.

Random logs with awkward text; CSV with either line end, quotes where needed or everywhere, a byte order mark, columns in any order and more of
them than are known, gzip, or through the standard input.
"""

import csv
import gzip
import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

AWKWARD = ["plain", 'say "yes"', "a,b", "two\nlines", "crlf\r\ninside", " spaces ", "été", "=1+1", "\x1b[31mred", "\u202eback", "null", "NaN", "'", '"']
FIELDS = ["task", "model", "confidence", "correct", "answer", "phase", "channel", "segment", "kind", "abstained", "weight", "t"]


def random_rows(rng):
    rows = []
    for task in range(30):
        segment = rng.choice([None, "s1", "s,2"])
        for model in ["a", 'b"2"', "c\nd", "=e"]:
            if rng.random() < 0.2:
                continue
            row = {"task": f"t{task} {AWKWARD[task % len(AWKWARD)]}", "model": model, "phase": rng.choice(["p", "q, r"]) if task % 2 else None}
            row["confidence"] = None if rng.random() < 0.1 else rng.random()
            row["correct"] = rng.choice([None, True, False, 0.5, 0, 1, rng.random()])
            row["answer"] = rng.choice([None, *AWKWARD])
            row["segment"] = segment
            row["channel"] = rng.choice([None, "verbalized"])
            row["kind"] = "text" if segment else None
            row["abstained"] = True if rng.random() < 0.05 else None
            row["weight"] = rng.choice([None, 0.5, 1])
            row["t"] = rng.choice([None, 12.5, "2024-05-17T08:30:00Z"])
            rows.append(row)
    return rows


def as_csv(rows, rng):
    fields = FIELDS + ["note", "note"]
    rng.shuffle(fields)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=rng.choice(["\n", "\r\n"]), quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer.writerow(fields)
    for row in rows:
        writer.writerow(["ignored, \"this\"" if field == "note" else row[field] for field in fields])
    return rng.choice([b"", b"\xef\xbb\xbf"]) + out.getvalue().encode()


def main():
    margin = str(Path(sys.argv[1]).resolve())
    rng = random.Random(20240517)
    for round_number in range(12):
        rows = random_rows(rng)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "log.jsonl").write_text("".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in rows))
            table = as_csv(rows, rng)
            (folder / "log.csv").write_bytes(table)
            (folder / "log.csv.gz").write_bytes(gzip.compress(table))

            def results(arguments, stdin=b""):
                lines = {}
                command = [margin, "replay", *arguments, "--orderings", "0", "--json", "--method", "all", "--predictions", "p", "--decisions", "d"]
                run = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, check=False)
                assert run.returncode == 0, (command, run.stderr)
                lines = [run.stdout, (folder / "p").read_bytes(), (folder / "d").read_bytes()]
                assert all(lines), command
                return lines

            expected = results(["log.jsonl"])
            assert json.loads(expected[0])["observations"] > 40
            for arguments, stdin in [(["log.csv"], b""), (["log.csv.gz"], b""), (["-", "--input", "csv"], table), (["-", "--input", "csv"], gzip.compress(table))]:
                assert results(arguments, stdin) == expected, (round_number, arguments)
            experiment = ["experiment", "selection", "--json", "--orderings", "3", "--resamples", "20", "--method", "margin"]
            outputs = {subprocess.run([margin, *experiment, file], cwd=folder, capture_output=True, check=True).stdout for file in ["log.jsonl", "log.csv"]}
            assert len(outputs) == 1 and outputs.pop(), round_number


main()
