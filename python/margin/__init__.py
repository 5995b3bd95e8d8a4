"""MARGIN: stated confidence turned into probabilities, learned online from outcomes.

>>> import margin
>>> calibrator = margin.Calibrator("margin")
>>> p = calibrator.calibrate("gpt", 0.95)      # predict first
>>> calibrator.observe("gpt", 0.95, 0)         # then learn: it was wrong
>>> calibrator.calibrate("gpt", 0.95) < p
True
"""
from margin.errors import (Conflict, Corrupt, InvalidArgument, LimitExceeded, MarginError, NotFound, Unavailable, Unsupported,
                           WrongType)
from margin._core import Calibrator, Explanation, Log, methods
from margin import metrics
from margin._log import read_log
from margin._replay import decisions, predictions, replay, simulate
from margin.frame import Frame
from margin.pool import Pool
from margin.types import CalibratedResponse, Decision, Receipt, Response, Vote

__all__ = [
    "CalibratedResponse", "Calibrator", "Conflict", "Corrupt", "Decision", "Explanation", "Frame", "InvalidArgument", "LimitExceeded", "Log",
    "MarginError", "NotFound", "Pool", "Receipt", "Response", "Unavailable", "Unsupported", "Vote", "WrongType", "decisions", "methods",
    "metrics", "predictions", "read_log", "replay", "simulate",
]
