"""Importing the package costs little beyond numpy, and nothing that is not asked for."""
import subprocess
import sys


def seconds(code):
    """The processor time of the fastest of several fresh interpreters."""
    timed = f"import time; begin = time.process_time()\n{code}\nprint(time.process_time() - begin)"
    return min(float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout) for _ in range(9))


def test_the_package_is_imported_in_less_time_than_numpy():
    # Together they then take less than twice numpy's own time; 100 ms on any machine where numpy takes 50.
    assert seconds("import numpy; numpy.float64\nbegin = time.process_time()\nimport margin") < seconds("import numpy")


def test_nothing_heavy_comes_along():
    heavy = ["matplotlib", "sklearn", "pandas", "scipy", "asyncio", "ssl", "http.client", "polars", "pyarrow"]
    code = f"import sys, margin; margin.Calibrator(); print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_numpy_that_the_module_cannot_read_is_refused():
    code = "import numpy; numpy.__version__ = '9.0.0'\ntry:\n    import margin\nexcept ImportError as error:\n    print(error)"
    assert "numpy 9.0.0" in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_versions_agree():
    import os
    import pathlib
    import re
    source = pathlib.Path(os.environ["MARGIN_SOURCE"])
    packaged = re.search(r'^version = "(.+)"$', (source / "pyproject.toml").read_text(), re.M)[1]
    built = re.search(r"project\(margin VERSION (\S+)", (source / "CMakeLists.txt").read_text())[1]
    assert packaged == built
