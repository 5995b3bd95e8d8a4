"""The `margin` binary, asked for JSON: what the package's results are compared with."""
import json
import os
import subprocess

BINARY = os.environ["MARGIN_BINARY"]


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def as_json(*arguments):
    return json.loads(run(*arguments, "--json"))


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]
