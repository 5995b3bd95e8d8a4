"""Every example of every docstring holds, and what is public has a docstring."""
import doctest
import importlib
import inspect
import pkgutil
import sys

import margin
import margin._core

MODULES = [importlib.import_module(f"margin.{found.name}") for found in pkgutil.iter_modules(margin.__path__) if found.name != "_core"]
MODULES += [margin, margin._core, margin._core.metrics, margin._core.experiments]


def documented():
    """(name, docstring, module of its own) of modules, classes, functions and methods; pybind11's are not functions to the doctest
    module."""
    seen = set()
    for module in MODULES:
        yield module.__name__, module.__doc__, module
        for name, member in vars(module).items():
            if name.startswith("_") or not str(getattr(member, "__module__", "")).startswith("margin") or id(member) in seen:
                continue
            seen.add(id(member))
            home = sys.modules[member.__module__]
            yield f"{module.__name__}.{name}", getattr(member, "__doc__", None), home
            if inspect.isclass(member):
                for inner, method in vars(member).items():
                    yield f"{module.__name__}.{name}.{inner}", getattr(method, "__doc__", None), home


def test_every_example_holds():
    runner, parser, failures = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), doctest.DocTestParser(), []
    for name, text, home in documented():
        if not text:
            continue
        example = parser.get_doctest(text, dict(vars(home)), name, name, 0)
        if runner.run(example, out=failures.append).failed:
            failures.append(name)
    assert not failures, "".join(failures)
    assert runner.tries >= 50


def test_what_is_public_is_documented():
    bare = []
    for name in margin.__all__:
        member = getattr(margin, name)
        if not (member.__doc__ or "").strip():
            bare.append(name)
    for kind in (margin.Calibrator, margin.Pool, margin.Client):
        own = {"pools", "resume", "unpin", "frozen", "copy", "restore", "close"}  # the name says all of it
        bare += [f"{kind.__name__}.{name}" for name, member in vars(kind).items()
                 if not name.startswith("_") and name not in own and len((member.__doc__ or "").strip().splitlines()) < 1]
    assert not bare
