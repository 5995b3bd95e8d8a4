"""Starts gateways for OpenAI's SDK for Node (node/sdk.mjs), and looks at what its calls cost."""
import os
import pathlib
import subprocess

from gateway import GatewayTest, main, says


class NodeSdk(GatewayTest):
    def test_the_sdk_unmodified(self):
        self.upstream.says.update(a=says("B", 90), b=says("A", 50), c=says("A", 30))
        patience = '[upstreams.p]\nurl = "%s/v1"\nmodel = "p!never"\n[pools.patience]\nmodels = ["p"]\n' % self.upstream.url
        server = self.gateway("a", "b", "c", more=patience)
        failing = self.gateway("a!401", "b!401")
        script = pathlib.Path(__file__).parent / "node/sdk.mjs"
        done = subprocess.run([os.environ["MARGIN_NODE"], "--test-reporter=spec", script, server.url + "/v1", failing.url + "/v1"],
                              capture_output=True, text=True, timeout=240)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([len(self.upstream.requests(model)) for model in ("a!401", "b!401")], [1, 1], "the SDK did not pay for a second fan-out")
        seen = self.upstream.wait_for(lambda requests: all(r.became == "cancelled" for r in requests if r.model == "p!never"))
        self.assertEqual([r.became for r in seen if r.model == "p!never"], ["cancelled"], "who gives up is not paid for further")


if __name__ == "__main__":
    main()
