"""Many decisions that wait for outcomes: memory per decision is bounded, the limit makes room one past it, neither decisions nor /metrics get
slower, and a restart after kill -9 has them all.

MARGIN_PENDING sets how many (30,000 unless said; by hand 1,000,000: docs/performance.md#pending-decisions).
"""
import json
import os
import pathlib
import socket
import time

from harness import Server, ServerTest, main

COUNT = int(os.environ.get("MARGIN_PENDING", "30000"))
AT_ONCE = 64
PER_CONNECTION = 50_000  # below limits.requests_per_connection
BODY = json.dumps({"responses": [{"model": m, "answer": a, "confidence": 0.8} for m, a in (("a", "x"), ("b", "y"), ("c", "x"))]}).encode()
DECIDE = b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
METRICS = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
# Bytes of resident memory per waiting decision of three responses, snapshots that are folded beside it included.
BYTES_MAX = 3000
# Processor time of a request beside that of a server that holds nothing.
RATIO_MAX = 2.0


def processor_seconds(server):
    """Of the thread that answers requests; another may be folding a snapshot meanwhile."""
    return int(pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/schedstat").read_text().split()[0]) / 1e9


def memory(server, which):
    line = next(l for l in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines() if l.startswith(which + ":"))
    return int(line.split()[1]) * 1024


class Pending(ServerTest):
    def pipelined(self, server, request, count):
        """Sends a request so often, many at once on one connection; every answer is a 200."""
        with socket.create_connection((server.host, int(server.port)), timeout=120) as connection:
            stream = connection.makefile("rb")
            while count > 0:
                batch = min(AT_ONCE, count)
                connection.sendall(request * batch)
                for _ in range(batch):
                    self.assertIn(b" 200 ", stream.readline(), server.journal[-2000:])
                    while (line := stream.readline()) != b"\r\n":
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    stream.read(length)
                count -= batch

    def cost(self, server, request, count):
        before = processor_seconds(server)
        self.pipelined(server, request, count)
        return (processor_seconds(server) - before) / count

    def waiting(self, server):
        return server.get("/v1/pools/default").json["pending"]

    def test_many_decisions_wait(self):
        config = f'[store]\ndurability = "process"\n[limits]\npending = {COUNT}\n'
        (pathlib.Path(self.folder) / "empty").mkdir()
        empty = Server(pathlib.Path(self.folder) / "empty", config='[store]\ndurability = "process"\n[limits]\npending = 1\n')
        self.addCleanup(empty.kill)
        server = self.serve(config=config)
        first = server.decide({"a": ("x", 0.8)})["decision_id"]
        self.pipelined(empty, DECIDE, 2000)
        self.pipelined(server, DECIDE, 2000)
        before = memory(server, "VmRSS")
        began = time.monotonic()
        for sent in range(2001, COUNT, PER_CONNECTION):
            self.pipelined(server, DECIDE, min(PER_CONNECTION, COUNT - sent))
        print(f"{COUNT} decisions wait after {time.monotonic() - began:.0f} s")
        server.connection.held = None  # idle for too long, when there are many
        self.assertEqual(self.waiting(server), COUNT)
        self.assertEqual(server.get("/v1/decisions/" + first).json["expired"], False)

        now, peak = ((memory(server, which) - before) / (COUNT - 2001) for which in ("VmRSS", "VmHWM"))
        print(f"{now:.0f} bytes of memory per decision, {peak:.0f} at most")
        self.assertLess(peak, BYTES_MAX)

        # There and back, so that what else the machine does falls on both.
        for name, request, count in (("decide", DECIDE, 2500), ("/metrics", METRICS, 400)):
            cost = {empty: 0.0, server: 0.0}
            for one in (empty, server, server, empty):
                cost[one] += self.cost(one, request, count) / 2
            print(f"{name}: {cost[server] * 1e6:.0f} us of processor time beside {COUNT} decisions, {cost[empty] * 1e6:.0f} us beside none")
            self.assertLess(cost[server], RATIO_MAX * cost[empty])

        # The oldest has made room, and says so.
        self.assertEqual(self.waiting(server), COUNT)
        self.assertTrue(server.get("/v1/decisions/" + first).json["expired"])
        digests = server.digests()
        server.kill()
        began = time.monotonic()
        server = self.serve(config=config)
        print(f"recovered in {time.monotonic() - began:.1f} s")
        self.assertEqual(server.digests(), digests)
        self.assertEqual(self.waiting(server), COUNT)
        latest = server.get("/v1/decisions?limit=1").json["decisions"][0]["decision_id"]
        self.assertEqual(server.post("/v1/feedback", {"decision_id": latest, "correct_answer": "x"}).json["status"], "applied")
        self.assertEqual(self.waiting(server), COUNT - 1)


if __name__ == "__main__":
    main()
