#!/usr/bin/env python3
"""A pool of overconfident models answers a quiz through the gateway; outcomes are fed back; then the models change.

    examples/gateway_quiz/quiz.py [--questions 1200] [--seed 1] [--json] [--binary build/release/bin/margin]

Starts simulated models and a `margin serve` that asks them, both on free ports, and needs no key and no network. Each question is one chat
completion: by OpenAI's SDK where it is installed, by the standard library where not. After each answer the right letter goes to
/v1/feedback. Half-way the models change: the best becomes the worst. Printed per stretch of questions: how often the gateway was right and
how honest its `p_correct` was, beside the same questions decided by the models' own confidence.
"""
import argparse
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

from model_server import ModelServer
from quiz_models import Question, cast

ROOT = pathlib.Path(__file__).resolve().parents[2]


def config_of(models, url):
    lines = ['[store]', 'durability = "process"']
    for model in models:
        lines += [f"[upstreams.{model.name}]", f'url = "{url}/v1"']
    lines += ["[pools.quiz]", "models = " + json.dumps([model.name for model in models]), 'task = "choice"']
    return "\n".join(lines) + "\n"


class StandardLibrary:
    """What the quiz needs of the SDK, for where it is not installed."""

    def __init__(self, url):
        parts = urllib.parse.urlparse(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)

    def post(self, path, body):
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        answer = json.loads(reply.read())
        if reply.status != 200:
            raise RuntimeError(f"{path}: {reply.status} {answer}")
        return answer

    def chat(self, model, text):
        reply = self.post("/v1/chat/completions", {"model": model, "messages": [{"role": "user", "content": text}], "margin": {"include": ["candidates"]}})
        return reply["id"], reply["choices"][0]["message"]["content"], reply["margin"]


class OpenAiSdk(StandardLibrary):
    def __init__(self, url):
        import openai
        super().__init__(url)
        self.client = openai.OpenAI(base_url=url + "/v1", api_key="none")

    def chat(self, model, text):
        reply = self.client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": text}], extra_body={"margin": {"include": ["candidates"]}})
        return reply.id, reply.choices[0].message.content, reply.model_extra["margin"]


def make_client(url):
    try:
        return OpenAiSdk(url)
    except ImportError:
        return StandardLibrary(url)


def ece(pairs, bins=10):
    """Expected calibration error of (probability, right) pairs."""
    held = [[] for _ in range(bins)]
    for p, right in pairs:
        held[min(bins - 1, int(p * bins))].append((p, right))
    return sum(abs(sum(p for p, _ in b) - sum(right for _, right in b)) for b in held) / len(pairs)


def by_stated(candidates):
    """The answer that the models' own confidences choose, and the confidence of the surest who gave it."""
    scores = {}
    for candidate in candidates:
        if candidate.get("answer") and candidate.get("stated") is not None:
            scores.setdefault(candidate["answer"], []).append(candidate["stated"])
    answer = max(scores, key=lambda a: sum(scores[a]))
    return answer, max(scores[answer])


class Stretch:
    """Some questions in a row, decided in two ways."""

    def __init__(self, name):
        self.name, self.calibrated, self.stated = name, [], []

    def add(self, question, letter, margin):
        self.calibrated.append((margin["p_correct"], letter == question.right))
        answer, confidence = by_stated(margin["candidates"])
        self.stated.append((confidence, answer == question.right))

    def report(self):
        def score(pairs):
            return {"accuracy": sum(right for _, right in pairs) / len(pairs), "ece": ece(pairs)}

        return {"name": self.name, "questions": len(self.calibrated), "gateway": score(self.calibrated), "stated": score(self.stated)}


class Gateway:
    """A `margin serve` in a folder of its own, on a free port."""

    def __init__(self, binary, config):
        self.folder = tempfile.TemporaryDirectory(prefix="margin-quiz-")
        path = pathlib.Path(self.folder.name)
        (path / "margin.toml").write_text(config)
        command = [binary, "serve", "--config", path / "margin.toml", "--store", path / "margin.db", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()
        self.folder.cleanup()


def stretches(count):
    """The first and second half of the questions, each cut into a beginning and the rest."""
    half, start = count // 2, count // 20
    return [(0, start, "at first"), (start, half, "learned"), (half, half + start, "after the change"), (half + start, count, "recovered")]


def play(questions, seed, binary, progress=lambda number: None):
    models = cast(seed)
    server = ModelServer({model.name: model for model in models}).start()
    reports = []
    try:
        with Gateway(binary, config_of(models, server.url)) as gateway:
            client = make_client(gateway.url)
            for begin, end, name in stretches(questions):
                stretch = Stretch(name)
                for number in range(begin, end):
                    for model in models:
                        model.phase = int(number >= questions // 2)
                    question = Question(number, seed)
                    reply, text, margin = client.chat("margin/quiz", question.text)
                    stretch.add(question, text.removeprefix("Answer: "), margin)
                    client.post("/v1/feedback", {"decision_id": reply, "correct_answer": question.right})
                    progress(number)
                reports.append(stretch.report())
    finally:
        server.stop()
    return type(client).__name__, reports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--binary", default=ROOT / "build/release/bin/margin")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.binary).exists():
        sys.exit(f"{arguments.binary} is not there; ./run.sh builds it")

    def progress(number):
        if sys.stderr.isatty() and number % 20 == 0:
            print(f"\r{number} of {arguments.questions} questions ", end="", file=sys.stderr)

    client, reports = play(arguments.questions, arguments.seed, arguments.binary, progress)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    if arguments.json:
        print(json.dumps({"client": client, "stretches": reports}, indent=1))
        return
    print(f"{'':18}{'':>10}   {'right':^21}   {'ECE':^21}")
    print(f"{'':18}{'questions':>10}   {'gateway':>10} {'stated':>10}   {'gateway':>10} {'stated':>10}")
    for r in reports:
        print(f"{r['name']:18}{r['questions']:>10}   {r['gateway']['accuracy']:>10.1%} {r['stated']['accuracy']:>10.1%}   "
              f"{r['gateway']['ece']:>10.3f} {r['stated']['ece']:>10.3f}")


if __name__ == "__main__":
    main()
