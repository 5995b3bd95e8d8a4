"""The configuration that runs, seen and read again over HTTP: what a reload by POST does is what SIGHUP does."""
import json
import pathlib
import signal
import ssl
import subprocess
import time
import urllib.request

from harness import BINARY, ServerTest, main

RELOAD = "/v1/config/reload"


class Configuration(ServerTest):
    def key(self, *flags):
        return json.loads(self.margin("keys", "create", "--store", "margin.db", "--json", *flags))["key"]

    def lines(self, server):
        """The log without times, and without who asked."""
        return [line.split(" ", 1)[1] for line in server.journal.splitlines() if "asked for over HTTP" not in line]

    def test_it_is_shown_as_it_runs(self):
        server = self.serve(config='[log]\nlevel = "debug"\n[pools.law]\nvote = "majority"\n', env={"MARGIN_LIMITS__QUEUE": "77"})
        answer = server.get("/v1/config")
        shown = answer.json
        for key, value in {"log.level": "debug", "limits.queue": 77, "pools.law.vote": "majority", "pools.law.models": [], "pools.default.vote": "sum",
                           "server.listen": "127.0.0.1:0", "store.file": str(server.store), "limits.requests_per_second": 0}.items():
            self.assertEqual(shown[key], value, key)
        self.assertTrue(all(not isinstance(value, dict) for value in shown.values()), "it is flat")
        # Against what the program itself says may stand in a file.
        sections = json.loads(self.margin("config", "schema"))["properties"]
        stated = {f"{section}.{key}" for section in sections if section not in ("pools", "upstreams") for key in sections[section]["properties"]}
        self.assertEqual({key for key in shown if not key.startswith("pools.")}, stated)
        told = server.get("/status").json["config_hash"]
        self.assertEqual(answer.headers["ETag"], f'"{told}"')

    def test_secrets_stay_references(self):
        (pathlib.Path(self.folder) / "trace_headers").write_text("authorization=t0psecret-b\n")
        key = self.key("--name", "root", "--scope", "admin,read")
        server = self.serve(env={"MODEL_KEY": "t0psecret-a"}, config='[upstreams.m]\nurl = "http://127.0.0.1:9/v1?api-key=t0psecret-c"\nkey = "env::MODEL_KEY"\n'
                                                                    '[trace]\nendpoint = "http://127.0.0.1:9/x?token=t0psecret-d"\nheaders = "file::trace_headers"\n')
        answer = server.get("/v1/config", key=key)
        self.assertEqual(answer.json["upstreams.m.key"], "env::MODEL_KEY")
        self.assertEqual(answer.json["trace.headers"], "file::trace_headers")
        self.assertEqual(answer.json["upstreams.m.url"], "http://127.0.0.1:9/v1?...")
        self.assertNotIn(b"t0psecret", answer.body)
        self.assertNotIn(key.split("-")[-1].encode(), answer.body)

    def test_a_reload_does_what_the_signal_does(self):
        first = '[log]\nlevel = "info"\n'
        second = '[log]\nlevel = "debug"\n[limits]\nheaders = 8\nqueue = 5\n[pools.law]\nvote = "majority"\n'
        server = self.serve(config=first)
        server.config.write_text(second)
        answer = server.post(RELOAD)
        self.assertEqual(answer.status, 200, answer.body)
        told = answer.json
        self.assertEqual(set(told), {"config_hash", "changed", "needs_restart", "warnings"})
        self.assertEqual((told["needs_restart"], told["warnings"]), (["limits.queue"], []))
        self.assertLessEqual({"log.level", "limits.headers", "pools.law.vote"}, set(told["changed"]))
        self.assertNotIn("limits.queue", told["changed"])
        status = server.get("/status").json
        self.assertEqual((told["config_hash"], answer.headers["ETag"]), (status["config_hash"], f'"{status["config_hash"]}"'))
        self.assertEqual(server.get("/health", headers={f"X-{i}": "x" for i in range(9)}).status, 431)
        self.assertEqual(server.get("/v1/config").json["limits.headers"], 8)
        self.assertEqual(server.get("/v1/config").json["limits.queue"], 65536, "what runs, not what is wanted")
        self.wait_until(lambda: server.get("/v1/pools/law").json.get("vote") == "majority@1")  # when its event is in the log
        again = server.post(RELOAD).json
        self.assertEqual((again["changed"], again["needs_restart"]), ([], ["limits.queue"]), "said each time")
        server.stop()
        by_post = self.lines(server)
        # The same steps by signals, in another folder, leave the same log.
        for path in pathlib.Path(self.folder).glob("*"):
            path.unlink()
        server = self.serve(config=first)
        server.config.write_text(second)
        for times in (1, 2):
            server.process.send_signal(signal.SIGHUP)
            self.wait_until(lambda: server.journal.count("reloaded") == times)
        server.stop()
        plain = lambda lines: sorted(line for line in lines if "listening" not in line)
        self.assertEqual(plain(by_post), plain(self.lines(server)))

    def wait_until(self, truth, seconds=30):
        end = time.monotonic() + seconds
        while not truth():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_a_bad_file_is_refused_with_place_and_expectation(self):
        server = self.serve(config='[log]\nlevel = "info"\n')
        before = server.get("/v1/config")
        server.config.write_text('[log]\nlevel = "loud"\n[server]\nlisen = "x"\n')
        refused = server.post(RELOAD)
        self.assertEqual((refused.status, refused.error["code"], refused.error["type"]), (422, "invalid_configuration", "invalid_request_error"), refused.body)
        self.assertIn(f'{server.config}:2: log.level: got "loud", expected one of "debug", "info"', refused.error["message"])
        self.assertIn(f'{server.config}:4: server: no key named "lisen" (did you mean listen?)', refused.error["message"])
        self.assertIn("reload refused, the old configuration stays", server.journal)
        self.assertIn("did you mean listen?", server.journal)
        self.assertEqual(server.get("/v1/config").body, before.body)
        self.assertEqual(refused.headers["ETag"], before.headers["ETag"])
        server.config.unlink()
        self.assertEqual(server.post(RELOAD).status, 422)
        server.config.write_text('[upstreams.m]\nurl = "http://h/v1"\nkey = "env::NOT_THERE"\n')
        self.assertIn("upstreams.m.key: env::NOT_THERE: that variable is not set", server.post(RELOAD).error["message"])
        server.config.write_text("")
        pathlib.Path(self.folder, "margin.db.keys").write_text("not a key\n")
        refused = server.post(RELOAD)
        self.assertEqual((refused.status, refused.error["code"]), (422, "invalid_configuration"))
        self.assertIn("margin.db.keys", refused.error["message"])
        self.assertIn("the old keys stay", server.journal)
        self.assertEqual(server.get("/v1/config").body, before.body)

    def test_the_check_refuses_what_a_start_would_and_neither_makes_a_store(self):
        file = pathlib.Path(self.folder, "margin.toml")
        for text, expected in {'[upstreams.m]\nurl = "nonsense"\n': "upstreams.m: upstream 'm': url 'nonsense' is not a URL",
                               '[upstreams.m]\nurl = "http://me:t0psecret@h/v1"\n': "url holds a name or password before '@'",
                               '[upstreams.m]\nurl = "http://h/v1"\nkey = "env::NOT_THERE"\n': "upstreams.m.key: env::NOT_THERE: that variable is not set",
                               '[trace]\nendpoint = "nonsense"\n': "nonsense",
                               '[trace]\nheaders = "file::not/there"\n': "trace.headers: not/there: cannot be read",
                               '[trace]\nheaders = "x-key=t0psecret"\n': "trace.headers: expected a reference, env::NAME or file::PATH",
                               '[server]\ntls_certificate = "not/there"\ntls_key = "not/there"\n': "not/there"}.items():
            file.write_text(text)
            told = [subprocess.run([BINARY, *command], capture_output=True, text=True, cwd=self.folder, timeout=60)
                    for command in (("config", "check", str(file)), ("serve", "--config", str(file), "--listen", "127.0.0.1:0"))]
            self.assertEqual([done.returncode for done in told], [2, 2], told)
            self.assertEqual(told[0].stderr, told[1].stderr)
            self.assertIn(expected, told[0].stderr)
            self.assertNotIn("t0psecret", told[0].stderr)
            self.assertEqual(list(pathlib.Path(self.folder).glob("margin.db*")), [], text)

    def test_if_match(self):
        server = self.serve(config="")
        tag = server.get("/v1/config").headers["ETag"]
        server.config.write_text("[limits]\nstreams = 5\n")
        for other in ('"0123"', tag.strip('"'), "W/" + tag, "", '"*"', f'"x", W/{tag}'):
            refused = server.post(RELOAD, headers={"If-Match": other})
            self.assertEqual((refused.status, refused.error["code"]), (412, "precondition_failed"), other)
            self.assertIn(tag, refused.error["message"])
            self.assertEqual(refused.headers["ETag"], tag)
        self.assertNotIn("reload", server.journal)
        self.assertEqual(server.get("/v1/config").json["limits.streams"], 1024, "nothing was done")
        self.assertEqual(server.post(RELOAD, headers={"If-Match": f'"x" , {tag}'}).json["changed"], ["limits.streams"])
        self.assertEqual(server.post(RELOAD, headers={"If-Match": tag}).status, 412, "another runs now")
        self.assertEqual(server.post(RELOAD, headers={"If-Match": "*"}).status, 200)

    def test_new_keys_count_from_then_on(self):
        server = self.serve()
        key = self.key("--name", "root", "--scope", "admin")
        self.assertEqual(server.post(RELOAD).json["changed"], [], "without a file keys are read again all the same")
        self.assertEqual(server.get("/v1/config").status, 401)
        self.assertEqual(server.get("/v1/config", key=key).status, 200)
        self.margin("keys", "revoke", "--store", "margin.db", key.split("-")[2])
        self.assertEqual(server.post(RELOAD, key=key).status, 200, "who takes its own key away is answered")
        self.assertEqual(server.post(RELOAD, key=key).status, 401)

    def test_only_an_operator_of_the_whole_server_may(self):
        root = self.key("--name", "root", "--scope", "admin")
        reader = self.key("--name", "reader", "--scope", "read,infer,decide,feedback")
        tenant = self.key("--name", "tenant", "--scope", "admin,read", "--tenant", "acme")
        server = self.serve(config="")
        server.config.write_text("[limits]\nstreams = 5\n")
        for method, path in (("GET", "/v1/config"), ("POST", RELOAD)):
            for key, status, code in ((None, 401, "invalid_api_key"), (reader, 403, "missing_scope"), (tenant, 403, "tenant_key")):
                refused = server.ask(method, path, key=key)
                self.assertEqual((refused.status, refused.error["code"]), (status, code), path)
        self.assertEqual(server.get("/v1/config", key=root).json["limits.streams"], 1024)
        self.assertEqual(server.post(RELOAD, key=root).json["changed"], ["limits.streams"])
        self.assertRegex(server.journal, "a reload is asked for over HTTP by=" + root.split("-")[2])

    def test_a_page_elsewhere_cannot_ask_for_it(self):
        server = self.serve()
        self.assertEqual(server.post(RELOAD, headers={"Origin": "http://localhost:3000"}).error["code"], "foreign_origin")
        self.assertEqual(server.post(RELOAD, raw=b"{}").status, 400, "it takes no body: nothing is configured over HTTP")
        self.assertEqual(server.get(RELOAD).status, 405)
        self.assertEqual(server.put("/v1/config", {}).status, 405)

    def test_a_certificate_that_cannot_be_read_is_told(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem",
                        "-out", "cert.pem", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"],
                       cwd=self.folder, check=True, capture_output=True)
        context = ssl.create_default_context(cafile=str(pathlib.Path(self.folder) / "cert.pem"))
        server = self.serve(config='[server]\ntls_certificate = "cert.pem"\ntls_key = "key.pem"\n')
        (pathlib.Path(self.folder) / "cert.pem").write_text("nonsense\n")
        asked = urllib.request.Request(server.url + RELOAD, method="POST")
        with urllib.request.urlopen(asked, context=context, timeout=30) as reply:
            told = json.load(reply)
        self.assertEqual((told["changed"], len(told["warnings"])), ([], 1))
        self.assertIn("the old certificate stays", told["warnings"][0])
        with urllib.request.urlopen(server.url + "/health", context=context, timeout=30) as reply:
            self.assertEqual(reply.status, 200)


if __name__ == "__main__":
    main()
