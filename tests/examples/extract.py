"""Turns the examples of README.md, docs/*.md and include/margin/*.h into sources: extract.py ROOT OUT (CONTRIBUTING.md has the convention).

Writes OUT/NAME.cc per example, OUT/main.cc that runs a wrapped one by name, and OUT/list.txt with a line `wrapped NAME`, `program NAME` or
`program NAME with output` per example; the expected output is OUT/NAME.txt. Files that have not changed are not written again.
"""

import re
import sys
from pathlib import Path


def markdown_examples(text):
    """(code, output) of each ```cpp block; the output is a ```text block that follows it directly, or None."""
    fences = list(re.finditer(r"^```(\w*)\n(.*?)^```[ ]*$", text, flags=re.M | re.S))
    if 2 * len(fences) != len(re.findall(r"^```", text, flags=re.M)):
        sys.exit("a code fence is not closed")
    for i, fence in enumerate(fences):
        if fence[1] != "cpp":
            continue
        follower = fences[i + 1] if i + 1 < len(fences) else None
        adjacent = follower and follower[1] == "text" and not text[fence.end():follower.start()].strip()
        yield fence[2], follower[2] if adjacent else None


def header_examples(text):
    """Each run of `//   code` lines that stands between blank comment lines."""
    for match in re.finditer(r"^//\n((?://   .*\n)+)(?://\n|#pragma once)", text, flags=re.M):
        yield re.sub(r"^//   ", "", match[1], flags=re.M)


def wrapped(name, code, header):
    includes = re.findall(r"^#include .*$", code, flags=re.M)
    body = re.sub(r"^#include .*\n", "", code, flags=re.M)
    if header:
        includes.insert(0, f'#include "margin/{header}"')
    lines = "".join(f"  {line}\n" if line else "\n" for line in body.strip("\n").split("\n"))
    return "\n".join(includes + ['#include "prelude.h"', "", f"void example_{name}();", f"void example_{name}() {{", lines + "}", ""])


def main(root, out):
    out.mkdir(parents=True, exist_ok=True)
    files, listing, functions = {}, [], []
    examples = []
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        if path.exists():
            examples += [(path.stem, i, code, output, None) for i, (code, output) in enumerate(markdown_examples(path.read_text()), 1)]
    for path in sorted((root / "include/margin").glob("*.h")):
        examples += [(path.stem + "_h", i, code, None, path.name) for i, code in enumerate(header_examples(path.read_text()), 1)]
    for stem, number, code, output, header in examples:
        name = f"{stem}_{number}"
        if re.search(r"\bint main\(", code):
            files[f"{name}.cc"] = code
            listing.append(f"program {name}" + ("" if output is None else " with output"))
            if output is not None:
                files[f"{name}.txt"] = output
        else:
            files[f"{name}.cc"] = wrapped(name, code, header)
            listing.append(f"wrapped {name}")
            functions.append(name)
    files["main.cc"] = "\n".join(
        ["#include <string_view>", ""] + [f"void example_{name}();" for name in functions] +
        ["", "int main(int, char** arguments) {", "  const std::string_view wanted = arguments[1];"] +
        [f'  if (wanted == "{name}") return example_{name}(), 0;' for name in functions] + ["  return 2;", "}", ""])
    files["list.txt"] = "".join(line + "\n" for line in listing)
    for old in out.iterdir():
        if old.name not in files:
            old.unlink()
    for name, text in files.items():
        path = out / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
