#include "calibrate/margin_band_choice.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "calibrate/rate.h"

namespace margin {
namespace {

// The numbers of bands that compete. Each is a margin of its own that learns everything; a model is calibrated by the one with the lowest
// exponentially averaged squared error for that model, of equals the one with fewest bands.
constexpr std::array<int, 5> kBandCounts = {1, 2, 3, 5, 10};

class BandChoice final : public Calibrator {
 public:
  BandChoice(const CalibratorInfo& info, Parameters resolved) : Calibrator(info, std::move(resolved)) {
    for (std::size_t i = 0; i < kBandCounts.size(); ++i) {
      Result<std::unique_ptr<Calibrator>> made = make_calibrator(info.identifier, info.version, parameters_of(i));
      MARGIN_CHECK(made.ok(), "the parameters were resolved");
      members_[i] = std::move(*made);
    }
  }

  // The finest cut: another number of bands may be in force for each model.
  [[nodiscard]] int bands() const override { return kBandCounts.back(); }

 protected:
  [[nodiscard]] double predict(ModelId model, double confidence) const override { return best(model).calibrate(model, confidence); }

  void learn(const Observation& observation) override {
    Errors& errors = errors_[observation.model];
    const double rate = observation.weight * kRate;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const double error = members_[i]->calibrate(observation.model, observation.confidence) - observation.outcome;
      errors[i] += rate * (error * error - errors[i]);
      const Status learned = members_[i]->observe(observation);
      MARGIN_CHECK(learned.ok(), "the observation was checked, and all members have the same models");
    }
  }

  void on_join(ModelId model, const Calibrator* donor, ModelId donor_model) override {
    const auto* source = static_cast<const BandChoice*>(donor);
    errors_[model] = source != nullptr ? source->errors_[donor_model] : Errors{};
    for (std::size_t i = 0; i < members_.size(); ++i) {
      source != nullptr ? members_[i]->join_from(model, *source->members_[i], donor_model) : members_[i]->join(model);
    }
  }

  void on_presence_changed(ModelId model) override {
    for (const auto& member : members_) present(model) ? member->join(model) : member->leave(model);
  }

  void on_restart_counts() override {
    for (const auto& member : members_) member->restart_counts();
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const Explanation chosen = best(model).explain(model, explanation.confidence);
    explanation.factor = chosen.factor;
    explanation.observations = chosen.observations;
    explanation.terms = chosen.terms;
    explanation.terms.push_back({"bands", static_cast<double>(best(model).bands())});
  }

  void make_room(std::size_t models) override { errors_.resize(models); }
  [[nodiscard]] std::size_t saved_bytes_per_model() const override { return sizeof(Errors); }

  void save(internal::Encoder& out) const override {
    for (const Errors& errors : errors_) {
      for (const double error : errors) out.real(error);
    }
    for (const auto& member : members_) out.text(member->snapshot());
  }

  void load(internal::Decoder& in) override {
    for (Errors& errors : errors_) {
      for (double& error : errors) {
        error = in.real();
        if (!(error >= 0.0 && error <= 1.0)) in.fail();
      }
    }
    for (auto& member : members_) {
      Result<std::unique_ptr<Calibrator>> restored = restore_calibrator(in.text());
      if (!restored || !is_alike(**restored, *member)) return in.fail();
      member = std::move(*restored);
    }
  }

 private:
  static constexpr double kRate = 0.005;  // squared errors are noisy, so a choice needs some hundred outcomes
  using Errors = std::array<double, kBandCounts.size()>;

  [[nodiscard]] Parameters parameters_of(std::size_t member) const {
    Parameters own = parameters();
    own["bands"] = static_cast<double>(kBandCounts[member]);
    return own;
  }

  [[nodiscard]] const Calibrator& best(ModelId model) const {
    const Errors& errors = errors_[model];
    return *members_[static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin())];
  }

  // Whether `restored` may stand in the place of `member`: of the same making, with the models that are here.
  [[nodiscard]] bool is_alike(const Calibrator& restored, const Calibrator& member) const {
    bool alike = &restored.info() == &member.info() && restored.parameters() == member.parameters();
    for (ModelId model = 0; model < models(); ++model) {
      alike = alike && restored.known(model) == known(model) && restored.present(model) == present(model);
    }
    return alike;
  }

  std::array<std::unique_ptr<Calibrator>, kBandCounts.size()> members_;
  std::vector<Errors> errors_;  // by model, then member
};

}  // namespace

std::unique_ptr<Calibrator> internal::make_band_choice(const CalibratorInfo& info, Parameters resolved) {
  return std::make_unique<BandChoice>(info, std::move(resolved));
}

}  // namespace margin
