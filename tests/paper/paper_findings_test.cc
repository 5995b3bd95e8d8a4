// The qualitative findings of the publication on the simulated cohort, with intervals over resampled tasks. One test: the run is long.
#include "experiment/paper_findings.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace margin::experiment {
namespace {

// The cohort was matched to raw ECE, not to any method's result, and differs here. Accuracies hardly move from HE to HE+ and from MBPP to
// MBPP+, so what margin learned before is worth more than published. On CC half of the models answer a third of the tasks: the two windows
// that keep stated confidence lead by three to four points, as published by ten, but the interval over tasks reaches zero.
const std::set<std::string> kNotHere = {
    "windowed accuracy beats default margin, told | HE->HE+ | windowed_accuracy_replace - margin:target=model",
    "windowed accuracy beats default margin, told | MBPP->MBPP+ | windowed_accuracy_replace - margin:target=model",
    "hard windows beat margin under told | HE->CC | sliding_window_histogram - margin",
    "hard windows beat margin under told | MBPP->CC | sliding_window_histogram - margin",
    "hard windows beat margin under told | HE->CC | windowed_accuracy_multiply - margin",
    "hard windows beat margin under told | MBPP->CC | windowed_accuracy_multiply - margin",
};

TEST(PaperFindings, HoldWithIntervalsButForTheSixKnown) {
  Progress progress;
  const auto results = run_paper({.orderings = 20, .resamples = 1000, .seed = 1, .threads = {}}, progress);
  ASSERT_TRUE(results);
  EXPECT_LE(progress.done, progress.total);
  EXPECT_GT(static_cast<double>(progress.done), 0.95 * static_cast<double>(progress.total));
  std::map<std::string, int> claims;
  for (const Finding& one : paper_findings(*results)) {
    ++claims[one.claim];
    const std::string name = one.claim + " | " + one.condition + " | " + one.difference_of;
    ASSERT_TRUE(one.difference.interval) << name;
    EXPECT_EQ(one.holds(), !kNotHere.contains(name))
        << name << ": " << one.difference.value << " [" << one.difference.interval->low << ", " << one.difference.interval->high << "]";
  }
  const std::map<std::string, int> expected = {{"online beats frozen under severe shift", 4},
                                               {"hard windows beat margin under told", 12},
                                               {"windowed accuracy beats default margin, told", 8},
                                               {"the alpha column falls", 2},
                                               {"and rises", 2},
                                               {"k_s = 100 helps", 1},
                                               {"k_s = 100 hurts", 1},
                                               {"two rates against the regime: catastrophic", 4},
                                               {"late outcomes cost every online method", 4},
                                               {"late outcomes cost margin, mild and QA/math", 1},
                                               {"late outcomes hardly matter on a long target", 2},
                                               {"selected outcomes alone cost every online method", 4}};
  EXPECT_EQ(claims, expected);
}

TEST(Finding, NeedsTheWholeIntervalOnTheRightSide) {
  Finding finding{.difference = {-0.02, report::Interval{-0.03, -0.01}}};
  EXPECT_TRUE(finding.holds());
  finding.above = true;
  EXPECT_FALSE(finding.holds());
  finding = {.difference = {-0.02, report::Interval{-0.03, 0.01}}};
  EXPECT_FALSE(finding.holds());
  finding = {.difference = {0.12, report::Interval{0.09, 0.2}}, .above = true, .limit = 0.1};
  EXPECT_FALSE(finding.holds());
  finding = {.difference = {-0.5, std::nullopt}};
  EXPECT_FALSE(finding.holds());
}

}  // namespace
}  // namespace margin::experiment
