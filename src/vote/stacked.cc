// stacked, versions 2 and 3: log odds that learn. A model's ballot counts scale x evidence + trust, both learned from outcomes as a Kalman
// filter of a conditional logit over the task's answers and "none of them is right"; a sharpness apart turns scores into probabilities, so
// that learning how sure to be never changes who wins. Before any outcome it is log_odds, and in version 3 it becomes that again where
// outcomes stay unknown. docs/voting.md#stacked.
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
constexpr double kEstimateMax = 1e6;
constexpr double kEstimateMin = 1e-9;  // less is nothing
constexpr double kSharpnessMin = 0.05;
constexpr double kSharpnessMax = 2.0;

ParameterSpec spread_parameter(const char* name, double value, const char* meaning) {
  return number_parameter(name, value, 0.0, 10.0, meaning);
}

constexpr const char* kUnknownMemory = "unknown_memory";

VoteInfo describe(int version) {
  std::vector<ParameterSpec> own = {
      spread_parameter("scale_spread", 0.3, "how far models' scales differ from 1, as a standard deviation; 0 learns no scale"),
      spread_parameter("trust_spread", 0.5, "how far models' trust differs from 0, in log odds, likewise"),
      spread_parameter("sharpness_spread", 0.2, "how far the sharpness may be from its start, likewise"),
      spread_parameter("none_spread", 0.5, "how far the score of none may be from 0, in log odds, likewise"),
      number_parameter("memory", 300.0, 1.0, 1e9, "tasks in which what is known of a model fades as far as it can"),
  };
  if (version >= 3) {
    own.push_back(number_parameter(kUnknownMemory, 100.0, 1.0, 1e9,
                                   "tasks without all outcomes in which a model's scale and trust lose two thirds of what was learned"));
  }
  return {.identifier = "stacked",
          .version = version,
          .learns = true,
          .summary = "log odds with a learned scale and trust per model; a probability over the answers and none of them",
          .parameters = internal::Evidence::parameters(std::move(own))};
}

template <int kVersion>
const VoteInfo& info() {
  static const VoteInfo kInfo = describe(kVersion);
  return kInfo;
}

// An estimate with its variance, which grows a little with every task, up to spread^2, and shrinks with what the task says.
struct Estimate {
  double value = 0.0;
  double variance = 0.0;

  void fade(double spread, double tasks) { variance = std::min(spread * spread, variance + spread * spread * tasks); }
  // `gradient` and `information` of the task's log likelihood, given all other estimates and their doubts.
  void move(double gradient, double information) {
    value = clip(value + variance * gradient, -kEstimateMax, kEstimateMax);
    variance = std::max(0.0, variance - variance * variance * information);
  }
  // To 0 in the end, and not to numbers so small that a machine is slow with them.
  void shrink(double keep) { value = std::fabs(value) < kEstimateMin ? 0.0 : value * keep; }
  void save(internal::Encoder& out) const {
    out.real(value);
    out.real(variance);
  }
  static Estimate load(internal::Decoder& in, double low, double high, double spread) {
    const double value = in.real();
    const double variance = in.real();
    if (!(value >= low && value <= high && variance >= 0.0 && variance <= spread * spread)) in.fail();
    return {value, variance};
  }
};

class Stacked final : public Vote {
 public:
  Stacked(const VoteInfo& info, Parameters resolved)
      : Vote(info, std::move(resolved)),
        evidence_(parameters()),
        scale_spread_(number(parameters(), "scale_spread")),
        trust_spread_(number(parameters(), "trust_spread")),
        sharpness_spread_(number(parameters(), "sharpness_spread")),
        none_spread_(number(parameters(), "none_spread")),
        memory_(number(parameters(), "memory")),
        unknown_memory_(parameters().contains(kUnknownMemory) ? number(parameters(), kUnknownMemory) : 0.0) {}

 protected:
  [[nodiscard]] double addend(std::span<const Ballot> ballots, std::size_t ballot) const override {
    return worth(ballots[ballot].model, evidence_(ballots[ballot].confidence));
  }
  [[nodiscard]] std::vector<Term> terms(std::span<const Ballot> ballots, std::size_t ballot) const override {
    const ModelId model = ballots[ballot].model;
    const bool met = model < models_.size();
    return {{"scale", met ? 1.0 + models_[model].scale.value : 1.0},
            {"x", evidence_(ballots[ballot].confidence)},
            {"trust", met ? models_[model].trust.value : 0.0}};
  }

  void share_out(std::span<const Ballot>, Tally& tally) const override {
    std::size_t voters = 0;
    for (const std::uint32_t votes : tally.votes) voters += votes;
    softmax(begun_ ? sharpness_.value : first_sharpness(voters), tally.votes, tally.scores, tally.shares);
  }

  void update(std::span<const Ballot> ballots, std::uint32_t answers, std::span<const double> outcomes, double weight) override {
    if (!count(ballots, answers, outcomes)) return forget(ballots, weight);
    const double fade = weight / memory_;
    sharpness_.fade(sharpness_spread_, fade);
    none_.fade(none_spread_, fade);
    const double sharpness = sharpness_.value;
    const double p_none = softmax(sharpness, votes_, scores_, p_);
    const double t_none = target(sharpness);

    // Doubt of each score: the variance that its ballots' estimates give it.
    doubt_.assign(answers, 0.0);
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      if (ballots[i].answer == kNoAnswer) continue;
      Strength& model = models_[ballots[i].model];
      model.scale.fade(scale_spread_, fade);
      model.trust.fade(trust_spread_, fade);
      const double x = evidence_of_[i];
      doubt_[ballots[i].answer] += sharpness * sharpness * (x * x * model.scale.variance + model.trust.variance);
    }

    // Kalman's step for independent scores under a softmax, in closed form: with d = 1 + weight p doubt, Q = sum of p/d and
    // a = sum of weight p doubt (t-p)/d, over Q, each score's pull is weight (t-p + p a)/d and its information weight p/d (1 - p/(d Q)).
    const double d_none = 1.0 + weight * p_none * none_.variance;
    double q = p_none / d_none;
    double a = weight * p_none * none_.variance * (t_none - p_none) / d_none;
    double spread = 0.0, mean = 0.0, slope = 0.0;  // of the scores under p, for the sharpness
    for (std::size_t y = 0; y < answers; ++y) {
      const double d = 1.0 + weight * p_[y] * doubt_[y];
      q += p_[y] / d;
      a += weight * p_[y] * doubt_[y] * (t_[y] - p_[y]) / d;
      mean += p_[y] * scores_[y];
      spread += p_[y] * scores_[y] * scores_[y];
      slope += (t_[y] - p_[y]) * scores_[y];
    }
    a /= q;
    const auto pull = [&](double t, double p, double d) { return weight * (t - p + p * a) / d; };
    const auto information = [&](double p, double d) { return weight * p / d * std::max(0.0, 1.0 - p / (d * q)); };
    pull_.resize(answers);
    information_.resize(answers);
    for (std::size_t y = 0; y < answers; ++y) {
      const double d = 1.0 + weight * p_[y] * doubt_[y];
      pull_[y] = pull(t_[y], p_[y], d);
      information_[y] = information(p_[y], d);
    }
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      const std::uint32_t y = ballots[i].answer;
      if (y == kNoAnswer) continue;
      Strength& model = models_[ballots[i].model];
      const double by_scale = sharpness * evidence_of_[i];
      const double by_trust = sharpness;
      model.scale.move(by_scale * pull_[y], by_scale * by_scale * information_[y]);
      model.scale.value = std::max(-1.0, model.scale.value);
      model.trust.move(by_trust * pull_[y], by_trust * by_trust * information_[y]);
    }
    none_.move(pull(t_none, p_none, d_none), information(p_none, d_none));
    const double certainty = weight * std::max(0.0, spread - mean * mean);
    const double learned = 1.0 + sharpness_.variance * certainty;
    sharpness_.move(weight * slope / learned, certainty / learned);
    sharpness_.value = clip(sharpness_.value, kSharpnessMin, kSharpnessMax);
  }

  void save(internal::Encoder& out) const override {
    out.flag(begun_);
    if (!begun_) return;
    sharpness_.save(out);
    none_.save(out);
    out.integer(static_cast<std::uint64_t>(models_.size()));
    for (const Strength& model : models_) {
      model.scale.save(out);
      model.trust.save(out);
    }
  }

  void load(internal::Decoder& in) override {
    begun_ = in.flag();
    if (!begun_) return;
    sharpness_ = Estimate::load(in, kSharpnessMin, kSharpnessMax, sharpness_spread_);
    none_ = Estimate::load(in, -kEstimateMax, kEstimateMax, none_spread_);
    const std::size_t count = in.length(4 * sizeof(double));
    if (count == 0 || count > kModelsMax) return in.fail();
    models_.resize(count);
    for (Strength& model : models_) {
      model.scale = Estimate::load(in, -1.0, kEstimateMax, scale_spread_);
      model.trust = Estimate::load(in, -kEstimateMax, kEstimateMax, trust_spread_);
    }
  }

 private:
  struct Strength {
    Estimate scale;  // beyond 1
    Estimate trust;
  };

  // A ballot's addend, from its evidence.
  [[nodiscard]] double worth(ModelId model, double x) const {
    if (model >= models_.size()) return x;
    return (1.0 + models_[model].scale.value) * x + models_[model].trust.value;
  }

  // (voters of the first task)^-3/4: n equal copies are then as sure as n^1/4 independent models.
  [[nodiscard]] static double first_sharpness(std::size_t voters) {
    const double root = std::sqrt(static_cast<double>(std::max<std::size_t>(1, voters)));
    return std::max(kSharpnessMin, 1.0 / (root * std::sqrt(root)));
  }

  // A task that cannot teach: what was learned of its models may no longer hold, and nothing will say so.
  void forget(std::span<const Ballot> ballots, double weight) {
    if (unknown_memory_ == 0.0) return;
    const double keep = 1.0 - weight / unknown_memory_;
    for (const Ballot& ballot : ballots) {
      if (ballot.answer == kNoAnswer || ballot.model >= models_.size()) continue;
      models_[ballot.model].scale.shrink(keep);
      models_[ballot.model].trust.shrink(keep);
    }
  }

  // Votes, scores and outcomes by answer. False, and nothing has changed, when nobody votes or an answer's outcome is not known: then
  // nobody can say that no answer was right.
  bool count(std::span<const Ballot> ballots, std::uint32_t answers, std::span<const double> outcomes) {
    votes_.assign(answers, 0);
    scores_.assign(answers, 0.0);
    outcomes_.assign(answers, -1.0);
    evidence_of_.resize(ballots.size());
    std::size_t voters = 0;
    std::size_t models = models_.size();
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      const std::uint32_t answer = ballots[i].answer;
      if (answer == kNoAnswer) continue;
      ++voters;
      ++votes_[answer];
      evidence_of_[i] = evidence_(ballots[i].confidence);
      scores_[answer] += worth(ballots[i].model, evidence_of_[i]);
      models = std::max(models, ballots[i].model + std::size_t{1});
      if (outcomes[i] > outcomes_[answer]) outcomes_[answer] = outcomes[i];
    }
    if (voters == 0) return false;
    for (std::size_t y = 0; y < votes_.size(); ++y) {
      if (votes_[y] != 0 && outcomes_[y] < 0.0) return false;
    }
    models_.resize(models);
    if (!begun_) sharpness_.value = first_sharpness(voters);
    begun_ = true;
    return true;
  }

  // P over the answers that have votes, 0 for the others; returns that of none. The largest exponent is 0, so nothing overflows.
  double softmax(double sharpness, const std::vector<std::uint32_t>& votes, const std::vector<double>& scores,
                 std::vector<double>& p) const {
    double top = none_.value;
    for (std::size_t y = 0; y < scores.size(); ++y) {
      if (votes[y] != 0) top = std::max(top, sharpness * scores[y]);
    }
    p.assign(scores.size(), 0.0);
    const double none = exp(none_.value - top);
    double total = 0.0;
    for (std::size_t y = 0; y < scores.size(); ++y) {
      if (votes[y] == 0) continue;
      p[y] = exp(sharpness * scores[y] - top);
      total += p[y];
    }
    total += none;
    for (double& share : p) share /= total;
    return none / total;
  }

  // t: P restricted to the right answers, from the scores so that it exists where P itself underflows. Returns t of none.
  double target(double sharpness) {
    double top = -std::numeric_limits<double>::infinity();
    const auto right = [&](std::size_t y) { return votes_[y] != 0 && outcomes_[y] >= 0.5; };
    for (std::size_t y = 0; y < votes_.size(); ++y) {
      if (right(y)) top = std::max(top, sharpness * scores_[y]);
    }
    t_.assign(votes_.size(), 0.0);
    double total = 0.0;
    for (std::size_t y = 0; y < votes_.size(); ++y) {
      if (!right(y)) continue;
      t_[y] = exp(sharpness * scores_[y] - top);
      total += t_[y];
    }
    if (total == 0.0) return 1.0;
    for (double& t : t_) t /= total;
    return 0.0;
  }

  const internal::Evidence evidence_;
  const double scale_spread_;
  const double trust_spread_;
  const double sharpness_spread_;
  const double none_spread_;
  const double memory_;
  const double unknown_memory_;  // 0 in version 2: nothing is forgotten then
  bool begun_ = false;           // a task has been learned
  Estimate sharpness_{};
  Estimate none_{};
  std::vector<Strength> models_;
  // Of the task being learned, by ballot.
  std::vector<double> evidence_of_;
  // And by answer.
  std::vector<std::uint32_t> votes_;
  std::vector<double> scores_;
  std::vector<double> p_;
  std::vector<double> t_;
  std::vector<double> doubt_;
  std::vector<double> pull_;
  std::vector<double> information_;
  std::vector<double> outcomes_;  // largest known, -1 where none is
};

}  // namespace

template <int kVersion>
static constexpr internal::VoteKind kKind = {info<kVersion>, [](Parameters resolved) -> std::unique_ptr<Vote> {
                                               return std::make_unique<Stacked>(info<kVersion>(), std::move(resolved));
                                             }};

const internal::VoteKind internal::kStacked = kKind<3>;
const internal::VoteKind internal::kStacked2 = kKind<2>;

}  // namespace margin
