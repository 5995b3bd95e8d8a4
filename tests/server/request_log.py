"""log.requests: a line per request with what an operator needs to find it again, and nothing that was in it."""
import json
import re
import time
import uuid

from harness import ServerTest, main

SECRET = "the-patient-has-flu"


class RequestLog(ServerTest):
    def lines(self, server, count):
        """The lines of requests, as soon as there are so many."""
        end = time.monotonic() + 30
        while True:
            found = [line for line in server.journal.splitlines() if '"message":"request"' in line or re.search(r" request method=", line)]
            if len(found) >= count or time.monotonic() > end:
                self.assertEqual(len(found), count, server.journal)
                return found
            time.sleep(0.01)

    def create_key(self, scope):
        return json.loads(self.margin("keys", "create", "--store", "margin.db", "--json", "--name", scope, "--scope", scope))["key"]

    def test_json_lines_name_the_request_and_never_what_was_in_it(self):
        key = self.create_key("decide")
        server = self.serve(config='[log]\nformat = "json"\nrequests = "all"\n')
        body = {"responses": [{"model": "a", "answer": SECRET, "confidence": 0.9}], "task_id": SECRET}
        made = server.post("/v1/decide", body, key=key, headers={"X-Request-Id": "mine-1"})
        self.assertEqual((made.status, made.headers["x-request-id"]), (200, "mine-1"))
        looked_up = server.get("/v1/decisions/" + made.json["decision_id"] + "?secret=" + SECRET, key=key)
        self.assertEqual(looked_up.status, 403)
        unknown = server.get("/" + SECRET, key=key)
        nobody = server.get("/v1/pools", key="sk-mg-AAAAAAAAAAAA-" + SECRET)
        self.assertEqual([unknown.status, nobody.status], [404, 401])
        lines = [json.loads(line) for line in self.lines(server, 4)]
        public = key.split("-")[2]
        self.assertEqual([(l["method"], l["path"], l["status"], l["key"]) for l in lines],
                         [("POST", "/v1/decide", 200, public), ("GET", "/v1/decisions/{decision}", 403, public), ("GET", "unknown", 404, ""), ("GET", "/v1/pools", 401, "")])
        self.assertEqual([l["request_id"] for l in lines], [a.headers["x-request-id"] for a in (made, looked_up, unknown, nobody)])
        for line in lines[1:]:
            uuid.UUID(line["request_id"])
        for line in lines:
            self.assertEqual(set(line), {"time", "level", "message", "method", "path", "status", "seconds", "key", "request_id"})
            self.assertTrue(0 < line["seconds"] < 60)
        for secret in (SECRET, key, key.split("-")[3], made.json["decision_id"]):
            self.assertNotIn(secret, server.journal)

    def test_lines_for_people(self):
        server = self.serve(config='[log]\nrequests = "all"\n')
        server.get("/health", headers={"X-Request-Id": "mine-2"})
        self.assertRegex(self.lines(server, 1)[0], r'info +request method=GET path=/health status=200 seconds=[0-9.e-]+ key="" request_id=mine-2$')

    def test_an_id_that_could_be_anything_is_not_taken(self):
        server = self.serve(config='[log]\nrequests = "all"\n')
        for hostile in ("a b", 'x" status=200', "x" * 129, "", "caf\u00e9"):
            uuid.UUID(server.get("/health", headers={"X-Request-Id": hostile.encode("latin-1")}).headers["x-request-id"])
        self.assertEqual(server.get("/health", headers={"X-Request-Id": "x" * 128}).headers["x-request-id"], "x" * 128)

    def test_errors_only_and_off(self):
        server = self.serve(config='[log]\nrequests = "errors"\n')
        server.get("/health")
        server.get("/nowhere")
        self.assertIn("status=404", self.lines(server, 1)[0])
        server.stop()
        server = self.serve(store="off.db", config="")
        self.assertIsNone(server.get("/nowhere").headers["x-request-id"])
        self.lines(server, 1)


if __name__ == "__main__":
    main()
