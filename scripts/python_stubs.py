"""Writes the type stubs of margin._core from the built module: PYTHONPATH=build/release/python /usr/bin/python3 scripts/python_stubs.py
python/margin/_core.

Signatures are what pybind11 puts into docstrings; a test runs this and compares the result with python/margin/_core/.
"""
import inspect
import pathlib
import re
import sys
import types

import margin._core

HEADER = '"""Made by scripts/python_stubs.py from the built module; tests/python/test_stubs.py compares."""\n'
SIGNATURE = re.compile(r"^(?P<name>\w*)\((?P<arguments>.*)\) -> (?P<result>.+)")
# What pybind11 calls a type, and what a person who writes Python does.
TYPES = [
    (re.compile(r"numpy\.ndarray\[numpy\.(\w+)\]"), r"npt.NDArray[np.\1]"),
    (re.compile(r"margin\._core\.(?:\w+\.)?(\w+)"), r"\1"),
    (re.compile(r"\b(List|Dict|Tuple)\["), lambda found: found[1].lower() + "["),
    (re.compile(r"\b(dict|list|tuple)\b(?!\[)"),
     lambda found: {"dict": "dict[str, Any]", "list": "list[Any]", "tuple": "tuple[Any, ...]"}[found[1]]),
    (re.compile(r"\b(capsule|object|handle)\b"), "Any"),
]


def translated(text):
    for pattern, replacement in TYPES:
        text = pattern.sub(replacement, text)
    return text


def arguments_of(text):
    """pybind11's arguments as Python's; self and keyword arguments without types."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        parts = [*parts, ""] if letter == "," and depth == 0 else [*parts[:-1], parts[-1] + letter]
    parts = [part.strip() for part in parts if part.strip()]
    made = []
    for part in parts:
        name, _, kind = part.partition(":")
        if name in ("self", "arg0") and not made:
            made.append("self")
        elif name == "**kwargs":
            made.append("**kwargs: Any")
        else:
            kind, equals, default = kind.strip().partition(" = ")
            optional = default == "None" and not kind.startswith("Optional") and translated(kind) != "Any"
            kind = f"{translated(kind)} | None" if optional else translated(kind)
            made.append(f"{name}: {kind}" + (f" = {default}" if equals else ""))
    return made


def signature_of(function):
    found = SIGNATURE.match((function.__doc__ or "").splitlines()[0])
    if found is None:
        raise SystemExit(f"{function!r}: no signature in {function.__doc__!r}")
    return found["arguments"], translated(found["result"])


def function_stub(name, function, indent="", static=False):
    arguments, result = signature_of(function)
    made = arguments_of(arguments)
    return ([f"{indent}@staticmethod"] if static else []) + [f"{indent}def {name}({', '.join(made)}) -> {result}: ..."]


def class_stub(kind):
    lines = [f"class {kind.__name__}:"]
    for name, member in sorted(vars(kind).items()):
        if name == "__init__" and not SIGNATURE.match(member.__doc__ or ""):
            continue  # made by the module alone
        if isinstance(member, property):
            _, result = signature_of(member.fget)
            lines += ["    @property", f"    def {name}(self) -> {result}: ..."]
        elif name in ("__init__", "__copy__", "__deepcopy__", "__repr__") or (not name.startswith("_") and callable(member)):
            lines += function_stub(name, getattr(kind, name), "    ", static=isinstance(member, staticmethod))
    return lines if len(lines) > 1 else lines + ["    ..."]


def module_stub(module):
    lines = []
    functions = []
    for name, member in sorted(vars(module).items()):
        if inspect.isclass(member):
            lines += [*class_stub(member), ""]
        elif isinstance(member, types.BuiltinFunctionType):
            functions += function_stub(name, member)
    text = "\n".join([*lines, *functions]).rstrip() + "\n"
    imports = []
    for names, line in ((["Any", "Optional"], "from typing import {}"),):
        used = [name for name in names if re.search(rf"\b{name}\b", text)]
        if used:
            imports.append(line.format(", ".join(used)))
    if "np." in text:
        imports += ["", "import numpy as np", "import numpy.typing as npt"]
    others = [name for name in ("Log",) if re.search(rf"\b{name}\b", text) and not hasattr(module, name)]
    if others:
        imports += ["", f"from margin._core import {', '.join(others)}"]
    submodules = [
        f"from . import {name} as {name}" for name, member in sorted(vars(module).items()) if isinstance(member, types.ModuleType)
    ]
    return "\n".join([HEADER + "\n".join([*imports, *submodules]), "", text])


def write_stubs(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = {"__init__.pyi": module_stub(margin._core), "metrics.pyi": module_stub(margin._core.metrics),
               "experiments.pyi": module_stub(margin._core.experiments)}
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_stubs(sys.argv[1])
