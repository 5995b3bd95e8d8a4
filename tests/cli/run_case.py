"""Runs one case of tests/cli/cases against the binary: run_case.py MARGIN CASE.

A case is a text file of sections, each opened by a line `=== NAME`; what stands before the first says what the case shows.
  === command        one line, as typed in a shell; the first word is replaced by the binary
  === file NAME      an input file in the folder where the command runs; \\xNN stands for that byte
  === stdin          what the command reads
  === exit           the expected exit code
  === stdout         the expected output, all of it
  === stderr         the expected complaint, all of it
  === written NAME   the expected content of a file that the command wrote
Nothing else may be left in the folder. A section that is not there is expected to be empty.
"""

import difflib
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def read_case(path):
    """The sections by name, in order; a section's text ends with a line end unless it is empty."""
    parts = re.split(r"^=== (.*)\n", Path(path).read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def as_bytes(text):
    """\\xNN stands for that byte, so that a case file stays plain text."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), text.encode())


def shown(output):
    return output.decode("utf-8", errors="backslashreplace")


def main():
    margin, path = sys.argv[1:]
    case = read_case(path)
    differences = []

    def compare(what, got, expected):
        if got != expected:
            lines = difflib.unified_diff(expected.splitlines(), got.splitlines(), f"expected {what}", f"got {what}", lineterm="")
            differences.extend([*lines, ""])

    with tempfile.TemporaryDirectory() as folder:
        inputs = {name[5:]: as_bytes(text) for name, text in case.items() if name.startswith("file ")}
        for name, content in inputs.items():
            (Path(folder) / name).write_bytes(content)
        command = [str(Path(margin).resolve()), *shlex.split(case["command"])[1:]]
        run = subprocess.run(command, cwd=folder, input=as_bytes(case.get("stdin", "")), capture_output=True, check=False, timeout=60)
        compare("exit", f"{run.returncode}\n", case["exit"])
        compare("stdout", shown(run.stdout), case.get("stdout", ""))
        compare("stderr", shown(run.stderr), case.get("stderr", ""))
        expected = {name[8:]: text for name, text in case.items() if name.startswith("written ")}
        left = {file.name: shown(file.read_bytes()) for file in Path(folder).iterdir() if file.name not in inputs}
        compare("files written", "\n".join(sorted(left)), "\n".join(sorted(expected)))
        for name in expected.keys() & left.keys():
            compare(name, left[name], expected[name])
    print("\n".join(differences))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
