"""A listener for operators beside that of clients: what each answers, and to whom."""
import copy
import json
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

from harness import BINARY, Server, ServerTest, main

ASKED = {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}, {"model": "b", "answer": "y", "confidence": 0.6}]}
# Written down here again, and not taken from the server: what clients must not be able to reach.
OPERATORS = {"/metrics", "/status", "/", "/dashboard", "/dashboard/", "/dashboard/assets/{file}"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class AdminListener(ServerTest):
    def both(self, *flags, **kw):
        """The two sides of one server."""
        flags = flags if "--admin-listen" in flags or "admin_listen" in kw.get("config", "") else ("--admin-listen", "127.0.0.1:0", *flags)
        clients = self.serve(*flags, **kw)
        said = clients.process.stdout.readline().decode()
        self.assertRegex(said, r"^Operators: https?://\S+\n$")
        operators = copy.copy(clients)
        operators.url = said.split()[-1]
        operators.host, operators.port = operators.url.split("//")[1].rsplit(":", 1)
        operators.connection = threading.local()
        self.addCleanup(lambda: getattr(operators.connection, "held", None) and operators.connection.held.close())
        return clients, operators

    def key(self, *flags):
        return json.loads(self.margin("keys", "create", "--store", "margin.db", "--json", *flags))["key"]

    def test_each_route_is_where_it_belongs(self):
        clients, operators = self.both()
        paths = clients.get("/openapi.json").json["paths"]
        nowhere = clients.get("/no/such/path")
        self.assertEqual((nowhere.status, nowhere.error["code"]), (404, "not_found"))
        hidden = 0
        for pattern, operations in paths.items():
            path = re.sub(r"{\w+}", "x", pattern)
            scopes = {method: [s for security in operation["security"] for s in security.get("key", [])] for method, operation in operations.items()}
            open_methods = sorted(m.upper() for m in operations if scopes[m] != ["admin"] and pattern not in OPERATORS)
            for method in operations:
                if pattern == "/v1/events":  # a stream does not end
                    continue
                raw = None if method == "get" else b"{}"
                answer = clients.ask(method.upper(), path, raw=raw)
                if method.upper() in open_methods:
                    self.assertNotEqual((answer.status, answer.body), (404, nowhere.body), (method, pattern))
                elif open_methods:
                    self.assertEqual((answer.status, answer.error["code"], answer.headers["Allow"]), (405, "method_not_allowed", ", ".join(open_methods)), pattern)
                    hidden += 1
                else:
                    self.assertEqual((answer.status, answer.body), (404, nowhere.body), "as a path that does not exist")
                    self.assertNotIn("Allow", answer.headers)
                    hidden += 1
                there = operators.ask(method.upper(), path, raw=raw)
                self.assertNotIn("no such path", there.body.decode(errors="replace"), (method, pattern))
                self.assertNotEqual(there.status, 405, (method, pattern))
        self.assertGreater(hidden, 20)
        for server in (clients, operators):
            for path in ("/health", "/ready", "/health/liveness", "/health/readiness", "/openapi.json"):
                self.assertEqual(server.get(path).status, 200, path)
        counted = operators.get("/metrics").body.decode()
        self.assertIn('margin_requests_total{endpoint="unknown",code="404"}', counted)
        self.assertNotIn('endpoint="/status",code="404"', counted)

    def test_it_is_one_server(self):
        clients, operators = self.both()
        made = clients.decide({"a": ("x", 0.9), "b": ("y", 0.5)})["decision_id"]
        self.assertEqual(operators.get("/v1/decisions/" + made).json["decision_id"], made)
        self.assertEqual(operators.put("/v1/pools/law", {}).status, 200)
        self.assertEqual(clients.get("/v1/pools/law").status, 200)
        self.assertEqual(operators.post("/v1/decide", ASKED).status, 200, "operators' answers everything")
        status = operators.get("/status").json
        self.assertEqual((status["listen"], status["admin_listen"]), (f"127.0.0.1:{clients.port}", f"127.0.0.1:{operators.port}"))
        figures = operators.get("/metrics").body.decode()
        self.assertRegex(figures, r"(?m)^margin_connections_accepted_total 2$", "of both listeners together")
        self.assertIn("listening for operators", clients.journal)

    def test_without_it_all_is_in_one_place(self):
        server = self.serve()
        self.assertTrue(server.process.stdout.readline().decode().startswith(f"Dashboard: {server.url}/dashboard/"))
        self.assertEqual(server.get("/metrics").status, 200)
        self.assertEqual(server.get("/dashboard/").status, 200)
        status = server.get("/status").json
        self.assertEqual((status["listen"], status["admin_listen"]), (f"127.0.0.1:{server.port}", ""))
        self.assertEqual(server.get("/no/such/path").error["message"], "path: no such path; /openapi.json lists them")

    def test_the_dashboard_is_there_with_what_it_asks(self):
        clients, operators = self.both("--hello")
        self.assertEqual(clients.process.stdout.readline().decode(), f"Dashboard: {operators.url}/dashboard/\n")
        self.assertIn("A first decision", clients.process.stdout.readline().decode())
        self.assertIn(f"curl -s {clients.url}/v1/decide", clients.process.stdout.readline().decode())
        self.assertEqual(operators.get("/").headers["Location"], "dashboard/")
        page = operators.get("/dashboard/")
        self.assertEqual(page.headers["Content-Type"].split(";")[0], "text/html")
        for asset in re.findall(r'assets/[^"]+', page.body.decode()):
            self.assertEqual(operators.get("/dashboard/" + asset).status, 200)
            self.assertEqual(clients.get("/dashboard/" + asset).status, 404)
        for path in ("/v1/session", "/v1/pools", "/v1/decisions", "/status", "/v1/experiments"):
            own = {"Origin": f"http://127.0.0.1:{operators.port}"}
            self.assertEqual(operators.get(path, headers=own).status, 200, path)

    def test_pages_of_the_other_listener_are_foreign(self):
        clients, operators = self.both()
        for server, other in ((clients, operators), (operators, clients)):
            refused = server.get("/v1/pools", headers={"Origin": other.url})
            self.assertEqual((refused.status, refused.error["code"]), (403, "foreign_origin"))
            self.assertEqual(server.get("/v1/pools", headers={"Origin": server.url}).status, 200)
            self.assertEqual(server.get("/v1/pools", headers={"Host": "example.org"}).error["code"], "foreign_origin")

    def test_keys_open_what_they_open(self):
        keys = {scope: self.key("--name", scope, "--scope", scope) for scope in ("decide", "read", "admin")}
        clients, operators = self.both()
        self.assertEqual(clients.post("/v1/decide", ASKED, key=keys["decide"]).status, 200)
        for path in ("/metrics", "/status", "/v1/experiments"):
            for key in (None, *keys.values()):
                self.assertEqual(clients.get(path, key=key).status, 404, "whoever asks")
            self.assertEqual(operators.get(path).status, 401)
            self.assertEqual(operators.get(path, key=keys["decide"]).status, 403)
        self.assertEqual(operators.get("/metrics", key=keys["read"]).status, 200)
        self.assertEqual(operators.get("/v1/experiments", key=keys["admin"]).status, 200)
        self.assertEqual(clients.put("/v1/pools/law", {}, key=keys["admin"]).status, 405)
        self.assertEqual(operators.put("/v1/pools/law", {}, key=keys["admin"]).status, 200)

    def test_a_large_body_is_for_where_its_route_is(self):
        clients, operators = self.both(config="[limits]\nbody_bytes = 2000\n")
        log = (json.dumps({"task": "t", "model": "a", "confidence": 0.9, "correct": 1}) + "\n").encode() * 100
        self.assertEqual(operators.post("/v1/experiments", raw=log).status, 202)
        self.assertEqual(clients.post("/v1/experiments", raw=log).status, 413)

    def refused(self, *flags, code=2):
        done = subprocess.run([BINARY, "serve", "--store", "margin.db", *flags], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_addresses_that_do_not_go_are_refused_by_name(self):
        port = free_port()
        for listen, admin in ((f"127.0.0.1:{port}", f"localhost:{port}"), (f"0.0.0.0:{port}", f"127.0.0.1:{port}")):
            self.assertIn("server.admin_listen: got \"" + admin, self.refused("--listen", listen, "--admin-listen", admin))
        self.assertIn('server.admin_listen: got "8081", expected HOST:PORT', self.refused("--admin-listen", "8081"))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            where = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assertIn(f"cannot listen on {where}: another program", self.refused("--listen", "127.0.0.1:0", "--admin-listen", where, code=1))
        (pathlib.Path(self.folder) / "same.toml").write_text('[server]\nadmin_listen = "127.0.0.1:8080"\n')
        done = subprocess.run([BINARY, "config", "check", "same.toml"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("same.toml:2: server.admin_listen: got", done.stderr)

    def test_without_keys_neither_leaves_this_machine(self):
        self.assertIn("server.admin_listen: got 0.0.0.0, expected a loopback", self.refused("--listen", "127.0.0.1:0", "--admin-listen", "0.0.0.0:0"))
        self.assertIn("server.listen: got 0.0.0.0, expected a loopback", self.refused("--listen", "0.0.0.0:0", "--admin-listen", "127.0.0.1:0"))
        key = self.key("--name", "k", "--scope", "read")
        clients, operators = self.both(listen="0.0.0.0:0")
        self.assertEqual(operators.get("/status", key=key).json["listen"], f"0.0.0.0:{clients.port}")
        pathlib.Path(self.folder, "margin.db.keys").unlink()
        clients.process.send_signal(signal.SIGHUP)
        clients.wait_for("reload refused")
        self.assertIn("server.listen: got 0.0.0.0", clients.journal)

    def test_a_reload_says_that_it_needs_a_restart(self):
        clients, operators = self.both(config="[server]\nadmin_listen = \"127.0.0.1:0\"\n")
        clients.config.write_text(f'[server]\nadmin_listen = "127.0.0.1:{free_port()}"\n[limits]\nheaders = 8\n')
        clients.process.send_signal(signal.SIGHUP)
        clients.wait_for("reloaded")
        self.assertIn("changes at the next start key=server.admin_listen ", clients.journal)
        for server in (clients, operators):
            self.assertEqual(server.get("/health", headers={f"X-{i}": "x" for i in range(9)}).status, 431, "limits reach both")
        clients.config.write_text(f'[server]\nadmin_listen = "127.0.0.1:{clients.port}"\nlisten = "127.0.0.1:{clients.port}"\n')
        clients.process.send_signal(signal.SIGHUP)
        clients.wait_for("reload refused")

    def test_sigterm_drains_both(self):
        clients, operators = self.both()
        streams = []
        for server in (clients, operators):
            connection = server.fresh()
            connection.request("GET", "/v1/events")
            streams.append((connection, connection.getresponse()))
        began = time.monotonic()
        self.assertEqual(clients.stop(), 0)
        self.assertLess(time.monotonic() - began, 9)
        for connection, reply in streams:
            reply.read()  # to its proper end
            connection.close()
        for server in (clients, operators):
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection((server.host, int(server.port)), timeout=5)

    def test_clients_do_not_keep_operators_out(self):
        clients, operators = self.both(config="[limits]\nconnections = 2\n")
        held = [clients.fresh() for _ in range(2)]
        for connection in held:
            connection.request("GET", "/health")
            connection.getresponse().read()
        self.assertEqual(clients.get("/health").status, 503)
        self.assertEqual(operators.get("/ready").status, 200)
        self.assertRegex(operators.get("/metrics").body.decode(), r"(?m)^margin_connections_refused_total 1$")
        for connection in held:
            connection.close()

    def certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem",
                        "-out", "cert.pem", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"],
                       cwd=self.folder, check=True, capture_output=True)
        return ssl.create_default_context(cafile=str(pathlib.Path(self.folder) / "cert.pem"))

    def test_both_have_the_certificate_and_its_successor(self):
        old = self.certificate()
        clients, operators = self.both(config='[server]\ntls_certificate = "cert.pem"\ntls_key = "key.pem"\n')
        for server in (clients, operators):
            with urllib.request.urlopen(server.url + "/health", context=old, timeout=30) as reply:
                self.assertEqual(json.load(reply), {"status": "ok"})
        new = self.certificate()
        clients.process.send_signal(signal.SIGHUP)
        clients.wait_for("reloaded")
        for server in (clients, operators):
            with urllib.request.urlopen(server.url + "/health", context=new, timeout=30) as reply:
                self.assertEqual(json.load(reply), {"status": "ok"})


if __name__ == "__main__":
    main()
