// stacked, version 1: an online conditional logit over the task's answers and "none of them is right", one strength theta per model.
// Replaced by later ones (stacked.cc); what was stored with it goes on with it. docs/voting.md#stacked-version-1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/encoding.h"
#include "margin/math.h"
#include "vote/evidence.h"
#include "vote/registry.h"

namespace margin {
namespace {

// Far beyond what learning reaches; keeps every score finite, also after a restore.
constexpr double kThetaMax = 1e9;

const VoteInfo& info() {
  static const VoteInfo kInfo{
      .identifier = "stacked",
      .learns = true,
      .summary = "online conditional logit over the answers and none of them",
      .parameters = internal::Evidence::parameters({
          number_parameter("step", 0.1, 0.0, 1.0, "largest move of a strength in one task; 0 learns nothing"),
          number_parameter("decay", 0.999, 0.5, 1.0, "memory of the squared gradients that scale the steps"),
          number_parameter("theta_min", -0.5, -100.0, 0.0, "least strength of a model: how far its word may count against its answer"),
      })};
  return kInfo;
}

class Stacked1 final : public Vote {
 public:
  explicit Stacked1(Parameters resolved)
      : Vote(margin::info(), std::move(resolved)),
        evidence_(parameters()),
        step_(number(parameters(), "step")),
        decay_(number(parameters(), "decay")),
        theta_min_(number(parameters(), "theta_min")) {}

 protected:
  [[nodiscard]] double addend(std::span<const Ballot> ballots, std::size_t ballot) const override {
    return theta(ballots, ballot) * evidence_(ballots[ballot].confidence);
  }
  [[nodiscard]] std::vector<Term> terms(std::span<const Ballot> ballots, std::size_t ballot) const override {
    return {{"theta", theta(ballots, ballot)}, {"x", evidence_(ballots[ballot].confidence)}};
  }

  void share_out(std::span<const Ballot>, Tally& tally) const override { softmax(tally.votes, tally.scores, tally.shares); }

  void update(std::span<const Ballot> ballots, std::uint32_t answers, std::span<const double> outcomes, double weight) override {
    introduce(ballots);
    x_.resize(ballots.size());
    votes_.assign(answers, 0);
    scores_.assign(answers, 0.0);
    p_.assign(answers, 0.0);
    outcomes_.assign(answers, -1.0);
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      const std::uint32_t answer = ballots[i].answer;
      if (answer == kNoAnswer) continue;
      x_[i] = evidence_(ballots[i].confidence);
      ++votes_[answer];
      scores_[answer] += models_[ballots[i].model].theta * x_[i];
      if (outcomes[i] > outcomes_[answer]) outcomes_[answer] = outcomes[i];
    }
    if (!complete()) return;
    const double p_none = softmax(votes_, scores_, p_);
    const double none_target = target();
    const double kept = weight == 1.0 ? decay_ : exp(weight * log(decay_));
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      const std::uint32_t answer = ballots[i].answer;
      if (answer == kNoAnswer) continue;
      Strength& model = models_[ballots[i].model];
      move(model, x_[i] * (t_[answer] - p_[answer]), kept, weight);
      model.theta = std::max(theta_min_, model.theta);
    }
    move(none_, none_target - p_none, kept, weight);
  }

  void save(internal::Encoder& out) const override {
    save(none_, out);
    out.integer(static_cast<std::uint64_t>(models_.size()));
    for (const Strength& model : models_) {
      out.flag(model.met);
      if (model.met) save(model, out);
    }
  }

  void load(internal::Decoder& in) override {
    none_ = load(in, -kThetaMax);
    const std::size_t count = in.length(1);
    if (count > kModelsMax) return in.fail();
    models_.resize(count);
    for (Strength& model : models_) {
      if (in.flag()) model = load(in, theta_min_);
    }
    if (!models_.empty() && !models_.back().met) in.fail();
  }

 private:
  struct Strength {
    double theta = 0.0;
    double scale = 1.0;  // s: decayed sum of squared gradients
    bool met = false;    // has voted in a task that was learned
  };

  [[nodiscard]] bool met(ModelId model) const { return model < models_.size() && models_[model].met; }

  [[nodiscard]] double theta(std::span<const Ballot> ballots, std::size_t ballot) const {
    const ModelId model = ballots[ballot].model;
    return met(model) ? models_[model].theta : entry_theta(ballots);
  }

  // A newcomer's strength is (voters of its first task)^-3/4: n equal copies then count as n^1/4 independent models.
  [[nodiscard]] static double entry_theta(std::span<const Ballot> ballots) {
    const auto voters = std::count_if(ballots.begin(), ballots.end(), [](const Ballot& b) { return b.answer != kNoAnswer; });
    const double root = std::sqrt(static_cast<double>(voters));
    return 1.0 / (root * std::sqrt(root));
  }

  void introduce(std::span<const Ballot> ballots) {
    for (const Ballot& ballot : ballots) {
      if (ballot.answer == kNoAnswer || met(ballot.model)) continue;
      if (ballot.model >= models_.size()) models_.resize(ballot.model + std::size_t{1});
      models_[ballot.model] = {.theta = entry_theta(ballots), .scale = 1.0, .met = true};
    }
  }

  // P over the answers that have votes; returns that of none. The largest exponent is 0, so nothing overflows and the sum is >= 1.
  double softmax(const std::vector<std::uint32_t>& votes, const std::vector<double>& scores, std::vector<double>& p) const {
    double top = none_.theta;
    for (std::size_t y = 0; y < scores.size(); ++y) {
      if (votes[y] != 0) top = std::max(top, scores[y]);
    }
    const double none = exp(none_.theta - top);
    double total = 0.0;
    for (std::size_t y = 0; y < scores.size(); ++y) {
      if (votes[y] == 0) continue;
      p[y] = exp(scores[y] - top);
      total += p[y];
    }
    total += none;
    for (double& share : p) share /= total;
    return none / total;
  }

  // Learning needs the outcome of every answer that was given: with one unknown, nobody can say that no answer was right.
  [[nodiscard]] bool complete() const {
    for (std::size_t y = 0; y < votes_.size(); ++y) {
      if (votes_[y] != 0 && outcomes_[y] < 0.0) return false;
    }
    return true;
  }

  // t: P restricted to the right answers, from the scores so that it exists where P itself underflows. Returns t of none.
  double target() {
    double top = -std::numeric_limits<double>::infinity();
    const auto right = [&](std::size_t y) { return votes_[y] != 0 && outcomes_[y] >= 0.5; };
    for (std::size_t y = 0; y < votes_.size(); ++y) {
      if (right(y)) top = std::max(top, scores_[y]);
    }
    t_.assign(votes_.size(), 0.0);
    double total = 0.0;
    for (std::size_t y = 0; y < votes_.size(); ++y) {
      if (!right(y)) continue;
      t_[y] = exp(scores_[y] - top);
      total += t_[y];
    }
    if (total == 0.0) return 1.0;
    for (double& t : t_) t /= total;
    return 0.0;
  }

  void move(Strength& strength, double gradient, double kept, double weight) const {
    strength.scale = kept * strength.scale + weight * (gradient * gradient);
    if (strength.scale > 0.0) strength.theta += weight * step_ * gradient / std::sqrt(strength.scale);
    strength.theta = clip(strength.theta, -kThetaMax, kThetaMax);
  }

  static void save(const Strength& strength, internal::Encoder& out) {
    out.real(strength.theta);
    out.real(strength.scale);
  }

  static Strength load(internal::Decoder& in, double theta_min) {
    const double theta = in.real();
    const double scale = in.real();
    if (!(theta >= theta_min && theta <= kThetaMax && scale >= 0.0 && scale <= std::numeric_limits<double>::max())) in.fail();
    return {.theta = theta, .scale = scale, .met = true};
  }

  const internal::Evidence evidence_;
  const double step_;
  const double decay_;
  const double theta_min_;
  Strength none_{.theta = 0.0, .scale = 1.0, .met = true};
  std::vector<Strength> models_;

  // One task's scratch, kept for its memory: by ballot, then by answer.
  std::vector<double> x_;
  std::vector<std::uint32_t> votes_;
  std::vector<double> scores_;
  std::vector<double> p_;
  std::vector<double> t_;
  std::vector<double> outcomes_;  // largest known, -1 where none is
};

}  // namespace

const internal::VoteKind internal::kStacked1 = {info, make_kind<Stacked1>};

}  // namespace margin
