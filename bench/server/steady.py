"""Memory of `margin serve` under a steady load: steady.py --bin BUILD/bin [--seconds 600] [--rate 1000]

Decisions and their outcomes, half of the rate each, are due on a fixed schedule, ten times a second; an outcome comes a second after its decision.
The pool remembers --pending decisions, so that what it holds is the same from the second minute on. Prints the resident memory minute by minute,
what the state itself takes (its snapshot) and the most that memory grew after the first minute.
"""
import argparse
import collections
import json
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.request
import uuid

STEP = 0.1
MODELS = [f"model-{i}" for i in range(10)]


def request(path, body):
    data = json.dumps(body).encode()
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(data), data)


def answers(stream, count):
    """Reads so many answers; how many of them are not a 200."""
    failed = 0
    for _ in range(count):
        failed += b" 200 " not in stream.readline()
        while (line := stream.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        stream.read(length)
    return failed


def resident(process):
    return int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * 4096


def run(options, folder):
    (folder / "margin.toml").write_text(f'[store]\ndurability = "process"\n[log]\nlevel = "warning"\n'
                                        f'[limits]\npending = {options.pending}\nrequests_per_connection = 1000000000\n')
    server = subprocess.Popen([options.bin.resolve() / "margin", "serve", "--listen", "127.0.0.1:0", "--store", "margin.db"], cwd=folder, stdout=subprocess.PIPE)
    try:
        url = server.stdout.readline().decode().split()[-1]
        host, port = url.split("//")[1].split(":")
        connection = socket.create_connection((host, int(port)), timeout=60)
        stream = connection.makefile("rb")
        due, minutes, sent, failed = time.monotonic(), [], 0, 0
        ungraded = collections.deque()
        end = due + options.seconds
        next_minute = due + 60
        per_step = int(options.rate * STEP / 2)
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            batch = []
            for _ in range(per_step):
                decision = str(uuid.uuid4())
                ungraded.append(decision)
                responses = [{"model": m, "answer": "xyz"[(sent + i) % 3], "confidence": 0.05 + (sent * 7 + i * 13) % 90 / 100} for i, m in enumerate(MODELS)]
                batch.append(request("/v1/decide", {"decision_id": decision, "responses": responses}))
                if len(ungraded) > per_step / STEP:
                    batch.append(request("/v1/feedback", {"decision_id": ungraded.popleft(), "correct_answer": "xyz"[sent % 3]}))
                sent += 1
            connection.sendall(b"".join(batch))
            failed += answers(stream, len(batch))
            due += STEP
            if due >= next_minute or due >= end:
                minutes.append(resident(server))
                late = time.monotonic() - due
                print(f"minute {len(minutes)}: {minutes[-1] / 2**20:.1f} MiB, {2 * sent} requests, {max(0.0, late):.1f} s late", flush=True)
                next_minute += 60
        state = len(urllib.request.urlopen(url + "/v1/pools/default/state", timeout=60).read())
        print(f"{failed} failed; state {state / 2**20:.1f} MiB; memory grew by at most {(max(minutes) - minutes[0]) / 2**20:.1f} MiB after the first minute; "
              f"beyond the state {(max(minutes) - state) / 2**20:.1f} MiB")
    finally:
        server.terminate()
        server.wait(60)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the binary margin")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rate", type=float, default=1000, help="requests per second")
    parser.add_argument("--pending", type=int, default=10000, help="decisions that the pool remembers")
    with tempfile.TemporaryDirectory() as folder:
        run(parser.parse_args(), pathlib.Path(folder))


if __name__ == "__main__":
    main()
