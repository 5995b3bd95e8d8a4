"""What the gateway adds to a call: compare.py --bin BUILD/bin [--litellm PROGRAM] [--portkey SCRIPT.js] [--rounds N] [--check]

One upstream (nginx with a constant chat reply) is asked directly and through each gateway in turn, in rounds there and back, so that what
drifts on the machine falls on all alike. The upstream and the generator have one core, the gateway under test the other; the generator
lets the upstream have it first, or the upstream would wait for a turn of milliseconds.

  direct     the upstream itself
  pass       margin, the upstream by its own name
  pool       margin, a pool of that one model: asked, read, calibrated, voted, logged (durability "process")
  pool3      a pool of three
  disk       as pool, durability "disk": beside it what an fdatasync of a small file, and of as much as a commit, costs in the same run
  litellm    LiteLLM's proxy, one worker (PyPI: litellm[proxy])
  portkey    Portkey's gateway (npm: @portkey-ai/gateway)

Printed: the added time of one connection (median and 99th percentile, difference to direct), requests per second of 16 connections and the
gateway's processor time per request. --check runs briefly and fails on errors, or when pool's added median is more than direct's median and
20 ms together: a reply held back by the kernel (Nagle's rule and delayed acknowledgements make 40 ms) would be seen.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))
from compare import NGINX, NGINX_CONF, SKIPPED, cpu_seconds, free_port, on_core, rss_mib, start  # noqa: E402

REPLY = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "usage": {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70},
         "choices": [{"index": 0, "message": {"role": "assistant", "content": "The whale breathes air.\n\nB\nConfidence: 85"}, "finish_reason": "stop"}]}
MARGIN_TOML = """
[server]
listen = "127.0.0.1:{port}"
[store]
file = "{folder}/{name}.db"
durability = "{durability}"
[log]
level = "warning"
[limits]
requests_per_connection = 1000000000
[upstreams.m]
url = "{upstream}/v1"
concurrency = 1000
[upstreams.m2]
url = "{upstream}/v1"
concurrency = 1000
[upstreams.m3]
url = "{upstream}/v1"
concurrency = 1000
[pools.one]
models = ["m"]
task = "choice"
[pools.three]
models = ["m", "m2", "m3"]
task = "choice"
"""
LITELLM_YAML = """
model_list:
  - model_name: m
    litellm_params: {{model: openai/m, api_base: "{upstream}/v1", api_key: none}}
general_settings: {{dangerously_permit_weak_or_unset_master_key: true}}
"""
SYNCED = (512, 8240)  # bytes: a small append, and what a commit of one chat writes (two pages of the journal)
QUESTION = "Which of these is a mammal? A) the shark B) the whale C) the trout D) the crab"


class Side:
    def __init__(self, name, process, port, model, path="/v1/chat/completions", headers=()):
        self.name, self.process, self.port, self.model, self.path, self.headers = name, process, port, model, path, headers
        self.alone, self.many = [], []
        self.rss_before = rss_mib(process.pid)

    def run(self, args, folder, connections, rounds):
        bodies = Path(folder, self.name + ".jsonl")
        bodies.write_text(json.dumps({"model": self.model, "messages": [{"role": "user", "content": QUESTION}]}, separators=(",", ":")) + "\n")
        command = [args.bin / "http_load", "--port", str(self.port), "--path", self.path, "--connections", str(connections), "--bodies", bodies,
                   "--seconds", str(args.seconds), "--warmup", "0.1", "--yield"]
        for header in self.headers:
            command += ["--header", header]
        before = cpu_seconds(self.process.pid)
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.seconds + 60, check=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, {args.generator_core}))
        outcome = json.loads(done.stdout)
        outcome["cpu_us"] = (cpu_seconds(self.process.pid) - before) / max(outcome["requests"], 1) * 1e6
        rounds.append(outcome)

    def median(self, rounds, key):
        return statistics.median(outcome[key] for outcome in getattr(self, rounds))

    def errors(self):
        return sum(outcome["errors"] for outcome in self.alone + self.many)


def start_upstream(args, folder):
    port = free_port()
    conf = Path(folder, "nginx.conf")
    body = json.dumps(REPLY).replace("\\", "\\\\").replace('"', '\\"')
    conf.write_text(NGINX_CONF.format(folder=folder, port=port, body=body))
    return start([args.nginx, "-p", folder, "-e", f"{folder}/nginx.err", "-c", conf], args.generator_core, port), port


def start_margin(args, folder, durability, upstream):
    port = free_port()
    conf = Path(folder, durability + ".toml")
    conf.write_text(MARGIN_TOML.format(folder=folder, port=port, name=durability, durability=durability, upstream=upstream))
    return start([args.bin / "margin", "serve", "--config", conf], args.gateway_core, port), port


def start_litellm(args, folder, upstream):
    port = free_port()
    conf = Path(folder, "litellm.yaml")
    conf.write_text(LITELLM_YAML.format(upstream=upstream))
    return start([args.litellm, "--config", conf, "--port", str(port), "--host", "127.0.0.1", "--num_workers", "1", "--telemetry", "False"],
                 args.gateway_core, port), port


def start_portkey(args):
    port = free_port()
    return start(["node", args.portkey, f"--port={port}", "--headless"], args.gateway_core, port), port


def fdatasync_us(folder, size, core, count=100):
    """What one append of so many bytes costs on the disk of the store, on the gateway's core: another may be nearer to the disk."""
    times = []
    with on_core(core), open(Path(folder, "sync"), "wb", buffering=0) as file:
        for _ in range(count):
            file.write(b"x" * size)
            began = time.perf_counter_ns()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter_ns() - began) / 1000)
    return statistics.median(times)


def report(sides, args, syncs):
    direct = sides[0]
    result = {"rounds": args.rounds, "seconds": args.seconds, "fdatasync_us": {size: round(us, 1) for size, us in syncs.items()}}
    heads = ("p50 us", "p99 us", "+p50", "+p99", "rps c=16", "cpu us", "MiB")
    print(f"{'':10}" + "".join(f"{head:>10}" for head in heads))
    for side in sides:
        p50, p99 = side.median("alone", "p50_us"), side.median("alone", "p99_us")
        row = [p50, p99, p50 - direct.median("alone", "p50_us"), p99 - direct.median("alone", "p99_us"), side.median("many", "rps"), side.median("many", "cpu_us"),
               rss_mib(side.process.pid)]
        result[side.name] = dict(zip(("p50_us", "p99_us", "added_p50_us", "added_p99_us", "rps", "cpu_us", "rss_mib"), (round(value, 1) for value in row)))
        result[side.name]["errors"] = side.errors()
        print(f"{side.name:10}" + "".join(f"{value:>10.0f}" for value in row))
    for size, us in syncs.items():
        print(f"fdatasync of {size} bytes in the same folder, median: {us:.0f} us")
    print(json.dumps(result))
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of margin and http_load")
    parser.add_argument("--nginx", default=NGINX)
    parser.add_argument("--litellm", help="LiteLLM's program")
    parser.add_argument("--portkey", help="build/start-server.js of Portkey's package")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        args.rounds, args.seconds = 2, 0.4
    cores = sorted(os.sched_getaffinity(0))
    args.gateway_core, args.generator_core = cores[0], cores[-1]
    return args


def main():
    args = parse_arguments()
    if not Path(args.nginx).exists():
        print(f"compare: skipped, there is no {args.nginx} (scripts/setup.sh test unpacks it)")
        return SKIPPED
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            upstream_process, port = start_upstream(args, folder)
            processes.append(upstream_process)
            upstream = f"http://127.0.0.1:{port}"
            sides = [Side("direct", upstream_process, port, "m")]
            process, port = start_margin(args, folder, "process", upstream)
            processes.append(process)
            sides += [Side("pass", process, port, "m"), Side("pool", process, port, "margin/one"), Side("pool3", process, port, "margin/three")]
            process, port = start_margin(args, folder, "disk", upstream)
            processes.append(process)
            sides.append(Side("disk", process, port, "margin/one"))
            if args.litellm:
                process, port = start_litellm(args, folder, upstream)
                processes.append(process)
                sides.append(Side("litellm", process, port, "m"))
            if args.portkey:
                process, port = start_portkey(args)
                processes.append(process)
                sides.append(Side("portkey", process, port, "m", headers=("x-portkey-provider: openai", f"x-portkey-custom-host: {upstream}/v1", "Authorization: Bearer none")))
            syncs = {size: [] for size in SYNCED}
            for turn in range(args.rounds):
                for side in sides if turn % 2 == 0 else sides[::-1]:
                    side.run(args, folder, 1, side.alone)
                    side.run(args, folder, 16, side.many)
                for size, medians in syncs.items():
                    medians.append(fdatasync_us(folder, size, args.gateway_core))
            result = report(sides, args, {size: statistics.median(medians) for size, medians in syncs.items()})
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()
    if any(result[side.name]["errors"] for side in sides):
        print("compare: there were errors", file=sys.stderr)
        return 1
    if args.check and result["pool"]["added_p50_us"] > result["direct"]["p50_us"] + 20_000:
        print("compare: the gateway holds replies back", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
