"""Each limit, one past it: a clear answer that names the limit, and a server that goes on. At the limit itself everything works."""
import json
import socket
import time
import uuid

from harness import ServerTest, main


def asked(models, answer="x"):
    return {"responses": [{"model": f"m{i}", "answer": answer, "confidence": 0.5} for i in range(models)]}


class Limits(ServerTest):
    def limited(self, **limits):
        return self.serve(config="[limits]\n" + "".join(f"{name} = {value}\n" for name, value in limits.items()))

    def refused(self, answer, status, *words):
        self.assertEqual(answer.status, status, answer.body)
        for word in words:
            self.assertIn(word, answer.error["message"])

    def test_responses(self):
        server = self.limited(responses=4)
        self.assertEqual(server.post("/v1/decide", asked(4)).status, 200)
        self.refused(server.post("/v1/decide", asked(5)), 400, "responses", "at most 4")

    def test_answers(self):
        server = self.limited(answer_bytes=1000)
        self.assertEqual(server.post("/v1/decide", asked(1, "x" * 1000)).status, 200)
        self.refused(server.post("/v1/decide", asked(1, "x" * 1001)), 400, "answer", "at most 1000")

    def test_names(self):
        server = self.serve()
        for name, status in (("m" * 256, 200), ("m" * 257, 400), ("", 400), ("@pool", 400), ("a\u0007b", 400)):
            answer = server.post("/v1/decide", {"responses": [{"model": name, "answer": "x", "confidence": 0.5}]})
            self.assertEqual(answer.status, status, name)
        for name, status in (("p" * 64, 200), ("p" * 65, 400)):
            self.assertEqual(server.put("/v1/pools/" + name, {}).status, status)

    def test_names_of_channels_and_segments(self):
        server = self.serve()
        named = lambda channel, segment: server.post("/v1/decide", {"segment": segment, "responses": [{"model": "m", "answer": "x", "confidence": 0.5, "channel": channel}]})
        self.assertEqual(named("c" * 256, "s" * 256).status, 200)
        self.refused(named("c" * 257, ""), 400, "channel", "257", "1 to 256")
        self.refused(named("c", "s" * 257), 400, "segment", "257", "256")

    def test_times_that_are_noted(self):
        server = self.serve()
        made = server.post("/v1/decide", asked(1)).json["decision_id"]
        say = lambda text: server.post("/v1/feedback", {"decision_id": made, "outcome": 1, "observed_at": text})
        self.refused(say("x" + "é" * 32), 400, "observed_at", "65", "at most 64")
        self.assertEqual(say("é" * 32).json["status"], "applied")

    def test_names_of_tasks(self):
        server = self.serve()
        self.assertEqual(server.post("/v1/decide", {**asked(1), "task_id": "t" * 256}).status, 200)
        self.refused(server.post("/v1/decide", {**asked(1), "task_id": "t" * 257}), 400, "task_id", "257", "at most 256")
        chat = {"model": "margin/default", "messages": [{"role": "user", "content": "?"}], "margin": {"task_id": "t" * 257}}
        self.refused(server.post("/v1/chat/completions", chat), 400, "margin.task_id", "at most 256")

    def test_queries_and_bodies_that_nobody_reads(self):
        server = self.serve()
        for path, words in (("/v1/decisions?limit=5&foo=1", ("foo", "limit")), ("/v1/pools?x=1", ("x", "none")), ("/status?x", ("x", "digest")),
                            ("/v1/decisions?q=%zz", ("%zz", "hexadecimal")), ("/status?digest=yes", ("yes", "true or false")),
                            ("/v1/decisions?limit=1&limit=2", ("limit", "once")), ("/v1/events?pol=default", ("pol", "expected pool"))):
            self.refused(server.get(path), 400, *words)
        self.refused(server.post("/v1/decide?pool=law", asked(1)), 400, "pool", "none")
        for path in ("/health?probe=1", "/ready?t=%zz", "/metrics?target=a", "/v1/models?api-version=1", "/dashboard/?utm_source=mail"):
            self.assertEqual(server.get(path).status, 200, path)
        for method, path in (("GET", "/v1/pools"), ("POST", "/v1/pools/default/freeze"), ("DELETE", "/v1/pools/default/models/a")):
            self.refused(server.ask(method, path, raw=b"{}"), 400, "body", "2 bytes")
        self.assertFalse(server.get("/v1/pools/default").json["frozen"])

    def test_models_in_a_pool(self):
        server = self.limited(models=3)
        self.assertEqual(server.post("/v1/decide", asked(3)).status, 200)
        self.refused(server.post("/v1/decide", {"responses": [{"model": "new", "answer": "x", "confidence": 0.5}]}), 422, "3")

    def test_pools(self):
        server = self.limited(pools=3)
        self.assertEqual([server.put(f"/v1/pools/p{i}", {}).status for i in range(2)], [200, 200])
        self.refused(server.put("/v1/pools/one-more", {}), 422, "at most 3")
        self.assertEqual(server.put("/v1/pools/p0", {}).status, 200)

    def test_channels_and_segments(self):
        server = self.limited(cells=3)
        for i in range(3):
            self.assertEqual(server.post("/v1/decide", {**asked(1), "segment": f"s{i}"}).status, 200)
        self.refused(server.post("/v1/decide", {**asked(1), "segment": "one-more"}), 422, "3")
        self.assertEqual(server.post("/v1/decide", {**asked(1), "segment": "s0"}).status, 200)
        in_channel = lambda channel: {"pool": "other", "responses": [{"model": "m", "answer": "x", "confidence": 0.5, "channel": channel}]}
        self.assertEqual(server.put("/v1/pools/other", {}).status, 200)
        for i in range(3):
            self.assertEqual(server.post("/v1/decide", in_channel(f"c{i}")).status, 200)
        self.refused(server.post("/v1/decide", in_channel("one-more")), 422, "3")
        self.assertEqual(server.post("/v1/decide", in_channel("c0")).status, 200)

    def test_json_depth(self):
        server = self.limited(json_depth=5)
        self.assertIn("got a list", server.post("/v1/decide", raw=b"[" * 5 + b"]" * 5).error["message"], "read, and no object")
        self.refused(server.post("/v1/decide", raw=b"[" * 6 + b"]" * 6), 400, "at most 5")

    def test_bodies(self):
        server = self.limited(body_bytes=2000)
        body = json.dumps(asked(1)).encode()
        self.assertEqual(server.post("/v1/decide", raw=body + b" " * (2000 - len(body))).status, 200)
        self.refused(server.post("/v1/decide", raw=body + b" " * (2001 - len(body))), 413, "2000")
        with socket.create_connection((server.host, int(server.port)), timeout=30) as chunked:
            chunked.sendall(b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                for _ in range(100):
                    chunked.sendall(b"64\r\n" + b" " * 100 + b"\r\n")
            except OSError:
                pass
            self.assertIn(b" 413 ", chunked.recv(4096))
        self.assertEqual(server.get("/health").status, 200)

    def test_a_state_may_be_larger_than_other_bodies(self):
        server = self.limited(body_bytes=20_000)
        for i in range(30):
            self.assertEqual(server.post("/v1/decide", {**asked(60), "task_id": str(i)}).status, 200)
        state = server.get("/v1/pools/default/state").body
        self.assertGreater(len(state), 20_000)
        server.put("/v1/pools/copy", {})
        self.assertEqual(server.put("/v1/pools/copy/state", raw=state).status, 200)
        head = f"PUT /v1/pools/copy/state HTTP/1.1\r\nHost: localhost\r\nContent-Length: {(63 << 20) + 1}\r\n\r\n"
        with socket.create_connection((server.host, int(server.port)), timeout=30) as beyond:
            beyond.sendall(head.encode())
            self.assertIn(b" 413 ", beyond.recv(4096))
        self.assertEqual(server.put("/v1/pools/copy", raw=state).status, 413, "only states")

    def test_headers(self):
        server = self.limited(header_bytes=2000, headers=10)
        self.refused(server.get("/health", headers={"X-Long": "x" * 2000}), 431, "2000")
        self.refused(server.get("/health", headers={f"X-{i}": "x" for i in range(11)}), 431, "10")

        def status(*lines):
            with socket.create_connection((server.host, int(server.port)), timeout=30) as connection:
                connection.sendall(b"\r\n".join((b"GET /health HTTP/1.1", b"Host: localhost", *lines)) + b"\r\n\r\n")
                return int(connection.recv(4096).split()[1])

        # With the Host header 10 and 11; of the bytes, those of the last empty line count too.
        self.assertEqual([status(*(b"X-%d: x" % i for i in range(count))) for count in (9, 10)], [200, 431])
        bare = len(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: \r\n\r\n")
        found = {extra: status(b"X: " + b"x" * (2000 - bare + extra)) for extra in (-10, 0, 1, 10)}
        self.assertEqual(found, {-10: 200, 0: 200, 1: 431, 10: 431})

    def test_connections(self):
        server = self.limited(connections=5)
        held = []
        for _ in range(5):
            connection = server.fresh()
            connection.request("GET", "/health")
            connection.getresponse().read()
            held.append(connection)
        with socket.create_connection((server.host, int(server.port)), timeout=30) as beyond:
            beyond.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b" 503 ", beyond.recv(4096))
        for connection in held:
            connection.close()
        time.sleep(0.2)
        self.assertEqual(server.get("/health").status, 200)

    def test_slow_and_idle_clients(self):
        server = self.limited(read_ms=300, idle_ms=600)
        with socket.create_connection((server.host, int(server.port)), timeout=30) as slow:
            slow.sendall(b"GET /health HTTP/1.1\r\nHos")
            self.assertIn(b" 408 ", slow.recv(4096))
        with socket.create_connection((server.host, int(server.port)), timeout=30) as idle:
            self.assertEqual(idle.recv(4096), b"")

    def test_pending_decisions_make_room(self):
        server = self.limited(pending=10)
        first = server.post("/v1/decide", asked(1)).json["decision_id"]
        for _ in range(10):
            last = server.post("/v1/decide", asked(1)).json["decision_id"]
        self.assertEqual(server.get("/v1/pools/default").json["pending"], 10)
        self.assertEqual(server.post("/v1/feedback", {"decision_id": last, "outcome": 1}).json["status"], "applied")
        late = server.post("/v1/feedback", {"decision_id": first, "outcome": 1})
        self.assertIn(late.json["status"], ("expired", "pending_decision"))
        self.assertTrue(server.get("/v1/decisions/" + first).json["expired"])

    def test_early_feedback(self):
        server = self.limited(early=3)
        early = [server.post("/v1/feedback", {"decision_id": str(uuid.uuid4()), "outcome": 1}) for _ in range(4)]
        self.assertEqual([a.status for a in early[:3]], [200] * 3)
        self.refused(early[3], 422, "3")

    def test_idempotency_keys_are_counted_by_keys_across_a_restart(self):
        server = self.limited(idempotency_keys=100)
        keyed = lambda: server.post("/v1/decide", asked(1), headers={"Idempotency-Key": "one"}).json["decision_id"]
        made = keyed()
        for _ in range(150):
            server.post("/v1/decide", asked(1))
        server.stop()
        server = self.limited(idempotency_keys=100)
        self.assertEqual(keyed(), made)

    def test_idempotency_keys(self):
        server = self.limited(idempotency_keys=2)
        ids = [server.post("/v1/decide", asked(1), headers={"Idempotency-Key": f"k{i}"}).json["decision_id"] for i in (0, 1, 2)]
        again = [server.post("/v1/decide", asked(1), headers={"Idempotency-Key": f"k{i}"}).json["decision_id"] for i in (2, 1, 0)]
        self.assertEqual(again[:2], [ids[2], ids[1]])
        self.assertNotEqual(again[2], ids[0])
        self.assertEqual(server.post("/v1/decide", asked(1), headers={"Idempotency-Key": "k" * 255}).status, 200)
        self.refused(server.post("/v1/decide", asked(1), headers={"Idempotency-Key": "k" * 256}), 400, "255")

    def test_batches(self):
        server = self.limited(batch_lines=3)
        line = b'{"decision_id":"x"}\n'
        self.assertEqual(server.post("/v1/feedback/batch", raw=line * 3).status, 200)
        self.refused(server.post("/v1/feedback/batch", raw=line * 4), 413, "at most 3")

    def test_label_values(self):
        server = self.limited(label_values=3)
        for models, left_out in ((2, 0), (3, 1)):  # and @pool
            made = server.post("/v1/decide", asked(models)).json["decision_id"]
            server.post("/v1/feedback", {"decision_id": made, "correct_answer": "x"})
            text = server.get("/metrics").body.decode()
            self.assertEqual(text.count("margin_calibration_samples{"), 3)
            self.assertIn(f"margin_metrics_models_left_out {left_out}\n", text)

    def test_streams(self):
        server = self.limited(streams=2)
        held = []
        for status in (200, 200, 503):
            connection = server.fresh()
            connection.request("GET", "/v1/events")
            self.assertEqual(connection.getresponse().status, status)
            held.append(connection)
        text = server.get("/metrics").body.decode()
        for code, count in (200, 2), (503, 1):
            self.assertIn(f'margin_requests_total{{endpoint="/v1/events",code="{code}"}} {count}\n', text)
        for connection in held:
            connection.close()

    def test_a_stream_that_is_not_read_is_cut(self):
        server = self.limited(stream_buffer_bytes=20_000)
        stream = socket.create_connection((server.host, int(server.port)), timeout=30)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for i in range(30_000):
            server.post("/v1/decide", {**asked(1), "task_id": "t" * 200})
            if i % 200 == 0 and "margin_slow_readers_total 1" in server.get("/metrics").body.decode():
                break
        else:
            self.fail("the client that does not read is still served")
        stream.close()


if __name__ == "__main__":
    main()
