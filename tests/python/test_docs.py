"""The Python of docs/python.md and of the README runs, from top to bottom, against a real server where it asks one."""
import os
import pathlib
import re
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest

SOURCE = pathlib.Path(os.environ["MARGIN_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "server"))
from harness import Server  # noqa: E402

URL = "http://127.0.0.1:8080"


def blocks(name):
    found = re.findall(r"^```python\n(.*?)^```", (SOURCE / name).read_text(encoding="utf-8"), re.S | re.M)
    return [block for block in found if "openai" not in block]


@pytest.mark.parametrize("name, least", [("docs/python.md", 6), ("README.md", 1)])
def test_the_examples_of_the_docs_run(name, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, space = blocks(name), {}
    assert len(found) >= least
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder) if any(URL in block for block in found) else None
        try:
            for number, block in enumerate(found):
                exec(compile(block.replace(URL, server.url if server else URL), f"{name}, block {number}", "exec"), space)
        finally:
            plt.close("all")
            if server:
                server.stop()
    if name == "docs/python.md":
        assert (tmp_path / "out" / "report.html").exists()
        assert space["pool"].pending == 0 and space["decision"].answer in ("Paris", "Lyon")
