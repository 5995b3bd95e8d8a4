// discounted: log odds, where models that tend to give the same wrong answer count less beside each other.
// C(i, z), kept per pair: how often i and z gave the same wrong answer, when both were wrong. docs/voting.md#discounted.
#include <algorithm>

#include "base/encoding.h"
#include "margin/math.h"
#include "vote/evidence.h"
#include "vote/registry.h"

namespace margin {
namespace {

ParameterSpec rate_parameter() {
  ParameterSpec spec = number_parameter("rate", 0.02, 0.0, 1.0, "rate of the pair averages; 1/rate is their memory in joint errors");
  spec.open_low = true;
  return spec;
}

const VoteInfo& info() {
  static const VoteInfo kInfo{.identifier = "discounted",
                              .learns = true,
                              .summary = "log odds, discounted by how often two models share a wrong answer",
                              .parameters = internal::Evidence::parameters({
                                  rate_parameter(),
                                  number_parameter("start", 0.3, 0.0, 1.0, "C of a pair that was never wrong together"),
                                  integer_parameter("models_max", 256, 1, 4096,
                                                    "pairs are kept for the models with ids below this; C stays at start for the others"),
                              })};
  return kInfo;
}

class Discounted final : public Vote {
 public:
  explicit Discounted(Parameters resolved)
      : Vote(margin::info(), std::move(resolved)),
        evidence_(parameters()),
        rate_(number(parameters(), "rate")),
        start_(number(parameters(), "start")),
        models_max_(static_cast<ModelId>(integer(parameters(), "models_max"))) {}

 protected:
  [[nodiscard]] double addend(std::span<const Ballot> ballots, std::size_t ballot) const override {
    return evidence_(ballots[ballot].confidence) / (1.0 + shared_errors(ballots, ballot));
  }
  [[nodiscard]] std::vector<Term> terms(std::span<const Ballot> ballots, std::size_t ballot) const override {
    return {{"x", evidence_(ballots[ballot].confidence)}, {"shared errors", shared_errors(ballots, ballot)}};
  }

  void update(std::span<const Ballot> ballots, std::uint32_t, std::span<const double> outcomes, double weight) override {
    // A NaN is not below 0.5, so what is unknown is not counted as wrong.
    const auto errs = [&](std::size_t i) { return ballots[i].answer != kNoAnswer && ballots[i].model < models_max_ && outcomes[i] < 0.5; };
    const double rate = weight == 1.0 ? rate_ : -expm1(weight * log1p(-rate_));
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      if (!errs(i)) continue;
      make_room(ballots[i].model);
      for (std::size_t j = 0; j < i; ++j) {
        if (!errs(j)) continue;
        double& pair = pairs_[index(ballots[i].model, ballots[j].model)];
        pair = (1.0 - rate) * pair + rate * (ballots[i].answer == ballots[j].answer ? 1.0 : 0.0);
      }
    }
  }

  void save(internal::Encoder& out) const override {
    out.integer(models_);
    for (const double pair : pairs_) out.real(pair);
  }

  void load(internal::Decoder& in) override {
    const auto models = in.integer<ModelId>();
    if (models > models_max_) return in.fail();
    models_ = models;
    for (std::size_t rest = row_start(models); rest > 0 && in.ok(); --rest) {
      pairs_.push_back(in.real());
      if (!(pairs_.back() >= 0.0 && pairs_.back() <= 1.0)) in.fail();
    }
  }

 private:
  // The pairs lie as a lower triangle, diagonal included (a model may hold two ballots), so a newcomer is appended.
  [[nodiscard]] static std::size_t row_start(std::size_t model) { return model * (model + 1) / 2; }
  [[nodiscard]] static std::size_t index(ModelId a, ModelId b) { return row_start(std::max(a, b)) + std::min(a, b); }

  [[nodiscard]] double shared_error(ModelId a, ModelId b) const { return a < models_ && b < models_ ? pairs_[index(a, b)] : start_; }

  // With those who gave the same answer.
  [[nodiscard]] double shared_errors(std::span<const Ballot> ballots, std::size_t ballot) const {
    const Ballot& own = ballots[ballot];
    double shared = 0.0;
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      if (i != ballot && ballots[i].answer == own.answer) shared += shared_error(own.model, ballots[i].model);
    }
    return shared;
  }

  void make_room(ModelId model) {
    if (model < models_) return;
    models_ = model + 1;
    pairs_.resize(row_start(models_), start_);
  }

  const internal::Evidence evidence_;
  const double rate_;
  const double start_;
  const ModelId models_max_;
  ModelId models_ = 0;         // ids below it have pairs
  std::vector<double> pairs_;  // C, in [0, 1]
};

}  // namespace

const internal::VoteKind internal::kDiscounted = {info, make_kind<Discounted>};

}  // namespace margin
