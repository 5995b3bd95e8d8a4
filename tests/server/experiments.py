"""POST /v1/experiments against a real server: a log is replayed on the side and its report shown; what is too large, malformed or not
allowed is refused with a reason."""
import json
import time

from harness import ServerTest, main


def log(rows):
    return "".join(json.dumps({"task": str(t // 2), "model": "ab"[t % 2], "confidence": 0.9, "correct": t % 3 != 0, "answer": "x"}) + "\n" for t in range(rows)).encode()


class ExperimentsTest(ServerTest):
    def run_one(self, server, raw, query="", **kw):
        made = server.ask("POST", "/v1/experiments?name=mine" + query, raw=raw, headers={"Content-Type": "application/octet-stream"}, **kw)
        self.assertEqual(made.status, 202, made.body)
        while True:
            now = server.get("/v1/experiments/" + made.json["id"], **kw).json
            if now["status"] != "running":
                return now
            time.sleep(0.02)

    def test_a_log_becomes_a_report(self):
        server = self.serve()
        done = self.run_one(server, log(400))
        self.assertEqual((done["status"], done["message"], done["name"]), ("done", "", "mine"))
        report = server.get(f"/v1/experiments/{done['id']}/report")
        self.assertEqual(report.headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("sandbox", report.headers["Content-Security-Policy"])
        self.assertIn(b"margin_adaptive", report.body)
        rows = b"task,model,confidence,correct\n" + b"".join(b"%d,m,0.8,%d\n" % (t, t % 2) for t in range(60))
        self.assertEqual(self.run_one(server, rows, "&format=csv&methods=raw,margin")["status"], "done")

    def test_a_bad_row_is_named_and_no_path_of_the_server(self):
        server = self.serve()
        failed = self.run_one(server, log(10) + b'{"task":"t","model":"m","confidence":7,"correct":1}\n')
        self.assertEqual(failed["status"], "failed")
        self.assertIn("log.jsonl:11", failed["message"])
        self.assertNotIn("/", failed["message"].replace("[0, 1]", ""))
        self.assertEqual(server.get(f"/v1/experiments/{failed['id']}/report").status, 409)
        self.assertEqual(self.run_one(server, log(10), "&methods=no_such")["status"], "failed")

    def refused_by_length(self, server, bytes_count, key=""):
        """The answer to a head that announces so many bytes; none of them is sent."""
        connection = server.fresh()
        self.addCleanup(connection.close)
        connection.putrequest("POST", "/v1/experiments")
        for name, value in (("Content-Type", "application/octet-stream"), ("Content-Length", str(bytes_count)), ("Authorization", "Bearer " + key)):
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status

    def test_size_names_and_formats_are_bounded(self):
        server = self.serve()
        limit = server.get("/v1/experiments").json["log_bytes_max"]
        self.assertEqual(self.refused_by_length(server, limit + 1), 413)
        for query, raw in (("?format=xml", b"x"), ("?methods=../x", b"x"), ("", b"")):
            answer = server.ask("POST", "/v1/experiments" + query, raw=raw, headers={"Content-Type": "application/octet-stream"})
            self.assertEqual(answer.status, 400, query)
        self.assertEqual(server.get("/v1/experiments/nothing").status, 404)
        self.assertEqual(server.get("/v1/experiments").json["experiments"], [])

    def test_only_admins_and_each_tenant_its_own(self):
        keys = {}
        for name, scopes, tenant in (("reader", "read", ""), ("one", "admin,read", "one"), ("two", "admin,read", "two")):
            made = self.margin("keys", "create", "--store", "margin.db", "--name", name, "--scope", scopes, *(["--tenant", tenant] if tenant else []))
            keys[name] = next(word for word in made.split() if word.startswith("sk-mg-"))
        server = self.serve()
        self.assertEqual(server.ask("POST", "/v1/experiments", raw=log(2), key=keys["reader"]).status, 403)
        self.assertEqual(server.get("/v1/experiments", key=keys["reader"]).status, 403)
        # Whoever may not start one may not send a large body either.
        self.assertEqual(self.refused_by_length(server, 2 << 20, keys["reader"]), 413)
        done = self.run_one(server, log(100), key=keys["one"])
        self.assertEqual(server.get("/v1/experiments/" + done["id"], key=keys["two"]).status, 404)
        self.assertEqual(server.get("/v1/experiments", key=keys["two"]).json["experiments"], [])
        self.assertEqual(len(server.get("/v1/experiments", key=keys["one"]).json["experiments"]), 1)


if __name__ == "__main__":
    main()
