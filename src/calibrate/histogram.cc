#include "calibrate/histogram.h"

#include <limits>

namespace margin::internal {

ParameterSpec bins_parameter() { return integer_parameter("bins", 10, 1, 1000, "equal-width bins of stated confidence"); }

Histogram::Histogram(int bins) : bins_(static_cast<std::size_t>(bins)) {
  for (int k = 0; k < bins; ++k) (*this)[k].accuracy = (k + 0.5) / bins;
}

double Histogram::predict(double confidence) const {
  const Bin& bin = at(band_of(confidence, size()));
  return bin.count > 0.0 ? bin.accuracy : confidence;
}

void Histogram::describe(Explanation& explanation) const {
  const Bin& bin = at(explanation.band);
  explanation.observations = bin.count;
  if (bin.count > 0.0) {
    explanation.terms = {{"accuracy in the bin", bin.accuracy}};
  } else {
    explanation.terms = {{"stated confidence (empty bin)", explanation.confidence}};
  }
}

void Histogram::save(Encoder& out) const {
  for (const Bin& bin : bins_) {
    out.real(bin.accuracy);
    out.real(bin.count);
  }
}

void Histogram::load(Decoder& in) {
  for (Bin& bin : bins_) {
    bin.accuracy = in.real();
    bin.count = in.real();
    if (!(bin.accuracy >= 0.0 && bin.accuracy <= 1.0 && bin.count >= 0.0 && bin.count <= std::numeric_limits<double>::max())) in.fail();
  }
}

}  // namespace margin::internal
