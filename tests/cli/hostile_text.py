"""hostile_text.py MARGIN: names and answers that attack, through every output of every command that shows them.

Markup, formulas, terminal control codes, direction marks and the ends of cells are the names of models, tasks, phases, answers and the channel. Whatever comes out is
read back by Python's own parsers: nothing may act, and JSON must give the names back unchanged.
"""

import csv
import io
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))
from check_report import check_page  # noqa: E402

ATTACKS = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "\x1b[2J\x1b[31mred\x07", "\u202emoc.live\u2066", "+1+1|`x`|", "-2\\input{x}\\end{tabular}%$_&#^~{}", "\t=1+1\r\n=2",
           "</svg></td><img src=x onerror=alert(1)>", "]]>--><!--\"'&amp;", "\x9b31m\x7f\u2028[link](//evil)"]
MODELS = [f"{attack} {number}" for number, attack in enumerate(ATTACKS[:8])]
PHASES = [ATTACKS[0] + "1", ATTACKS[1] + "2"]
CHANNEL = ATTACKS[2] + ATTACKS[0]

EXPERIMENTS = {
    "selection": ["--resamples", "20"], "resolution": ["--resamples", "20"], "inversion": ["--resamples", "20"], "convergence": [], "split": ["--resamples", "20"],
    "pool": ["--observations", "400", "--swap-every", "100"],
}
CONDITIONS = {"shift": ["--focus", "raw", "--method", "raw,margin"], "transfer": [], "feedback": ["--method", "margin", "--lags", "0,10"], "ablation": ["--sweep", "margin.alpha=0.02,0.08"]}
FORMATS = ["text", "csv", "markdown", "latex", "json"]
FORMULA = re.compile(r"[=+\-@\t\r]")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?$")


def write_log(path):
    rng = random.Random(7)
    with open(path, "w", encoding="utf-8") as file:
        for task in range(160):
            for model in MODELS:
                row = {"task": f"{ATTACKS[task % len(ATTACKS)]} {task}", "phase": PHASES[task % 2], "model": model, "channel": CHANNEL, "answer": rng.choice(ATTACKS),
                       "segment": ATTACKS[3] if task % 5 == 0 else None, "confidence": None if rng.random() < 0.03 else round(rng.random(), 3), "correct": rng.random() < 0.6, "t": task}
                file.write(json.dumps(row) + "\n")


def check_tame(raw, where):
    text = raw.decode("utf-8")
    for character in re.sub(r"\r?\n", "", text):
        point = ord(character)
        assert point >= 0x20 and not 0x7F <= point <= 0x9F and point not in range(0x2028, 0x202F) and point not in range(0x2066, 0x206A), (where, hex(point))
    return text


def check_csv(text, where):
    rows = list(csv.reader(io.StringIO(text), strict=True))
    assert rows, where
    for cell in (cell for row in rows for cell in row):
        assert not FORMULA.match(cell) or NUMBER.match(cell), (where, cell)


def check_markdown(text, where):
    assert not re.search(r"<[a-z/!]", text), where
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, (where, table)


def check_latex(text, where):
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") > 0, where
    assert not re.search(r"\\input|(?<!\\)%", text), where


CHECKS = {"csv": check_csv, "markdown": check_markdown, "latex": check_latex, "json": lambda text, where: json.loads(text), "text": lambda text, where: None}


def main():
    margin = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_log(folder / "log.jsonl")

        def run(arguments, *, check):
            done = subprocess.run([margin, *arguments], cwd=folder, capture_output=True, check=False)
            assert done.returncode == 0, (arguments, done.stderr)
            check_tame(done.stderr, arguments)
            text = check_tame(done.stdout, arguments)
            assert text, arguments
            check(text, arguments)
            return text

        common = ["--orderings", "2"]
        commands = [["replay", "log.jsonl", *common, "--by", "model", "--by", "phase"]]
        commands += [["experiment", experiment, "log.jsonl", *common, *flags] for experiment, flags in EXPERIMENTS.items()]
        commands += [["experiment", experiment, "--all-pairs", "log.jsonl", *common, "--resamples", "20", *flags] for experiment, flags in CONDITIONS.items()]
        commands += [["experiment", "watch", "log.jsonl", "--false-reports", "0.1"]]
        commands += [["doctor", "log.jsonl", *common, "--resamples", "20"]]
        shown = 0
        for command in commands:
            for form in FORMATS:
                run([*command, "--format", form], check=CHECKS[form])
            run([*command, "--report", "out"], check=CHECKS["text"])
            faults, text = check_page((folder / "out/report.html").read_bytes(), 0)
            assert not faults, (command, faults)
            shown += "<script>alert(1)</script>" in text
        assert shown >= len(commands) - 3, "names are left out instead of shown"

        # Lines for programs give every name back unchanged.
        run(["replay", "log.jsonl", "--orderings", "0", "--method", "raw", "--predictions", "p", "--decisions", "d"], check=CHECKS["text"])
        lines = {file: [json.loads(line) for line in check_tame((folder / file).read_bytes(), file).splitlines()] for file in "pd"}
        assert {line["model"] for line in lines["p"]} == set(MODELS)
        assert {line["phase"] for line in lines["d"]} == set(PHASES) and {line["selected"] for line in lines["d"]} <= set(ATTACKS)
        scores = json.loads(run(["replay", "log.jsonl", "--json", "--orderings", "0", "--by", "model,phase"], check=CHECKS["json"]))
        assert set(scores["by"]["model"]) == set(MODELS) and set(scores["by"]["phase"]) == set(PHASES)
        for command in commands:
            if command[0] == "doctor" or command[1] in {*EXPERIMENTS, "watch"}:
                continue
            run([*command, "--per-ordering", "o.csv"], check=CHECKS["text"])
            check_csv(check_tame((folder / "o.csv").read_bytes(), "o.csv"), command)
            run([*command, "--per-ordering", "o.jsonl"], check=CHECKS["text"])
            conditions = {json.loads(line)["condition"] for line in check_tame((folder / "o.jsonl").read_bytes(), "o.jsonl").splitlines()}
            assert conditions == ({CHANNEL} if command[0] == "replay" else {f"{a}->{b}" for a in PHASES for b in PHASES if a != b}), conditions


main()
