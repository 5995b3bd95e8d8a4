"""With 100 models, 20 bands and many decisions the pages stay quick: every route that a page asks answers within 20 times of /health, both
measured in turn against the same server. MARGIN_SCALE_DECISIONS says how many (a million takes minutes and some gigabytes)."""
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

from harness import ServerTest, main

DECISIONS = int(os.environ.get("MARGIN_SCALE_DECISIONS", "50000"))
RATIO_MAX = 20.0
TURNS = 60
ROUTES = {
    "pools": ["/v1/session", "/v1/pools"],
    "factors": ["/v1/pools/large", "/v1/pools/large/heat", "/v1/pools/large/factors?model=model-7", "/v1/pools/large/activity",
                "/v1/pools/large/history?band=19", "/v1/pools/large/history?model=model-7"],
    "reliability": ["/v1/pools/large/calibration?model=model-7", "/v1/pools/large/calibration?model=model-7&window=day"],
    "models": ["/v1/pools/large/models"],
    "pairs": ["/v1/pools/large/pairs"],
    "alarms": ["/v1/pools/large/alarms"],
    "decisions": ["/v1/decisions?pool=large&limit=100", "/v1/decisions?pool=large&limit=100&q=found+nowhere", "/v1/decisions?pool=large&limit=100&model=model-7"],
    "queue": ["/v1/pools/large/queue?limit=50"],
    "system": ["/status"],
    "experiments": ["/v1/experiments"],
}


class Scale(ServerTest):
    def test_every_page_answers_within_twenty_times_of_health(self):
        began = time.monotonic()
        subprocess.run([os.environ["MARGIN_LARGE_STORE"], str(pathlib.Path(self.folder) / "margin.db"), str(DECISIONS)], check=True)
        built = time.monotonic()
        server = self.serve()
        print(f"{DECISIONS} decisions: made in {built - began:.1f} s, served after {time.monotonic() - built:.1f} s", file=sys.stderr)
        # Everybody at once, some of it graded: histories, pairs and the queue have something of this server's own time.
        chance = random.Random(3)
        for t in range(200):
            responses = [{"model": f"model-{m}", "answer": chance.choice("ABCD"), "confidence": round(chance.random(), 3)} for m in range(100)]
            made = server.post("/v1/decide", {"pool": "large", "task_id": f"now-{t}", "responses": responses}).json
            if t % 2 == 0:
                server.post("/v1/feedback", {"decision_id": made["decision_id"], "correct_answer": "A"})
        routes = [route for page in ROUTES.values() for route in page] + ["/v1/decisions/" + made["decision_id"]]

        def took(path):
            start = time.perf_counter()
            answer = server.get(path)
            seconds = time.perf_counter() - start
            self.assertEqual(answer.status, 200, path)
            return seconds, len(answer.body)

        for path in ["/health", *routes]:
            took(path)
        times = {path: [] for path in routes}
        health = []
        sizes = {}
        for _ in range(TURNS):
            for path in routes:
                health.append(took("/health")[0])
                seconds, sizes[path] = took(path)
                times[path].append(seconds)
        # The lower quartile: other programs of the machine lengthen long answers more than short ones.
        quick = lambda seconds: statistics.quantiles(seconds, n=4)[0]
        base = quick(health)
        ratios = {path: quick(seconds) / base for path, seconds in times.items()}
        print(f"/health {1e6 * base:.0f} us", file=sys.stderr)
        for path, ratio in ratios.items():
            print(f"{ratio:6.1f}x {sizes[path]:8d} bytes  {path}", file=sys.stderr)
        self.assertEqual(server.get("/v1/pools/large/models").json["models"].__len__(), 100)
        self.assertEqual({len(r["factor"]) for r in server.get("/v1/pools/large/heat").json["rows"]}, {20})
        self.assertEqual({path: round(ratio, 1) for path, ratio in ratios.items() if ratio > RATIO_MAX}, {})


if __name__ == "__main__":
    main()
