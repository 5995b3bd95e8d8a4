// Sources: who contradicts the other sources of outcomes on the same responses.
#pragma once

#include <span>
#include <vector>

#include "watch/detector.h"

namespace margin::watch {

class Sources {
 public:
  void observe(std::span<const SourceGrade> grades, Reporter& reporter);

  // At most `sources_max` have been met.
  template <class Self, class Visit>
  static void visit(Self& self, std::size_t sources_max, Visit& visit) {
    visit.counted(self.sources_, sources_max);
    for (auto& source : self.sources_) visit.all(source.agreement.sum, source.agreement.pairs, source.test);
    visit.all(self.all_.sum, self.all_.pairs, self.responses_);
  }

 private:
  // An honest source may agree this much less with the others than they do among themselves.
  static constexpr double kTolerance = 0.1;
  // The others must have met this often. Two sources alone cannot tell which of them is wrong.
  static constexpr double kOthersMin = 50.0;

  struct Agreement {
    double sum = 0.0;  // of 1 - |difference|
    double pairs = 0.0;
  };
  struct Source {
    Agreement agreement;  // with anybody
    SequentialTest test;
  };

  std::vector<Source> sources_;
  Agreement all_;
  std::uint64_t responses_ = 0;
};

}  // namespace margin::watch
