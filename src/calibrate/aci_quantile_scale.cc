// aci_quantile_scale: stated confidence less a quantile of the model's recent overconfidence c - o, whose level adapts until the
// quantile covers the wanted share of scores (adaptive conformal inference). A weight w scales the step of the level and counts as w
// scores in the quantile: the smallest score whose cumulative weight reaches level * total weight. docs/calibration.md#aci_quantile_scale
#include <algorithm>
#include <cmath>

#include "calibrate/per_model.h"
#include "calibrate/registry.h"
#include "calibrate/window.h"
#include "margin/math.h"

namespace margin {
namespace {

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{
      .identifier = "aci_quantile_scale",
      .summary = "stated confidence less an adaptive quantile of the model's recent overconfidence",
      .parameters = {internal::window_parameter(), number_parameter("step", 0.05, 0.0, 1.0, "how far one observation moves the level"),
                     number_parameter("target", 0.5, 0.0, 1.0, "share of scores the quantile should cover; the level starts here")}};
  return kInfo;
}

struct Score {
  double value = 0.0;  // c - o
  double weight = 1.0;
};

bool operator<(const Score& a, const Score& b) { return a.value < b.value || (a.value == b.value && a.weight < b.weight); }

// The number of scores below `score`, where only values differ. Nobody can foresee the comparisons, so none is a branch.
std::size_t values_below(const Score& score, const std::vector<Score>& sorted) {
  const Score* first = sorted.data();
  for (std::size_t size = sorted.size(); size > 0;) {
    const std::size_t half = (size + 1) / 2;
    first += half & (std::size_t{0} - static_cast<std::size_t>(first[half - 1].value < score.value));  // half or nothing
    size -= half;
  }
  return static_cast<std::size_t>(first - sorted.data());
}

class Model {
 public:
  Model() = default;
  Model(std::size_t window, double target) : window_(window), level_(target), target_(target) { sorted_.reserve(window); }

  void learn(const Score& score, double step) {
    if (!sorted_.empty()) {
      const bool covered = score.value <= quantile_;
      level_ = clip01(level_ + step * score.weight * (target_ - (covered ? 1.0 : 0.0)));
      seen_ += score.weight;
      if (covered) covered_ += score.weight;
    }
    enter(score);
    refresh_quantile();
  }

  [[nodiscard]] double quantile() const { return quantile_; }
  [[nodiscard]] double level() const { return level_; }
  [[nodiscard]] double weight() const { return total_.value(); }
  // Share of the observations, by weight, whose score the quantile before them covered; the target before there were any.
  [[nodiscard]] double coverage() const { return seen_ > 0.0 ? covered_ / seen_ : target_; }

  void save(internal::Encoder& out) const {
    out.real(level_);
    out.real(covered_);
    out.real(seen_);
    out.integer(static_cast<std::uint64_t>(window_.size()));
    for (std::size_t i = 0; i < window_.size(); ++i) {
      out.real(window_[i].value);
      out.real(window_[i].weight);
    }
  }

  void load(internal::Decoder& in) {
    level_ = in.real();
    covered_ = in.real();
    seen_ = in.real();
    std::vector<Score> scores(in.length(sizeof(Score)));
    const bool legal = level_ >= 0.0 && level_ <= 1.0 && covered_ >= 0.0 && covered_ <= seen_ && std::isfinite(seen_) &&
                       scores.size() <= window_.capacity() && (!scores.empty() || (level_ == target_ && seen_ == 0.0));
    if (!legal) in.fail();
    for (Score& score : scores) {
      score = {.value = in.real(), .weight = in.real()};
      if (!(score.value >= -1.0 && score.value <= 1.0 && score.weight > 0.0 && score.weight <= 1.0)) in.fail();
    }
    if (!in.ok()) return;
    for (const Score& score : scores) enter(score);
    refresh_quantile();
  }

 private:
  void enter(const Score& score) {
    if (score.weight != 1.0) ++fractional_;
    const auto place = place_of(score);
    const auto left = window_.push(score);
    if (!left) {
      sorted_.insert(place, score);
      return total_.add(score.weight);
    }
    total_.replace(left->weight, score.weight);
    // Equal scores are interchangeable, so any of them may go. Only what stands between the two moves.
    const auto gap = place_of(*left);
    if (left->weight != 1.0) --fractional_;
    if (gap < place) {
      std::move(gap + 1, place, gap);
      *(place - 1) = score;
    } else {
      std::move_backward(place, gap, gap + 1);
      *place = score;
    }
  }

  // Of the first score that is not below it.
  [[nodiscard]] std::vector<Score>::iterator place_of(const Score& score) {
    if (fractional_ > 0) return std::lower_bound(sorted_.begin(), sorted_.end(), score);
    return sorted_.begin() + static_cast<std::ptrdiff_t>(values_below(score, sorted_));
  }

  void refresh_quantile() {
    if (sorted_.empty()) return;
    const double wanted = level_ * total_.value();
    if (fractional_ == 0) {  // then the sum over the first i scores is i
      quantile_ = sorted_[static_cast<std::size_t>(std::max(1.0, std::ceil(wanted))) - 1].value;
      return;
    }
    double reached = 0.0;
    std::size_t i = 0;
    do reached += sorted_[i++].weight;
    while (reached < wanted && i < sorted_.size());
    quantile_ = sorted_[i - 1].value;
  }

  internal::Window<Score> window_;
  std::vector<Score> sorted_;   // the window's scores, ascending
  internal::WindowSum total_;   // of their weights
  std::size_t fractional_ = 0;  // weights that are not 1
  double level_ = 0.0;
  double target_ = 0.0;
  double quantile_ = 0.0;  // q; 0 while empty
  double covered_ = 0.0;
  double seen_ = 0.0;
};

class AciQuantileScale final : public internal::PerModelCalibrator<Model> {
 public:
  explicit AciQuantileScale(Parameters resolved)
      : PerModelCalibrator(margin::info(), std::move(resolved)),
        window_(static_cast<std::size_t>(integer(parameters(), "window"))),
        step_(number(parameters(), "step")),
        target_(number(parameters(), "target")) {}

 protected:
  [[nodiscard]] Model fresh() const override { return Model(window_, target_); }
  [[nodiscard]] double predict(ModelId model, double confidence) const override { return clip01(confidence - state(model).quantile()); }
  void learn(const Observation& observation) override {
    state(observation.model).learn({.value = observation.confidence - observation.outcome, .weight = observation.weight}, step_);
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const Model& own = state(model);
    explanation.observations = own.weight();
    explanation.terms = {
        {"overconfidence taken off", own.quantile()}, {"level of its quantile", own.level()}, {"coverage so far", own.coverage()}};
  }

 private:
  const std::size_t window_;
  const double step_;
  const double target_;
};

}  // namespace

const internal::Method internal::kAciQuantileScale = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<AciQuantileScale>(std::move(resolved)); }};

}  // namespace margin
