"""Simulated models that answer a quiz of sums, and say how sure they are: sure of nearly everything, as the published models are.

A question is text ("What is 47 + 25?" with four options), so that whoever asks knows the truth; a model's luck with it is fixed by the seed.
"""
import hashlib
import json
import re

LETTERS = "ABCD"


def luck(*what):
    """A number in [0, 1) that depends on nothing but its arguments."""
    digest = hashlib.sha256("/".join(map(str, what)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class Question:
    def __init__(self, number, seed=1):
        a, b = 10 + int(luck(seed, number, "a") * 90), 10 + int(luck(seed, number, "b") * 90)
        self.number = number
        self.right = LETTERS[int(luck(seed, number, "right") * 4)]
        wrong = iter([a + b + 10, a + b - 1, a + b + 1])
        options = [f"{letter}) {a + b if letter == self.right else next(wrong)}" for letter in LETTERS]
        self.text = f"Question {number}: what is {a} + {b}?\n" + "\n".join(options)


def right_answer(text):
    """The number of the question and the letter of its right option, for a model that could do sums."""
    number, a, b = map(int, re.search(r"Question (\d+): what is (\d+) \+ (\d+)\?", text).groups())
    return number, re.search(rf"([A-D])\) {a + b}$", text, re.M).group(1)


class QuizModel:
    """`accuracy`: per phase; `stated`: the range of its confidence in percent. `phase` may be changed while it runs."""

    def __init__(self, name, accuracy, stated, seed=1):
        self.name, self.accuracy, self.stated, self.seed, self.phase = name, accuracy, stated, seed, 0

    def answer(self, text):
        number, right = right_answer(text)
        # Most of a model's mistakes are the mistake that everybody makes.
        others = [letter for letter in LETTERS if letter != right]
        common = luck(self.seed, self.name, number, "common") < 0.75
        wrong = others[int(luck(self.seed, "everybody" if common else self.name, number, "wrong") * 3)]
        is_right = luck(self.seed, self.name, number, self.phase) < self.accuracy[self.phase]
        low, high = self.stated
        surer = 0.3 * (high - low) if is_right else 0.0  # it knows a little about what it knows
        confidence = low + (high - low - surer) * luck(self.seed, self.name, number, "stated") + surer
        return (right if is_right else wrong), round(confidence)

    def __call__(self, request):
        questions = [m["content"] for m in request["messages"] if m["role"] == "user" and isinstance(m["content"], str)]
        letter, confidence = self.answer(questions[-1])
        if request.get("response_format", {}).get("type") == "json_schema":
            return json.dumps({"answer": letter, "confidence": confidence})
        asked = any("Confidence: N" in str(m["content"]) for m in request["messages"] if m["role"] in ("system", "developer"))
        return f"Answer: {letter}" + (f"\n\nConfidence: {confidence}" if asked else "")


def cast(seed=1):
    """The loudest are not the best; in the second phase the best becomes the worst, and says so as little as before."""
    return [
        QuizModel("atlas", (0.85, 0.40), (84, 96), seed),
        QuizModel("birch", (0.70, 0.72), (82, 95), seed),
        QuizModel("cedar", (0.45, 0.45), (95, 100), seed),
        QuizModel("delta", (0.40, 0.40), (93, 100), seed),
        QuizModel("ember", (0.55, 0.88), (80, 92), seed),
    ]
