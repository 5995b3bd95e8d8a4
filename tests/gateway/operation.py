"""What operators count on: keys and budgets, restarts, drains, reloads and a store that fails, with chats under way."""
import contextlib
import json
import resource
import signal
import sqlite3
import threading
import time

from gateway import QUESTION, GatewayTest, main, says

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


class Operation(GatewayTest):
    def in_background(self, call):
        got = []
        thread = threading.Thread(target=lambda: got.append(call()))
        thread.start()
        return lambda: (thread.join(60), got[0])[1]

    def test_chats_need_the_scope_infer(self):
        keys = {scope: json.loads(self.margin("keys", "create", "--store", "margin.db", "--json", "--name", scope, "--scope", scope))["key"]
                for scope in ("infer", "read")}
        server = self.gateway("a", more=f'[keys]\nfile = "{self.folder}/margin.db.keys"\n')
        self.assertEqual(self.chat(server, key=keys["infer"]).status, 200)
        for key, status, kind in ((keys["read"], 403, "permission_error"), ("sk-wrong", 401, "authentication_error"), (None, 401, "authentication_error")):
            answer = self.chat(server, key=key)
            self.assertEqual((answer.status, answer.error["type"]), (status, kind))
        self.assertEqual(len(self.upstream.requests()), 1)
        self.assertNotIn(keys["infer"], str(self.upstream.requests()[0].headers))

    def test_a_client_that_leaves_has_used_what_it_used(self):
        server = self.gateway("a", "b!never", pool={"min_responses": 2}, more="[gateway]\ntokens_per_day = 1\n")
        connection = server.fresh()
        connection.request("POST", "/v1/chat/completions", json.dumps({"model": "margin/quiz", "messages": QUESTION}), {"Content-Type": "application/json"})
        self.upstream.wait_for(lambda seen: any(each.model == "a" and each.became == "answered" for each in seen) and len(seen) == 2)
        connection.close()
        # A chat to find out would itself use up the budget.
        self.eventually(lambda: server.get("/metrics").body.decode(), lambda page: 'margin_upstream_tokens_total{model="a"' in page)
        refused = self.chat(server, model="a")
        self.assertEqual(refused.status, 429, refused.body)
        self.assertEqual(refused.error["code"], "budget_exceeded", refused.body)

    def test_a_client_that_leaves_while_its_chat_is_stored_is_counted_once(self):
        server = self.gateway("a")
        self.answered(self.chat(server))
        before = self.figures(server)
        with contextlib.closing(sqlite3.connect(server.store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # the server waits a second for it
            connection = server.fresh()
            connection.request("POST", "/v1/chat/completions", json.dumps({"model": "margin/quiz", "messages": QUESTION}), {"Content-Type": "application/json"})
            stored = self.eventually(lambda: self.figures(server), lambda figures: figures["asked"] == before["asked"] + 1)
            connection.close()
            self.eventually(lambda: self.figures(server), lambda figures: figures["connections"] < stored["connections"])
            other.execute("ROLLBACK")
        after = self.figures(server)
        self.assertEqual((after["asked"], after["tokens"]), (before["asked"] + 1, 2 * before["tokens"]))

    def figures(self, server):
        page = server.get("/metrics").body.decode()
        names = {"asked": 'margin_upstream_requests_total{model="a"', "tokens": 'margin_upstream_tokens_total{model="a"', "connections": "margin_connections_open"}
        return {key: sum(float(line.split()[-1]) for line in page.splitlines() if line.startswith(name)) for key, name in names.items()}

    def test_a_budget_is_for_every_way_to_a_model(self):
        server = self.gateway("a!tools", more="[gateway]\ntokens_per_day = 1\n")
        self.answered(self.chat(server))
        for fields in ({}, {"model": "a"}, {"tools": [TOOL]}):
            with self.subTest(**fields):
                refused = self.chat(server, **fields)
                self.assertEqual((refused.status, refused.error["code"]), (429, "budget_exceeded"), refused.body)
                self.assertEqual(refused.headers["x-should-retry"], "false")
        self.assertEqual(len(self.upstream.requests()), 1)

    def test_an_answered_chat_survives_kill_9_and_takes_feedback(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a")
        reply = self.answered(self.chat(server))
        server.kill()
        again = self.again(server)
        self.assertEqual(again.get("/v1/decisions/" + reply["margin"]["decision_id"]).json["answer"], "B")
        receipt = again.post("/v1/feedback", {"decision_id": reply["id"], "outcome": 1})
        self.assertEqual((receipt.status, receipt.json["status"]), (200, "applied"), receipt.body)

    def test_a_drain_lets_chats_under_way_end(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a!slow=0.7")
        chat = self.in_background(lambda: self.chat(server))
        self.upstream.wait_for(lambda requests: requests)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.answered(chat())["choices"][0]["message"]["content"], "Answer: B")
        self.assertEqual(server.stop(), 0)

    def test_a_reload_brings_new_models_and_leaves_chats_under_way_be(self):
        self.upstream.says.update(a=says("B", 90), n=says("A", 90))
        server = self.gateway("a!slow=0.7")
        chat = self.in_background(lambda: self.chat(server))
        self.upstream.wait_for(lambda requests: requests)
        text = server.config.read_text()
        server.config.write_text(text + f'[upstreams.n]\nurl = "{self.upstream.url}/v1"\n[pools.new]\nmodels = ["n"]\ntask = "choice"\n')
        server.process.send_signal(signal.SIGHUP)
        reply = self.eventually(lambda: self.chat(server, "margin/new"), lambda answer: answer.status == 200)
        self.assertEqual(reply.json["choices"][0]["message"]["content"], "Answer: A")
        self.assertEqual(self.answered(chat())["choices"][0]["message"]["content"], "Answer: B")

    def test_a_store_that_fails_after_the_models_were_paid_says_not_to_retry(self):
        server = self.gateway("a")
        self.answered(self.chat(server))
        size = max(path.stat().st_size for path in server.folder.glob("margin.db*"))
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + 20_000, resource.RLIM_INFINITY))
        # The answer itself is not kept twice, so it takes some chats to fill what is left.
        end = time.monotonic() + 60
        while (refused := self.chat(server, margin={"task_id": "x" * 200})).status == 200 and time.monotonic() < end:
            pass
        self.assertEqual((refused.status, refused.error["code"]), (503, "store_unavailable"), refused.body)
        self.assertEqual(refused.headers["x-should-retry"], "false")

    def test_figures_of_upstreams_are_in_the_metrics(self):
        server = self.gateway("a", "b!401")
        self.answered(self.chat(server))
        figures = server.get("/metrics").body.decode()
        self.assertRegex(figures, r'margin_upstream_requests_total\{[^}]*model="a"[^}]*\} [1-9]')
        self.assertRegex(figures, r'margin_upstream_tokens_total\{[^}]*model="a"[^}]*\} [1-9]')

    def test_a_decision_may_abstain_and_says_so(self):
        self.upstream.says.update(a=says("B", 40))
        reply = self.answered(self.chat(self.gateway("a"), margin={"max_error": 0.01}))
        self.assertTrue(reply["margin"]["abstained"])
        server = self.gateway("a", pool={"max_error": 0.01})
        self.assertEqual(server.get("/v1/pools/quiz").json["max_error"], 0.01)
        self.assertTrue(self.answered(self.chat(server))["margin"]["abstained"])
        self.assertFalse(self.answered(self.chat(server, margin={"max_error": 0.99}))["margin"]["abstained"])

    def test_more_streams_than_models_answer_at_once_are_all_served(self):
        # Each is paid for before its first frame is sent, so a limit on streams must not be what refuses it.
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a!slow=0.5", upstreams={"*": {"concurrency": 200}}, more="[gateway]\nkeep_alive_ms = 100\n")
        ends = self.at_once(lambda: [frame.data for frame in self.stream(server).frames()][-1], 80)
        self.assertEqual(set(ends), {"[DONE]"})

    def test_a_chat_with_images_may_be_long(self):
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 3_000_000}}
        messages = [{"role": "user", "content": [image]}]
        server = self.gateway("a")
        self.answered(self.chat(server, messages=messages))
        self.assertEqual(self.upstream.requests()[0].json["messages"], messages)
        small = self.gateway("a", more="[gateway]\nbody_bytes = 2000000\n")
        self.assertEqual(self.chat(small, messages=messages).status, 413)

    def test_a_breaker_spares_an_upstream_that_is_down(self):
        self.upstream.says.update(a=says("B", 90))
        server = self.gateway("a", "b!503", upstreams={"b": {"retries": 0, "breaker_failures": 2, "breaker_ms": 60_000}})
        for _ in range(6):
            self.answered(self.chat(server, "margin/quiz"))
        self.assertEqual(len(self.upstream.requests("b!503")), 2)


if __name__ == "__main__":
    main()
