"""The calibrators once more, as naively as their definitions in docs/calibration.md read: whole histories, no state that is kept up to date.

Each class answers predict(model, c) and learn(model, c, o, w); join and leave where presence matters. Slow on purpose.
"""
import math
from collections import defaultdict


def clip01(x):
    return min(1.0, max(0.0, x))


def sigmoid(z):
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0 else math.exp(z) / (1.0 + math.exp(z))


def band(c, bands):
    return min(bands - 1, math.floor(c * bands))


def rate(alpha, w):
    return 1.0 if alpha == 1.0 else -math.expm1(w * math.log1p(-alpha))


class Twin:
    """Keeps every observation of every model, oldest first."""

    def __init__(self):
        self.history = defaultdict(list)

    def join(self, model):
        pass

    def leave(self, model):
        pass

    def learn(self, model, c, o, w):
        self.history[model].append((c, o, w))


class SlidingWindowHistogram(Twin):
    def __init__(self, window=200, bins=10):
        super().__init__()
        self.window, self.bins = window, bins

    def predict(self, model, c):
        inside = [(o, w) for x, o, w in self.history[model][-self.window:] if band(x, self.bins) == band(c, self.bins)]
        return math.fsum(w * o for o, w in inside) / math.fsum(w for _, w in inside) if inside else c


class DecayedHistogram(Twin):
    def __init__(self, alpha=0.04, bins=10):
        super().__init__()
        self.alpha, self.bins = alpha, bins

    def predict(self, model, c):
        k = band(c, self.bins)
        seen = [(o, w) for x, o, w in self.history[model] if band(x, self.bins) == k]
        accuracy = (k + 0.5) / self.bins
        for o, w in seen:
            accuracy += rate(self.alpha, w) * (o - accuracy)
        return accuracy if seen else c


class WindowedAccuracyReplace(Twin):
    def __init__(self, window=200):
        super().__init__()
        self.window = window

    def predict(self, model, c):
        last = self.history[model][-self.window:]
        return math.fsum(w * o for _, o, w in last) / math.fsum(w for _, _, w in last) if last else c


class WindowedAccuracyMultiply(WindowedAccuracyReplace):
    def predict(self, model, c):
        last = self.history[model][-self.window:]
        confidence = math.fsum(w * x for x, _, w in last)
        return clip01(c * math.fsum(w * o for _, o, w in last) / confidence) if confidence > 0.0 else c


class OnlinePlatt(Twin):
    def __init__(self, eta=0.1, lam=1e-4):
        super().__init__()
        self.eta, self.lam = eta, lam

    def predict(self, model, c):
        a, b = 1.0, 0.0
        for x, o, w in self.history[model]:
            error = sigmoid(a * x + b) - o
            a, b = a - w * self.eta * (error * x + self.lam * a), b - w * self.eta * (error + self.lam * b)
        return sigmoid(a * c + b)


class AciQuantileScale(Twin):
    def __init__(self, window=200, step=0.05, target=0.5):
        super().__init__()
        self.window, self.step, self.target = window, step, target

    @staticmethod
    def quantile(scores, level):
        """The smallest score whose cumulative weight reaches level * total weight."""
        scores = sorted(scores)
        wanted = level * math.fsum(w for _, w in scores)
        reached = [w for _, w in scores]
        for i in range(1, len(reached)):
            reached[i] += reached[i - 1]
        return next((score for (score, _), sum_ in zip(scores, reached) if sum_ >= wanted), scores[-1][0])

    def predict(self, model, c):
        level, scores = self.target, []
        for x, o, w in self.history[model]:
            if scores:
                covered = x - o <= self.quantile(scores[-self.window:], level)
                level = clip01(level + self.step * w * (self.target - covered))
            scores.append((x - o, w))
        return clip01(c - self.quantile(scores[-self.window:], level)) if scores else c


class HistogramBinning(Twin):
    """Frozen: what it learned is its calibration rows."""

    def __init__(self, bins=10):
        super().__init__()
        self.bins = bins

    def predict(self, model, c):
        inside = [(o, w) for x, o, w in self.history[model] if band(x, self.bins) == band(c, self.bins)]
        return math.fsum(w * o for o, w in inside) / math.fsum(w for _, w in inside) if inside else c


class Margin(Twin):
    """The published calibrator, with the lifecycle of a pool."""

    FACTOR_MAX = 20.0

    def __init__(self, alpha=0.04, bands=3, shrinkage=100.0, alpha_correct=0.0, alpha_incorrect=0.0, target="model", entry="pool",
                 edges="equal", credibility="fixed", threshold=0.0):
        super().__init__()
        self.rates = (alpha_correct or alpha, alpha_incorrect or alpha)
        self.bands, self.shrinkage, self.target, self.entry = bands, shrinkage, target, entry
        self.edges, self.credibility, self.threshold = edges, credibility, threshold
        self.present, self.a, self.c, self.n, self.entry_factor = set(), {}, {}, {}, {}
        self.ranks = defaultdict(Ranks)
        self.rates_seen = defaultdict(list)  # by model and band, oldest first
        self.structure = Structure(shrinkage)

    def ratio(self, a, c):
        return 1.0 if c == 0.0 else min(a / c, self.FACTOR_MAX)

    def band_factor(self, i, k):
        return self.ratio(self.a[i][k], self.c[i][k])

    def model_factor(self, i):
        if sum(self.n[i]) == 0.0:
            return self.entry_factor[i]
        bands = range(self.bands)
        return self.ratio(sum(self.n[i][k] * self.a[i][k] for k in bands), sum(self.n[i][k] * self.c[i][k] for k in bands))

    def pool_factor(self, k):
        factors = [self.band_factor(z, k) for z in sorted(self.present) if self.n[z][k] > 0.0]
        return sum(factors) / len(factors) if factors else 1.0

    def join(self, i):
        if i not in self.n:
            middles = [(k + 0.5) / self.bands for k in range(self.bands)]
            taught = [self.model_factor(z) for z in sorted(self.present) if sum(self.n[z]) > 0.0]
            self.entry_factor[i] = sum(taught) / len(taught) if taught and self.entry == "pool" else 1.0
            f = [self.pool_factor(k) if self.entry == "pool" else 1.0 for k in range(self.bands)]
            self.a[i] = [min(1.0, f[k] * m) for k, m in enumerate(middles)]
            self.c[i] = [m if f[k] * m <= 1.0 else 1.0 / f[k] for k, m in enumerate(middles)]
            self.n[i] = [0.0] * self.bands
        self.present.add(i)

    def leave(self, i):
        self.present.discard(i)

    def band(self, i, c):
        return band(self.ranks[i].rank(c), self.bands) if self.edges == "quantile" else band(c, self.bands)

    def shrink_target(self, i, k):
        return self.pool_factor(k) if self.target == "pool_band" else self.model_factor(i)

    def effective_count(self, i, k):
        """Of an exponential average: (sum of weights)^2 / sum of squared weights, by the rates that it was taught with."""
        total = squares = 0.0
        for r in self.rates_seen[i, k]:
            total, squares = (1.0 - r) * total + r, (1.0 - r) ** 2 * squares + r ** 2
        return max(1.0, total ** 2 / squares) if squares > 0.0 else 0.0

    def own_share(self, i, k):
        if self.credibility == "estimated":
            return self.structure.share(self.effective_count(i, k))
        n = self.n[i][k]
        return 1.0 if self.shrinkage == 0.0 else n / (n + self.shrinkage)

    def predict(self, i, c):
        k = self.band(i, c)
        own = self.own_share(i, k)
        return clip01((own * self.band_factor(i, k) + (1.0 - own) * self.shrink_target(i, k)) * c)

    def learn(self, i, c, o, w):
        if self.threshold > 0.0:
            o = float(o >= self.threshold)
        k = self.band(i, c)
        r = rate(self.rates[0] * o + self.rates[1] * (1.0 - o), w)
        self.a[i][k] = (1.0 - r) * self.a[i][k] + r * o
        self.c[i][k] = (1.0 - r) * self.c[i][k] + r * c
        self.n[i][k] += w
        self.ranks[i].learn(c, w)
        if self.credibility == "estimated":
            self.rates_seen[i, k].append(r)
            stated = [n * x for n, x in zip(self.n[i], self.c[i])]
            others = 1.0 if self.target == "pool_band" or sum(stated) == 0.0 else 1.0 - min(1.0, stated[k] / sum(stated))
            expected = min(1.0, self.shrink_target(i, k) * self.c[i][k])
            self.structure.learn(self.a[i][k], expected, self.effective_count(i, k), others, w)


class Ranks:
    """Where a confidence stands among those stated lately: a decayed histogram of whole percents that starts flat."""

    def __init__(self):
        self.mass, self.count = [1.0 / 101.0] * 101, 0.0

    def rank(self, c):
        own = math.floor(c * 100.0)
        return sum(self.mass[:own]) + 0.5 * self.mass[own]

    def learn(self, c, w):
        self.count += w
        r = w * max(0.01, 1.0 / (10.0 + self.count))
        own = math.floor(c * 100.0)
        self.mass = [(1.0 - r) * mass + (r if i == own else 0.0) for i, mass in enumerate(self.mass)]


class Structure:
    """Buhlmann and Straub's variances, averaged over what was taught: of one outcome, of bands about what is expected of them, and what
    chance alone would make of the latter."""

    def __init__(self, shrinkage):
        self.noise, self.others, self.chance, self.count = 0.2, 0.5, 0.5 * 0.2 / 25.0, 0.0
        self.apart = self.chance + 0.5 * 0.2 / max(1.0, shrinkage)

    def share(self, n):
        between = max(0.0, self.apart - self.chance) / self.others if self.others > 0.0 else math.inf
        return n * between / (n * between + self.noise) if n * between + self.noise > 0.0 else 0.0

    def learn(self, accuracy, expected, n, others, w):
        if n == 0.0:
            return
        self.count += w
        r = w * max(0.002, 1.0 / (100.0 + self.count))
        noise = accuracy * (1.0 - accuracy)
        self.noise += r * (noise - self.noise)
        self.apart += r * ((accuracy - expected) ** 2 - self.apart)
        self.chance += r * (others * noise / n - self.chance)
        self.others += r * (others - self.others)


class MarginBandChoice:
    """margin with bands = 0: the number of bands whose decayed squared error is the lowest for a model."""

    def __init__(self, bands=0, **rest):
        self.members = [Margin(bands=k, **rest) for k in (1, 2, 3, 5, 10)]
        self.errors = defaultdict(lambda: [0.0] * len(self.members))

    def join(self, i):
        for member in self.members:
            member.join(i)

    def leave(self, i):
        for member in self.members:
            member.leave(i)

    def predict(self, i, c):
        return self.members[self.errors[i].index(min(self.errors[i]))].predict(i, c)

    def learn(self, i, c, o, w):
        for j, member in enumerate(self.members):
            self.errors[i][j] += 0.005 * w * ((member.predict(i, c) - o) ** 2 - self.errors[i][j])
            member.learn(i, c, o, w)
