"""Who may do what: keys, scopes, tenants, rates; and that without keys only this machine's own programs are served."""
import json
import pathlib
import re
import signal
import socket
import time
import uuid

from harness import ServerTest, main

ASKED = {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}, {"model": "b", "answer": "y", "confidence": 0.6}]}


class Keys(ServerTest):
    def key(self, *flags):
        return json.loads(self.margin("keys", "create", "--store", "margin.db", "--json", *flags))["key"]

    def test_scopes_are_enforced_per_route(self):
        keys = {scope: self.key("--name", scope, "--scope", scope) for scope in ("infer", "decide", "feedback", "read", "admin")}
        server = self.serve()
        made = server.post("/v1/decide", ASKED, key=keys["decide"])
        self.assertEqual(made.status, 200)
        routes = {
            ("POST", "/v1/decide"): "decide",
            ("POST", "/v1/feedback"): "feedback",
            ("POST", "/v1/feedback/batch"): "feedback",
            ("POST", "/v1/feedback/revert"): "admin",
            ("GET", "/v1/pools"): "read",
            ("PUT", "/v1/pools/x"): "admin",
            ("GET", "/v1/pools/default/state"): "admin",
            ("GET", "/v1/decisions/" + made.json["decision_id"]): "read",
            ("GET", "/metrics"): "read",
            ("GET", "/status"): "read",
        }
        for (method, path), needed in routes.items():
            for scope, key in keys.items():
                answer = server.ask(method, path, raw=b"{}" if method != "GET" else None, key=key)
                if scope == needed:
                    self.assertNotIn(answer.status, (401, 403), (method, path, scope))
                else:
                    self.assertEqual((answer.status, answer.error["type"]), (403, "permission_error"), (method, path, scope))
        for path in ("/health", "/ready", "/openapi.json"):
            self.assertEqual(server.get(path).status, 200)

    def test_every_route_asks_for_the_scope_it_is_described_with(self):
        scopes = ("infer", "decide", "feedback", "read", "admin")
        keys = {scope: self.key("--name", scope, "--scope", scope) for scope in scopes}
        others = {scope: self.key("--name", "not-" + scope, "--scope", ",".join(s for s in scopes if s != scope)) for scope in scopes}
        server = self.serve()
        paths = server.get("/openapi.json").json["paths"]
        tried = 0
        for pattern, operations in paths.items():
            path = re.sub(r"{\w+}", "x", pattern)
            for method, operation in operations.items():
                needed = [scope for security in operation.get("security", []) for scope in security.get("key", [])]
                if not needed or pattern == "/v1/events":  # a stream does not end
                    continue
                raw = None if method == "get" else b"{}"
                self.assertEqual(server.ask(method.upper(), path, raw=raw).status, 401, pattern)
                self.assertEqual(server.ask(method.upper(), path, raw=raw, key=others[needed[0]]).status, 403, pattern)
                self.assertNotIn(server.ask(method.upper(), path, raw=raw, key=keys[needed[0]]).status, (401, 403), pattern)
                tried += 1
        self.assertGreater(tried, 30)

    def test_an_id_that_another_tenant_uses_too_stays_ones_own(self):
        first, second = (self.key("--name", tenant, "--scope", "decide,feedback", "--tenant", tenant) for tenant in ("aaa", "bbb"))
        server = self.serve()
        made = str(uuid.uuid4())
        for key in (first, second):
            self.assertEqual(server.post("/v1/decide", {**ASKED, "decision_id": made}, key=key).status, 200)
        for key in (second, first):
            self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcome": 1}, key=key).json["status"], "applied")

    def test_an_id_that_a_tenant_uses_too_means_ones_own_for_keys_of_no_tenant(self):
        own = self.key("--name", "own", "--scope", "decide,feedback,read,admin")
        tenant = self.key("--name", "acme", "--scope", "decide,feedback,read", "--tenant", "acme")
        server = self.serve()
        made = str(uuid.uuid4())
        for key in (tenant, own):
            self.assertEqual(server.post("/v1/decide", {**ASKED, "decision_id": made}, key=key).status, 200)
        outcomes = lambda key: server.get("/v1/decisions/" + made, key=key).json["outcomes"]
        self.assertEqual(server.get("/v1/decisions/" + made, key=own).json["pool"], "default")
        given = server.post("/v1/feedback", {"decision_id": made, "outcome": 1}, key=own).json
        self.assertEqual(given["status"], "applied")
        self.assertEqual((len(outcomes(own)), len(outcomes(tenant))), (1, 0))
        self.assertEqual(server.post("/v1/feedback/revert", {"feedback_id": given["feedback_id"]}, key=own).json["status"], "applied")
        self.assertEqual(len(outcomes(own)), 0)
        self.assertEqual(server.delete(f"/v1/decisions/{made}/texts", key=own).status, 200)
        self.assertEqual([server.get("/v1/decisions/" + made, key=key).json["answer"] for key in (own, tenant)], [None, "x"])
        # The tenant's own is reached by its pool's name, and one that only a tenant has without.
        named = {"decision_id": made, "outcome": 1, "pool": "acme/default"}
        self.assertEqual(server.post("/v1/feedback", named, key=own).json["status"], "applied")
        self.assertEqual(len(outcomes(tenant)), 1)
        theirs = server.post("/v1/decide", ASKED, key=tenant).json["decision_id"]
        self.assertEqual(server.get("/v1/decisions/" + theirs, key=own).json["pool"], "acme/default")
        self.assertEqual(server.post("/v1/feedback", {"decision_id": theirs, "outcome": 1}, key=own).json["status"], "applied")

    def test_a_tenants_decision_does_not_take_what_is_said_of_ones_own_that_is_forgotten(self):
        own = self.key("--name", "own", "--scope", "decide,feedback")
        tenant = self.key("--name", "acme", "--scope", "decide,read", "--tenant", "acme")
        server = self.serve(config="[limits]\npending = 1\n")
        made = str(uuid.uuid4())
        for key, more in ((own, {"decision_id": made}), (own, {}), (tenant, {"decision_id": made})):
            self.assertEqual(server.post("/v1/decide", {**ASKED, **more}, key=key).status, 200)
        self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcome": 1}, key=own).json["status"], "expired")
        self.assertEqual(server.get("/v1/decisions/" + made, key=tenant).json["outcomes"], [])

    def test_what_is_said_of_a_tenants_decision_to_come_waits_with_what_the_tenant_says(self):
        own = self.key("--name", "own", "--scope", "decide,feedback,read")
        tenant = self.key("--name", "acme", "--scope", "decide,feedback,read", "--tenant", "acme")
        server = self.serve()
        server.post("/v1/decide", ASKED, key=tenant)
        to_come, theirs = str(uuid.uuid4()), {"pool": "acme/default"}
        say = lambda key, decision, outcome, **more: server.post("/v1/feedback", {"decision_id": decision, "outcome": outcome, **more}, key=key)
        # The same id in the pools of no tenant is another decision.
        self.assertEqual(say(own, to_come, 1).json["status"], "pending_decision")
        self.assertEqual(say(own, to_come, 0, **theirs).json["status"], "pending_decision")
        server.post("/v1/decide", {**ASKED, "decision_id": to_come}, key=tenant)
        self.assertEqual([o["outcome"] for o in server.get("/v1/decisions/" + to_come, key=tenant).json["outcomes"]], [0])
        # At once, over two connections: one of them comes second.
        for _ in range(10):
            made, requests = str(uuid.uuid4()), []
            for key, body in ((own, {"outcome": 0, **theirs}), (tenant, {"outcome": 1})):
                body = json.dumps({"decision_id": made, **body})
                head = f"POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n"
                requests.append((socket.create_connection((server.host, int(server.port)), timeout=60), f"{head}Content-Length: {len(body)}\r\n\r\n{body}"))
            for connection, request in requests:
                connection.sendall(request.encode())
            statuses = []
            for connection, _ in requests:
                with connection, connection.makefile("rb") as reply:
                    statuses.append(int(reply.read().split()[1]))
            self.assertEqual(sorted(statuses), [200, 409])

    def test_an_idempotency_key_is_the_api_keys_own(self):
        light, heavy = (self.key("--name", name, "--scope", "decide,feedback", "--weight", weight) for name, weight in (("light", "0"), ("heavy", "1")))
        server = self.serve()
        keyed = {"Idempotency-Key": "k"}
        made = [server.post("/v1/decide", ASKED, headers=keyed, key=key).json["decision_id"] for key in (light, heavy, light)]
        self.assertEqual(made[0], made[2])
        self.assertNotEqual(made[0], made[1])
        body = {"decision_id": made[0], "outcome": 1}
        feedback = {"Idempotency-Key": "f"}
        say = lambda key: server.post("/v1/feedback", body, headers=feedback, key=key).json
        self.assertEqual((say(light)["status"], say(light)["status"]), ("applied", "duplicate"))
        first = say(heavy)
        self.assertEqual((first["status"], first["updated"]), ("applied", ["a"]))
        self.assertEqual(say(heavy), {"feedback_id": first["feedback_id"], "status": "duplicate", "updated": []})
        batch = json.dumps({"decision_id": made[1], "outcome": 1}).encode()
        lines = [server.post("/v1/feedback/batch", raw=batch, headers={"Idempotency-Key": "b"}, key=key).json["updated"] for key in (light, heavy)]
        self.assertEqual(lines, [[], ["a"]])
        server.kill()
        server = self.serve()
        self.assertEqual(say(heavy)["status"], "duplicate")
        self.assertEqual(server.post("/v1/decide", ASKED, headers=keyed, key=heavy).json["decision_id"], made[1])

    def test_a_request_from_before_idempotency_keys_had_owners_is_recognised_by_its_source(self):
        # What a server without keys writes is what all keys wrote then; its source is "local", as that of a key of this name was.
        server = self.serve()
        keyed = {"Idempotency-Key": "k"}
        made = server.post("/v1/decide", ASKED, headers=keyed).json["decision_id"]
        body = {"decision_id": made, "outcome": 1}
        say = lambda **key: server.post("/v1/feedback", body, headers={"Idempotency-Key": "f"}, **key).json
        first = say()
        server.stop()
        own, other = (self.key("--name", name, "--scope", "decide,feedback") for name in ("local", "other"))
        server = self.serve()
        decide = lambda key, **more: server.post("/v1/decide", {**ASKED, **more}, headers=keyed, key=key)
        self.assertEqual(decide(own).json["decision_id"], made)
        self.assertEqual(decide(own, task_id="another").status, 422)
        self.assertNotEqual(decide(other).json["decision_id"], made)
        self.assertEqual(decide(other, task_id="another").status, 422, "its own by now")
        self.assertEqual(say(key=own), {"feedback_id": first["feedback_id"], "status": "duplicate", "updated": []})

    def test_nobody_without_a_valid_key_teaches(self):
        key = self.key("--name", "app", "--scope", "decide,feedback")
        server = self.serve()
        made = server.post("/v1/decide", ASKED, key=key).json["decision_id"]
        body = {"decision_id": made, "correct_answer": "x"}
        wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
        for bad in (None, "nonsense", wrong, "sk-mg-" + "x" * 12 + "-" + "y" * 48):
            answer = server.post("/v1/feedback", body, key=bad)
            self.assertEqual((answer.status, answer.error["type"]), (401, "authentication_error"))
            self.assertEqual(answer.headers["WWW-Authenticate"], "Bearer")
        self.assertEqual(server.post("/v1/feedback", body, headers={"Authorization": "Basic " + key}).status, 401)
        self.assertEqual(server.post("/v1/feedback", body, headers={"Authorization": "bearer " + key}).json["status"], "applied", "in any case")
        self.assertEqual(server.post("/v1/feedback", body, key=key).json["status"], "duplicate")
        self.assertNotIn(key, server.journal)

    def test_two_keys_in_one_request_are_refused(self):
        reads, decides = (self.key("--name", scope, "--scope", scope) for scope in ("read", "decide"))
        server = self.serve()
        for first, second in ((reads, decides), (decides, reads), ("x", reads)):
            with socket.create_connection((server.host, int(server.port)), timeout=30) as connection:
                lines = (f"Authorization: Bearer {key}\r\n" for key in (first, second))
                connection.sendall(("GET /v1/pools HTTP/1.1\r\nHost: localhost\r\n" + "".join(lines) + "\r\n").encode())
                self.assertIn(b" 400 ", connection.recv(4096).split(b"\r\n")[0])

    def test_a_revoked_key_is_refused_after_a_reload(self):
        key = self.key("--name", "app", "--scope", "read")
        self.key("--name", "other", "--scope", "read")
        server = self.serve()
        self.assertEqual(server.get("/v1/pools", key=key).status, 200)
        self.margin("keys", "revoke", "--store", "margin.db", key.split("-")[2])
        server.process.send_signal(1)
        server.wait_for("reloaded")
        self.assertEqual(server.get("/v1/pools", key=key).status, 401)

    def revoke(self, server, key):
        said = server.journal.count("reloaded")
        self.margin("keys", "revoke", "--store", "margin.db", key.split("-")[2])
        server.process.send_signal(1)
        end = time.monotonic() + 30
        while server.journal.count("reloaded") == said and time.monotonic() < end:
            time.sleep(0.01)

    def test_revoking_the_last_key_opens_nothing(self):
        key = self.key("--name", "app", "--scope", "read,admin")
        server = self.serve()
        self.revoke(server, key)
        for method, path in (("GET", "/v1/pools"), ("PUT", "/v1/pools/x"), ("POST", "/v1/decide")):
            for sent in (key, None):
                self.assertEqual(server.ask(method, path, raw=None if method == "GET" else b"{}", key=sent).status, 401, path)
        self.assertIn("no valid key is left", server.journal)
        server.stop()
        server = self.serve()
        self.assertEqual(server.get("/v1/pools").status, 401)
        self.assertEqual(server.journal.count("no valid key is left"), 2, "at the start, too")
        self.margin("serve", "--listen", "0.0.0.0:0", "--store", "margin.db", code=2)

    def test_a_file_of_keys_that_lost_them_opens_nothing(self):
        self.key("--name", "root", "--scope", "admin,read")
        server = self.serve()
        pathlib.Path(self.folder, "margin.db.keys").write_text("\n")
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 30
        while "is damaged: it holds no key" not in server.journal:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        self.assertIn("the old keys stay", server.journal)
        self.assertEqual(server.get("/v1/config").status, 401)
        server.stop()
        for command in (("serve", "--listen", "127.0.0.1:0"), ("config", "check")):
            self.margin(*command, *(("--store", "margin.db") if command[0] == "serve" else ()), code=2)
        self.margin("keys", "list", "--store", "margin.db", code=1)

    def test_the_last_key_is_taken_away_on_any_address(self):
        key = self.key("--name", "app", "--scope", "read")
        server = self.serve(listen="0.0.0.0:0")
        self.assertEqual(server.get("/v1/pools", key=key).status, 200)
        self.revoke(server, key)
        self.assertEqual(server.get("/v1/pools", key=key).status, 401)

    def test_a_reload_ends_the_streams_of_keys_that_are_gone(self):
        gone, stays = (self.key("--name", name, "--scope", "read") for name in ("gone", "stays"))
        decides = self.key("--name", "app", "--scope", "decide")
        server = self.serve()
        streams = {}
        for name, key in (("gone", gone), ("stays", stays)):
            connection = server.fresh()
            connection.request("GET", "/v1/events", headers={"Authorization": "Bearer " + key})
            connection.sock.settimeout(10)  # less than between two signs of life
            streams[name] = connection.getresponse()
            self.addCleanup(connection.close)
            self.assertEqual(streams[name].readline(), b"retry: 1000\n")
        self.revoke(server, gone)
        server.post("/v1/decide", ASKED, key=decides)
        self.assertEqual(streams["gone"].read(), b"\n", "nothing of what came later")
        self.assertEqual(streams["stays"].readline(), b"\n")
        self.assertEqual(streams["stays"].readline(), b"event: decision\n")

    def test_the_first_key_ends_the_streams_of_those_who_have_none(self):
        server = self.serve()
        connection = server.fresh()
        connection.request("GET", "/v1/events")
        connection.sock.settimeout(10)
        stream = connection.getresponse()
        self.addCleanup(connection.close)
        self.key("--name", "app", "--scope", "read")
        server.process.send_signal(1)
        self.assertEqual(stream.read(), b"retry: 1000\n\n")

    def test_tenants_do_not_see_each_other(self):
        keys = {t: self.key("--name", t, "--scope", "decide,feedback,read,admin", "--tenant", t) for t in ("acme", "bolt")}
        server = self.serve()
        made = server.post("/v1/decide", ASKED, key=keys["acme"]).json["decision_id"]
        self.assertEqual(server.get("/v1/decisions/" + made, key=keys["acme"]).status, 200)
        self.assertEqual(server.get("/v1/decisions/" + made, key=keys["bolt"]).status, 404)
        stolen = server.post("/v1/feedback", {"decision_id": made, "correct_answer": "x"}, key=keys["bolt"])
        self.assertEqual(stolen.status, 404)
        server.put("/v1/pools/law", {}, key=keys["acme"])
        names = {t: [p["pool"] for p in server.get("/v1/pools", key=k).json["pools"]] for t, k in keys.items()}
        self.assertEqual(names["acme"], ["default", "law"])
        self.assertNotIn("law", names["bolt"])
        self.assertEqual(server.get("/v1/pools/law", key=keys["bolt"]).status, 404)
        self.assertEqual(server.get("/v1/pools/acme%2Flaw", key=keys["bolt"]).status, 400)

    def test_who_is_of_no_tenant_names_the_pools_of_all(self):
        own = self.key("--name", "own", "--scope", "decide,feedback,read,admin")
        acme, bolt = (self.key("--name", tenant, "--scope", "decide,feedback,read,admin", "--tenant", tenant) for tenant in ("acme", "bolt"))
        server = self.serve()
        made = server.post("/v1/decide", ASKED, key=acme).json["decision_id"]
        listed = [p["pool"] for p in server.get("/v1/pools", key=own).json["pools"]]
        self.assertEqual(listed, ["acme/default", "default"])
        for part in ("", "/factors", "/calibration", "/alarms", "/activity", "/heat", "/models", "/pairs", "/queue", "/state", "/history?band=0"):
            self.assertEqual(server.get("/v1/pools/acme%2Fdefault" + part, key=own).status, 200, part)
            self.assertEqual(server.get("/v1/pools/acme%2Fdefault" + part, key=bolt).status, 400, part)
        self.assertEqual(server.get("/v1/pools/acme%2Fdefault", key=own).json["pool"], "acme/default")
        found = server.get("/v1/decisions?pool=acme/default", key=own).json["decisions"]
        self.assertEqual([(d["decision_id"], d["pool"]) for d in found], [(made, "acme/default")])
        said = server.post("/v1/feedback", {"decision_id": made, "outcome": 1, "pool": "acme/default"}, key=own).json["feedback_id"]
        reverted = server.post("/v1/feedback/revert", {"feedback_id": said, "pool": "acme/default"}, key=own)
        self.assertEqual((reverted.status, reverted.json["reverted"]), (200, [said]))
        self.assertTrue(server.post("/v1/pools/acme%2Fdefault/freeze", key=own).json["frozen"])
        self.assertEqual(server.put("/v1/pools/acme%2Flaw", {}, key=own).json["pool"], "acme/law")
        self.assertEqual([p["pool"] for p in server.get("/v1/pools", key=acme).json["pools"]], ["default", "law"])
        for name in ("acme%2Fa%2Fb", "%2Flaw", "acme%2F", "ACME%2Flaw", "t" * 33 + "%2Flaw", "acme%2F" + "p" * 65):
            self.assertEqual(server.put("/v1/pools/" + name, {}, key=own).status, 400, name)
        self.assertEqual(server.get("/v1/pools/nobody%2Flaw", key=own).status, 404)

    def test_reading_the_default_pool_of_a_tenant_makes_nothing(self):
        key = self.key("--name", "k", "--scope", "read,admin,decide", "--tenant", "acme")
        everybody = self.key("--name", "all", "--scope", "read")
        server = self.serve(config="[limits]\npools = 2\n[pools.default]\naudit_rate = 0.5\n")
        listed = server.get("/v1/pools", key=key).json["pools"]
        self.assertEqual([(p["pool"], p["offset"], p["audit_rate"]) for p in listed], [("default", 0, 0.5)])
        self.assertEqual(server.get("/v1/pools/default", key=key).json["status"], "cold")
        for part in ("factors", "calibration", "alarms", "activity", "heat", "models", "pairs", "queue", "state", "history?band=0"):
            self.assertEqual(server.get("/v1/pools/default/" + part, key=key).status, 200, part)
        self.assertEqual(server.get("/v1/decisions", key=key).json["decisions"], [])
        self.assertEqual([p["pool"] for p in server.get("/v1/pools", key=everybody).json["pools"]], ["default"], "none was made")
        self.assertEqual(server.post("/v1/decide", ASKED, key=key).status, 200)
        self.assertEqual(server.get("/v1/pools", key=key).json["pools"][0]["offset"], 2)
        self.assertEqual([p["pool"] for p in server.get("/v1/pools", key=everybody).json["pools"]], ["acme/default", "default"])

    def test_one_pool_too_many_is_a_limit_on_every_route(self):
        key = self.key("--name", "k", "--scope", "decide,feedback,read,admin", "--tenant", "acme")
        server = self.serve(config="[limits]\npools = 1\n")
        for answer in (server.post("/v1/decide", ASKED, key=key), server.put("/v1/pools/default", {}, key=key),
                       server.post("/v1/feedback", {"decision_id": str(uuid.uuid4()), "outcome": 1}, key=key)):
            self.assertEqual((answer.status, answer.error["code"]), (422, "limit_exceeded"))
            self.assertIn("at most 1", answer.error["message"])
            self.assertNotIn("Retry-After", answer.headers, "it does not help to wait")

    def test_the_bound_of_the_default_pool_holds_for_tenants(self):
        key = self.key("--name", "k", "--scope", "decide,admin", "--tenant", "acme")
        server = self.serve(config="[pools.default]\nmax_error = 0.001\naudit_rate = 1.0\n")
        made = server.post("/v1/decide", ASKED, key=key).json
        self.assertEqual((made["max_error"], made["abstained"], made["grade_please"]), (0.001, True, ["b"]))
        server.put("/v1/pools/mine", {}, key=key)
        self.assertFalse(server.post("/v1/decide", {**ASKED, "pool": "mine"}, key=key).json["abstained"])

    def test_the_file_says_when_the_default_pools_of_tenants_abstain(self):
        key = self.key("--name", "k", "--scope", "decide,read,admin", "--tenant", "acme")
        error = lambda: server.get("/v1/pools/default", key=key).json["max_error"]
        put = lambda **settings: server.put("/v1/pools/default", settings, key=key)
        server = self.serve()
        self.assertEqual(put(max_error=0.5).json["max_error"], 0.5, "the tenant's own, where the file says nothing")
        server.stop()
        server = self.serve(config="[pools.default]\nmax_error = 0.001\n")
        self.assertEqual(error(), 0.001)
        self.assertTrue(server.post("/v1/decide", ASKED, key=key).json["abstained"])
        refused = put(max_error=0.25)
        self.assertEqual((refused.status, refused.error["code"], refused.error["param"]), (409, "conflict", "max_error"))
        self.assertIn("[pools.default]", refused.error["message"])
        self.assertEqual((put(audit_rate=0.5).status, error()), (200, 0.001))
        server.config.write_text("[pools.default]\nmax_error = 0.002\n")
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 30
        while error() != 0.002 and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual((error(), server.get("/v1/pools/default", key=key).json["audit_rate"]), (0.002, 0.5), "the rest is the tenant's")

    def test_figures_of_other_tenants_are_not_shown(self):
        one, two, all_ = (self.key("--name", "k" + t, "--scope", "decide,read", *(("--tenant", t) if t else ())) for t in ("one", "two", ""))
        server = self.serve()
        server.post("/v1/decide", {"responses": [{"model": "secret-model", "answer": "x", "confidence": 0.9}]}, key=one)
        figures = lambda key: server.get("/metrics", key=key).body.decode()
        self.assertIn('margin_decisions_total{pool="default",status="cold"} 1\n', figures(one))
        self.assertIn('margin_decisions_total{pool="one/default",status="cold"} 1\n', figures(all_))
        self.assertNotIn("pool=", figures(two))
        self.assertIn("process_open_fds ", figures(two))

    def test_only_who_may_import_a_state_may_send_a_large_one(self):
        admin, reader = (self.key("--name", scope, "--scope", scope) for scope in ("admin", "read"))
        server = self.serve(config="[limits]\nbody_bytes = 2000\n")
        for key, status in ((admin, 400), (reader, 413), (None, 413)):
            self.assertEqual(server.put("/v1/pools/default/state", raw=b"x" * 2001, key=key).status, status)

    def test_provenance_comes_from_the_key(self):
        key = self.key("--name", "grader-7", "--scope", "decide,feedback,read,admin")
        server = self.serve()
        made = server.post("/v1/decide", ASKED, key=key).json["decision_id"]
        self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcome": 1, "source": "me"}, key=key).status, 400)
        receipt = server.post("/v1/feedback", {"decision_id": made, "outcome": 1}, key=key).json
        reverted = server.post("/v1/feedback/revert", {"source": "grader-7"}, key=key).json["reverted"]
        self.assertEqual(reverted, [receipt["feedback_id"]])

    def test_keys_of_one_name_are_different_sources(self):
        first, second = (self.key("--name", "twin", "--scope", "decide,feedback,read") for _ in range(2))
        admin = self.key("--name", "chief", "--scope", "admin")
        server = self.serve()
        made = [server.post("/v1/decide", ASKED, key=first).json["decision_id"] for _ in range(2)]
        said = [server.post("/v1/feedback", {"decision_id": one, "outcome": 1}, key=key).json["feedback_id"] for one, key in zip(made, (first, second))]
        refused = server.post("/v1/feedback", {"decision_id": made[0], "outcome": 0, "replace": True}, key=second)
        self.assertEqual(refused.status, 403, "another key's, although of the same name")
        by_name = server.post("/v1/feedback/revert", {"source": "twin"}, key=admin)
        self.assertEqual((by_name.status, by_name.error["param"]), (422, "source"))
        self.assertIn(first.split("-")[2], by_name.error["message"])
        reverted = server.post("/v1/feedback/revert", {"source": second.split("-")[2]}, key=admin).json["reverted"]
        self.assertEqual(reverted, [said[1]])

    def test_what_was_said_is_taken_back_in_all_pools_of_the_tenant(self):
        keys = {t: self.key("--name", "app-" + t, "--scope", "decide,feedback,read,admin", "--tenant", t) for t in ("acme", "bolt")}
        server = self.serve()
        said = {}
        for tenant, key in keys.items():
            server.put("/v1/pools/law", {}, key=key)
            for pool in ("default", "law"):
                made = server.post("/v1/decide", {**ASKED, "pool": pool}, key=key).json["decision_id"]
                said[tenant, pool] = server.post("/v1/feedback", {"decision_id": made, "outcome": 1}, key=key).json["feedback_id"]
        revert = lambda key, **body: server.post("/v1/feedback/revert", body, key=key)
        self.assertEqual(revert(keys["bolt"], feedback_id=said["acme", "law"]).status, 404)
        self.assertEqual(revert(keys["acme"], feedback_id=said["acme", "law"]).json["reverted"], [said["acme", "law"]], "without its pool")
        self.assertEqual(revert(keys["bolt"], source="app-acme").status, 404)
        self.assertEqual(revert(keys["bolt"], source="app-bolt", pool="law").json["reverted"], [said["bolt", "law"]])
        self.assertEqual(revert(keys["bolt"], source=keys["bolt"].split("-")[2]).json["reverted"], [said["bolt", "default"]])
        again = revert(keys["bolt"], source="app-bolt").json
        self.assertEqual((again["status"], again["reverted"]), ("duplicate", []))

    def test_feedback_without_weight_does_not_keep_out_what_counts(self):
        key = self.key("--name", "app", "--scope", "decide,feedback,read")
        reader = self.key("--name", "reader", "--scope", "feedback", "--weight", "0")
        server = self.serve()
        for early in (False, True):
            made = str(uuid.uuid4()) if early else server.post("/v1/decide", ASKED, key=key).json["decision_id"]
            say = lambda key, outcome: server.post("/v1/feedback", {"decision_id": made, "outcome": outcome}, key=key)
            first = say(reader, 0).json
            self.assertEqual((say(reader, 0).json["status"], say(reader, 0).json["feedback_id"]), ("duplicate", first["feedback_id"]))
            lines = "\n".join(json.dumps({"decision_id": made, "outcome": i / 2000}) for i in range(1, 1100)).encode()
            answer = server.post("/v1/feedback/batch", raw=lines, headers={"Content-Type": "application/x-ndjson"}, key=reader)
            codes = [json.loads(line)["code"] for line in answer.body.splitlines()]
            self.assertEqual(sorted(set(codes)), [200, 422])
            self.assertEqual(codes.count(200), 3, "beside the first")
            self.assertEqual(say(key, 1).json["status"], "pending_decision" if early else "applied")

    def test_keys_without_weight_take_half_of_the_places_of_a_decision_together(self):
        key = self.key("--name", "app", "--scope", "decide,feedback")
        readers = [self.key("--name", f"reader {i}", "--scope", "feedback", "--weight", "0") for i in range(129)]
        server = self.serve()
        made = server.post("/v1/decide", ASKED, key=key).json["decision_id"]
        lines = "\n".join(json.dumps({"decision_id": made, "outcome": i / 4}) for i in range(4)).encode()
        say = lambda key: [json.loads(line) for line in server.post("/v1/feedback/batch", raw=lines, key=key).body.splitlines()]
        codes = [one["code"] for reader in readers[:128] for one in say(reader)]
        self.assertEqual(codes, [200] * 512)
        beyond = say(readers[128])
        self.assertEqual([(one["code"], one["error"]["code"]) for one in beyond], [(422, "limit_exceeded")] * 4)
        self.assertIn("512 times in all", beyond[0]["error"]["message"])
        self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcome": 1}, key=key).json["status"], "applied")

    def test_no_key_takes_all_places_of_a_decision(self):
        key, greedy = (self.key("--name", name, "--scope", "decide,feedback,read") for name in ("app", "greedy"))
        server = self.serve(config="[pools.default]\nsource_share_max = 0.5\n")
        decide = lambda: server.post("/v1/decide", ASKED, key=key).json["decision_id"]
        say = lambda key, made, **what: server.post("/v1/feedback", {"decision_id": made, **what}, key=key)

        def flood(made, statements):
            lines = "\n".join(json.dumps({"decision_id": made, **statement}) for statement in statements).encode()
            answer = server.post("/v1/feedback/batch", raw=lines, headers={"Content-Type": "application/x-ndjson"}, key=greedy)
            answers = [json.loads(line) for line in answer.body.splitlines()]
            refused = [a["error"] for a in answers if a["code"] != 200]
            self.assertEqual({(e["code"], e["param"]) for e in refused}, {("limit_exceeded", "outcome")}, "and nothing else")
            return len(answers) - len(refused)

        while "capped" not in say(greedy, decide(), outcome=1).json:
            pass
        made = decide()
        first = say(greedy, made, outcome=1).json
        self.assertEqual((first["updated"], first["capped"]), ([], ["a"]))
        again = say(greedy, made, outcome=1).json
        self.assertEqual((again["status"], again["feedback_id"]), ("duplicate", first["feedback_id"]))
        self.assertEqual(flood(made, ({"outcome": i / 2000} for i in range(1100))), 3, "beside the first")
        self.assertEqual(say(greedy, made, outcomes={"b": 1}).json["updated"], ["b"], "of whom it has not said its share")
        self.assertEqual(say(key, made, outcome=1).json["updated"], ["a"])

        made = decide()
        self.assertEqual(say(greedy, made, outcomes={"b": 1}).json["updated"], ["b"])
        self.assertEqual(flood(made, ({"outcomes": {"b": i / 400}, "replace": True} for i in range(300))), 256)
        self.assertEqual(say(key, made, outcome=1).json["updated"], ["a"])

        early = str(uuid.uuid4())
        self.assertEqual(flood(early, ({"outcomes": {f"m{i}": 1}} for i in range(1100))), 256)
        self.assertEqual(say(key, early, outcome=1).json["status"], "pending_decision")

    def test_a_key_without_weight_is_heard_and_teaches_nothing(self):
        key = self.key("--name", "app", "--scope", "decide,feedback,read")
        reader = self.key("--name", "reader", "--scope", "feedback", "--weight", "0")
        server = self.serve()
        made = server.post("/v1/decide", ASKED, key=key).json["decision_id"]
        opinion = server.post("/v1/feedback", {"decision_id": made, "outcome": 0}, key=reader)
        self.assertEqual((opinion.status, opinion.json["updated"]), (200, []), opinion.body)
        self.assertEqual(server.get("/v1/decisions/" + made, key=key).json["outcomes"], [])
        self.assertEqual(server.post("/v1/feedback", {"decision_id": made, "outcome": 1}, key=key).json["status"], "applied")

    def test_a_rate_is_kept(self):
        key = self.key("--name", "slow", "--scope", "read", "--rate", "5")
        server = self.serve()
        statuses = [server.get("/v1/pools", key=key) for _ in range(12)]
        refused = [a for a in statuses if a.status == 429]
        self.assertEqual([a.status for a in statuses[:5]], [200] * 5)
        self.assertTrue(refused)
        self.assertEqual(refused[0].error["type"], "rate_limit_error")
        self.assertIn("Retry-After", refused[0].headers)

    def test_whoever_waits_as_told_in_seconds_waits_long_enough(self):
        key = self.key("--name", "slow", "--scope", "read", "--rate", "0.05")
        server = self.serve()
        refused = [a for a in (server.get("/v1/pools", key=key) for _ in range(3)) if a.status == 429]
        self.assertTrue(refused)
        for answer in refused:
            wait = int(answer.headers["retry-after-ms"])
            self.assertGreater(wait, 15_000)
            self.assertEqual(int(answer.headers["Retry-After"]), -(-wait // 1000))

    def test_without_keys_only_this_machine_may_be_bound(self):
        self.margin("serve", "--listen", "0.0.0.0:0", "--store", "x.db", code=2)
        self.key("--name", "app", "--scope", "read")
        server = self.serve(listen="0.0.0.0:0")
        self.assertEqual(server.process.poll(), None)

    def test_every_loopback_address_is_this_machine(self):
        server = self.serve(listen="127.0.0.2:0")
        self.assertEqual(server.post("/v1/decide", ASKED).status, 200)
        self.assertEqual(server.post("/v1/decide", ASKED, headers={"Host": "127.evil.example"}).status, 403)

    def test_a_page_of_another_local_program_cannot_teach(self):
        server = self.serve()
        for origin in ("http://localhost:3000", "http://127.0.0.1", "http://127.0.0.2:" + server.port, "null"):
            self.assertEqual(server.post("/v1/decide", ASKED, headers={"Origin": origin}).status, 403, origin)
        tunnel = {"Origin": "http://localhost:9000", "Host": "localhost:9000"}
        self.assertEqual(server.post("/v1/decide", ASKED, headers=tunnel).status, 200, "this server's page, by another port")

    def test_a_web_page_cannot_teach_an_open_server(self):
        server = self.serve()
        self.assertEqual(server.post("/v1/decide", ASKED, headers={"Origin": "https://evil.example"}).status, 403)
        self.assertEqual(server.post("/v1/decide", ASKED, headers={"Origin": server.url}).status, 200)
        with socket.create_connection((server.host, int(server.port))) as rebound:
            rebound.sendall(b"GET /v1/pools HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
            self.assertIn(b" 403 ", rebound.recv(4096))
        body = json.dumps(ASKED).encode()
        self.assertEqual(server.post("/v1/decide", raw=body, headers={"Content-Type": "text/plain"}).status, 415)
        self.assertEqual(server.post("/v1/decide", raw=body, headers={"Content-Type": "Application/JSON ; charset=utf-8", "Host": "LocalHost"}).status, 200)


if __name__ == "__main__":
    main()
