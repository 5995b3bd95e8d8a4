"""The sdist builds, and its wheel works in a fresh virtual environment: wheel.py SOURCE FOLDER [--all]

Makes the sdist of SOURCE in FOLDER, unpacks it, makes its wheel there, installs that into a new virtual environment and runs the other
suites of this folder against it. The environment sees Debian's numpy, scikit-learn and pytest; with --all it has its own of everything, the
newest, with pandas, polars, pyarrow and River, and runs frames.py as well. Needs a package index for scikit-build-core.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
NEWEST = ["pytest", "hypothesis", "matplotlib", "scikit-learn", "pandas", "polars", "pyarrow", "river"]


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    chosen = parser.parse_args()
    chosen.folder = chosen.folder.resolve()  # some of what follows runs in it
    shutil.rmtree(chosen.folder, ignore_errors=True)
    chosen.folder.mkdir(parents=True)

    # With the compiler's usual name ccache knows everything that the release build has compiled, and with Debian's pybind11, so not isolated,
    # the module too. The newest numpy needs a newer pybind11, as `pip install .` takes it.
    tools = chosen.folder / "tools"
    venv.create(tools, with_pip=True)
    run(tools / "bin/pip", "install", "-q", "--disable-pip-version-check", "build", "scikit-build-core>=0.10")
    environment = {**os.environ, "CXX": "/usr/bin/c++", "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
    run(tools / "bin/python", "-m", "build", "--sdist", "--no-isolation", "--skip-dependency-check", "-o", chosen.folder, chosen.source)
    (archive,) = chosen.folder.glob("margin-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(chosen.folder)
    (unpacked,) = (path for path in chosen.folder.glob("margin-*") if path.is_dir())
    strangers = [
        path.name for path in unpacked.iterdir()
        if path.name not in {"CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "cmake", "include", "pyproject.toml", "python", "src"}
    ]
    assert not strangers, f"the sdist holds {strangers}"
    as_it_is = [] if chosen.all else ["--no-isolation", "--skip-dependency-check"]
    run(tools / "bin/python", "-m", "build", "--wheel", *as_it_is, "-o", chosen.folder, unpacked, env=environment)
    (wheel,) = chosen.folder.glob("margin-*.whl")

    fresh = chosen.folder / "fresh"
    venv.create(fresh, with_pip=True, system_site_packages=not chosen.all)
    run(fresh / "bin/pip", "install", "-q", "--disable-pip-version-check", wheel, *(NEWEST if chosen.all else []))
    # Of the build tree, or the same module at length once more.
    left_out = {"test_stubs.py", "test_import.py", "test_fuzz.py", "test_threads.py"}
    suites = [path for path in sorted(HERE.glob("test_*.py")) if path.name not in left_out] + ([HERE / "frames.py"] if chosen.all else [])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    where = subprocess.run([fresh / "bin/python", "-c", "import margin; print(margin.__file__)"],
                           capture_output=True,
                           text=True,
                           check=True,
                           env=environment,
                           cwd=chosen.folder).stdout
    assert str(fresh) in where, where
    alone = {**environment, "PYTHONPATH": ""}
    run(fresh / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *suites, env=alone, cwd=chosen.folder)


if __name__ == "__main__":
    sys.exit(main())
