// Histogram: one model's accuracy per equal-width bin of stated confidence. Used by the three histogram calibrators.
#pragma once

#include <vector>

#include "base/encoding.h"
#include "margin/calibrator.h"

namespace margin::internal {

[[nodiscard]] ParameterSpec bins_parameter();

struct Bin {
  double accuracy = 0.0;  // in [0, 1]
  double count = 0.0;     // sum of the weights behind it; 0 means that the bin is empty
};

class Histogram {
 public:
  Histogram() = default;
  // Every bin empty, its accuracy at its midpoint.
  explicit Histogram(int bins);

  [[nodiscard]] int size() const { return static_cast<int>(bins_.size()); }
  [[nodiscard]] Bin& operator[](int bin) { return bins_[static_cast<std::size_t>(bin)]; }
  [[nodiscard]] Bin& of(double confidence) { return (*this)[band_of(confidence, size())]; }
  // The accuracy of the confidence's bin; the confidence itself where the bin is empty.
  [[nodiscard]] double predict(double confidence) const;
  void describe(Explanation& explanation) const;

  void save(Encoder& out) const;
  void load(Decoder& in);

 private:
  [[nodiscard]] const Bin& at(int bin) const { return bins_[static_cast<std::size_t>(bin)]; }

  std::vector<Bin> bins_;
};

}  // namespace margin::internal
