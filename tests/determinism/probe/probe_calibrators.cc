#include <memory>
#include <vector>

#include "margin/calibrator.h"
#include "trace.h"

namespace margin::determinism {
namespace {

constexpr int kTasks = 1500;
constexpr ModelId kModels = 6;

Observation observation(ModelId model, Random& random) {
  const double c = confidence(random);
  const double truth = 0.15 * model + 0.5 * c * c;  // each model lies in its own way
  Observation row{.model = model, .confidence = c, .outcome = random.chance(truth) ? 1.0 : 0.0};
  if (random.chance(0.1)) row.outcome = random.uniform();
  if (random.chance(0.1)) row.weight = random.chance(0.2) ? 1e-12 : 1.0 - random.uniform();
  return row;
}

// A life with everything in it: joins, a leave and a return, a successor, weights, grades, tasks of changing size.
void live(Calibrator& calibrator, Trace& trace) {
  Random random(7);
  for (ModelId model = 0; model < 4; ++model) calibrator.join(model);
  if (calibrator.info().design_time) {
    std::vector<Observation> rows;
    for (int i = 0; i < 600; ++i) rows.push_back(observation(static_cast<ModelId>(random.below(3)), random));
    trace.see(std::uint64_t{calibrator.fit(rows).ok()});
  }
  for (int task = 0; task < kTasks; ++task) {
    if (task == kTasks / 4) calibrator.leave(1);
    if (task == kTasks / 3) calibrator.join(4);
    if (task == kTasks / 2) calibrator.join(1);
    if (task == kTasks * 2 / 3) calibrator.join_from(5, calibrator, 0);
    if (task == kTasks * 3 / 4) trace.see(calibrator.digest());
    std::vector<Observation> rows;
    for (ModelId model = 0; model < kModels; ++model) {
      if (calibrator.present(model) && random.chance(0.8)) rows.push_back(observation(model, random));
    }
    for (const Observation& row : rows) trace.see(calibrator.calibrate(row.model, row.confidence));
    calibrator.begin_task();
    for (const Observation& row : rows) trace.see(std::uint64_t{calibrator.observe(row).ok()});
    calibrator.end_task();
  }
  for (ModelId model = 0; model < kModels; ++model) {
    for (const double c : {0.0, 0.5, 0.95, 1.0}) {
      const Explanation explanation = calibrator.explain(model, c);
      trace.see(explanation.factor);
      trace.see(explanation.observations);
      for (const Term& term : explanation.terms) {
        trace.see(term.name);
        trace.see(term.value);
      }
    }
  }
  trace.see(calibrator.digest());
}

void probe(const CalibratorInfo& info, const Parameters& parameters, const std::string& label) {
  auto calibrator = make_calibrator(info.identifier, info.version, parameters);
  Trace trace;
  if (calibrator.ok()) {
    live(**calibrator, trace);
  } else {
    trace.see(calibrator.error().message);
  }
  trace.print("calibrator " + info.identifier + " v" + std::to_string(info.version) + " " + label);
}

}  // namespace

void probe_calibrators() {
  for (const auto catalog : {calibrator_catalog(), replaced_calibrators()}) {
    for (const CalibratorInfo* info : catalog) {
      probe(*info, {}, "defaults");
      for (const ParameterSpec& spec : info->parameters) {
        const ParameterValue value = other_value(spec);
        probe(*info, {{spec.name, value}}, spec.name + "=" + to_text(value));
      }
    }
  }
}

}  // namespace margin::determinism
