"""How good probabilities are, on columns of any kind. Undefined is None (a column of no rows, outcomes of one class). docs/metrics.md has
the
formulas.

>>> from margin import metrics
>>> metrics.ece([0.9, 0.9, 0.1, 0.1], [1, 0, 0, 0])
0.25
"""
from __future__ import annotations

from typing import Any, Optional, Tuple

from margin._core import metrics as _metrics
from margin._core.metrics import (auroc, brier, brier_parts, debiased_ece, ece, ece_band, ece_per_model, equal_mass_ece, log_loss,
                                  paired_bootstrap, pairwise_resolution, sharpness, smooth_ece)
from margin.frame import Frame

__all__ = [
    "auroc", "brier", "brier_parts", "debiased_ece", "ece", "ece_band", "ece_per_model", "equal_mass_ece", "log_loss", "paired_bootstrap",
    "pairwise_resolution", "reliability", "risk_coverage", "sharpness", "smooth_ece",
]


def reliability(probabilities: Any, outcomes: Any, bins: int = 10) -> Frame:
    """The bins of a reliability diagram: mean probability against mean outcome, with its 95% Wilson interval.

    >>> reliability([0.2, 0.3, 0.9], [0, 1, 1], bins=2)
    low  high  count  probability  outcome  outcome_low  outcome_high
      0   0.5      2         0.25      0.5    0.0945312      0.905469
    0.5     1      1          0.9        1     0.206549             1
    """
    return Frame(_metrics.reliability(probabilities, outcomes, bins))


def risk_coverage(probabilities: Any, outcomes: Any) -> Optional[Tuple[Frame, float]]:
    """Answering only above a threshold: the share answered and the error among those, and the area under that curve.

    >>> curve, area = risk_coverage([0.9, 0.6], [1, 0])
    >>> curve["risk"].tolist(), area
    ([0.0, 0.5], 0.25)
    """
    found = _metrics.risk_coverage(probabilities, outcomes)
    return None if found is None else (Frame(found[0]), found[1])
