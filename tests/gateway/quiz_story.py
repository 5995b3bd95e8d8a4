"""The story of examples/gateway_quiz holds: more often right, and far more honest, than the models' own confidence; and again after they change."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/gateway_quiz"))
import quiz  # noqa: E402


class QuizStory(unittest.TestCase):
    def test_outcomes_make_it_better_and_it_recovers_from_a_change(self):
        client, reports = quiz.play(int(os.environ.get("MARGIN_QUIZ_QUESTIONS", "1000")), 1, os.environ["MARGIN_BINARY"])
        for report in reports:
            print(client, report)
        first, learned, changed, recovered = reports
        for later in (learned, recovered):
            self.assertGreater(later["gateway"]["accuracy"], later["stated"]["accuracy"] + 0.05, later["name"])
            self.assertLess(later["gateway"]["ece"], later["stated"]["ece"] / 2, later["name"])
        self.assertLess(learned["gateway"]["ece"], first["gateway"]["ece"], "p_correct becomes more honest")
        self.assertLess(recovered["gateway"]["ece"], changed["gateway"]["ece"], "and again after the models changed")
        if "MARGIN_QUIZ_CLIENT" in os.environ:
            self.assertEqual(client, os.environ["MARGIN_QUIZ_CLIENT"])


if __name__ == "__main__":
    unittest.main()
