"""Types: the stubs are those of the built module, mypy and stubtest agree, and wrong programs are found."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import margin

SOURCE = pathlib.Path(os.environ["MARGIN_SOURCE"])
BUILT = pathlib.Path(os.environ["PYTHONPATH"].split(":")[0])
CONFIG = SOURCE / "pyproject.toml"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def run(*arguments):
    return subprocess.run([sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, cwd=BUILT,
                          env={**os.environ, "MYPYPATH": str(BUILT)})


def test_the_stubs_are_those_of_the_built_module(tmp_path):
    spec = importlib.util.spec_from_file_location("python_stubs", SOURCE / "scripts" / "python_stubs.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    generator.write_stubs(tmp_path)
    for made in sorted(tmp_path.iterdir()):
        kept = SOURCE / "python" / "margin" / "_core" / made.name
        assert kept.read_text() == made.read_text(), (
            "write them anew: PYTHONPATH=build/release/python /usr/bin/python3 scripts/python_stubs.py python/margin/_core")
    assert len(list(tmp_path.iterdir())) == len(list((SOURCE / "python" / "margin" / "_core").iterdir())) == 3


def test_stubtest_finds_no_difference(tmp_path):
    # pybind11's classes have a metaclass, and those that only the module makes have object's __init__: neither is anybody's to use.
    allowed = tmp_path / "allowed.txt"
    allowed.write_text(r"margin\._core\.(experiments\.)?(Calibrator|Explanation|Log|PoolCore|Report)(\.__init__)?" + "\n")
    found = run("mypy.stubtest", "--mypy-config-file", CONFIG, "--allowlist", allowed, "--ignore-unused-allowlist", "margin._core")
    assert found.returncode == 0, found.stdout


def test_the_package_is_typed_strictly(cache):
    found = run("mypy", "--config-file", CONFIG, "--cache-dir", cache, "-p", "margin")
    assert found.returncode == 0, found.stdout
    assert (pathlib.Path(margin.__file__).parent / "py.typed").exists()


PROGRAM = """
import margin
calibrator = margin.Calibrator("margin", alpha=0.1)
p: float = calibrator.calibrate("a", 0.5)
decision = margin.Pool().decide([("a", "x", 0.9)])
answer: str | None = decision.answer
client = margin.Client("http://127.0.0.1:8080")
receipt: margin.Receipt = client.feedback(decision.decision_id, outcome=1)

async def ask(client: margin.AsyncClient) -> float | None:
    return (await client.decide([("a", "x", 0.9)])).p_correct
"""


@pytest.mark.parametrize("line, message", [
    ("", ""), ("calibrator.calibrate(0.5, 'a')", "incompatible type"), ("decision.anwser", "has no attribute"),
    ("client.feedback(7)", "incompatible type"), ("margin.Pool(calibrater='margin')", "Unexpected keyword"),
    ("margin.replay([], ordering=3)", "Unexpected keyword"), ("margin.experiments.pool([], lag=3)", "Unexpected keyword"),
], ids=range(7))
def test_programs_are_checked(tmp_path, cache, line, message):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + line + "\n")
    found = run("mypy", "--config-file", CONFIG, "--cache-dir", cache, program)
    assert found.returncode == (1 if message else 0) and message in found.stdout, found.stdout
