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
from margin._core import Calibrator, Explanation, methods

__all__ = [
    "Calibrator", "Conflict", "Corrupt", "Explanation", "InvalidArgument", "LimitExceeded", "MarginError", "NotFound", "Unavailable",
    "Unsupported", "WrongType", "methods",
]
