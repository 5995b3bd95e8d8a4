"""The gateway adds no 40 ms: small writes on either leg that wait for the other side's delayed acknowledgement (Nagle's algorithm).

What such a wait costs on this machine is measured in the same run, on a pair of sockets that are made to suffer from it; the gateway may add
a fraction of that to a direct call of the same upstream.
"""
import http.client
import json
import socket
import statistics
import threading
import time
import unittest

from gateway import QUESTION, GatewayTest, main

ROUNDS = 25


def median_seconds(calls):
    """Each call's median over interleaved rounds: what the machine does meanwhile, it does to all."""
    took = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            took[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in took.items()}


class TwoWrites:
    """A server that answers in two small writes, with Nagle's algorithm on or off."""

    def __init__(self, nodelay):
        listener = socket.create_server(("127.0.0.1", 0))
        self.client = socket.create_connection(listener.getsockname())
        self.server, _ = listener.accept()
        listener.close()
        self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        while self.server.recv(64):
            self.server.sendall(b"head")
            self.server.sendall(b"body")

    def __call__(self):
        self.client.sendall(b"?")
        got = b""
        while len(got) < 8:
            got += self.client.recv(64)

    def close(self):
        self.client.close()
        self.server.close()


class Latency(GatewayTest):
    def caller(self, host, port, body):
        connection = http.client.HTTPConnection(host, port, timeout=60)
        self.addCleanup(connection.close)
        data = json.dumps(body)

        def call():
            connection.request("POST", "/v1/chat/completions", data, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            self.assertEqual((reply.status, b"B" in reply.read()), (200, True))

        return call

    def added(self, upstream_body, gateway_body):
        """What the gateway adds to the direct call, and what one delayed acknowledgement costs."""
        server = self.gateway("a")
        host, port = self.upstream.url.split("//")[1].split(":")
        nagle, plain = TwoWrites(nodelay=0), TwoWrites(nodelay=1)
        self.addCleanup(nagle.close)
        self.addCleanup(plain.close)
        took = median_seconds({"direct": self.caller(host, int(port), upstream_body),
                               "gateway": self.caller(server.host, int(server.port), gateway_body)})
        # One after the other without a pause: after one, the kernel acknowledges at once for a while.
        took |= median_seconds({"nagle": nagle}) | median_seconds({"plain": plain})
        print({name: f"{1e3 * seconds:.2f} ms" for name, seconds in took.items()})
        wait = took["nagle"] - took["plain"]
        if wait < 0.005:
            raise unittest.SkipTest(f"this kernel does not show the wait: {1e3 * wait:.2f} ms")
        return took["gateway"] - took["direct"], wait

    def check(self, **fields):
        direct = {"model": "a", "messages": QUESTION, **fields}
        for model in ("a", "margin/quiz"):
            with self.subTest(model=model):
                added, wait = self.added(direct, {**direct, "model": model})
                self.assertLess(added, wait / 4)

    def test_of_a_completion(self):
        self.check()

    def test_of_a_stream(self):
        self.check(stream=True, stream_options={"include_usage": True})


if __name__ == "__main__":
    main()
