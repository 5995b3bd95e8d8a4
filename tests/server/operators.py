"""Unlucky operators: bad configurations and reloads, signals, certificates, pools that the file or a client configures."""
import json
import os
import pathlib
import signal
import sqlite3
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request

from harness import BINARY, Server, ServerTest, main


class Operators(ServerTest):
    def test_the_commit_that_runs_is_told(self):
        server = self.serve()
        commit = server.get("/status").json["commit"]
        self.assertRegex(commit, r"^([0-9a-f]{12,}|unknown)$")
        self.assertIn(f',commit="{commit}"}} 1\n', server.get("/metrics").body.decode())

    def test_the_configuration_that_runs_is_told_by_its_hash(self):
        server = self.serve(config="")
        told = server.get("/status").json["config_hash"]
        self.assertRegex(told, r"^[0-9a-f]{32}$")
        self.reload(server, "[limits]\nstreams = 5\n")
        self.assertNotEqual(server.get("/status").json["config_hash"], told)
        self.reload(server, "")
        self.assertEqual(server.get("/status").json["config_hash"], told)

    def test_a_restart_comes_to_the_same_state(self):
        server = self.serve()
        self.teach(server)
        digests = server.digests()
        self.assertEqual(server.stop(), 0)
        server = self.serve()
        self.assertEqual(server.digests(), digests)
        self.assertEqual(server.kill(), -9)
        self.assertEqual(self.serve().digests(), digests)

    def test_sigterm_drains(self):
        server = self.serve()
        idle = server.fresh()
        idle.connect()
        stream = server.fresh()
        stream.request("GET", "/v1/events")
        reply = stream.getresponse()
        began = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - began, 9, "idle connections and streams do not use up the patience")
        reply.read()
        idle.close()
        stream.close()

    def test_requests_in_flight_are_answered_while_draining(self):
        server = self.serve()
        statuses = []

        def load():
            connection = server.fresh()
            body = json.dumps({"responses": [{"model": "a", "answer": "x", "confidence": 0.5}]})
            try:
                while True:
                    connection.request("POST", "/v1/decide", body, {"Content-Type": "application/json"})
                    reply = connection.getresponse()
                    reply.read()
                    statuses.append(reply.status)
                    if reply.will_close:
                        return
            except OSError:
                statuses.append("cut" if connection.sock is None else "refused")

        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        self.assertEqual(server.stop(), 0)
        for thread in threads:
            thread.join(30)
        answered = statuses.count(200)
        self.assertGreater(answered, 8)
        again = self.serve()
        self.assertGreaterEqual(again.get("/v1/pools/default").json["offset"], answered)

    def test_a_bad_reload_changes_nothing(self):
        server = self.serve(config='[pools.law]\nvote = "majority"\n')
        self.assertEqual(server.get("/v1/pools/law").json["vote"], "majority@1")
        server.config.write_text('[pools.law]\nvote = "majorty"\n')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("the old configuration stays")
        self.assertIn("did you mean majority", server.journal)
        self.assertEqual(server.get("/v1/pools/law").json["vote"], "majority@1")
        server.config.write_text('[pools.law]\nvote = "argmax"\n')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("reloaded")
        # The pool changes when its event is in the log.
        end = time.monotonic() + 30
        while server.get("/v1/pools/law").json["vote"] != "argmax@1" and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(server.get("/v1/pools/law").json["vote"], "argmax@1")

    def test_a_reload_reaches_the_log_itself(self):
        server = self.serve(config='[log]\nformat = "pretty"\n')
        server.config.write_text('[log]\nformat = "json"\n[server]\nlisten = "127.0.0.1:1"\n')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('"message":"reloaded"')
        self.assertRegex(server.journal, r"changed key=log.format ")
        self.assertEqual(server.get("/health").status, 200)

    def reload(self, server, config):
        said = server.journal.count("reloaded")
        server.config.write_text(config)
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 30
        while server.journal.count("reloaded") == said and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(server.journal.count("reloaded"), said + 1)

    def test_a_reload_changes_limits_at_once(self):
        server = self.serve(config="")
        deep = b'{"responses":[{"model":"a","answer":"x","confidence":0.5,"x":' + b"[" * 20 + b"]" * 20 + b"}]}"
        self.assertIn("unknown field", server.post("/v1/decide", raw=deep).error["message"])
        self.assertEqual(server.put("/v1/pools/one", {}).status, 200)
        self.reload(server, "[limits]\njson_depth = 10\nbody_bytes = 2000\nheaders = 8\npools = 2\nresponses = 1\nstreams = 0\n")
        self.assertIn("at most 10", server.post("/v1/decide", raw=deep).error["message"])
        self.assertEqual(server.post("/v1/decide", raw=b" " * 2001).status, 413)
        self.assertEqual(server.get("/health", headers={f"X-{i}": "x" for i in range(9)}).status, 431)
        self.assertEqual(server.put("/v1/pools/two", {}).status, 422)
        self.assertEqual(server.put("/v1/pools/one", {}).status, 200, "what is there stays")
        self.assertEqual(server.post("/v1/decide", {"responses": [{"model": m, "answer": "x", "confidence": 0.5} for m in "ab"]}).status, 400)
        self.assertEqual(server.get("/v1/events").status, 503)
        self.assertNotIn("next start", server.journal)

    def test_a_reload_while_the_state_is_recovered_comes_after_it(self):
        self.serve().stop()
        other = sqlite3.connect(os.path.join(self.folder, "margin.db"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        server = Server(self.folder, wait=False)
        self.addCleanup(server.kill)
        end = time.monotonic() + 30
        while f"process {server.process.pid} " not in pathlib.Path(self.folder, "margin.db.lock").read_text():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        time.sleep(0.2)  # it waits for the other program by now
        server.process.send_signal(signal.SIGHUP)
        other.close()
        self.assertIn(b"MARGIN listens", server.process.stdout.readline())
        server.wait_for("reloaded")

    def test_a_reload_does_not_read_a_pipe_again(self):
        key = json.loads(self.margin("keys", "create", "--name", "root", "--scope", "admin", "--json", "--keys", "mine"))["key"]
        read, write = os.pipe()
        os.write(write, b'[keys]\nfile = "mine"\n')
        os.close(write)
        log = open(os.path.join(self.folder, "server.log"), "wb")
        process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0", "--store", "margin.db", "--config", f"/dev/fd/{read}"], pass_fds=[read],
                                   stdout=subprocess.PIPE, stderr=log, cwd=self.folder)
        os.close(read)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(log.close)
        url = process.stdout.readline().decode().split()[-1]

        def reload(**headers):
            try:
                return urllib.request.urlopen(urllib.request.Request(url + "/v1/config/reload", method="POST", headers=headers), timeout=30).status
            except urllib.error.HTTPError as refused:
                return refused.code

        self.assertEqual(reload(Authorization="Bearer " + key), 422)
        self.assertEqual(reload(), 401, "the keys are those of before")

    def test_what_is_logged_goes_into_no_file_of_the_store(self):
        self.serve().stop()
        files = {}
        for closed in ("<&- 2>&-", "<&- >&- 2>&-", "2>&-", ">&-"):
            process = subprocess.Popen(["sh", "-c", f'exec "$0" serve --listen 127.0.0.1:0 --store margin.db {closed}', BINARY], cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            end = time.monotonic() + 30
            while not pathlib.Path(self.folder, "margin.db.tail0").exists():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            time.sleep(0.3)
            files = {path.name: path.read_bytes() for path in pathlib.Path(self.folder).glob("margin.db*")}
            process.terminate()
            self.assertEqual(process.wait(30), 0, closed)
            for name, content in files.items():
                self.assertNotIn(b"listen", content, (closed, name))

    def test_connections_leave_files_to_open(self):
        for connections, warned in ((50, False), (1000, True)):
            command = f'ulimit -Sn 100; ulimit -Hn 300; MARGIN_LIMITS__CONNECTIONS={connections} exec "$0" serve --listen 127.0.0.1:0 --store margin.db'
            process = subprocess.Popen(["sh", "-c", command, BINARY], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            url = process.stdout.readline().split()[-1]
            with urllib.request.urlopen(url + "/metrics", timeout=30) as reply:
                self.assertIn("process_max_fds 300\n", reply.read().decode())
            process.terminate()
            said = process.communicate(timeout=30)[1]
            self.assertEqual("connections may use up the files" in said, warned, said)

    def test_what_needs_a_restart_is_said_each_time_and_stays(self):
        server = self.serve(config="")
        wanted = '[store]\ndurability = "process"\n[limits]\nqueue = 5\n[log]\nlevel = "warning"\n'
        server.config.write_text(wanted)
        for times in (1, 2):
            server.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + 30
            while server.journal.count("key=limits.queue") < times and time.monotonic() < end:
                time.sleep(0.01)
            for key in ("store.durability", "limits.queue"):
                self.assertEqual(server.journal.count(f"changes at the next start key={key} "), times, "also where only warnings are logged")

    def test_a_bad_configuration_does_not_start(self):
        (pathlib.Path(self.folder) / "bad.toml").write_text("[server]\nlitsen = 1\n")
        done = subprocess.run([Server.__init__.__globals__["BINARY"], "serve", "--config", "bad.toml"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("bad.toml:2", done.stderr)
        self.assertIn("did you mean listen", done.stderr)
        (pathlib.Path(self.folder) / "large.toml").write_text("#" * 300_000)
        for file in ("large.toml", self.folder):
            done = subprocess.run([BINARY, "serve", "--config", file], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_pools_configured_are_there(self):
        server = self.serve(config='[pools.law]\ncalibrator = "margin"\n[pools.law.calibrator_parameters]\nalpha = 0.2\n')
        self.assertEqual([p["pool"] for p in server.get("/v1/pools").json["pools"]], ["default", "law"])
        offset = server.get("/v1/pools/law").json["offset"]
        server.stop()
        self.assertEqual(self.serve(config=server.config.read_text()).get("/v1/pools/law").json["offset"], offset, "nothing changed, nothing is written")

    def test_a_pool_configured_over_http_survives_reload_and_restart(self):
        server = self.serve(config='[pools.law]\nvote = "majority"\n')
        for pool in ("default", "mine"):
            self.assertEqual(server.put("/v1/pools/" + pool, {"vote": "log_odds", "calibrator": "margin"}).status, 200)
        self.teach(server)
        digests = server.digests()
        self.reload(server, server.config.read_text() + "[log]\nlevel = 'info'\n")
        self.assertEqual(server.digests(), digests)
        server.stop()
        server = self.serve(config=server.config.read_text())
        self.assertEqual(server.digests(), digests)
        self.assertEqual(server.get("/v1/pools/default").json["vote"], "log_odds@1")
        self.assertNotIn("the file changes a pool", server.journal)

    def test_a_pool_of_the_file_is_configured_by_the_file_alone(self):
        server = self.serve(config='[pools.law]\nvote = "majority"\n[pools.default]\n')
        for pool in ("law", "default"):
            refused = server.put("/v1/pools/" + pool, {"vote": "argmax"})
            self.assertEqual((refused.status, refused.error["code"], refused.error["param"]), (409, "conflict", "pool"))
            self.assertIn(f"[pools.{pool}]", refused.error["message"])
        self.teach(server)
        self.reload(server, '[pools.law]\nvote = "argmax"\n[pools.default]\ncalibrator = "margin"\n')
        self.assertRegex(server.journal, r'the file changes a pool pool=law changes="vote: majority@1 -> argmax@1" starts_anew="the decisions.s? probability"')
        self.assertRegex(server.journal, r'the file changes a pool pool=default changes="calibrator: margin_adaptive@\d -> margin@1" starts_anew="factors')
        self.reload(server, "")
        self.assertEqual(server.put("/v1/pools/law", {"vote": "sum"}).status, 200, "it is nobody's once the file does not name it")
        self.assertEqual(server.get("/v1/pools/default").json["calibrator"], "margin@1", "and stays as it is")

    def test_tls(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem",
                        "-out", "cert.pem", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"],
                       cwd=self.folder, check=True, capture_output=True)
        server = self.serve(config='[server]\ntls_certificate = "cert.pem"\ntls_key = "key.pem"\n')
        self.assertTrue(server.url.startswith("https://"))
        context = ssl.create_default_context(cafile=str(pathlib.Path(self.folder) / "cert.pem"))
        with urllib.request.urlopen(server.url + "/health", context=context, timeout=30) as reply:
            self.assertEqual(json.load(reply), {"status": "ok"})
        subprocess.run(["openssl", "ec", "-aes128", "-passout", "pass:password", "-in", "key.pem", "-out", "locked.pem"], cwd=self.folder, check=True, capture_output=True)
        server.config.write_text('[server]\ntls_certificate = "cert.pem"\ntls_key = "locked.pem"\n')
        done = subprocess.run([BINARY, "config", "check", str(server.config)], cwd=self.folder, capture_output=True, text=True, timeout=60, start_new_session=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^margin: key_file 'locked.pem' holds no PEM key", "nobody is asked for a password")


if __name__ == "__main__":
    main()
