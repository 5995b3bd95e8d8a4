"""The notebooks of examples/ run from top to bottom, and find what they say."""
import ast
import json
import os
import pathlib

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

EXAMPLES = pathlib.Path(os.environ["MARGIN_SOURCE"]) / "examples"


def run(notebook):
    """Executes the code cells in one namespace, as a kernel would; the value of each cell's last expression is kept under "Out"."""
    space = {"__name__": "__main__", "Out": []}
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        tree = ast.parse(source, f"{notebook.name}, cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{notebook.name}, cell {number}", "exec"), space)
        if last is not None:
            space["Out"].append(eval(compile(ast.Expression(last.value), f"{notebook.name}, cell {number}", "eval"), space))
    return space


def test_from_a_log_to_a_decision(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    space = run(EXAMPLES / "from_a_log_to_a_decision.ipynb")
    scores = {row["method"]: row for row in space["scores"].records()}
    assert scores["margin_adaptive"]["ece"] < scores["margin"]["ece"] < scores["raw"]["ece"]
    assert space["difference"]["verdict"] == "win"
    assert space["pool"].pending <= 20 and np.mean(space["hits"]) > 0.6
    decision = space["decision"]
    assert decision.answer in ("Paris", None) and decision.status != "cold"
    assert "right with probability" in capsys.readouterr().out
    assert len(plt.get_fignums()) == 2, "a reliability diagram and the factors"
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


def test_notebooks_are_kept_without_output():
    found = list(EXAMPLES.glob("*.ipynb"))
    assert found
    for notebook in found:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                assert cell["outputs"] == [] and cell["execution_count"] is None, notebook


@pytest.mark.parametrize("broken", ["1/0", "undefined_name"])
def test_a_failing_cell_fails_the_run(tmp_path, broken):
    notebook = tmp_path / "broken.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["x = 1\n", broken]}]}))
    with pytest.raises((ZeroDivisionError, NameError)):
        run(notebook)
