"""Everything at once against a real server: decisions, feedback, batches, reverts, chats, streams, figures, experiments, an online backup and
SIGHUP, then SIGTERM in the middle of it, life after life on one store. Nothing may fail but by the drain, and the state is the fold of the log.

MARGIN_LOAD_SECONDS sets how long (6 unless said), MARGIN_LOAD_SEED repeats a run. tests/sanitizer/server_under_load.sh runs it against a
server built with sanitizers, whose reports fail it.
"""
import collections
import http.client
import json
import os
import random
import signal
import threading
import time
import uuid

from gateway import QUESTION, GatewayTest, main

SECONDS = float(os.environ.get("MARGIN_LOAD_SECONDS", "6"))
SEED = int(os.environ.get("MARGIN_LOAD_SEED", random.SystemRandom().randrange(2**32)))
LIVES = 3
REPORTS = ("ThreadSanitizer", "AddressSanitizer", "LeakSanitizer", "runtime error:")
print("seed", SEED, "seconds", SECONDS, flush=True)

PAGES = ["/metrics", "/status", "/status?digest=true", "/ready", "/v1/pools", "/v1/decisions?limit=20", "/v1/pools/default/calibration", "/v1/pools/default/history?model=a",
         "/v1/pools/default/factors", "/v1/pools/default/queue", "/v1/pools/default/activity", "/v1/pools/default/pairs"]


class Load:
    """The clients of one life of the server. What they do is counted by name; the first that fails before the drain is remembered."""

    def __init__(self, server, seed):
        self.server, self.seed = server, seed
        self.done, self.failures, self.over = collections.Counter(), [], threading.Event()
        self.latest = collections.deque(maxlen=200)  # (decision, its models)
        self.feedbacks = collections.deque(maxlen=50)
        jobs = [self.decide] * 3 + [self.grade] * 2 + [self.batch, self.revert, self.look, self.follow, self.leave_stream, self.chat, self.stream_chat, self.cut_chat,
                                                       self.experiment]
        self.threads = [threading.Thread(target=self.repeat, args=(job, i)) for i, job in enumerate(jobs)]
        for thread in self.threads:
            thread.start()

    def repeat(self, job, number):
        dice = random.Random(f"{self.seed} {number}")
        while not self.over.is_set():
            try:
                job(dice)
                self.done[job.__name__] += 1
            except Exception as problem:  # everything but the end of the server is a failure
                if not self.over.is_set():
                    self.failures.append(f"{job.__name__}: {problem!r}")
                    return

    def expect(self, answer, *statuses):
        # A draining server closes what is idle and refuses what is new.
        if answer.status not in statuses and not self.over.is_set():
            raise AssertionError((answer.status, answer.body[:500]))
        return answer

    def decide(self, dice):
        models = dice.sample("abcdef", dice.randint(1, 6))
        headers = {"Idempotency-Key": str(uuid.UUID(int=dice.getrandbits(128)))} if dice.random() < 0.3 else {}
        body = {"responses": [{"model": m, "answer": dice.choice("xyz"), "confidence": round(dice.random(), 3)} for m in models],
                "segment": dice.choice(["", "law"]), "task_id": "t" * dice.randint(1, 30)}
        made = self.expect(self.server.post("/v1/decide", body, headers=headers), 200).json
        self.latest.append((made["decision_id"], models))

    def grade(self, dice):
        if not self.latest:
            return time.sleep(0.01)
        decision, models = dice.choice(self.latest)
        said = dice.choice([{"correct_answer": "x"}, {"outcomes": {models[0]: 1}}, {"outcomes": {models[0]: 0}, "replace": True}])
        receipt = self.expect(self.server.post("/v1/feedback", {"decision_id": decision, **said}), 200, 409)
        if receipt.status == 200:
            self.feedbacks.append(receipt.json["feedback_id"])

    def batch(self, dice):
        known = [decision for decision, _ in list(self.latest)[-20:]] + [str(uuid.UUID(int=dice.getrandbits(128)))]
        lines = "".join(json.dumps({"decision_id": decision, "correct_answer": dice.choice("xy")}) + "\n" for decision in known)
        self.expect(self.server.ask("POST", "/v1/feedback/batch", raw=lines.encode(), headers={"Content-Type": "application/x-ndjson"}), 200)
        time.sleep(0.05)

    def revert(self, dice):
        time.sleep(0.2)
        if self.feedbacks:
            self.expect(self.server.post("/v1/feedback/revert", {"feedback_id": dice.choice(self.feedbacks)}), 200)

    def look(self, dice):
        self.expect(self.server.get(dice.choice(PAGES)), 200)
        if self.latest:
            self.expect(self.server.get("/v1/decisions/" + dice.choice(self.latest)[0]), 200)
        # Not while an outcome is being taken back.
        self.expect(self.server.get("/v1/pools/default/state"), 200, 503)

    def follow(self, dice):
        connection = self.server.fresh()
        connection.request("GET", "/v1/events")
        reply = connection.getresponse()
        for _ in range(dice.randint(1, 200)):
            if not reply.readline():
                break
        connection.close()

    def leave_stream(self, dice):
        connection = self.server.fresh()
        connection.request("GET", "/v1/events")
        time.sleep(dice.random() * 0.3)
        connection.close()

    def chat(self, dice):
        body = {"model": dice.choice(["margin/quiz", "a"]), "messages": QUESTION}
        # "flaky" breaks off again and again, so that a pool may be left with nobody to ask.
        self.expect(self.server.post("/v1/chat/completions", body), 200)

    def begin_stream(self):
        connection = self.server.fresh()
        body = json.dumps({"model": "margin/quiz", "messages": QUESTION, "stream": True})
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        return connection

    def stream_chat(self, dice):
        connection = self.begin_stream()
        reply = connection.getresponse()
        text = reply.read()
        if b"[DONE]" not in text and not self.over.is_set():
            raise AssertionError((reply.status, text[-500:]))
        connection.close()

    def cut_chat(self, dice):
        connection = self.begin_stream()
        time.sleep(dice.random() * 0.1)
        connection.close()

    def experiment(self, dice):
        rows = "".join(json.dumps({"task": str(t // 2), "model": "ab"[t % 2], "confidence": 0.9, "correct": dice.random() < 0.7, "answer": "x"}) + "\n"
                       for t in range(200))
        made = self.expect(self.server.ask("POST", "/v1/experiments?name=mine", raw=rows.encode(), headers={"Content-Type": "application/octet-stream"}), 202, 429)
        while made.status == 202 and not self.over.is_set():
            if self.server.get("/v1/experiments/" + made.json["id"]).json["status"] != "running":
                break
            time.sleep(0.1)
        time.sleep(0.5)

    def end(self):
        for thread in self.threads:
            thread.join(120)


class UnderLoad(GatewayTest):
    def settings(self, life, reload):
        upstreams = "".join(f'[upstreams.{name}]\nurl = "{self.upstream.url}/v1"\nmodel = "{model}"\n'
                            for name, model in (("a", "a"), ("slow", "slow!slow=0.05"), ("flaky", "flaky!reset")))
        return f"""[store]
durability = "{"disk" if life % 2 else "process"}"
snapshot_every = 200
[log]
level = "{"debug" if reload % 2 else "info"}"
format = "{"json" if reload % 2 else "pretty"}"
[trace]
endpoint = "{self.upstream.url}"
[limits]
responses = {100 + reload}
[pools.default]
max_error = {0.5 if reload % 2 else 0.6}
vote = "{"sum" if reload % 4 < 2 else "majority"}"
{upstreams}[pools.quiz]
models = ["a", "slow", "flaky"]
task = "choice"
calibrator = "margin"
"""

    def test_everything_at_once(self):
        totals = collections.Counter()
        for life in range(LIVES):
            server = self.serve(config=self.settings(life, 0))
            load = Load(server, f"{SEED} {life}")
            end = time.monotonic() + SECONDS / LIVES
            reload = 0
            while time.monotonic() < end and not load.failures:
                time.sleep(0.25)
                reload += 1
                server.config.write_text(self.settings(life, reload))
                server.process.send_signal(signal.SIGHUP)
                if reload % 4 == 0:
                    self.margin("state", "backup", "margin.db", f"backup-{life}-{reload}.db")
            load.over.set()
            code = server.stop()
            load.end()
            for report in REPORTS:
                self.assertFalse(report in server.journal, "\n" + server.journal[max(0, server.journal.find(report) - 200):][:12000])
            self.assertEqual(code, 0, server.journal[-3000:])
            self.assertNotIn("reload refused", server.journal)
            self.assertEqual(load.failures, [], server.journal[-3000:])
            totals += load.done
        server = self.serve(config=self.settings(0, 0))
        digests = server.digests()
        server.kill()
        report = self.margin("state", "verify", "margin.db", "--json")
        for pool, digest in digests.items():
            self.assertIn(digest, report, pool)
        print(dict(totals))
        for job in ("decide", "grade", "batch", "revert", "look", "follow", "leave_stream", "chat", "stream_chat", "cut_chat", "experiment"):
            self.assertGreater(totals[job], 0, job)


if __name__ == "__main__":
    main()
