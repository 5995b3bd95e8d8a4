"""Checks that every folder of src/ keeps to its layer: check_layers.py ROOT prints each violation and exits 1 if there is one.

The rules come from src/CMakeLists.txt, the only place where they are written:
  margin_layer(NAME [PURE] [USES layer ...] [HEADERS header ...] ...)
A folder includes its own headers and those of the layers it USES. A public header belongs to the layer that has a .cc of its name, or
that names it under HEADERS. PURE layers decide calibration state, so they may not see a clock, a thread, a file or the C library's
transcendental functions, whose last bits differ between CPUs.
"""

import re
import sys
from pathlib import Path

# Headers that bring in what a pure layer must be given as an argument, or do without.
IMPURE = {
    "chrono", "ctime", "time.h", "thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "stop_token", "barrier", "latch",
    "fstream", "iostream", "cstdio", "stdio.h", "filesystem", "random", "locale", "clocale", "unistd.h",
}
# A broken invariant writes its last words and ends the program.
MAY_BE_IMPURE = {("src/base/check.cc", "cstdio")}

OURS = "exp expm1 log log1p".split()  # margin/math.h has them
FOREIGN = OURS + "exp2 log2 log10 pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh cbrt hypot erf erfc tgamma lgamma fma".split()
# Metrics are read by people and never reach calibration state.
MAY_USE_C_MATH = {"metric"}

WORDS = {"PURE", "USES", "HEADERS", "LIBRARIES"}


class Layer:
    def __init__(self, name, text):
        self.name, self.pure, self.uses, self.headers = name, False, set(), set()
        key = None
        for word in text.split():
            if word == "PURE":
                self.pure = True
            elif word in WORDS:
                key = word
            elif key == "USES":
                self.uses.add(word)
            elif key == "HEADERS":
                self.headers.add(word)


def read_layers(root):
    text = re.sub(r"#.*", "", (root / "src/CMakeLists.txt").read_text())
    return {name: Layer(name, rest) for name, rest in re.findall(r"margin_layer\(\s*(\w+)([^)]*)\)", text)}


def code_of(text):
    """The text without comments, strings and characters."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', " ", text, flags=re.S)


def owners_of_public_headers(root, layers, complain):
    owners = {}
    for header in sorted((root / "include/margin").glob("*.h")):
        named = [layer.name for layer in layers.values() if header.stem in layer.headers]
        found = named or [name for name in layers if (root / "src" / name / (header.stem + ".cc")).exists()]
        if found:
            owners[header.stem] = found[0]
        if len(found) != 1:
            complain(header, f"belongs to {' and '.join(found) if found else 'no layer'}; name it under HEADERS of one in src/CMakeLists.txt")
    return owners


def check_includes(layer, layers, owners, text, complain):
    allowed = {layer.name} | layer.uses
    for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, flags=re.M):
        folder, _, name = included.partition("/")
        owner = owners.get(Path(name).stem) if folder == "margin" else folder
        if owner not in layers:
            complain(f'includes "{included}", which belongs to no layer')
        elif owner not in allowed:
            complain(f'includes "{included}" of {owner}, but {layer.name} may use only: {" ".join(sorted(allowed))}')


def check_purity(layer, relative, text, complain):
    for included in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, flags=re.M):
        if (included in IMPURE or included.startswith("sys/")) and (relative, included) not in MAY_BE_IMPURE:
            complain(f"includes <{included}>, but {layer.name} is pure: time, randomness, I/O and threads come from outside")
    if layer.name in MAY_USE_C_MATH:
        return
    code = code_of(text)
    for prefix, name in re.findall(r"(?<![\w.>])((?:std\s*)?::\s*)(\w+)\s*\(", code):
        if name in FOREIGN:
            complain(f"calls {prefix.strip()}{name}, whose last bits differ between CPUs; margin/math.h has {', '.join(OURS)}, power")
    has_ours = relative == "include/margin/math.h" or '"margin/math.h"' in text
    for name in re.findall(r"(?<![\w.>:])(\w+)\s*\(", code):
        if name in FOREIGN and not (name in OURS and has_ours):
            complain(f"calls {name}, which is the C library's unless margin/math.h is included and has it")


def check(root):
    violations = []

    def complain_of(path):
        relative = path.relative_to(root).as_posix()
        return lambda message: violations.append(f"{relative}: {message}")

    layers = read_layers(root)
    if not layers:
        return ["src/CMakeLists.txt: no margin_layer() found"]
    for layer in layers.values():
        for used in layer.uses - layers.keys():
            violations.append(f"src/CMakeLists.txt: {layer.name} USES {used}, which is no layer")
        for used in layer.uses & layers.keys():
            if layer.pure and not layers[used].pure:
                violations.append(f"src/CMakeLists.txt: {layer.name} is pure and USES {used}, which is not")
            if list(layers).index(used) >= list(layers).index(layer.name):
                violations.append(f"src/CMakeLists.txt: {layer.name} USES {used}, which does not come before it")
    folders = {path.parent for suffix in ("h", "cc") for path in (root / "src").glob(f"*/*.{suffix}")}
    for folder in sorted(path for path in folders if path.name not in layers):
        complain_of(folder)("is no layer of src/CMakeLists.txt")
    owners = owners_of_public_headers(root, layers, lambda path, message: complain_of(path)(message))

    files = [(layers[owner], root / "include/margin" / f"{stem}.h") for stem, owner in owners.items()]
    for layer in layers.values():
        files += [(layer, path) for path in sorted((root / "src" / layer.name).rglob("*")) if path.suffix in {".h", ".cc"}]
    for layer, path in files:
        relative = path.relative_to(root).as_posix()
        if path.name.endswith("_test.cc"):
            continue  # a test may hold the code against anything
        text = path.read_text()
        check_includes(layer, layers, owners, text, complain_of(path))
        if layer.pure:
            check_purity(layer, relative, text, complain_of(path))
    return violations


if __name__ == "__main__":
    found = check(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "every folder keeps to its layer")
    sys.exit(1 if found else 0)
