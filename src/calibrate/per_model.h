// PerModelCalibrator: what the methods share whose state is one `State` per model and that have no entry rule for newcomers.
// State offers save(Encoder&) const and load(Decoder&), which fails the decoder on what save() cannot have written.
#pragma once

#include <span>
#include <vector>

#include "base/encoding.h"
#include "margin/calibrator.h"

namespace margin::internal {

template <class State>
class PerModelCalibrator : public Calibrator {
 protected:
  using Calibrator::Calibrator;

  // The state of a model that has just joined, with all the memory that it will ever need.
  [[nodiscard]] virtual State fresh() const = 0;

  [[nodiscard]] const State& state(ModelId model) const { return states_[model]; }
  [[nodiscard]] State& state(ModelId model) { return states_[model]; }

  void on_join(ModelId model, const Calibrator*, ModelId) override { states_[model] = fresh(); }
  void make_room(std::size_t models) override { states_.resize(models); }

  void save(Encoder& out) const override {
    for (ModelId model = 0; model < models(); ++model) {
      if (known(model)) states_[model].save(out);
    }
  }

  void load(Decoder& in) override {
    for (ModelId model = 0; model < models() && in.ok(); ++model) {
      if (!known(model)) continue;
      states_[model] = fresh();
      states_[model].load(in);
    }
  }

 private:
  std::vector<State> states_;  // by model; the ids that nobody has taken hold an empty State
};

// A design-time method: State::fit(rows of the model) is called once per model that has calibration rows; the others start fresh.
template <class State>
class FrozenCalibrator : public PerModelCalibrator<State> {
 protected:
  using PerModelCalibrator<State>::PerModelCalibrator;

  void learn(const Observation&) override {}
  void fit_rows(std::span<const Observation> rows) override;
};

// The rows gathered by model, in row order within a model.
[[nodiscard]] std::vector<std::vector<Observation>> rows_by_model(std::span<const Observation> rows, std::size_t models);

template <class State>
void FrozenCalibrator<State>::fit_rows(std::span<const Observation> rows) {
  const auto gathered = rows_by_model(rows, this->models());
  for (ModelId model = 0; model < gathered.size(); ++model) {
    if (!this->known(model)) continue;
    this->state(model) = this->fresh();
    if (!gathered[model].empty()) this->state(model).fit(gathered[model]);
  }
}

}  // namespace margin::internal
