"""A key from its making to its end, as an operator types it: keys_life.py MARGIN."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

margin = str(Path(sys.argv[1]).resolve())
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)


with tempfile.TemporaryDirectory() as folder:

    def run(*arguments, code=0, **variables):
        done = subprocess.run([margin, "keys", *arguments], cwd=folder, capture_output=True, check=False, text=True, timeout=60,
                              env={**os.environ, **variables})
        expect(done.returncode == code, f"keys {' '.join(arguments)}: exit {done.returncode}, expected {code}: {done.stderr}")
        return done

    def content(name):
        return (Path(folder) / name).read_text()

    made = run("create", "--name", "app", "--scope", "decide,feedback", "--weight", "0.5")
    key = made.stdout.strip()
    match = re.fullmatch(r"sk-mg-([A-Za-z0-9]{12})-([A-Za-z0-9]{48})", key)
    expect(match, f"the key looks otherwise: {key}")
    identity, secret = match.groups()
    expect(secret not in made.stderr and identity in made.stderr, "the note has the secret, or not the public part")
    expect(secret not in content("margin.db.keys"), "the file has the secret")
    expect((Path(folder) / "margin.db.keys").stat().st_mode & 0o777 == 0o600, "others may read the file")

    listed = json.loads(run("list", "--json").stdout)
    expect([(k["id"], k["name"], k["scopes"], k["weight"], k["revoked"]) for k in listed] == [(identity, "app", ["decide", "feedback"], 0.5, None)],
           f"the list says {listed}")
    text = run("list").stdout
    expect(identity in text and secret not in text and "sha256" not in text, f"the list for people says {text}")

    run("revoke", key)
    expect(json.loads(run("list", "--json").stdout)[0]["revoked"] is not None, "the key is not revoked")
    expect("already revoked" in run("revoke", identity, code=2).stderr, "a second revocation says otherwise")

    # Every way to name the file.
    run("create", "--name", "a", "--scope", "read", "--keys", "k1")
    run("create", "--name", "b", "--scope", "read", "--store", "other.db")
    (Path(folder) / "c.toml").write_text('[keys]\nfile = "k3"\n')
    run("create", "--name", "c", "--scope", "read", "--config", "c.toml")
    made = json.loads(run("create", "--name", "d", "--scope", "read", "--json", MARGIN_KEYS__FILE="k4").stdout)
    expect(made["id"] in content("k4") and made["key"].split("-")[3] not in content("k4"), "the variable is not heeded")
    for name in ("k1", "other.db.keys", "k3"):
        expect(len(content(name).splitlines()) == 1, f"{name} has not the one key")

    # At the same time, in processes of their own.
    together = [subprocess.Popen([margin, "keys", "create", "--name", str(i), "--scope", "read", "--keys", "many"], cwd=folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for i in range(12)]
    keys = {process.communicate(timeout=60)[0].split("-")[2] for process in together}
    expect({k["id"] for k in json.loads(run("list", "--json", "--keys", "many").stdout)} == keys and len(keys) == 12, "a key was lost")

print("\n".join(failures) or "made, listed, revoked")
sys.exit(1 if failures else 0)
