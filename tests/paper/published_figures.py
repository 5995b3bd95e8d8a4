"""Compares `margin experiment paper --json` with the published tables: published_figures.py MARGIN TABLES.

Every figure that a table calls published is one of the publication's, under the name the table's title has in brackets; every published figure
is shown; and a difference is simulated minus published.
"""

import json
import re
import subprocess
import sys
from collections import Counter

# Not figures of results: how things were done, what is a text, and counts that are shown as a share.
NOT_SHOWN = {
    "shift_ece.columns", "selection_pass1.columns", "best_single.columns", "best_single.committed", "pairwise_resolution.columns",
    "pairwise_consistency_cloud9.columns", "convergence_pass1.columns", "transfer_ece_mean_per_model.columns", "aci_coverage.target",
    "pool.qa_dropout.window", "pool.qa_dropout.at", "pool.qa_dropout.observations", "pool.qa_dropout.shuffles", "pool.cold_start_checkpoints",
    "pool.code_observations", "ablation_eleven_conditions.alpha_argmin", "ablation_eleven_conditions.bands_argmin_severe",
    "ablation_eleven_conditions.bands_argmin_20", "inversion.bcb_tied_argmax", "inversion.bcb_tied_contests", "inversion.mistral7b_cc.attempts",
    "inversion.r_ci", "pairwise_resolution.delta_shuffle_ci",
    "theory.asymmetric_example.theta", "theory.asymmetric_example.alpha_up", "theory.asymmetric_example.alpha_down",
    "theory.steady_sd_example.alpha", "theory.steady_sd_example.theta", "theory.step_recovery_example.alpha",
    "theory.step_recovery_example.delta", "theory.step_recovery_example.epsilon",
}
# Sections of the file that hold no results.
NOT_RESULTS = {"defaults", "benchmarks", "models", "cohorts", "severity", "ablation_columns", "elicitation"}
# Shown as a share of two counts, or the first of three.
SHARES = [109 / 148, 1892 / 4138, 0.0]


def leaves(value, path):
    if path in NOT_SHOWN or path.split(".")[-1].startswith("_"):
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, path)
    elif isinstance(value, (int, float)):
        yield value


def number(cell):
    return cell["value"] if isinstance(cell, dict) else cell


def figures(table):
    """(simulated, published, difference, kind) of every figure of a table that has them beside each other."""
    names = [column["name"] for column in table["columns"]]
    kinds = [column["kind"] for column in table["columns"]]
    if names[1:] == ["simulated", "published", "difference"] and kinds[1] != "text":
        for row in table["rows"]:
            yield (*map(number, row[1:]), kinds[1])
    elif names[1] == "from":
        rows = iter(table["rows"])
        for row in rows:
            if row[1] == "published":
                for column in range(2, len(row)):
                    yield None, row[column], None, kinds[column]
                continue
            published, difference = next(rows), next(rows)
            assert [row[1], published[1], difference[1]] == ["simulated", "published", "difference"], (table["title"], row[0])
            for column in range(2, len(row)):
                yield number(row[column]), number(published[column]), number(difference[column]), kinds[column]


def main():
    margin, tables_file = sys.argv[1:]
    with open(tables_file, encoding="utf-8") as file:
        published_tables = json.load(file)
    run = subprocess.run([margin, "experiment", "paper", "--orderings", "2", "--resamples", "100", "--json"], capture_output=True, check=True)
    tables = json.loads(run.stdout)
    problems = []
    shown = {}
    compared = 0
    for table in tables:
        bracket = re.search(r"\(([a-z0-9_., ]+)\)$", table["title"])
        keys = {key.split(".")[0] for key in bracket.group(1).split(", ")} if bracket else set()
        known = Counter()
        for key in keys:
            known.update(round(value, 6) for value in leaves(published_tables[key], key))
            if key == "pairwise_resolution":
                known.update(round(delta[0], 6) for delta in published_tables[key]["delta_shuffle_ci"].values())
        for simulated, published, difference, kind in figures(table):
            if published is None:
                continue
            compared += 1
            if simulated is not None and abs(simulated - published - difference) > 1e-9:
                problems.append(f"{table['title']}: {simulated} - {published} is not {difference}")
            as_published = published * 100 if kind == "fraction" else published
            candidates = {round(as_published, 6), round(as_published / 100, 6)}
            if not candidates & known.keys() and not any(abs(published - share) < 1e-9 for share in SHARES):
                problems.append(f"{table['title']}: {as_published} is not published under {sorted(keys)}")
            for key in keys:
                shown.setdefault(key, set()).update(candidates)
    for key, value in published_tables.items():
        if key in NOT_RESULTS or key.startswith("_"):
            continue
        missing = {leaf for leaf in leaves(value, key) if round(leaf, 6) not in shown.get(key, set())}
        if missing:
            problems.append(f"{key}: published and not shown: {sorted(missing)}")
    if compared < 400:
        problems.append(f"only {compared} figures compared")
    if not re.search(r"synthetic", subprocess.run([margin, "experiment", "paper", "--orderings", "1", "--resamples", "0"],
                                                  capture_output=True, check=True, text=True).stdout.split("\n")[0]):
        problems.append("the first line does not say that the cohort is synthetic")
    print("\n".join(problems) or f"{compared} figures compared")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
