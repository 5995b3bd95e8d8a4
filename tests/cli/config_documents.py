"""The documents that the binary makes of its configuration agree with each other and with it: config_documents.py MARGIN ROOT.

docs/margin.toml is the sample; the sample fits the schema and holds its defaults, as Python's own TOML reader and the jsonschema
package see them; and for values at and beyond the end of every range, wrong types and unknown keys, schema and `margin config check`
give the same verdict. No key is accepted and ignored: each is read somewhere behind the loader.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import jsonschema

margin, root = sys.argv[1], Path(sys.argv[2])
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)


def output(*arguments):
    return subprocess.run([margin, *arguments], capture_output=True, check=True, text=True, timeout=60).stdout


def toml(value):
    return json.dumps(value)  # strings, numbers and truths are written alike


sample = output("config", "sample")
schema = json.loads(output("config", "schema"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

expect(sample == (root / "docs/margin.toml").read_text(), "docs/margin.toml is not what `margin config sample` prints")
stated = tomllib.loads(sample)
expect(validator.is_valid(stated), "the sample does not fit the schema")

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "margin.toml"

    def compare(text, what):
        """Schema and binary agree on `text`; returns whether they take it."""
        file.write_text(text)
        run = subprocess.run([margin, "config", "check", str(file)], capture_output=True, check=False, text=True, timeout=60)
        valid = validator.is_valid(tomllib.loads(text))
        expect(valid == (run.returncode == 0), f"{what}: schema says {valid}, the binary {run.returncode}: {run.stderr}")
        return valid

    count = 0
    sections = [(name, name, table["properties"]) for name, table in schema["properties"].items() if name not in ("pools", "upstreams")]
    pool = schema["properties"]["pools"]["additionalProperties"]["properties"]
    sections.append(("pools.default", "pools", {key: rule for key, rule in pool.items() if not key.endswith("_parameters")}))
    sections.append(("upstreams.u", "upstreams", schema["properties"]["upstreams"]["additionalProperties"]["properties"]))
    for path, name, properties in sections:
        have = stated["pools"]["default"] if name == "pools" else stated.get(name)
        expect(name == "upstreams" or have == {key: rule["default"] for key, rule in properties.items()}, f"[{path}]: the sample's values are not the schema's defaults")
        compare(f"[{path}]\nno_such_key = 1\n", f"{path}.no_such_key")
        for key, rule in properties.items():
            expect(rule["description"], f"{path}.{key} is not described")
            values = [True, [1], 1e300, -1e300]
            if "enum" in rule:
                values += [*rule["enum"], "no such word", 1]
            elif rule["type"] == "string":
                values += [1]
            elif rule["type"] == "array":
                values += [[], [""], "name", 1]
            else:
                low = rule["exclusiveMinimum"] if "exclusiveMinimum" in rule else rule["minimum"]
                values += [low, rule["maximum"], low - 1, rule["maximum"] + 1, "1"]
            needed = 'url = "http://localhost"\n' if name == "upstreams" and key != "url" else ""
            for value in values:
                compare(f"[{path}]\n{needed}{key} = {toml(value)}\n", f"{path}.{key} = {value}")
                count += 1
    expect(count > 200, f"only {count} values were compared")

readers = [root / "src/config/config.cc", *root.glob("src/server/*.cc"), *root.glob("src/gateway/*.cc")]
read = "\n".join(path.read_text() for path in readers if not path.name.endswith("_test.cc"))
for path, name, properties in sections:
    for key in properties:
        use = rf"\b{name}\.{key}\b"
        if name in ("pools", "upstreams"):
            use = rf"(?:pool\w*|settings|upstream|from)(?:\.|->){key}\b"
        expect(re.search(use, read), f"{path}.{key} is accepted, and nobody reads it")

print("\n".join(failures) or f"{count} values, one verdict each")
sys.exit(1 if failures else 0)
