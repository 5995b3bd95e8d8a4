"""Spans of chats and feedback as a collector gets them, and the trace that upstreams are told of. A collector and models of our own listen on
loopback; where the Python package opentelemetry-proto is there, it reads every batch too."""
import base64
import http.server
import json
import threading
import time

from harness import ServerTest, main

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
except ImportError:
    ExportTraceServiceRequest = None

SERVER, CLIENT = 2, 3
CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Listener:
    """Keeps what is posted and answers with what `reply` makes of it: (status, object)."""

    def __init__(self, test, reply):
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                status, answer = reply(body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)


def answering(text):
    return lambda body: (200, {
        "id": "chatcmpl-of-the-model", "object": "chat.completion", "created": 1, "model": "served-name",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})


def value_of(value):
    (kind, inner), = value.items()
    if kind == "intValue":
        assert isinstance(inner, str), "64 bits are text in OTLP's JSON"
        return int(inner)
    return [value_of(each) for each in inner["values"]] if kind == "arrayValue" else inner


def attributes_of(owner):
    return {each["key"]: value_of(each["value"]) for each in owner["attributes"]}


class Tracing(ServerTest):
    def setUp(self):
        super().setUp()
        self.collector = Listener(self, lambda body: (200, {}))
        self.large = Listener(self, answering("B\nConfidence: 90"))
        self.small = Listener(self, answering("B\nConfidence: 60"))

    def config(self, trace=""):
        return (f'[upstreams.large]\nurl = "{self.large.url}/v1"\nmodel = "gpt-x"\n[upstreams.small]\nurl = "{self.small.url}/v1"\nretries = 0\n'
                f'[pools.quiz]\nmodels = ["large", "small"]\ntask = "choice"\nvote = "argmax"\n{trace}')

    def traced(self, **env):
        return self.serve(config=self.config(), env={"OTEL_EXPORTER_OTLP_ENDPOINT": self.collector.url, **env})

    def chat(self, server, model="margin/quiz", headers=None, **fields):
        return server.post("/v1/chat/completions", {"model": model, "messages": [{"role": "user", "content": "Which?"}], **fields}, headers=headers)

    def spans(self, server):
        """All spans, by name, once the server has stopped: what it had was sent then."""
        self.assertEqual(server.stop(), 0, server.journal)
        found = {}
        for path, _, body in self.collector.requests:
            self.assertEqual(path, "/v1/traces")
            if ExportTraceServiceRequest:
                self.read_by_protobuf(body)
            for resource in body["resourceSpans"]:
                self.resource = attributes_of(resource["resource"])
                for span in resource["scopeSpans"][0]["spans"]:
                    found.setdefault(span["name"], []).append(span)
        return found

    def read_by_protobuf(self, body):
        text = json.loads(json.dumps(body))
        for span in text["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for key in ("traceId", "spanId", "parentSpanId"):  # hexadecimal in OTLP, where Protocol Buffers have base64
                if key in span:
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
        request = json_format.ParseDict(text, ExportTraceServiceRequest())  # refuses names it does not know
        spans = request.resource_spans[0].scope_spans[0].spans
        self.assertEqual([each.name for each in spans], [each["name"] for each in body["resourceSpans"][0]["scopeSpans"][0]["spans"]])

    def test_a_chat_is_one_server_span_with_a_client_span_for_each_call(self):
        server = self.traced(OTEL_SERVICE_NAME="quiz-service")
        reply = self.chat(server, temperature=0.5, max_tokens=64, stop=["\n\n"])
        self.assertEqual(reply.status, 200, reply.body)
        told = self.large.requests[0][1]["traceparent"].split("-")
        spans = self.spans(server)
        self.assertEqual(self.resource["service.name"], "quiz-service")
        self.assertEqual(sorted(spans), ["chat gpt-x", "chat margin/quiz", "chat small"])
        (root,), (large,), (small,) = spans["chat margin/quiz"], spans["chat gpt-x"], spans["chat small"]
        self.assertEqual([root["kind"], large["kind"], small["kind"]], [SERVER, CLIENT, CLIENT])
        self.assertNotIn("parentSpanId", root)
        decision = reply.json["margin"]["decision_id"]
        self.assertEqual(root["traceId"], decision.replace("-", ""), "without a caller's the trace's id is the decision's")
        for span in (large, small):
            self.assertEqual((span["traceId"], span["parentSpanId"]), (root["traceId"], root["spanId"]))
            self.assertLessEqual(int(root["startTimeUnixNano"]), int(span["startTimeUnixNano"]))
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
            self.assertLessEqual(int(span["endTimeUnixNano"]), int(root["endTimeUnixNano"]))
        self.assertEqual(told, ["00", root["traceId"], large["spanId"], "01"], "the model is told which span calls it")
        self.assertEqual(attributes_of(large), {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-x", "gen_ai.request.temperature": 0.5,
            "gen_ai.request.max_tokens": 64, "gen_ai.request.stop_sequences": ["\n\n"], "gen_ai.response.id": "chatcmpl-of-the-model",
            "gen_ai.response.model": "served-name", "gen_ai.response.finish_reasons": ["stop"], "gen_ai.usage.input_tokens": 11,
            "gen_ai.usage.output_tokens": 7, "server.address": "127.0.0.1", "server.port": self.large.server.server_port, "margin.model": "large"})
        told = attributes_of(root)
        self.assertEqual(told["gen_ai.response.id"], reply.json["id"])
        self.assertEqual(told["gen_ai.usage.input_tokens"], 22)
        self.assertEqual((told["margin.pool"], told["margin.strategy"], told["margin.calls"]), ("quiz", "vote", 2))
        self.assertEqual((told["margin.p_correct"], told["margin.status"]), (reply.json["margin"]["p_correct"], reply.json["margin"]["status"]))

    def test_a_callers_trace_goes_on(self):
        server = self.traced()
        self.chat(server, headers={"traceparent": CALLER, "tracestate": "vendor=1"})
        self.chat(server, model="large", headers={"traceparent": CALLER[:-2] + "00"})
        passed_on = self.large.requests[1][1]["traceparent"]
        spans = self.spans(server)
        (root,) = spans["chat margin/quiz"]
        self.assertEqual((root["traceId"], root["parentSpanId"], root["traceState"]), (CALLER[3:35], CALLER[36:52], "vendor=1"))
        self.assertEqual(self.large.requests[0][1]["tracestate"], "vendor=1")
        self.assertNotIn("chat large", spans, "a caller that does not sample is not recorded")
        self.assertEqual(passed_on, CALLER[:-2] + "00", "and its trace is passed on as it came")

    def test_failures_are_errors(self):
        self.small.server.RequestHandlerClass.do_POST = lambda handler: handler.send_error(500)
        server = self.traced()
        self.assertEqual(self.chat(server).status, 200)
        self.assertEqual(self.chat(server, model="small").status, 500)
        spans = self.spans(server)
        failed = spans["chat small"]
        self.assertEqual({attributes_of(each)["error.type"] for each in failed}, {"500"})
        self.assertEqual({each["status"]["code"] for each in failed}, {2})
        self.assertEqual(spans["chat margin/quiz"][0]["status"], {}, "a model's failure is not the chat's")

    def test_a_chat_passed_through_is_traced_too_also_as_a_stream(self):
        server = self.traced()
        self.assertEqual(self.chat(server, model="large", stream=True).status, 200)
        spans = self.spans(server)
        (root,), (call,) = spans["chat large"], spans["chat gpt-x"]
        self.assertEqual(call["parentSpanId"], root["spanId"])
        self.assertIs(attributes_of(call)["gen_ai.request.stream"], True)

    def test_feedback_is_an_evaluation_of_the_response(self):
        server = self.traced()
        reply = self.chat(server)
        self.assertEqual(server.post("/v1/feedback", {"decision_id": reply.json["id"], "correct_answer": "B"}).status, 200)
        spans = self.spans(server)
        (span,) = spans["feedback"]
        self.assertEqual(span["traceId"], spans["chat margin/quiz"][0]["traceId"])
        self.assertEqual({each["name"] for each in span["events"]}, {"gen_ai.evaluation.result"})
        events = {attributes_of(each)["margin.model"]: attributes_of(each) for each in span["events"]}
        self.assertEqual(sorted(events), ["large", "small"])
        self.assertEqual(events["large"], {
            "gen_ai.evaluation.name": "margin.feedback", "gen_ai.evaluation.score.value": 1, "gen_ai.evaluation.score.label": "correct",
            "gen_ai.response.id": reply.json["id"], "margin.model": "large", "margin.feedback.source": "local"})

    def test_without_a_collector_a_trace_is_passed_on_as_it_came(self):
        server = self.serve(config=self.config())
        self.chat(server, headers={"traceparent": CALLER, "tracestate": "vendor=1"})
        self.chat(server)
        self.chat(server, headers={"traceparent": "nonsense"})
        heads = [head for _, head, _ in self.large.requests]
        self.assertEqual((heads[0]["traceparent"], heads[0]["tracestate"]), (CALLER, "vendor=1"))
        self.assertNotIn("traceparent", heads[1])
        self.assertNotIn("traceparent", heads[2])
        self.assertNotIn("margin_trace_spans_total", server.get("/metrics").body.decode())

    def test_a_collector_that_is_away_costs_spans_and_nothing_else(self):
        server = self.serve(config=self.config('[trace]\nendpoint = "http://127.0.0.1:9"\n'))
        began = time.monotonic()
        for _ in range(5):
            self.assertEqual(self.chat(server).status, 200)
        self.assertLess(time.monotonic() - began, 5)
        server.wait_for("spans are lost")
        metrics = server.get("/metrics").body.decode()
        lost = next(line for line in metrics.splitlines() if line.startswith('margin_trace_spans_total{result="refused"}'))
        self.assertGreaterEqual(float(lost.split()[-1]), 3)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(server.journal.count("spans are lost"), 1)

    def test_headers_are_secrets_by_reference_and_the_file_wins(self):
        trace = f'[trace]\nendpoint = "{self.collector.url}"\nheaders = "env::COLLECTOR_HEADERS"\nservice = "from-the-file"\n'
        server = self.serve(config=self.config(trace), env={"COLLECTOR_HEADERS": "api-key=hush%21", "OTEL_SERVICE_NAME": "other",
                                                            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
        self.chat(server)
        self.spans(server)
        self.assertEqual(self.resource["service.name"], "from-the-file")
        self.assertEqual(self.collector.requests[0][1]["api-key"], "hush!")
        self.assertNotIn("hush", server.journal)

    def test_what_makes_no_sense_stops_the_start(self):
        for env, said in (({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT: "),
                          ({"MARGIN_TRACE__ENDPOINT": "http://c", "MARGIN_TRACE__HEADERS": "api-key=open"}, "trace.headers: ")):
            server = self.serve(config=self.config(), env=env, wait=False)
            self.assertNotEqual(server.process.wait(30), 0)
            self.assertIn(said, server.journal)
            self.assertNotIn("api-key=open", server.journal)
            server.stop()


if __name__ == "__main__":
    main()
