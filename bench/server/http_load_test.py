"""http_load must see what a closed loop hides: a server that stands still delays every request that was due meanwhile."""

import json
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

BIN = Path(sys.argv.pop())


class HttpLoad(unittest.TestCase):
    def setUp(self):
        self.server = subprocess.Popen([BIN / "http_bench_server", "0", "100"], stdout=subprocess.PIPE, text=True)
        self.port = self.server.stdout.readline().strip()

    def tearDown(self):
        self.server.send_signal(signal.SIGCONT)
        self.server.terminate()
        self.server.wait()
        self.server.stdout.close()

    def load(self, *flags):
        return subprocess.Popen([BIN / "http_load", "--port", self.port, "--warmup", "0", *flags], stdout=subprocess.PIPE, text=True)

    def outcome(self, process):
        out, _ = process.communicate(timeout=60)
        return json.loads(out)

    def test_open_loop_sends_what_the_schedule_says(self):
        for flags in ((), ("--yield",)):
            outcome = self.outcome(self.load("--rate", "400", "--seconds", "0.5", *flags))
            self.assertEqual((outcome["requests"], outcome["errors"], outcome["mode"]), (200, 0, "open"))

    def test_a_stall_delays_every_request_due_during_it(self):
        process = self.load("--rate", "400", "--seconds", "1", "--connections", "4")
        time.sleep(0.2)
        self.server.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        self.server.send_signal(signal.SIGCONT)
        outcome = self.outcome(process)
        self.assertEqual((outcome["requests"], outcome["errors"]), (400, 0))
        # Half of all were due during the half second; four connections in a closed loop would have seen four slow ones in a hundred.
        self.assertGreater(outcome["max_us"], 400_000)
        self.assertGreater(outcome["p99_us"], 300_000)

    def test_slices_show_when_a_stall_was(self):
        process = self.load("--rate", "400", "--seconds", "1", "--slices", "0.1")
        time.sleep(0.5)
        self.server.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        self.server.send_signal(signal.SIGCONT)
        outcome = self.outcome(process)
        slices = outcome["slices_p99_us"]
        self.assertIn(len(slices), (9, 10), "the last one is whole only if something was answered after it")
        self.assertGreater(max(slices), 100_000)
        self.assertGreater(max(slices), 4 * sorted(slices)[len(slices) // 2])
        self.assertIn(0.0, slices, "nothing was answered meanwhile")

    def test_another_status_is_an_error(self):
        outcome = self.outcome(self.load("--seconds", "0.1", "--status", "204"))
        self.assertGreater(outcome["requests"], 0)
        self.assertEqual(outcome["errors"], outcome["requests"])

    def test_a_server_that_never_answers_leaves_errors_behind(self):
        self.server.send_signal(signal.SIGSTOP)
        outcome = self.outcome(self.load("--rate", "100", "--seconds", "0.2", "--connections", "3"))
        self.assertEqual((outcome["requests"], outcome["errors"], outcome["unfinished"]), (20, 20, 20))


if __name__ == "__main__":
    unittest.main()
