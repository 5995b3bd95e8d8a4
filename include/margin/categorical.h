// CategoricalCalibrator: how likely each of N outcomes is (right, wrong, refused; or any other classes), given what a model states. One
// exponential average per model, band and class; docs/calibration.md#outcomes-of-several-classes has the formulas.
//
//   auto classes = margin::CategoricalCalibrator::make({.classes = 3}).value();
//   classes.join(0);
//   std::vector<double> p(3);
//   classes.distribution(0, 0.95, p);  // predict first
//   margin::Status learned = classes.observe({.model = 0, .confidence = 0.95, .outcome = 2});  // then learn
//
// Deterministic to the bit, not thread-safe; after a model has joined nothing allocates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/result.h"

namespace margin {

// One response whose outcome has become known as one of the classes.
struct CategoricalObservation {
  ModelId model = 0;
  double confidence = 0.0;  // as stated, in [0, 1]: of class 0
  std::size_t outcome = 0;  // the class
  double weight = 1.0;      // in (0, 1]
};

struct CategoricalOptions {
  std::size_t classes = 2;   // 2 to 100; class 0 is the one that stated confidence speaks of
  double alpha = 0.04;       // (0, 1]: rate of the averages
  int bands = 3;             // 1 to 1000, equal-width
  double shrinkage = 100.0;  // 0 to 1e9: observations at which a band and the model as a whole weigh the same; 0 = the band alone
};

class CategoricalCalibrator {
 public:
  // kInvalidArgument: an option outside its range.
  [[nodiscard]] static Result<CategoricalCalibrator> make(const CategoricalOptions& options);

  [[nodiscard]] const CategoricalOptions& options() const { return options_; }

  // Takes the memory. Joining again changes nothing. model < kModelsMax.
  void join(ModelId model);
  [[nodiscard]] bool known(ModelId model) const { return model < models_.size() && models_[model].joined; }

  // Fills `probabilities`, one per class; they sum to 1. Before any data class 0 has the band's middle and the others share the rest alike.
  // The program stops when the model is unknown, the confidence outside [0, 1] or the span of another length.
  void distribution(ModelId model, double confidence, std::span<double> probabilities) const;

  // kNotFound: the model is unknown; kInvalidArgument: confidence, class or weight out of range. A refused observation changes nothing.
  Status observe(const CategoricalObservation& observation);

  // Of options and state.
  [[nodiscard]] Digest digest() const;

 private:
  struct Model {
    bool joined = false;
    std::vector<double> shares;  // by band, then class
    std::vector<double> counts;  // by band
  };
  explicit CategoricalCalibrator(const CategoricalOptions& options) : options_(options) {}

  CategoricalOptions options_;
  std::vector<Model> models_;
};

}  // namespace margin
