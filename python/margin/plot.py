"""Pictures with matplotlib, which is needed for this module alone: pip install margin[plot].

Each function draws into ``ax``, or into a figure of its own, and returns the axes.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple, Union

import numpy as np

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
except ImportError as error:
    raise ImportError("margin.plot needs matplotlib: pip install margin[plot]") from error

from margin.errors import WrongType
from margin.experiments import Report
from margin.frame import Frame
from margin.metrics import ece, reliability as _table
from margin.pool import Pool

__all__ = ["convergence", "factors", "reliability"]

# After Okabe and Ito: told apart with any of the common colour blindnesses, on white and on black. Below 1 a factor is orange, above blue.
_COLOURS = ["#d55e00", "#0072b2", "#00855f", "#b0528c", "#a86e00", "#2386bf", "#6b6b00", "#767676"]
_FACTOR_COLOURS = LinearSegmentedColormap.from_list("margin", ["#b35806", "#fdb863", "#f3f3f3", "#92c5de", "#2166ac"])


def reliability(series: Union[Mapping[str, Tuple[Any, Any]], Tuple[Any, Any]], *, bins: int = 10, ax: Optional[Axes] = None) -> Axes:
    """A reliability diagram: what was said against what came, with 95% intervals; on the diagonal words mean what they say.

    ``series`` is (probabilities, outcomes), or several by name.
    """
    named = series if isinstance(series, Mapping) else {"": series}
    for name, pair in named.items():
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise WrongType(f"series: got {type(pair).__name__}, expected (probabilities, outcomes), or several by name")
    ax = ax if ax is not None else plt.subplots(figsize=(5, 5))[1]
    ax.plot([0, 1], [0, 1], color="#767676", linewidth=1, linestyle="--", zorder=1)
    for number, (name, (probabilities, outcomes)) in enumerate(named.items()):
        table = _table(probabilities, outcomes, bins)
        seen = table["count"] > 0
        x, y = table["probability"][seen], table["outcome"][seen]
        error = ece(probabilities, outcomes, bins)
        label = f"{name}  ECE {error:.3f}".strip() if error is not None else name
        ax.errorbar(x,
                    y,
                    yerr=[np.maximum(0, y - table["outcome_low"][seen]),
                          np.maximum(0, table["outcome_high"][seen] - y)],
                    color=_COLOURS[number % len(_COLOURS)],
                    marker="osD^v<>P"[number % 8],
                    markersize=5,
                    linewidth=1.5,
                    capsize=2,
                    label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share right", aspect="equal")
    ax.legend(loc="upper left", frameon=False)
    return ax


def factors(of: Union[Pool, Frame], *, ax: Optional[Axes] = None) -> Axes:
    """A heat map of factors, models down and confidence bands across; 1 means that a model's words are worth what they say.

    ``of`` is a pool, or what ``factors()`` of a pool or a client returned.
    """
    frame = of.factors() if isinstance(of, Pool) else of
    rows = list(dict.fromkeys(zip(frame["model"].tolist(), frame["channel"].tolist(), frame["segment"].tolist())))
    several = len({row[1:] for row in rows}) > 1
    bands = int(frame["band"].max()) + 1 if frame.rows else 1
    values = np.full((len(rows), bands), np.nan)
    for record in frame.records():
        values[rows.index((record["model"], record["channel"], record["segment"])), int(record["band"])] = record["factor"]
    ax = ax if ax is not None else plt.subplots(figsize=(1.6 + 1.1 * bands, 1.2 + 0.4 * max(1, len(rows))))[1]
    finite = values[np.isfinite(values)]
    far = max(0.2, *(abs(finite - 1) if finite.size else [0.2]))
    image = ax.imshow(values, cmap=_FACTOR_COLOURS, norm=TwoSlopeNorm(1, 1 - far, 1 + far), aspect="auto")
    for (row, band), value in np.ndenumerate(values):
        if np.isfinite(value):
            light = np.dot(image.to_rgba(value)[:3], [0.299, 0.587, 0.114])
            ax.text(band, row, f"{value:.2f}", ha="center", va="center", color="white" if light < 0.5 else "#1f2328")
    ax.set_xticks(range(bands), [f"{band / bands:.2f} to {(band + 1) / bands:.2f}" for band in range(bands)])
    ax.set_yticks(range(len(rows)), [", ".join(part for part in row if part) if several else row[0] for row in rows], parse_math=False)
    ax.set_xlabel("stated confidence")
    ax.figure.colorbar(image, ax=ax, label="factor")
    return ax


def convergence(report: Report, *, ax: Optional[Axes] = None) -> Axes:
    """pass@1 over the first tasks, a curve for each method with its standard deviation over orderings: what experiments.convergence
    found."""
    means = report.tables[0][1]
    spreads = report.tables[1][1] if len(report.tables) > 1 else Frame()
    ax = ax if ax is not None else plt.subplots(figsize=(6, 4))[1]
    tasks, *methods = means
    for number, method in enumerate(methods):
        colour = _COLOURS[number % len(_COLOURS)]
        ax.plot(means[tasks], means[method], color=colour, marker="osD^v<>P"[number % 8], label=method)
        if method in spreads:
            ax.fill_between(means[tasks],
                            means[method] - spreads[method],
                            means[method] + spreads[method],
                            color=colour,
                            alpha=0.15,
                            linewidth=0)
    ax.set(xlabel=tasks, ylabel="pass@1")
    ax.legend(frameon=False)
    return ax
