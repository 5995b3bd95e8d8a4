"""Two servers side by side, pinned to the same core, the generator on another: compare.py LEFT RIGHT --bin BUILD/bin [--check]

A server is one of
  http      http_bench_server: a constant of --bytes B, the HTTP layer alone
  process   margin serve deciding on ten responses per request (POST /v1/decide), durability "process"
  disk      the same with durability "disk"
  nginx     answers what the other is asked with a constant of the size of the other's answer

Rounds run A-B-B-A, in a closed loop for the largest rate and then in an open loop at half of LEFT's largest for the latency. Each begins when
both servers are at rest: what one still has to do for its last round must not disturb the other's. Beside the rates, which other programs on the
machine disturb, it prints the processor time per request, which they disturb much less. Where LEFT is disk, also its
commits per second beside what writing one page and fdatasync alone reach in the same folder, in turn with its rounds. Prints a table of medians over
rounds, with 95% bootstrap intervals of their ratios, and one JSON line. --check runs briefly, and fails on errors or when LEFT takes more than twice
the processor time of RIGHT. Exits 77 when there is no nginx.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

SKIPPED = 77
# The one that scripts/setup.sh unpacks, else the machine's.
NGINX = shutil.which("nginx", path=f"{Path(__file__).resolve().parents[2]}/build/nginx/usr/sbin:{os.environ['PATH']}:/usr/sbin") or "nginx"
NGINX_CONF = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.err;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ default_type application/json; return 200 "{body}"; }}
  }}
}}
"""

# The generator's connections live for the whole run.
MARGIN_TOML = """
[server]
listen = "127.0.0.1:{port}"
[store]
file = "{folder}/{durability}.db"
durability = "{durability}"
[log]
level = "warning"
[limits]
requests_per_connection = 1000000000
"""
TASKS = 1000  # different bodies
MODELS = 10


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_accepting(port, process):
    for _ in range(1000):
        if process.poll() is not None:
            sys.exit(f"compare: {process.args} ended with {process.returncode} before it accepted connections")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    sys.exit(f"compare: {process.args} does not accept connections")


def start(command, core, port):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    wait_until_accepting(port, process)
    return process


def family(pid):
    """The process and its children: nginx works in one."""
    pids = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            pids += family(int(child))
    return pids


def cpu_seconds(pid):
    tasks = (task for one in family(pid) for task in Path(f"/proc/{one}/task").iterdir())
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def rss_mib(pid):
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in family(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def commits(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        return next(float(line.split()[1]) for line in reply.read().decode().splitlines() if line.startswith("margin_log_commits_total "))


@contextlib.contextmanager
def on_core(core):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def syncs_per_second(folder, seconds, core):
    """One page after the other, each on the disk before the next, on the server's core."""
    page = bytes(4096)
    count, begin = 0, time.monotonic()
    with on_core(core), tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        while time.monotonic() - begin < seconds:
            file.write(page)
            os.fdatasync(file.fileno())
            count += 1
    return count / (time.monotonic() - begin)


def answer_bytes(port, load):
    body = load.bodies.read_bytes().splitlines()[0] if load.bodies else None
    request = urllib.request.Request(f"http://127.0.0.1:{port}{load.path}", data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return len(reply.read())


def decide_bodies(seed=1):
    """Ten models of different worth answer each task; some agree."""
    rng = random.Random(seed)
    for _ in range(TASKS):
        responses = [{"model": f"model-{m}", "answer": rng.choice("ABCD"), "confidence": round(rng.uniform(0.3, 1.0), 3)} for m in range(MODELS)]
        yield json.dumps({"responses": responses}, separators=(",", ":"))


class Load:
    """What the generator sends to both."""

    def __init__(self, kinds, args, folder):
        decides = bool({"process", "disk"} & set(kinds))
        self.path = "/v1/decide" if decides else "/"
        self.bodies = Path(folder, "bodies.jsonl") if decides else None
        if decides:
            self.bodies.write_text("".join(body + "\n" for body in decide_bodies()))
        self.args = args
        self.folder = folder


class Side:
    def __init__(self, name, process, port):
        self.name, self.process, self.port = name, process, port
        self.closed, self.open = [], []
        self.rss_before = rss_mib(process.pid)

    def run(self, load, rounds, rate=None):
        """One round; its outcome joins `rounds`."""
        args = load.args
        command = [args.bin / "http_load", "--port", str(self.port), "--path", load.path, "--connections", str(args.connections)]
        command += ["--seconds", str(args.seconds), "--warmup", "0"]
        command += ["--bodies", load.bodies] if load.bodies else []
        command += ["--rate", str(rate)] if rate else []
        before = cpu_seconds(self.process.pid)
        commits_before = commits(self.port) if self.name == "disk" else 0
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.seconds + 60, check=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, {args.generator_core}))
        outcome = json.loads(done.stdout)
        outcome["cpu_us"] = (cpu_seconds(self.process.pid) - before) / max(outcome["requests"], 1) * 1e6
        if self.name == "disk":
            outcome["commits"] = (commits(self.port) - commits_before) / args.seconds
            outcome["syncs"] = syncs_per_second(load.folder, args.seconds / 2, args.server_core)
        rounds.append(outcome)

    def errors(self):
        return sum(outcome["errors"] for outcome in self.closed + self.open)


def start_side(kind, args, folder, constant_bytes):
    port = free_port()
    if kind == "nginx":
        conf = Path(folder, "nginx.conf")
        conf.write_text(NGINX_CONF.format(folder=folder, port=port, body="x" * constant_bytes))
        command = [args.nginx, "-p", folder, "-e", f"{folder}/nginx.err", "-c", conf]
    elif kind == "http":
        command = [args.bin / "http_bench_server", str(port), str(args.bytes)]
    else:
        conf = Path(folder, f"{kind}.toml")
        conf.write_text(MARGIN_TOML.format(folder=folder, port=port, durability=kind))
        command = [args.bin / "margin", "serve", "--config", conf]
    return Side(kind, start(command, args.server_core, port), port)


def wait_for_rest(sides):
    """Until none of them has used a hundredth of the processor for half a second: longer than any of them puts work off."""
    def used():
        return sum(cpu_seconds(side.process.pid) for side in sides)

    for _ in range(60):
        before = used()
        time.sleep(0.5)
        if used() - before < 0.005:
            return
    sys.exit("compare: a server does not come to rest")


def in_turn(left, right, rounds):
    """A-B-B-A, each when both are at rest: what drifts on the machine falls on both alike."""
    for turn in range(rounds):
        for side in (left, right) if turn % 2 == 0 else (right, left):
            wait_for_rest((left, right))
            yield side


def compared(left, right, resamples=2000):
    """Medians of two sides' rounds, their ratio, and where 95% of the ratios lie when turns (a round of each side) are drawn again."""
    rng = random.Random(1)
    turns = list(zip(left, right))

    def ratio(drawn):
        medians = [statistics.median(side) for side in zip(*drawn)]
        return *medians, medians[0] / medians[1]

    ratios = sorted(ratio(rng.choices(turns, k=len(turns)))[2] for _ in range(resamples))
    return *ratio(turns), ratios[int(0.025 * resamples)], ratios[int(0.975 * resamples)]


def report(left, right, args, rate):
    rows = [("closed loop, requests/s", "closed", "rps", 0), ("closed loop, processor us/request", "closed", "cpu_us", 2),
            (f"open loop at {rate:.0f}/s, p50 us", "open", "p50_us", 0), ("p99 us", "open", "p99_us", 0), ("p99.9 us", "open", "p99_9_us", 0),
            ("processor us/request", "open", "cpu_us", 2)]
    result = {"left": left.name, "right": right.name, "rounds": args.rounds, "seconds": args.seconds, "connections": args.connections, "rate": round(rate)}
    print(f"{'':36}{left.name:>12}{right.name:>12}{'ratio':>8}{'95%':>14}")

    def row(label, name, values, digits):
        result[name] = [round(value, 3) for value in values]
        print(f"{label:36}{values[0]:>12.{digits}f}{values[1]:>12.{digits}f}{values[2]:>8.2f}{f'{values[3]:.2f} to {values[4]:.2f}':>14}")

    for label, loop, key, digits in rows:
        row(label, f"{loop}_{key}", compared(*([outcome[key] for outcome in getattr(side, loop)] for side in (left, right))), digits)
    if left.name == "disk":
        both = ([outcome[key] for outcome in left.closed] for key in ("commits", "syncs"))
        row("commits/s, beside fdatasync alone", "commits_and_syncs", compared(*both), 0)
    sides = (left, right)
    result["rss_mib"] = [[round(side.rss_before, 1), round(rss_mib(side.process.pid), 1)] for side in sides]
    result["errors"] = [side.errors() for side in sides]
    print(f"{'memory before, MiB':36}{left.rss_before:>12.1f}{right.rss_before:>12.1f}")
    print(f"{'memory after, MiB':36}{result['rss_mib'][0][1]:>12.1f}{result['rss_mib'][1][1]:>12.1f}")
    print(json.dumps(result))
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = ["http", "process", "disk", "nginx"]
    parser.add_argument("left", choices=kinds[:-1])
    parser.add_argument("right", choices=kinds)
    parser.add_argument("--bin", type=Path, required=True, help="folder of margin, http_load and http_bench_server")
    parser.add_argument("--nginx", default=NGINX)
    parser.add_argument("--bytes", type=int, default=1000, help="size of the constant of http")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        args.rounds, args.seconds = 4, 0.4
    cores = sorted(os.sched_getaffinity(0))
    args.server_core, args.generator_core = cores[0], cores[-1]
    return args


def main():
    args = parse_arguments()
    if args.right == "nginx" and not Path(args.nginx).exists():
        print(f"compare: skipped, there is no {args.nginx} (scripts/setup.sh test unpacks it)")
        return SKIPPED
    sides = []
    with tempfile.TemporaryDirectory() as folder:
        load = Load([args.left, args.right], args, folder)
        try:
            left = start_side(args.left, args, folder, 0)
            sides.append(left)
            right = start_side(args.right, args, folder, answer_bytes(left.port, load))
            sides.append(right)
            for side in in_turn(left, right, args.rounds):
                side.run(load, side.closed)
            rate = statistics.median(outcome["rps"] for outcome in left.closed) / 2
            for side in in_turn(left, right, args.rounds):
                side.run(load, side.open, rate)
            result = report(left, right, args, rate)
        finally:
            for side in sides:
                side.process.send_signal(signal.SIGTERM)
                side.process.wait(timeout=30)
    if any(result["errors"]):
        print("compare: there were errors", file=sys.stderr)
        return 1
    if args.check and result["closed_cpu_us"][2] > 2:
        print(f"compare: a request costs more than twice the processor time of {args.right}'s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
