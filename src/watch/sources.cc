#include "watch/sources.h"

#include <algorithm>
#include <cmath>

namespace margin::watch {

void Sources::observe(std::span<const SourceGrade> grades, Reporter& reporter) {
  ++responses_;
  if (grades.size() < 2) return;
  for (const SourceGrade& grade : grades) {
    if (grade.source >= sources_.size()) sources_.resize(grade.source + std::size_t{1});
  }
  const Agreement before = all_;
  for (std::size_t i = 0; i < grades.size(); ++i) {
    Agreement here;
    double closest = 0.0;
    for (std::size_t j = 0; j < grades.size(); ++j) {
      if (j == i) continue;
      const double agreement = 1.0 - std::fabs(grades[i].outcome - grades[j].outcome);
      closest = std::max(closest, agreement);
      here.sum += agreement;
      here.pairs += 1.0;
    }
    const std::uint32_t number = grades[i].source;
    Source& source = sources_[number];
    const Agreement others{before.sum - source.agreement.sum, before.pairs - source.agreement.pairs};
    if (others.pairs >= kOthersMin) {
      const double reference = others.sum / others.pairs;
      // With the closest of the others: an honest source is not to blame for a liar that contradicts it.
      const auto evidence = source.test.fall(closest, reference - kTolerance, responses_, reporter.threshold(number));
      if (evidence) reporter.add({WatchKind::kSourceDisagrees, number}, *evidence, reference, responses_);
    }
    source.agreement.sum += here.sum;
    source.agreement.pairs += here.pairs;
    all_.sum += here.sum / 2.0;  // every pair is met from both sides
    all_.pairs += here.pairs / 2.0;
  }
}

}  // namespace margin::watch
