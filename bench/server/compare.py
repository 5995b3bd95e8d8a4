"""MARGIN's server beside nginx answering a constant of the same size, each pinned to one core, the generator on another.

compare.py --bin BUILD/bin [--rounds N] [--seconds S] [--connections N] [--check]
  what is compared: --bytes B (http_bench_server, a constant of B bytes: the HTTP layer alone), or
  --margin 'COMMAND with {port}' --path /v1/decide --bodies FILE: any server that is ready when it accepts connections.

Rounds run A-B-B-A, in a closed loop for the largest rate and then in an open loop at half of MARGIN's largest for the latency. Beside the rates,
which other programs on the machine disturb, it prints the processor time per request, which they disturb much less. Prints a table and one JSON line;
--check runs briefly and fails on errors or a processor time beyond twice nginx's. Exits 77 when there is no nginx.
"""

import argparse
import json
import os
import shlex
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


def answer_body(port, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return reply.read()


class Side:
    def __init__(self, name, process, port):
        self.name, self.process, self.port = name, process, port
        self.closed, self.open = [], []

    def load(self, args, rounds, seconds, rate=None):
        """One round; its outcome joins `rounds`."""
        command = [args.bin / "http_load", "--port", str(self.port), "--path", args.path, "--connections", str(args.connections)]
        command += ["--seconds", str(seconds), "--warmup", "0"]
        command += ["--bodies", args.bodies] if args.bodies else []
        command += ["--rate", str(rate)] if rate else []
        before = cpu_seconds(self.process.pid)
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, {args.generator_core}))
        outcome = json.loads(done.stdout)
        outcome["cpu_us"] = (cpu_seconds(self.process.pid) - before) / max(outcome["requests"], 1) * 1e6
        rounds.append(outcome)

    def median(self, rounds, key):
        return statistics.median(outcome[key] for outcome in rounds)

    def errors(self):
        return sum(outcome["errors"] for outcome in self.closed + self.open)


def in_turn(margin, nginx, rounds):
    """A-B-B-A: what drifts on the machine falls on both alike."""
    return [side for turn in range(rounds) for side in ((margin, nginx) if turn % 2 == 0 else (nginx, margin))]


def report(margin, nginx, args, rate):
    rows = [("closed loop, requests/s", "closed", "rps", 0), ("closed loop, processor us/request", "closed", "cpu_us", 2),
            (f"open loop at {rate:.0f}/s, p50 us", "open", "p50_us", 0), ("p99 us", "open", "p99_us", 0), ("p99.9 us", "open", "p99_9_us", 0),
            ("processor us/request", "open", "cpu_us", 2)]
    result = {"rounds": args.rounds, "seconds": args.seconds, "connections": args.connections, "rate": round(rate)}
    print(f"{'':36}{margin.name:>12}{nginx.name:>12}{'ratio':>8}")
    for label, loop, key, digits in rows:
        ours, theirs = (side.median(getattr(side, loop), key) for side in (margin, nginx))
        result[f"{loop}_{key}"] = {"margin": round(ours, 3), "nginx": round(theirs, 3), "ratio": round(ours / theirs, 3)}
        print(f"{label:36}{ours:>12.{digits}f}{theirs:>12.{digits}f}{ours / theirs:>8.2f}")
    result["errors"] = {"margin": margin.errors(), "nginx": nginx.errors()}
    print(json.dumps(result))
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of http_load and http_bench_server")
    parser.add_argument("--nginx", default=shutil.which("nginx") or "/usr/sbin/nginx")
    parser.add_argument("--margin", help="command of the server to compare, with {port}")
    parser.add_argument("--path", default="/")
    parser.add_argument("--bodies", help="file of bodies to POST, one per line")
    parser.add_argument("--bytes", type=int, default=1000, help="size of the constant of http_bench_server")
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
    if not Path(args.nginx).exists():
        print(f"compare: skipped, there is no nginx at {args.nginx} (Debian: apt-get install nginx-light)")
        return SKIPPED
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            port = free_port()
            command = args.margin.format(port=port) if args.margin else f"{args.bin / 'http_bench_server'} {port} {args.bytes}"
            margin = Side("MARGIN", start(shlex.split(command), args.server_core, port), port)
            processes.append(margin.process)
            first_body = Path(args.bodies).read_bytes().splitlines()[0] if args.bodies else None
            size = len(answer_body(port, args.path, first_body))
            port = free_port()
            conf = Path(folder, "nginx.conf")
            conf.write_text(NGINX_CONF.format(folder=folder, port=port, body="x" * size))
            nginx = Side("nginx", start([args.nginx, "-p", folder, "-e", f"{folder}/nginx.err", "-c", str(conf)], args.server_core, port), port)
            processes.append(nginx.process)
            for side in in_turn(margin, nginx, args.rounds):
                side.load(args, side.closed, args.seconds)
            rate = margin.median(margin.closed, "rps") / 2
            for side in in_turn(margin, nginx, args.rounds):
                side.load(args, side.open, args.seconds, rate)
            result = report(margin, nginx, args, rate)
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=20)
    if margin.errors() + nginx.errors() > 0:
        print("compare: there were errors", file=sys.stderr)
        return 1
    if args.check and result["closed_cpu_us"]["ratio"] > 2:
        print("compare: a request costs more than twice the processor time of nginx's", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
