"""Thousands of calls that go wrong in every way: the gateway answers each with a reply or a typed error, and holds on to nothing afterwards.

MARGIN_FAULT_CALLS sets how many (3000 unless said).
"""
import collections
import http.client
import json
import os
import pathlib
import random

from gateway import QUESTION, GatewayTest, main, says

CALLS = int(os.environ.get("MARGIN_FAULT_CALLS", "3000"))
FAULTS = ["reset", "close", "half_frame", "error_frame", "429", "503", "401", "wrong_json", "wrong_shape", "wrong_model", "huge=200000", "slow=0.01", "never"]


class Faults(GatewayTest):
    def descriptors(self, server):
        return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))

    def resident(self, server):
        fields = pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def faulty(self):
        models = [f"m{i}!{fault}" for i, fault in enumerate(FAULTS)]
        quick = {"retries": 0, "timeout_ms": 100, "breaker_failures": 1000, "reply_bytes": 100_000}
        return self.gateway("a", *models, pool={"decision_ms": 400}, upstreams={"*": quick, "a": {"timeout_ms": 20_000}})

    def call(self, server, dice):
        """One call of a random kind; every third client leaves early."""
        connection = http.client.HTTPConnection(server.host, int(server.port), timeout=dice.choice([60, 60, 0.02]))
        model = dice.choice(["margin/quiz", *(f"m{i}" for i in range(len(FAULTS)))])
        body = {"model": model, "messages": QUESTION, "stream": dice.random() < 0.5}
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
            reply = connection.getresponse()
            data = reply.read()
            if reply.status != 200:
                error = json.loads(data)["error"]
                assert set(error) == {"message", "type", "param", "code"}, data
            return reply.status
        except TimeoutError:
            return "left"
        except (ConnectionError, http.client.IncompleteRead):
            return "cut"  # a stream whose upstream broke ends without its last chunk
        finally:
            connection.close()

    def round(self, server, seed, calls):
        dice = random.Random(seed)
        seeds = iter([dice.getrandbits(64) for _ in range(calls)])

        def some():
            return [self.call(server, random.Random(one)) for one in seeds_of(calls // 8)]

        def seeds_of(count):
            return [next(seeds) for _ in range(count)]

        return collections.Counter(sum(self.at_once(some, 8), []))

    def test_nothing_is_held_on_to_after_thousands_of_faulty_calls(self):
        self.upstream.says["a"] = says("B", 90)
        server = self.faulty()
        self.answered(self.chat(server, "a"))
        self.round(server, 1, 200)
        self.assertIsNone(server.process.poll(), "it lives: " + server.journal[-2000:])
        before = self.settled(server)
        resident = None
        for part in range(3):
            print(self.round(server, 2 + part, CALLS // 3))
            after = self.settled(server)
            if part == 0:
                resident = self.resident(server)
        print("descriptors", before, "then", after, "resident", resident, "then", self.resident(server))
        self.assertLessEqual(after, before + 2 * (len(FAULTS) + 1), "at most an idle connection or two more per upstream")
        self.assertLess(self.resident(server), resident * 1.25 + (8 << 20))
        self.answered(self.chat(server, "a"))
        self.assertEqual(server.stop(), 0)
        self.eventually(lambda: self.upstream.open_connections, lambda open_ones: open_ones == 0)

    def settled(self, server):
        """The number of descriptors once it no longer changes."""
        last = [self.descriptors(server)] * 3

        def still():
            last.append(self.descriptors(server))
            return last[-8:]

        return self.eventually(still, lambda counts: len(counts) == 8 and len(set(counts)) == 1, 60)[-1]


if __name__ == "__main__":
    main()
