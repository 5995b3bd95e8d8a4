"""Every answer of a real server against /openapi.json: what is described is what is sent, and a request is refused when the document says so."""
import json
import re
import time

import jsonschema

from harness import ServerTest, main

ASKED = {"responses": [{"model": "a", "answer": "x", "confidence": 0.9}, {"model": "b", "answer": "y"},
                       {"model": "c", "answer": "y", "confidence": 0.4, "abstained": True}], "audit_rate": 1.0}


class Contract(ServerTest):
    def setUp(self):
        super().setUp()
        url, _ = self.one_model("B\nConfidence: 80")
        self.server = self.serve(config=f'[upstreams.m]\nurl = "{url}"\n[pools.default]\nmodels = ["m"]\ntask = "choice"\n')
        self.document = self.server.get("/openapi.json").json
        self.seen = set()

    def schema(self, part):
        return {**part, "components": self.document["components"]}

    def check(self, method, path, pattern, body=None, raw=None, status=200, ctype="application/json"):
        answer = self.server.ask(method, path, body, raw=raw)
        self.assertEqual(answer.status, status, answer.body)
        operation = self.document["paths"][pattern][method.lower()]
        described = operation["responses"].get(str(status), operation["responses"].get(f"{status // 100}XX"))
        if "$ref" in described:
            described = self.document["components"]["responses"][described["$ref"].split("/")[-1]]
        self.assertEqual(answer.headers["Content-Type"].split(";")[0], next(iter(described["content"])))
        if ctype == "application/json":
            content = described["content"][ctype]
            jsonschema.Draft202012Validator(self.schema(content["schema"])).validate(answer.json)
        if status < 400:
            if body is not None:
                sent = operation["requestBody"]["content"]["application/json"]["schema"]
                jsonschema.Draft202012Validator(self.schema(sent)).validate(body)
            self.seen.add((method, pattern))
        return answer

    def test_every_route_answers_as_described(self):
        jsonschema.Draft202012Validator.check_schema(self.schema({"$ref": "#/components/schemas/Decision"}))
        check = self.check
        made = check("POST", "/v1/decide", "/v1/decide", ASKED).json["decision_id"]
        check("POST", "/v1/decide", "/v1/decide", {"responses": [{"model": "a"}], "max_error": 0.01})
        receipt = check("POST", "/v1/feedback", "/v1/feedback", {"decision_id": made, "correct_answer": "x"}).json
        check("POST", "/v1/feedback/batch", "/v1/feedback/batch", raw=b'{"decision_id":"x"}', ctype="application/x-ndjson")
        check("GET", "/v1/decisions?limit=5", "/v1/decisions")
        check("GET", "/v1/decisions/" + made, "/v1/decisions/{decision}")
        check("DELETE", f"/v1/decisions/{made}/texts", "/v1/decisions/{decision}/texts")
        for prefix in ("", "/openai"):
            chat = {"model": "margin/default", "messages": [{"role": "user", "content": "Which?"}],
                    "margin": {"include": ["candidates", "explanation", "raw"], "max_error": 0.5}}
            self.assertIn("explanation", check("POST", prefix + "/v1/chat/completions", prefix + "/v1/chat/completions", chat).json["margin"])
            tools = {"model": "margin/default", "messages": chat["messages"], "tools": [{"type": "function", "function": {"name": "f"}}]}
            self.assertEqual(check("POST", prefix + "/v1/chat/completions", prefix + "/v1/chat/completions", tools).json["margin"]["reason"], "tools")
            check("GET", prefix + "/v1/models", prefix + "/v1/models")
            check("GET", prefix + "/v1/models/m", prefix + "/v1/models/{model}")
            check("GET", prefix + "/v1/models/margin/default", prefix + "/v1/models/{owner}/{model}")
        check("POST", "/v1/feedback/revert", "/v1/feedback/revert", {"feedback_id": receipt["feedback_id"]})
        check("PUT", "/v1/pools/p", "/v1/pools/{pool}", {"vote": "majority", "calibrator": "margin"})
        check("GET", "/v1/pools", "/v1/pools")
        check("GET", "/v1/pools/default", "/v1/pools/{pool}")
        for part in ("factors", "calibration", "alarms", "activity", "heat", "models", "pairs", "queue"):
            check("GET", f"/v1/pools/default/{part}", f"/v1/pools/{{pool}}/{part}")
        check("GET", "/v1/pools/default/factors?model=a", "/v1/pools/{pool}/factors")
        for query in ("model=a", "band=0"):
            check("GET", "/v1/pools/default/history?" + query, "/v1/pools/{pool}/history")
        for window in ("hour", "day", "latest"):
            check("GET", f"/v1/pools/default/calibration?model=a&window={window}", "/v1/pools/{pool}/calibration")
        check("GET", "/v1/decisions?q=x&model=a&status=cold&answered=true&graded=true", "/v1/decisions")
        check("POST", "/v1/pools/p/freeze", "/v1/pools/{pool}/freeze")
        check("POST", "/v1/pools/p/resume", "/v1/pools/{pool}/resume")
        check("PUT", "/v1/pools/p/models/m", "/v1/pools/{pool}/models/{model}", {})
        check("PUT", "/v1/pools/p/models/m/pin", "/v1/pools/{pool}/models/{model}/pin", {"factor": 0.5})
        check("DELETE", "/v1/pools/p/models/m/pin", "/v1/pools/{pool}/models/{model}/pin")
        check("DELETE", "/v1/pools/p/models/m", "/v1/pools/{pool}/models/{model}")
        state = check("GET", "/v1/pools/default/state", "/v1/pools/{pool}/state", ctype="application/octet-stream").body
        check("PUT", "/v1/pools/copy", "/v1/pools/{pool}", {})
        check("PUT", "/v1/pools/copy/state?trust=0.5", "/v1/pools/{pool}/state", raw=state)
        for path in ("/health", "/health/liveness", "/health/readiness", "/ready", "/status", "/openapi.json"):
            check("GET", path, path)
        check("GET", "/metrics", "/metrics", ctype="text/plain")
        check("GET", "/v1/session", "/v1/session")
        check("GET", "/v1/config", "/v1/config")
        check("POST", "/v1/config/reload", "/v1/config/reload")
        log = "".join(json.dumps({"task": str(t), "model": "a", "confidence": 0.9, "correct": t % 2}) + "\n" for t in range(40))
        made = check("POST", "/v1/experiments?format=jsonl&name=n", "/v1/experiments", raw=log.encode(), status=202).json["id"]
        check("GET", "/v1/experiments", "/v1/experiments")
        while check("GET", "/v1/experiments/" + made, "/v1/experiments/{experiment}").json["status"] == "running":
            time.sleep(0.05)
        check("GET", f"/v1/experiments/{made}/report", "/v1/experiments/{experiment}/report", ctype="text/html")
        for path in ("/", "/dashboard"):
            check("GET", path, path, status=302, ctype="text/plain")
        page = check("GET", "/dashboard/", "/dashboard/", ctype="text/html").body.decode()
        script = re.search(r'assets/[^"]+\.js', page)
        if script:  # built without the dashboard, it has no other file
            check("GET", "/dashboard/" + script[0], "/dashboard/assets/{file}", ctype="text/javascript")
        else:
            self.seen.add(("GET", "/dashboard/assets/{file}"))
        connection = self.server.fresh()
        connection.request("GET", "/v1/events")
        self.assertEqual(connection.getresponse().headers["Content-Type"], "text/event-stream")
        self.seen.add(("GET", "/v1/events"))
        connection.close()

        described = {(m.upper(), p) for p, operations in self.document["paths"].items() for m in operations}
        self.assertEqual(self.seen, described, "every described route was tried")

    def test_errors_have_the_one_shape(self):
        for method, path, pattern, body, status in [
            ("POST", "/v1/decide", "/v1/decide", {}, 400),
            ("POST", "/v1/feedback", "/v1/feedback", {"decision_id": 7}, 400),
            ("POST", "/v1/chat/completions", "/v1/chat/completions", {"model": "none", "messages": [{"role": "user"}]}, 404),
            ("POST", "/v1/chat/completions", "/v1/chat/completions", {"model": "margin/default", "messages": []}, 400),
            ("GET", "/v1/models/none", "/v1/models/{model}", None, 404),
            ("GET", "/v1/pools/none", "/v1/pools/{pool}", None, 404),
            ("GET", "/v1/decisions/00000000-0000-0000-0000-000000000000", "/v1/decisions/{decision}", None, 404),
            ("GET", "/v1/decisions?limit=0", "/v1/decisions", None, 400),
        ]:
            self.check(method, path, pattern, body, status=status)

    def test_a_limit_is_described_with_its_bounds(self):
        for pattern in ("/v1/decisions", "/v1/pools/{pool}/queue"):
            limit = next(p for p in self.document["paths"][pattern]["get"]["parameters"] if p["name"] == "limit")["schema"]
            path = pattern.replace("{pool}", "default") + "?limit="
            for accepted in (limit["minimum"], limit["maximum"]):
                self.check("GET", path + str(accepted), pattern)
            for refused in (limit["minimum"] - 1, limit["maximum"] + 1):
                self.check("GET", path + str(refused), pattern, status=400)

    def test_decisions_are_listed_of_the_pool_that_is_described(self):
        self.server.put("/v1/pools/p", {})
        for pool in ("default", "p"):
            self.server.post("/v1/decide", {**ASKED, "pool": pool})
        pool = next(p for p in self.document["paths"]["/v1/decisions"]["get"]["parameters"] if p["name"] == "pool")["schema"].get("default")
        listed = [self.check("GET", "/v1/decisions" + query, "/v1/decisions").json for query in ("", f"?pool={pool}", "?pool=p")]
        self.assertEqual(listed[0], listed[1])
        self.assertEqual([row["pool"] for row in listed[2]["decisions"]], ["p"])

    def test_what_the_document_forbids_is_refused(self):
        """Each required field left out and each type changed, one at a time, is a 400."""
        sent = self.schema(self.document["paths"]["/v1/decide"]["post"]["requestBody"]["content"]["application/json"]["schema"])
        validator = jsonschema.Draft202012Validator(sent)
        good = {"pool": "default", "task_id": "t", "segment": "", "kind": "exact", "max_error": 0.5, "audit_rate": 0.1,
                "responses": [{"model": "a", "answer": "x", "confidence": 0.5, "channel": "verbalized", "abstained": False}]}
        self.assertTrue(validator.is_valid(good))
        tried = 0
        for wrong in (7, "x", [], {}, True, -1, 2, None):
            for field in good:
                tried += self.agree(validator, {**good, field: wrong})
            for field in good["responses"][0]:
                tried += self.agree(validator, {**good, "responses": [{**good["responses"][0], field: wrong}]})
        self.assertGreater(tried, 40)

    def agree(self, validator, body):
        status = self.server.post("/v1/decide", body).status
        if validator.is_valid(body):
            # The document cannot know which pools exist.
            self.assertIn(status, (200, 404), json.dumps(body))
            return 0
        self.assertEqual(status, 400, json.dumps(body))
        return 1


if __name__ == "__main__":
    main()
