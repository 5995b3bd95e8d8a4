"""MARGIN: stated confidence turned into probabilities, learned online from outcomes.

>>> import margin
>>> calibrator = margin.Calibrator("margin")
>>> p = calibrator.calibrate("gpt", 0.95)      # predict first
>>> calibrator.observe("gpt", 0.95, 0)         # then learn: it was wrong
>>> calibrator.calibrate("gpt", 0.95) < p
True
"""
from importlib import import_module
from typing import TYPE_CHECKING

from margin.errors import (Conflict, Corrupt, InvalidArgument, LimitExceeded, MarginError, NotAllowed, NotFound, Unavailable,
                           Unsupported, WrongType)
from margin._core import Calibrator, Explanation, Log, methods, votes
from margin import metrics
from margin._log import read_log
from margin._replay import decisions, predictions, replay, simulate
from margin.frame import Frame
from margin.pool import Pool
from margin.types import CalibratedResponse, Decision, Receipt, Response, Vote

if TYPE_CHECKING:
    from margin import client, experiments, plot, sklearn
    from margin.client import AsyncClient, Client
else:
    def __getattr__(name):
        # What is not always wanted is imported when it is asked for: the client brings asyncio and TLS.
        if name in ("AsyncClient", "Client"):
            return getattr(import_module("margin.client"), name)
        if name in ("client", "experiments", "plot", "sklearn"):
            return import_module(f"margin.{name}")
        raise AttributeError(f"module 'margin' has no attribute {name!r}")


__all__ = [
    "AsyncClient",
    "CalibratedResponse",
    "Calibrator",
    "Client",
    "Conflict",
    "Corrupt",
    "Decision",
    "Explanation",
    "Frame",
    "InvalidArgument",
    "LimitExceeded",
    "Log",
    "MarginError",
    "NotAllowed",
    "NotFound",
    "Pool",
    "Receipt",
    "Response",
    "Unavailable",
    "Unsupported",
    "Vote",
    "WrongType",
    "client",
    "decisions",
    "experiments",
    "methods",
    "metrics",
    "plot",
    "predictions",
    "read_log",
    "replay",
    "simulate",
    "sklearn",
    "votes",
]
